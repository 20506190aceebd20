// SPDX-License-Identifier: Apache-2.0
// Examines clusters in parallel, each from its ClusterProfile to the server's answer: every step of
// a controller.
#pragma once

#include "api.hpp"
#include "authentication_config.hpp"
#include "steps.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/engine/get_credential.hpp>
#include <execcred/engine/target.hpp>

#include "fleet.hpp"

#include <optional>
#include <vector>

namespace execcred::doctor {

struct ExaminationOptions {
  Duration timeout = kPluginLimit;  // of the program's run, and of each step over the network
  Duration warn_before = std::chrono::hours(24 * 30);
  bool no_request = false;
  std::vector<Permission> permissions = {};
  std::optional<AuthenticationConfig> config = std::nullopt;
  Environment environment = {};  // check_proxy() has accepted it
};

// Fails (configuration) if HTTPS_PROXY is malformed.
Status check_proxy(const Environment& environment);

cli::FleetItems<Item> examine_all(std::vector<engine::Target> targets,
                                  const ExaminationOptions& examination,
                                  const cli::FleetOptions& options);

}  // namespace execcred::doctor
