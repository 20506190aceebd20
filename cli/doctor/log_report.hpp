// SPDX-License-Identifier: Apache-2.0
// Reads the plugins' log (--log-file): the newest cause for each cluster.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace execcred::doctor {

// The runs of one plugin for one server.
struct LoggedCluster {
  std::string server = {};  // empty if the plugin got none
  std::string plugin = {};
  std::string identity = {};
  TimePoint last_run = {};
  bool is_failing = false;  // in the newest run
  // The time of the newest run that failed. If no run failed, this is nullopt and there is no
  // cause.
  std::optional<TimePoint> last_failure = std::nullopt;
  std::string cause = {};
  std::string error = {};
  std::string hint = {};
  std::size_t runs = 0;
  std::size_t failures = 0;
};

// Reads `path`, and before it PATH.1 if that exists. Lines that cannot be read and lines before
// `since` are ignored. The newest failure is first. Fails (configuration) if `path` cannot be read.
Result<std::vector<LoggedCluster>> read_log(const std::filesystem::path& path,
                                            std::optional<TimePoint> since);

std::string write_log_text(const std::vector<LoggedCluster>& clusters);
std::string write_log_json(const std::vector<LoggedCluster>& clusters);

}  // namespace execcred::doctor
