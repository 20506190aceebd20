// SPDX-License-Identifier: Apache-2.0
#include "plugin.hpp"
#include "test_paths.hpp"

#include <utility>

namespace execcred::test {

using blackbox::exec_info;
using blackbox::json_string;

blackbox::Command plugin_of(Texts arguments, Texts variables) {
  arguments.insert(arguments.begin(), EXECCRED_BIN "/execcred-static-secret");
  return {.arguments = std::move(arguments), .environment = std::move(variables)};
}

std::string asked(std::string_view server, std::string_view config,
                  std::string_view more_of_cluster) {
  const std::string member = config.empty() ? "" : ",\"config\":" + std::string(config);
  return exec_info(blackbox::kV1, server, member + std::string(more_of_cluster));
}

std::string ca_member(std::string_view pem) {
  return ",\"certificate-authority-data\":" + json_string(blackbox::base64(pem));
}

std::string token_of(const Outcome& outcome) { return blackbox::read_answer(outcome.output).token; }

Plugin::Plugin(const std::string& name_space)
    : kubeconfig_(sandbox.write("hub.kubeconfig", hub.kubeconfig(name_space), 0600)) {
  blackbox::remember_secret(hub.token());
}

blackbox::Command Plugin::command(const Ask& ask) const {
  Texts variables = ask.variables;
  variables.push_back("KUBERNETES_EXEC_INFO=" + asked(ask.server, ask.config, ask.more_of_cluster));
  Texts arguments = ask.arguments;
  arguments.insert(arguments.begin(), "--kubeconfig=" + kubeconfig_);
  return plugin_of(std::move(arguments), std::move(variables));
}

Outcome Plugin::run(const Ask& ask) const { return blackbox::run(command(ask)); }

Outcome Plugin::run_blind(Texts arguments) const {
  arguments.insert(arguments.begin(), "--kubeconfig=" + kubeconfig_);
  return blackbox::run(plugin_of(std::move(arguments)));
}

std::string new_token(std::int64_t seconds) {
  static int count = 0;
  std::string token = blackbox::jwt_for(seconds, ",\"jti\":\"" + std::to_string(++count) + "\"");
  blackbox::remember_secret(token);
  return token;
}

std::string new_opaque_token() {
  static int count = 0;
  std::string token = "0paqueT0ken-" + std::to_string(++count) + "-k3ptToItself-abcdef";
  blackbox::remember_secret(token);
  return token;
}

std::string stored_kubeconfig(const std::string& user, const std::string& cluster) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: spoke\nclusters:\n- name: spoke\n  "
         "cluster: {" +
         cluster + "}\nusers:\n- name: admin\n  user: {" + user +
         "}\ncontexts:\n- name: spoke\n  context: {cluster: spoke, user: admin}\n";
}

}  // namespace execcred::test
