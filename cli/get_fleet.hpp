// SPDX-License-Identifier: Apache-2.0
// execcred get --all: runs the plugin of every ClusterProfile, and prints the results, without
// credentials.
#pragma once

#include "fleet.hpp"
#include "paint.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/engine/target.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

enum class FleetResult { ok, fail, skipped };

struct FleetItem {
  std::string name_space = {};
  std::string name = {};
  std::string provider = {};
  std::string server = {};
  std::string command = {};
  FleetResult result = FleetResult::skipped;
  std::optional<TimePoint> expires = std::nullopt;
  int exit_code = 0;  // of `execcred get` for this one alone
  std::string error = {};
  std::string hint = {};
  Duration duration = {};

  std::string full_name() const;
};

// A ClusterProfile whose plugin is run. Without an access no plugin is run, and the item has the
// reason.
struct FleetTarget {
  FleetItem item = {};
  std::optional<Access> access = std::nullopt;

  bool is_skipped() const { return !access && item.result == FleetResult::skipped; }
};

// The result is `skipped` if the ClusterProfile lists none of the mapping's providers, or does not
// list `provider` if that is given.
FleetTarget fleet_target(const engine::Mapping& mapping, const ClusterProfile& profile,
                         const std::string& provider);

// `limit` is the time limit of each run.
FleetItems<FleetItem> get_all(std::vector<FleetTarget> targets, Duration limit,
                              const FleetOptions& options);

// `format` is text, wide, name, json or yaml. In text, wide and name, failures come first.
std::string fleet_text(const std::vector<FleetItem>& items, std::string_view format,
                       const Paint& paint);

}  // namespace execcred::cli
