// SPDX-License-Identifier: Apache-2.0
// Runs execcred-bootstrap as clients do, between an inner plugin and a cluster of the case.
#pragma once

#include "cluster_api.hpp"
#include "support/plugin_rig.hpp"

#include <string>
#include <string_view>

namespace execcred::test {

struct Ask {
  std::string via = "token-request";  // "csr"; empty: none
  Texts arguments = {};               // after those that `via` needs
  Texts variables = {};
  std::string config = {};  // spec.cluster.config
  std::string more_of_cluster = {};
  std::string server = {};     // instead of the API server's
  std::string authority = {};  // certificate-authority-data, instead of its CA's; "-": none
  std::string_view version = blackbox::kV1;
  bool has_cluster = true;
  bool has_allow = true;       // --allow-server
  bool has_identity = true;    // --service-account, or --user and --group
  bool has_credential = true;  // --credential of the rig's inner plugin
  milliseconds patience = blackbox::kPatience;
};

class Bootstrap : public PluginRig<Ask> {
 public:
  explicit Bootstrap(const Identity* client_ca = nullptr);

  blackbox::Command command(const Ask& ask) const override;

  // Sets the inner plugin's shell commands.
  void set_inner(const std::string& script) const;
  // Sets the output of the inner plugin.
  void set_inner_output(const std::string& output) const;
  // Sets the token of the inner plugin, which no message may show.
  void set_inner_token(const std::string& token, const std::string& more_status = {});
  // How often the inner plugin ran.
  std::size_t inner_runs() const;
  // The document that the inner plugin received last.
  std::string inner_document() const;

  ClusterApi api;
  std::string token;  // of the inner plugin
  std::string inner_path;
};

inline Ask csr(Ask ask = {}) {
  ask.via = "csr";
  return ask;
}

}  // namespace execcred::test
