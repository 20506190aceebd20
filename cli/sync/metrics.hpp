// SPDX-License-Identifier: Apache-2.0
// The metrics of a run for Prometheus (text exposition format 0.0.4).
#pragma once

#include "schedule.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace execcred::sync {

// The values of /metrics.
struct ClusterFigures {
  std::string name_space = {};
  std::string name = {};
  std::string provider = {};
  Lifetime lifetime = {};
};
struct Figures {
  std::size_t clusters = 0;  // that are listed
  std::vector<ClusterFigures> credentials = {};
  std::uint64_t renewals = 0;
  std::map<std::string, std::uint64_t, std::less<>> failures = {};  // by cause
  // The upper bounds of the buckets of a histogram, in seconds. plugin_runs_within has the number
  // of plugin runs that took at most this long, in the same order.
  static constexpr std::array<double, 8> kPluginSeconds = {0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10};
  std::array<std::uint64_t, kPluginSeconds.size()> plugin_runs_within = {};
  std::uint64_t plugin_runs = 0;
  double plugin_seconds = 0;
  bool is_watching = false;
  bool is_round_done = false;  // the first one, whole
  bool is_waiting = false;     // for the lease

  bool is_ready() const { return is_round_done || is_waiting; }
};

std::string metrics_text(const Figures& figures);

}  // namespace execcred::sync
