// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

namespace bench {
namespace {

std::string decimal(double value, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, value);
  return text;
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::string machine() {
  utsname names{};
  uname(&names);
  return cpu_model() + ", " + std::to_string(std::thread::hardware_concurrency()) + " CPUs, " +
         names.sysname + " " + names.release + " " + names.machine;
}

std::string load() {
  double minute = 0;
  return getloadavg(&minute, 1) == 1 ? decimal(minute, 2) : "unknown";
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string scaled(const std::optional<long>& value, double unit, int places) {
  return value ? decimal(static_cast<double>(*value) / unit, places) : "-";
}

double wall_ratio(const Row& row, const Row& floor) {
  return row.figures.wall_us / floor.figures.wall_us;
}

double lower_quartile_ratio(const Row& row, const Row& floor) {
  return row.figures.wall_lower_quartile_us / floor.figures.wall_lower_quartile_us;
}

long content_opens(const Figures& figures) {
  return std::count_if(figures.opened.begin(), figures.opened.end(),
                       [](const Opened& file) { return file.remark.empty(); });
}

using Cells = std::vector<std::string>;

const Cells kHeader = {"",       "x C",    "x C q1",   "x Go",     "wall us", "q1 us",  "CPU ms",
                       "RSS KB", "faults", "k instr.", "syscalls", "opens",   "size KB"};

Cells cells(const Row& row, const Report& report) {
  if (!row.not_measured.empty()) return {row.name, "not measured: " + row.not_measured};
  const Figures& figures = row.figures;
  return {row.name,
          decimal(wall_ratio(row, *report.floor), 2),
          decimal(lower_quartile_ratio(row, *report.floor), 2),
          report.go_floor ? decimal(wall_ratio(row, *report.go_floor), 2) : "-",
          decimal(figures.wall_us, 0),
          decimal(figures.wall_lower_quartile_us, 0),
          decimal(figures.cpu_us / 1000, 2),
          scaled(figures.rss_kb, 1, 0),
          std::to_string(figures.page_faults),
          scaled(figures.instructions, 1000, 1),
          scaled(figures.system_calls, 1, 0),
          figures.system_calls ? std::to_string(content_opens(figures)) : "-",
          scaled(figures.stripped_bytes, 1024, 0)};
}

void print_aligned(const std::vector<Cells>& lines) {
  std::vector<size_t> widths(kHeader.size());
  for (const auto& line : lines) {
    if (line.size() < kHeader.size()) {
      widths[0] = std::max(widths[0], line[0].size());
      continue;
    }
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    std::printf("%-*s", static_cast<int>(widths[0]), line[0].c_str());
    for (size_t i = 1; i < line.size(); ++i) {
      std::printf("  %*s", static_cast<int>(widths[i]), line[i].c_str());
    }
    std::printf("\n");
  }
}

void print_opened(const Report& report) {
  std::printf("\nFiles opened\n");
  for (const auto& row : report.rows) {
    if (!row.not_measured.empty() || !row.figures.system_calls) continue;
    std::printf("  %s\n", row.name.c_str());
    if (row.figures.opened.empty()) std::printf("    none\n");
    for (const auto& [path, remark] : row.figures.opened) {
      std::printf("    %s%s\n", path.c_str(), remark.empty() ? "" : (" (" + remark + ")").c_str());
    }
  }
}

std::string json_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c) & 0xffU);
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string json_number(const std::optional<long>& value) {
  return value ? std::to_string(*value) : "null";
}

std::string json_opened(const std::vector<Opened>& files) {
  std::string array = "[";
  for (const auto& [path, remark] : files) {
    if (array.size() > 1) array += ',';
    array += "{\"path\":" + json_string(path);
    if (!remark.empty()) array += ",\"remark\":" + json_string(remark);
    array += '}';
  }
  return array + ']';
}

std::string json_row(const Row& row, const Report& report) {
  std::string object = "{\"name\":" + json_string(row.name);
  const auto add = [&object](const char* key, const std::string& value) {
    object += std::string(",\"") + key + "\":" + value;
  };
  if (!row.not_measured.empty()) {
    add("notMeasured", json_string(row.not_measured));
    return object + '}';
  }
  const Figures& figures = row.figures;
  add("command", json_string(row.command_line));
  add("wallRatio", decimal(wall_ratio(row, *report.floor), 4));
  add("wallLowerQuartileRatio", decimal(lower_quartile_ratio(row, *report.floor), 4));
  add("wallRatioToGo", report.go_floor ? decimal(wall_ratio(row, *report.go_floor), 4) : "null");
  add("wallMicroseconds", decimal(figures.wall_us, 1));
  add("wallLowerQuartileMicroseconds", decimal(figures.wall_lower_quartile_us, 1));
  add("cpuMicroseconds", decimal(figures.cpu_us, 0));
  add("rssKilobytes", json_number(figures.rss_kb));
  add("pageFaults", std::to_string(figures.page_faults));
  add("instructions", json_number(figures.instructions));
  add("systemCalls", json_number(figures.system_calls));
  add("opened", figures.system_calls ? json_opened(figures.opened) : "null");
  add("strippedBytes", json_number(figures.stripped_bytes));
  return object + '}';
}

}  // namespace

