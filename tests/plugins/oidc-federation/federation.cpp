// SPDX-License-Identifier: Apache-2.0
#include "federation.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace execcred::test {

Texts operator+(Texts one, const Texts& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

blackbox::Command plugin_of(Texts arguments, Texts variables) {
  arguments.insert(arguments.begin(), EXECCRED_BIN "/execcred-oidc-federation");
  return {.arguments = std::move(arguments), .environment = std::move(variables)};
}

Federation::Federation(const Identity* client_ca)
    : idp(client_ca),
      subject(new_subject()),
      subject_path(sandbox.write("subject", subject + "\n")),
      ca_path(sandbox.write("ca.pem", idp.ca_pem())),
      cache_path(sandbox.at("cache")) {}

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
  Texts variables = ask.variables;
  if (!ask.server.empty()) {
    const std::string member = ask.config.empty() ? "" : ",\"config\":" + ask.config;
    variables.push_back("KUBERNETES_EXEC_INFO=" +
                        blackbox::exec_info(ask.version, ask.server, member + ask.more_of_cluster));
  }
  blackbox::Command command = plugin_of(arguments(ask), std::move(variables));
  command.patience = ask.patience;
  return command;
}

Outcome Federation::run(const Ask& ask) const { return blackbox::run(command(ask)); }

Outcome Federation::run_cold(const Ask& ask) const {
  clear_cache();
  return run(ask);
}

void Federation::clear_cache() const { std::filesystem::remove_all(cache_path); }

void Federation::set_subject(const std::string& content) { sandbox.write("subject", content); }

std::string token_of(const Outcome& outcome) { return blackbox::read_answer(outcome.output).token; }

std::int64_t claimed_seconds(const Outcome& outcome) {
  const blackbox::Answer answer = blackbox::read_answer(outcome.output);
  CHECK(answer.problem == "");
  return answer.expiration - blackbox::seconds_since_epoch();
}

std::int64_t claim_for(std::int64_t seconds) {
  return seconds - std::min<std::int64_t>(30, seconds / 10);
}

std::string new_subject(std::int64_t seconds, const std::string& more_claims) {
  static int count = 0;
  std::string token =
      blackbox::jwt_for(seconds, ",\"jti\":\"" + std::to_string(++count) + "\"" + more_claims);
  blackbox::remember_secret(token);
  return token;
}

std::string new_secret() {
  static int count = 0;
  const std::string number = std::to_string(++count);
  std::string secret = "k3ptToItself" + number + "AndNeverShown" + number + "abcdef";
  blackbox::remember_secret(secret);
  return secret;
}

}  // namespace execcred::test
