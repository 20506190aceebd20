// SPDX-License-Identifier: Apache-2.0
#include "hub_run.hpp"

#include "fleet_run.hpp"

#include "cli/inventory.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/rfc3339.hpp>

#include <chrono>
#include <optional>

namespace execcred::test {
namespace {

// A provider whose token names the server that it is for. It needs only the shell.
std::string echoing_provider(const blackbox::Sandbox& sandbox) {
  const auto end = std::chrono::system_clock::now() + std::chrono::hours(1);
  return sandbox.script(
      "bin/echo",
      "server=${KUBERNETES_EXEC_INFO#*'\"server\":\"'}\n"
      "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
      "\"status\":{\"expirationTimestamp\":\"%s\",\"token\":\"for-%s\"}}' '" +
          format_rfc3339(std::chrono::floor<std::chrono::seconds>(end)) + "' \"${server%%'\"'*}\"");
}

}  // namespace

Json profile_object(const std::string& name, const std::string& server) {
  return {
      {"apiVersion", "multicluster.x-k8s.io/v1alpha1"},
      {"kind", "ClusterProfile"},
      {"metadata", {{"name", name}, {"namespace", "fleet"}}},
      {"status",
       {{"accessProviders", Json::array({{{"name", "p"}, {"cluster", {{"server", server}}}}})}}}};
}

Process::Process(const LiveApi& api, const std::string& token) {
  const Hub hub = api.hub();
  std::filesystem::create_directory(root());
  std::filesystem::permissions(root(), std::filesystem::perms::owner_all);
  sandbox_.write("mapping.json",
                 blackbox::mapping({blackbox::mapped("p", echoing_provider(sandbox_),
                                                     ", \"provideClusterInfo\": true")}));
  sandbox_.write(
      "kubeconfig",
      Json{{"apiVersion", "v1"},
           {"kind", "Config"},
           {"current-context", "c"},
           {"clusters",
            {{{"name", "c"},
              {"cluster",
               {{"server", hub.server},
                {"certificate-authority-data", encode_base64(hub.http.tls.ca_certificates)}}}}}},
           {"users", {{{"name", "u"}, {"user", {{"token", token}}}}}},
           {"contexts", {{{"name", "c"}, {"context", {{"cluster", "c"}, {"user", "u"}}}}}}}
          .dump(),
      0600);
}

blackbox::Command Process::command(std::vector<std::string> more) const {
  std::vector<std::string> all = {blackbox::kCli,
                                  "sync",
                                  "-m",
                                  sandbox_.at("mapping.json"),
                                  "--from-hub",
                                  "--kubeconfig=" + sandbox_.at("kubeconfig"),
                                  "--to-secret=token",
                                  "--secret-namespace=to"};
  for (std::string& argument : more) all.push_back(std::move(argument));
  return {.arguments = std::move(all), .environment = {"PATH=/usr/bin:/bin"}};
}

blackbox::Command Process::listening(std::vector<std::string> more) const {
  more.emplace_back("--listen=127.0.0.1:0");
  blackbox::Command command = this->command(std::move(more));
  blackbox::write_log(command, sandbox_.at("log"));
  return command;
}

std::pair<std::string, std::string> written(const LiveApi& api, const std::string& cluster) {
  const std::optional<Json> object = api.find("secrets", "to", cluster + "-token");
  if (!object) return {};
  const auto value = [&](const char* key) {
    return decode_base64((*object)["data"][key].get<std::string>()).value_or("");
  };
  return {value("token"), value("server")};
}

}  // namespace execcred::test
