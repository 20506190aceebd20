// SPDX-License-Identifier: Apache-2.0
#include "rig.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace execcred::test {

Rig::Rig()
    : secret(new_secret_key()),
      ca_path(sandbox.write("ca.pem", sts.ca_pem())),
      web_identity(new_web_identity("system:serviceaccount:ns:sa")),
      web_identity_path(sandbox.write("web-identity", web_identity + "\n")) {
  sts.know(kKeyId, secret);
}

Texts Rig::arguments(const Ask& ask) const {
  Texts all;
  if (!ask.cluster.empty()) all.push_back("--cluster-id=" + ask.cluster);
  if (!ask.region.empty()) all.push_back("--region=" + ask.region);
  if (ask.has_cache) all.push_back("--cache-dir=" + cache_path);
  if (ask.is_traced) all.emplace_back("--debug");
  return all + ask.arguments;
}

blackbox::Command Rig::command(const Ask& ask) const {
  Texts variables = {"HOME=" + sandbox.at("home"), "AWS_EC2_METADATA_DISABLED=true",
                     "AWS_ENDPOINT_URL_STS=" + sts.url(), "AWS_CA_BUNDLE=" + ca_path};
  if (ask.has_keys) {
    variables.push_back(std::string("AWS_ACCESS_KEY_ID=") + kKeyId);
    variables.push_back("AWS_SECRET_ACCESS_KEY=" + secret);
  }
  // The case's variables come last, so they override the others.
  blackbox::Command command =
      plugin_command("execcred-aws", arguments(ask),
                     variables + asked_for(ask.server, ask.config) + ask.variables);
  command.patience = ask.patience;
  return command;
}

void Rig::set_credentials(const std::string& text) const {
  sandbox.write("home/.aws/credentials", text, 0600);
}

void Rig::set_config(const std::string& text) const {
  sandbox.write("home/.aws/config", text, 0600);
}

TokenVerdict Rig::verdict(const Outcome& outcome, const std::string& cluster) const {
  CHECK_SUCCESS(outcome);
  return judge_token(token_of(outcome), cluster, sts.keys());
}

std::string Rig::problem(const Outcome& outcome, const std::string& cluster) const {
  const std::string violation = blackbox::violation_of_success(outcome);
  return violation.empty() ? judge_token(token_of(outcome), cluster, sts.keys()).problem
                           : violation;
}

Texts web_identity_of(const Rig& rig, const std::string& role) {
  return {"AWS_WEB_IDENTITY_TOKEN_FILE=" + rig.web_identity_path, "AWS_ROLE_ARN=" + role};
}

std::string new_web_identity(const std::string& subject, std::int64_t seconds,
                             const std::string& issuer) {
  return new_jwt(
      R"("iss":")" + issuer + R"(","sub":")" + subject + R"(","aud":["sts.amazonaws.com"])",
      seconds);
}

std::string new_secret_key() {
  static int count = 0;
  const std::string number = std::to_string(++count);
  std::string secret = "k3ptToItself/" + number + "+AndNeverShown" + number + "abcdef";
  blackbox::remember_secret(secret);
  return secret;
}

}  // namespace execcred::test
