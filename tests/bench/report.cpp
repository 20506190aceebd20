// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <sys/utsname.h>

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

// "6.18", from a release string that also has the build of a distribution or cloud provider.
std::string kernel_version(const std::string& release) {
  const auto minor = release.find('.');
  return release.substr(0, release.find_first_not_of("0123456789", minor + 1));
}

std::string machine() {
  utsname names{};
  uname(&names);
  return cpu_model() + ", " + std::to_string(std::thread::hardware_concurrency()) + " CPUs, " +
         names.sysname + " " + kernel_version(names.release) + " " + names.machine;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

double wall_ratio(const Row& row, const Row& floor) {
  return row.figures.wall_us / floor.figures.wall_us;
}

double lower_quartile_ratio(const Row& row, const Row& floor) {
  return row.figures.wall_lower_quartile_us / floor.figures.wall_lower_quartile_us;
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

std::string json_limits(const Row& row) {
  std::string object = "{";
  for (const auto& [key, number] : row.limits) {
    if (object.size() > 1) object += ',';
    object += json_string(key) + ':' + decimal(number, 2);
  }
  return object + '}';
}

std::string json_bulk(const Bulk& bulk) {
  return "{\"sequentialSeconds\":" + decimal(bulk.sequential_s, 4) +
         ",\"atOnceSeconds\":" + decimal(bulk.at_once_s, 4) +
         ",\"pssSumKilobytes\":" + json_number(bulk.pss_sum_kb) + '}';
}

std::string json_row(const Row& row, const Report& report) {
  std::string object = "{\"name\":" + json_string(row.name);
  const auto add = [&object](const char* key, const std::string& value) {
    object += std::string(",\"") + key + "\":" + value;
  };
  add("kind", json_string(row.kind));
  if (!row.against.empty()) add("against", json_string(row.against));
  if (!row.limits.empty()) add("limits", json_limits(row));
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
  if (row.bulk) add("bulk", json_bulk(*row.bulk));
  return object + '}';
}

}  // namespace

void print_json(const Report& report) {
  std::printf(R"({"machine":%s,"load":%s,"date":%s,"repeat":%s,"rounds":%d,"execs":%d,"atOnce":%d,)"
              R"("rows":[)",
              json_string(machine()).c_str(), decimal(report.load_before, 2).c_str(),
              json_string(now_utc()).c_str(), json_string(report.repeat_with).c_str(),
              report.rounds, report.execs, kAtOnce);
  const char* separator = "\n";
  for (const auto& row : report.rows) {
    std::printf("%s%s", separator, json_row(row, report).c_str());
    separator = ",\n";
  }
  std::printf("\n]}\n");
}

}  // namespace bench
