// SPDX-License-Identifier: Apache-2.0
// Runs execcred-static-secret as clients do, against a hub of the case.
#pragma once

#include "secret_hub.hpp"
#include "support/plugin_rig.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline blackbox::Command plugin_of(Texts arguments, Texts variables = {}) {
  return plugin_command("execcred-static-secret", std::move(arguments), std::move(variables));
}

// A member of spec.cluster: its CA, in base64.
std::string ca_member(std::string_view pem);

struct Ask {
  Texts arguments = {};
  std::string config = R"({"clusterName":"spoke-1"})";
  std::string server = kSpoke;
  std::string more_of_cluster = {};
  Texts variables = {};
};

class Plugin : public PluginRig<Ask> {
 public:
  explicit Plugin(const std::string& name_space = "clusters");

  blackbox::Command command(const Ask& ask) const override;
  // Runs the plugin without cluster information.
  Outcome run_blind(Texts arguments) const;

  SecretHub hub;

 private:
  std::string kubeconfig_;
};

// A token that no message may show.
std::string new_token(std::int64_t seconds = 24L * 3600);
// A token that is no JWT, and that no message may show.
std::string new_opaque_token();

// A kubeconfig for the spoke, stored by its project; the fields are YAML in the flow style.
std::string stored_kubeconfig(const std::string& user,
                              const std::string& cluster = std::string("server: ") + kSpoke);

}  // namespace execcred::test
