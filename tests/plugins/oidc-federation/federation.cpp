// SPDX-License-Identifier: Apache-2.0
#include "federation.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace execcred::test {

Federation::Federation(const Identity* client_ca)
    : idp(client_ca),
      subject(new_subject()),
      subject_path(sandbox.write("subject", subject + "\n")),
      ca_path(sandbox.write("ca.pem", idp.ca_pem())) {}

Texts Federation::arguments(const Ask& ask) const {
  Texts all = {"--flow=" + ask.flow};
  const bool has_server = ask.flow != "pass-through" && ask.flow != "pinniped";
  if (has_server) {
    all.push_back(ask.by_issuer ? "--issuer-url=" + idp.issuer()
                                : "--token-url=" + idp.token_url());
    all.push_back("--ca-file=" + ca_path);
  }
  if (ask.has_subject && ask.flow != "client-credentials") {
    all.push_back("--subject-token-file=" + subject_path);
  }
  if (ask.has_cache) all.push_back("--cache-dir=" + cache_path);
  if (ask.is_traced) all.emplace_back("--debug");
  return all + ask.arguments;
}

blackbox::Command Federation::command(const Ask& ask) const {
  blackbox::Command command = plugin_command(
      "execcred-oidc-federation", arguments(ask),
      ask.variables + asked_for(ask.server, ask.config, ask.more_of_cluster, ask.version));
  command.patience = ask.patience;
  return command;
}

void Federation::set_subject(const std::string& content) { sandbox.write("subject", content); }

std::string new_subject(std::int64_t seconds, const std::string& more_claims) {
  return new_jwt(
      R"("iss":"https://issuer.example.com","sub":"system:serviceaccount:ns:sa","aud":["server"])",
      seconds, more_claims);
}

}  // namespace execcred::test
