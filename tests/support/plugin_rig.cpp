// SPDX-License-Identifier: Apache-2.0
#include "plugin_rig.hpp"

#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

namespace execcred::test {
namespace {

std::string next_number() {
  static int count = 0;
  return std::to_string(++count);
}

}  // namespace

Texts operator+(Texts one, const Texts& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

blackbox::Command plugin_command(std::string_view plugin, Texts arguments, Texts variables) {
  arguments.insert(arguments.begin(), EXECCRED_BIN "/" + std::string(plugin));
  return {.arguments = std::move(arguments), .environment = std::move(variables)};
}

Texts asked_for(std::string_view server, std::string_view config, std::string_view more_of_cluster,
                std::string_view version) {
  if (server.empty()) return {};
  const std::string member = config.empty() ? "" : ",\"config\":" + std::string(config);
  return {"KUBERNETES_EXEC_INFO=" +
          blackbox::exec_info(version, server, member + std::string(more_of_cluster))};
}

std::string token_of(const Outcome& outcome) { return blackbox::read_answer(outcome.output).token; }

std::int64_t claimed_seconds(const Outcome& outcome) {
  const blackbox::Answer answer = blackbox::read_answer(outcome.output);
  CHECK(answer.problem == "");
  return answer.expiration - blackbox::seconds_since_epoch();
}

std::int64_t claim_for(std::int64_t seconds) {
  return seconds - std::min<std::int64_t>(30, seconds / 10);
}

bool is_about(std::int64_t seconds, std::int64_t expected) {
  return std::abs(seconds - expected) <= 5;
}

std::string new_secret() {
  const std::string number = next_number();
  std::string secret = "k3ptToItself" + number + "AndNeverShown" + number + "abcdef";
  blackbox::remember_secret(secret);
  return secret;
}

std::string new_jwt(const std::string& claims, std::int64_t seconds,
                    const std::string& more_claims) {
  const std::int64_t end = blackbox::seconds_since_epoch() + seconds;
  std::string token = blackbox::make_jwt("{" + claims + ",\"exp\":" + std::to_string(end) +
                                         ",\"jti\":\"" + next_number() + "\"" + more_claims + "}");
  blackbox::remember_secret(token);
  return token;
}

}  // namespace execcred::test
