// SPDX-License-Identifier: Apache-2.0
// Examines one cluster, from its ClusterProfile to the server's answer: every step of a controller.
#pragma once

#include "api.hpp"
#include "authentication_config.hpp"
#include "connection.hpp"

#include <execcred/base/environment.hpp>
#include <execcred/engine/plugin_run.hpp>
#include <execcred/engine/target.hpp>

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

// One object is shared by all threads.
class Examination {
 public:
  // `stop` is a descriptor. When it becomes readable, each examination ends soon. -1: there is
  // none. `options` must outlive this object.
  Examination(const ExaminationOptions& options, int stop);

  // Writes the result to the target's item, and resets the rest of the target.
  void run(engine::Target& target);

 private:
  std::optional<Credential> get_credential(engine::Target& target);
  void go_to_server(const engine::Target& target, const Route& route, const Credential* credential,
                    Item& item);

  const ExaminationOptions& options_;
  int stop_;
  engine::PluginRunner runner_;
};

}  // namespace execcred::doctor
