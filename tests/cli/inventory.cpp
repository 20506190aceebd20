// SPDX-License-Identifier: Apache-2.0
#include "inventory.hpp"
#include "documents.hpp"

namespace blackbox {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

}  // namespace

std::string mapped(std::string_view name, std::string_view command, std::string_view more_of_exec,
                   std::string_view more) {
  return "{\"name\":" + json_string(name) +
         R"(,"execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":)" +
         json_string(command) + std::string(more_of_exec) + "}" + std::string(more) + "}";
}

std::string mapping(const std::vector<std::string>& entries) {
  return "{\"providers\":[" + joined(entries) + "]}";
}

std::string provider(std::string_view name, std::string_view server,
                     std::string_view more_of_cluster) {
  return "{\"name\":" + json_string(name) + ",\"cluster\":{\"server\":" + json_string(server) +
         std::string(more_of_cluster) + "}}";
}

std::string profile(std::string_view name, const std::vector<std::string>& providers,
                    std::string_view field) {
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
         R"("metadata":{"name":)" +
         json_string(name) + R"(,"namespace":"fleet"},"status":{")" + std::string(field) + "\":[" +
         joined(providers) + "]}}";
}

std::string extension(std::string_view name, std::string_view json) {
  return "{\"name\":" + json_string(name) + ",\"extension\":" + std::string(json) + "}";
}

Inventory::Inventory(std::string_view mapping_text, std::string_view profiles_text) {
  sandbox_.write("mapping.json", mapping_text);
  sandbox_.write("profiles.yaml", profiles_text);
}

Command Inventory::command(std::string_view subcommand, std::vector<std::string> arguments,
                           std::vector<std::string> environment) const {
  Command command{.arguments = {kCli, std::string(subcommand), "-m", sandbox_.at("mapping.json"),
                                "-f", sandbox_.at("profiles.yaml")},
                  .environment = {"PATH=/usr/bin:/bin"}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.environment.insert(command.environment.end(), environment.begin(), environment.end());
  return command;
}

Outcome Inventory::run(std::string_view subcommand, std::vector<std::string> arguments,
                       std::vector<std::string> environment) const {
  return blackbox::run(command(subcommand, std::move(arguments), std::move(environment)));
}

Outcome get_from_script(std::string_view body, std::vector<std::string> arguments) {
  const Sandbox programs;
  const Inventory inventory(mapping({mapped("p", programs.script("plugin", body))}),
                            profile("c1", {provider("p")}));
  return inventory.run("get", std::move(arguments));
}

std::string daemon_in(const std::string& file) {
  return "setsid sh -c 'echo $$ >\"" + file + "\"; exec sleep 1000' &\nuntil [ -s '" + file +
         "' ]; do :; done\n";
}

std::string printing(std::string_view token, std::string_view version) {
  return R"(printf '%s\n' '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/)" +
         std::string(version) + R"(","status":{"token":")" + std::string(token) + "\"}}'";
}

}  // namespace blackbox