void print_table(const Report& report) {
  std::printf("machine  %s, load %s\ndate     %s\nrepeat   %s\n\n", machine().c_str(),
              load().c_str(), now_utc().c_str(), report.repeat_with.c_str());
  std::vector<Cells> lines = {kHeader};
  for (const auto& row : report.rows) lines.push_back(cells(row, report));
  print_aligned(lines);
  std::printf(
      "\n%d interleaved rounds, the order of each shuffled. x C, x Go: median wall over that of\n"
      "the empty dynamic C program and of the Go hello world; q1: lower quartile. Wall runs from\n"
      "the spawn to the end of stdout, a pipe that is read as a client reads it, and the exit.\n"
      "CPU: user + system of wait4's rusage in steps of 1 us (the sum is the scheduler's run\n"
      "time; only its split goes by ticks). RSS: the peak as the process exits. Instructions:\n"
      "user space, by callgrind. System calls: from the exec on, by strace; opens: those that\n"
      "succeeded, without O_PATH. Size: of the stripped file. Programs were dropped\n"
      "from the page cache before the first round: a fresh copy would be up to a tenth faster.\n",
      report.rounds);
  print_opened(report);
}

void print_json(const Report& report) {
  std::printf(R"({"machine":%s,"load":%s,"date":%s,"repeat":%s,"rounds":%d,"rows":[)",
              json_string(machine()).c_str(), json_string(load()).c_str(),
              json_string(now_utc()).c_str(), json_string(report.repeat_with).c_str(),
              report.rounds);
  const char* separator = "\n";
  for (const auto& row : report.rows) {
    std::printf("%s%s", separator, json_row(row, report).c_str());
    separator = ",\n";
  }
  std::printf("\n]}\n");
}

bool check_limits(const Report& report) {
  bool all_kept = true;
  for (const auto& row : report.rows) {
    if (!row.limit) continue;
    if (!row.not_measured.empty() || !row.figures.rss_kb) {
      std::fprintf(stderr, "MISSED  %s: not measured\n", row.name.c_str());
      all_kept = false;
      continue;
    }
    const double ratio = wall_ratio(row, *report.floor);
    const long rss_kb = *row.figures.rss_kb;
    const bool is_kept = ratio <= row.limit->wall_ratio && rss_kb <= row.limit->rss_kb;
    std::fprintf(stderr, "%s  %s: wall %.2fx (at most %.2fx), RSS %ld KB (at most %ld KB)\n",
                 is_kept ? "kept  " : "MISSED", row.name.c_str(), ratio, row.limit->wall_ratio,
                 rss_kb, row.limit->rss_kb);
    all_kept = all_kept && is_kept;
  }
  return all_kept;
}

}  // namespace bench
