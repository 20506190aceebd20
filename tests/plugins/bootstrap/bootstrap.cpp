// SPDX-License-Identifier: Apache-2.0
#include "bootstrap.hpp"

#include <algorithm>

namespace execcred::test {

Bootstrap::Bootstrap(const Identity* client_ca)
    : api(client_ca), inner_path(sandbox.at("inner/plugin")) {
  set_inner_token(new_secret());
}

void Bootstrap::set_inner(const std::string& script) const {
  sandbox.script("inner/plugin", "echo run >> '" + sandbox.at("runs") +
                                     "'\nprintf %s \"$KUBERNETES_EXEC_INFO\" > '" +
                                     sandbox.at("document") + "'\n" + script);
}

void Bootstrap::set_inner_output(const std::string& output) const {
  set_inner("/bin/cat '" + sandbox.write("inner/output", output) + "'\n");
}

void Bootstrap::set_inner_token(const std::string& given, const std::string& more_status) {
  token = given;
  set_inner_output(exec_credential(R"({"token":")" + token + "\"" + more_status + "}"));
}

std::size_t Bootstrap::inner_runs() const {
  const std::string runs = blackbox::read_text(sandbox.at("runs"));
  return static_cast<std::size_t>(std::count(runs.begin(), runs.end(), '\n'));
}

std::string Bootstrap::inner_document() const {
  return blackbox::read_text(sandbox.at("document"));
}

blackbox::Command Bootstrap::command(const Ask& ask) const {
  Texts arguments = {"--cache-dir=" + cache_path};
  if (!ask.via.empty()) arguments.push_back("--via=" + ask.via);
  if (ask.has_credential) arguments.push_back("--credential=" + command_json({inner_path}));
  if (ask.has_allow) arguments.emplace_back("--allow-server=https://127.0.0.1:*");
  if (ask.has_identity && ask.via == "token-request") {
    arguments.emplace_back("--service-account=fleet/controller");
  }
  if (ask.has_identity && ask.via == "csr") {
    arguments = arguments + Texts{"--user=fleet-controller", "--group=fleet", "--group=blue"};
  }
  const std::string server = ask.server.empty() ? api.server.url() : ask.server;
  const std::string authority =
      ask.authority.empty() ? blackbox::base64(api.server.ca_pem()) : ask.authority;
  const std::string more =
      (authority == "-" ? "" : R"(,"certificate-authority-data":")" + authority + "\"") +
      ask.more_of_cluster;
  Texts variables = ask.variables;
  if (ask.has_cluster) variables = variables + asked_for(server, ask.config, more, ask.version);
  blackbox::Command command =
      plugin_command("execcred-bootstrap", arguments + ask.arguments, std::move(variables));
  command.patience = ask.patience;
  return command;
}

}  // namespace execcred::test
