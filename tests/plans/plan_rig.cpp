// SPDX-License-Identifier: Apache-2.0
#include "plan_rig.hpp"

#include <declared_options.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/json/json.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <utility>

namespace execcred::test {

PlanRig::PlanRig(const PlanCase& plan_case) : case_(plan_case) {
  for (const Input& file : case_.files) write(file, file.value);
}

std::string PlanRig::expanded(std::string text) const {
  constexpr std::string_view kFolder = "FOLDER";
  for (std::size_t at = text.find(kFolder); at != std::string::npos; at = text.find(kFolder)) {
    text.replace(at, kFolder.size(), folder_.path());
  }
  return text;
}

void PlanRig::write(const Input& file, const std::string& content) const {
  folder_.write(file.name, expanded(content), 0600);
}

// Asks for the credential when all files of the case are gone, for as long as a request needs to
// fail.
std::string PlanRig::error_without_files(const Plan& plan, const Environment& environment) const {
  for (const Input& file : case_.files) std::filesystem::remove(folder_.at(file.name));
  CallContext call = {.environment = environment,
                      .deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(200),
                      .may_retry = false};
  const Result<Issued> issued = plan.ask(call);
  for (const Input& file : case_.files) write(file, file.value);
  return issued ? std::string() : format_error("plan", issued.error());
}

Planned PlanRig::plan(const ClientCluster& cluster) {
  std::vector<std::string> arguments;
  for (const Input& option : case_.options) {
    // The CA of a server says nothing about whose credential it is, and is read with the request.
    if (asks_ && option.name == "ca-file") continue;
    arguments.push_back("--" + option.name + "=" + expanded(option.value));
  }
  std::vector<std::string> entries;
  for (const Input& variable : case_.variables) {
    entries.push_back(variable.name + "=" + expanded(variable.value));
  }
  const Environment environment(entries);
  cli::DeclaredOptions declared(case_.plugin);
  REQUIRE(declared.provider() != nullptr);
  Settings settings(declared.set());
  const auto failed = [](const Error& error) { return Planned{.error = error.message}; };
  Status read = declared.read(arguments, environment, settings);
  if (!read) return failed(read.error());
  const Result<json::Value> config = json::parse(cluster.config);
  REQUIRE(config.has_value());
  read = settings.read_config(*config);
  if (read) read = settings.store();
  if (!read) return failed(read.error());
  ExecInfo info = {.cluster = Cluster{.server = cluster.server,
                                      .tls_server_name = cluster.tls_server_name,
                                      .certificate_authority_data = cluster.ca,
                                      .proxy_url = cluster.proxy_url,
                                      .config = *config}};
  const CredentialRequest request = {
      .plugin = case_.plugin,
      .info = std::move(info),
      .document = R"({"spec":{"cluster":{"server":")" + cluster.server +
                  R"(","tls-server-name":")" + cluster.tls_server_name + R"(","proxy-url":")" +
                  cluster.proxy_url + R"(","certificate-authority-data":")" + cluster.ca +
                  R"("}}})",
      .cluster_name = "",
      .rules = {.allow_server = {*UrlPattern::parse("https://*.example.com:6443",
                                                    UrlPattern::Use::server)}},
      .settings = &settings};
  Inputs inputs(request, environment);
  const Result<Plan> plan = declared.provider()->plan(settings, inputs);
  if (!plan) return failed(plan.error());
  return {.key = inputs.key().text(),
          .is_kept = plan->cache && !plan->cache->options.no_cache,
          .error = asks_ ? error_without_files(*plan, environment) : std::string()};
}

Planned PlanRig::ask_without_files() {
  asks_ = true;
  Planned planned = plan();
  asks_ = false;
  return planned;
}

Planned PlanRig::plan_with_option(std::size_t index, const std::string& value) {
  const std::string before = std::exchange(case_.options[index].value, value);
  Planned planned = plan();
  case_.options[index].value = before;
  return planned;
}

Planned PlanRig::plan_with_variable(std::size_t index, const std::string& value) {
  const std::string before = std::exchange(case_.variables[index].value, value);
  Planned planned = plan();
  case_.variables[index].value = before;
  return planned;
}

Planned PlanRig::plan_with_file(std::size_t index, const std::string& content) {
  const Input& file = case_.files[index];
  write(file, content);
  Planned planned = plan();
  write(file, file.value);
  return planned;
}

}  // namespace execcred::test
