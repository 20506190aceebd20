// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include "sandbox.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace blackbox {
namespace {

using nlohmann::json;

// Half of a plugin's limits for a document, because cases add members.
constexpr std::uintmax_t kLargestCluster = 64 * 1024;
constexpr int kDeepestCluster = 16;

json& cluster() {
  static json cluster;
  return cluster;
}

}  // namespace

std::string use_cluster(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) return "it cannot be read: " + failure.message();
  if (size > kLargestCluster) return "it is larger than 64 KiB";
  bool is_too_deep = false;
  const auto check = [&](int depth, json::parse_event_t /*event*/, json& /*parsed*/) {
    is_too_deep = is_too_deep || depth > kDeepestCluster;
    return true;
  };
  json given = json::parse(read_text(path), check, false);
  if (is_too_deep) return "it is nested too deep";
  if (!given.is_object() || !given.contains("server") || !given["server"].is_string()) {
    return "it must be a JSON object with a server, as spec.cluster is";
  }
  cluster() = std::move(given);
  return {};
}

bool needs_cluster() { return !cluster().is_null(); }

std::string cluster_with(std::string_view server, std::string_view more_members) {
  json members = needs_cluster() ? cluster() : json{{"server", server}};
  const json more = json::parse("{\"more\":0" + std::string(more_members) + "}", nullptr, false);
  if (more.is_object()) {
    for (const auto& [name, value] : more.items()) members.erase(name);
  }
  // The case's members stay as they were written.
  std::string text = members.dump();
  text.insert(text.size() - 1, more_members);
  return text;
}

std::string client_info(std::string_view version, std::string_view server,
                        std::string_view more_members) {
  return R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) +
         R"(","spec":{"cluster":)" + cluster_with(server, more_members) +
         R"(,"interactive":false}})" + "\n";
}

std::string client_info(std::string_view version) {
  return needs_cluster() ? client_info(version, "") : exec_info(version);
}

std::string client_info_without_version() {
  return needs_cluster() ? R"({"spec":{"cluster":)" + cluster_with("") + "}}" : "{}";
}

Command answered_command(std::vector<std::string> more_arguments,
                         std::vector<std::string> more_environment) {
  if (needs_cluster()) {
    more_environment.push_back("KUBERNETES_EXEC_INFO=" + client_info_without_version());
  }
  return plugin_command(std::move(more_arguments), std::move(more_environment));
}

const std::vector<std::string>& secrets_of_plugin() {
  static std::vector<std::string> secrets;
  if (!secrets.empty()) return secrets;
  const Outcome outcome = run(answered_command());
  const Answer answer =
      has_own_rules() ? read_answer(outcome.output) : read_any_answer(outcome.output);
  if (!answer.problem.empty()) throw std::runtime_error("no credential: " + describe(outcome));
  for (const std::string& secret : {answer.token, answer.key}) {
    if (secret.empty()) continue;
    secrets.push_back(secret);
    remember_secret(secret);
  }
  return secrets;
}

std::string violation_of_rule_without_cluster(const Outcome& outcome, std::string_view version) {
  return needs_cluster() ? violation_of_refusal(outcome, 2, "cluster")
                         : violation_of_success(outcome, version);
}

}  // namespace blackbox
