// SPDX-License-Identifier: Apache-2.0
#include "hub.hpp"

#include "documents.hpp"
#include "inventory.hpp"

namespace blackbox {

using execcred::test::ObjectApi;

const ObjectApi::Resource kProfiles = {.path = "/apis/multicluster.x-k8s.io/v1alpha1",
                                       .plural = "clusterprofiles",
                                       .kind = "ClusterProfile"};
const ObjectApi::Resource kSecrets = {.path = "/api/v1", .plural = "secrets", .kind = "Secret"};

namespace {

std::string profile_with(std::string_view name, std::string_view name_space,
                         std::string_view labels, std::string_view cluster_fields) {
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":{)"
         R"("name":)" +
         json_string(name) + ",\"namespace\":" + json_string(name_space) +
         ",\"labels\":" + std::string(labels) + R"(},"status":{"accessProviders":[)" +
         provider("p", "https://" + std::string(name) + ".example.com:6443", cluster_fields) +
         "]}}";
}

}  // namespace

ObjectApi empty_hub() {
  ObjectApi api;
  api.serve(kProfiles);
  api.serve(kSecrets);
  return api;
}

std::string hub_profile(std::string_view name, std::string_view name_space,
                        std::string_view labels) {
  return profile_with(name, name_space, labels, "");
}

ObjectApi hub_of(std::size_t count) {
  const std::string ca =
      R"(,"certificate-authority-data":")" + std::string(1600, 'A') +
      R"(","extensions":[{"name":"client.authentication.k8s.io/exec","extension":)"
      R"({"clusterName":"spoke"}}])";
  ObjectApi api = empty_hub();
  for (std::size_t i = 0; i < count; ++i) {
    api.add(kProfiles, profile_with("c" + std::to_string(i), "fleet", "{}", ca));
  }
  return api;
}

Hub::Hub(Handler handler) : server_(std::move(handler)) {
  sandbox_.write("hub-ca.crt", server_.ca_pem());
  sandbox_.write("hub.json",
                 R"({"apiVersion":"v1","kind":"Config","current-context":"hub",)"
                 R"("clusters":[{"name":"hub","cluster":{"server":)" +
                     json_string(server_.url()) +
                     R"(,"certificate-authority":"hub-ca.crt"}}],)"
                     R"("users":[{"name":"reader","user":{"token":"HubTokenCanary"}}],)"
                     R"("contexts":[{"name":"hub","context":{"cluster":"hub","user":"reader"}}]})");
  sandbox_.write("mapping.json",
                 mapping({mapped("p", sandbox_.script("plugin", printing("TokenOfThePlugin")))}));
}

Command Hub::command(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), kCli);
  arguments.insert(arguments.end(), {"--kubeconfig", sandbox_.at("hub.json")});
  return {.arguments = std::move(arguments), .environment = {"PATH=/usr/bin:/bin"}};
}

Outcome Hub::from_hub(std::string_view subcommand, std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(),
                   {std::string(subcommand), "-m", sandbox_.at("mapping.json"), "--from-hub"});
  return run(std::move(arguments));
}

std::vector<std::string> Hub::requests() const {
  std::vector<std::string> lines;
  for (const execcred::test::HttpRequest& request : server_.requests()) {
    lines.push_back(request.method + " " + request.target);
  }
  return lines;
}

}  // namespace blackbox
