// SPDX-License-Identifier: Apache-2.0
#include "plugin.hpp"
#include "test_paths.hpp"

#include <utility>

namespace execcred::test {

using blackbox::json_string;

std::string ca_member(std::string_view pem) {
  return ",\"certificate-authority-data\":" + json_string(blackbox::base64(pem));
}

Plugin::Plugin(const std::string& name_space)
    : kubeconfig_(sandbox.write("hub.kubeconfig", hub.kubeconfig(name_space), 0600)) {
  blackbox::remember_secret(hub.token());
}

blackbox::Command Plugin::command(const Ask& ask) const {
  return plugin_command("execcred-static-secret",
                        Texts{"--kubeconfig=" + kubeconfig_} + ask.arguments,
                        ask.variables + asked_for(ask.server, ask.config, ask.more_of_cluster));
}

Outcome Plugin::run_blind(Texts arguments) const {
  arguments.insert(arguments.begin(), "--kubeconfig=" + kubeconfig_);
  return blackbox::run(plugin_command("execcred-static-secret", std::move(arguments)));
}

std::string new_token(std::int64_t seconds) {
  return new_jwt(
      R"("iss":"https://issuer.example.com","sub":"system:serviceaccount:ns:sa","aud":["server"])",
      seconds);
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
