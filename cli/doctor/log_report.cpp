// SPDX-License-Identifier: Apache-2.0
#include "log_report.hpp"

#include "output.hpp"

#include "list_text.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/rfc3339.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/json/json_reader.hpp>
#include <execcred/os/file.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace execcred::doctor {
namespace {

using cli::add_text;

constexpr std::size_t kMaxLog = 64 * 1024 * 1024;
constexpr std::size_t kMaxLine = 64 * 1024;
constexpr std::size_t kMaxText = 1024;

struct Line {
  TimePoint time = {};
  std::string plugin = {};
  std::string server = {};
  std::string identity = {};
  int exit_code = 0;
  std::string cause = {};
  std::string error = {};
  std::string hint = {};
};

std::string shown_text_of(const json::Value& object, std::string_view name) {
  return shown_text(json::text_or_empty(object, name), kMaxText);
}

std::optional<Line> parse_line(std::string_view text) {
  if (text.empty() || text.size() > kMaxLine) return std::nullopt;
  const Result<json::Value> object = json::parse(text);
  if (!object || object->object() == nullptr) return std::nullopt;
  const Result<TimePoint> time = parse_rfc3339(shown_text_of(*object, "time"));
  const json::Value* const code = object->find("exit_code");
  if (!time || code == nullptr || code->number() == nullptr) return std::nullopt;
  Line line{.time = *time,
            .plugin = shown_text_of(*object, "plugin"),
            .server = shown_text_of(*object, "server"),
            .identity = shown_text_of(*object, "identity"),
            .exit_code = code->number()->text == "0" ? 0 : 1,
            .cause = shown_text_of(*object, "cause"),
            .error = shown_text_of(*object, "error"),
            .hint = shown_text_of(*object, "hint")};
  if (line.plugin.empty()) return std::nullopt;
  if (!known_cause(line.cause)) line.cause.clear();
  return line;
}

using Clusters = std::map<std::pair<std::string, std::string>, LoggedCluster>;

void take(Line line, Clusters& clusters) {
  LoggedCluster& cluster = clusters[{line.server, line.plugin}];
  cluster.server = line.server;
  cluster.plugin = line.plugin;
  ++cluster.runs;
  const bool has_failed = line.exit_code != 0;
  if (line.time >= cluster.last_run) {
    cluster.last_run = line.time;
    cluster.is_failing = has_failed;
    if (!line.identity.empty()) cluster.identity = std::move(line.identity);
  }
  if (!has_failed) return;
  ++cluster.failures;
  if (cluster.last_failure && line.time < *cluster.last_failure) return;
  cluster.last_failure = line.time;
  cluster.cause = line.cause.empty() ? std::string(cause::kProgramFailed) : std::move(line.cause);
  cluster.error = std::move(line.error);
  cluster.hint = std::move(line.hint);
}

std::string server_of(const LoggedCluster& cluster) {
  return cluster.server.empty() ? "-" : cluster.server;
}

}  // namespace

Result<std::vector<LoggedCluster>> read_log(const std::filesystem::path& path,
                                            std::optional<TimePoint> since) {
  std::string text = TRY(read_untrusted_file(path, kMaxLog)
                             .hint("--log names the file that plugins get as --log-file"));
  const Result<std::string> older = read_untrusted_file(path.native() + ".1", kMaxLog);
  if (older) text.insert(0, *older + "\n");
  Clusters clusters;
  for (const std::string_view one : split(text, '\n')) {
    std::optional<Line> line = parse_line(one);
    if (line && (!since || line->time >= *since)) take(*std::move(line), clusters);
  }
  std::vector<LoggedCluster> sorted;
  sorted.reserve(clusters.size());
  for (auto& [key, cluster] : clusters) sorted.push_back(std::move(cluster));
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.last_failure.value_or(TimePoint::min()) > b.last_failure.value_or(TimePoint::min());
  });
  return sorted;
}

std::string write_log_text(const std::vector<LoggedCluster>& clusters) {
  std::string text;
  for (const LoggedCluster& cluster : clusters) {
    const std::string_view state = !cluster.last_failure ? "ok"
                                   : cluster.is_failing  ? "fail"
                                                         : "passed";
    text += text_of(cluster.last_failure.value_or(cluster.last_run)) + "  " + std::string(state) +
            "  " + (cluster.cause.empty() ? "-" : cluster.cause) + "  " + server_of(cluster) +
            "  " + cluster.plugin + "  " + std::to_string(cluster.failures) + " of " +
            std::to_string(cluster.runs) + " runs failed\n";
    if (!cluster.error.empty()) text += "  " + cluster.error + "\n";
    if (!cluster.hint.empty()) text += "  hint: " + cluster.hint + "\n";
  }
  if (text.empty()) return "no run is in the log\n";
  // The latest failure is first.
  const bool has_cause = !clusters.front().cause.empty();
  return has_cause ? text + explanation_of(clusters.front().cause) : text;
}

std::string write_log_json(const std::vector<LoggedCluster>& clusters) {
  json::Array items;
  for (const LoggedCluster& cluster : clusters) {
    json::Value item((json::Object()));
    add_text(item, "server", cluster.server);
    add_text(item, "plugin", cluster.plugin);
    add_text(item, "identity", cluster.identity);
    add_text(item, "result", cluster.is_failing ? "fail" : "ok");
    add_text(item, "cause", cluster.cause);
    if (cluster.last_failure) add_text(item, "time", text_of(*cluster.last_failure));
    add_text(item, "error", cluster.error);
    add_text(item, "hint", cluster.hint);
    add_text(item, "last_run", text_of(cluster.last_run));
    item.add("runs", cli::number_of(cluster.runs));
    item.add("failures", cli::number_of(cluster.failures));
    items.push_back(std::move(item));
  }
  return json::to_indented_text(cli::list_of(std::move(items)));
}

}  // namespace execcred::doctor
