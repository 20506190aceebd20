// SPDX-License-Identifier: Apache-2.0
// Runs the canonical mapping's entry for execcred-bootstrap with a Secret of Cluster API on a hub.
// Only the paths of programs and the server of the cluster are replaced in it.
#include "bootstrap.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using nlohmann::json;

constexpr const char* kSecretPath = "/api/v1/namespaces/clusters/secrets/spoke-1-kubeconfig";

// {"kind":"Config",...} with one cluster, whose context has the namespace "clusters".
std::string kubeconfig_of(const ScriptedServer& server, const std::string& token) {
  const json cluster = {{"server", server.url()},
                        {"certificate-authority-data", blackbox::base64(server.ca_pem())}};
  const json context = {{"cluster", "c"}, {"user", "u"}, {"namespace", "clusters"}};
  return json{{"apiVersion", "v1"},
              {"kind", "Config"},
              {"current-context", "x"},
              {"clusters", {{{"name", "c"}, {"cluster", cluster}}}},
              {"users", {{{"name", "u"}, {"user", {{"token", token}}}}}},
              {"contexts", {{{"name", "x"}, {"context", context}}}}}
      .dump();
}

// A Secret in which Cluster API stores the kubeconfig of its cluster spoke-1.
std::string secret_with(const std::string& kubeconfig) {
  const json metadata = {{"name", "spoke-1-kubeconfig"},
                         {"namespace", "clusters"},
                         {"labels", {{"cluster.x-k8s.io/cluster-name", "spoke-1"}}}};
  return json{{"apiVersion", "v1"},
              {"kind", "Secret"},
              {"metadata", metadata},
              {"type", "cluster.x-k8s.io/secret"},
              {"data", {{"value", blackbox::base64(kubeconfig)}}}}
      .dump();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t count = 0;
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    ++count;
  }
  CHECK_MESSAGE(count > 0, from);
  return text;
}

std::string profile_of(const ScriptedServer& server) {
  const json extension = {{"name", "client.authentication.k8s.io/exec"},
                          {"extension", {{"clusterName", "spoke-1"}}}};
  const json cluster = {{"server", server.url()},
                        {"certificate-authority-data", blackbox::base64(server.ca_pem())},
                        {"extensions", {extension}}};
  return json{{"apiVersion", "multicluster.x-k8s.io/v1alpha1"},
              {"kind", "ClusterProfile"},
              {"metadata", {{"name", "spoke-1"}, {"namespace", "fleet"}}},
              {"status", {{"accessProviders", {{{"name", "bootstrap"}, {"cluster", cluster}}}}}}}
      .dump();
}

}  // namespace

TEST_CASE("examples: the canonical mapping's entry gets a token with a Secret of Cluster API") {
  const Bootstrap rig;
  ScriptedServer hub;
  const std::string stored = new_secret();
  hub.on(kSecretPath, reply(200, secret_with(kubeconfig_of(rig.api.server, stored))));
  const std::string mapping = replaced(
      replaced(blackbox::read_text(EXECCRED_SOURCE "/config/clusterprofile-provider-file.json"),
               "/plugins/", EXECCRED_BIN "/"),
      "https://*.example.com:6443", rig.api.server.url());
  const std::string hub_kubeconfig =
      rig.sandbox.write("hub.json", kubeconfig_of(hub, new_secret()), 0600);
  const Outcome outcome = blackbox::run(
      {.arguments = {std::string(EXECCRED_BIN "/execcred"), "get", "-m",
                     rig.sandbox.write("mapping.json", mapping), "-f",
                     rig.sandbox.write("profile.json", profile_of(rig.api.server)), "-o", "token"},
       .environment = {"KUBECONFIG=" + hub_kubeconfig, "HOME=" + rig.sandbox.at("home"),
                       "EXECCRED_NO_CACHE=true"}});
  CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
  CHECK(hub.count(kSecretPath) == 1);
  const Received sent = rig.api.server.last(kTokenPath);
  CHECK(sent.header("Authorization") == "Bearer " + stored);
  CHECK(blackbox::json_at(sent.body, "spec.expirationSeconds") == "3600");
  CHECK(outcome.output.find(stored) == std::string::npos);
  CHECK_FALSE(outcome.output.empty());
}

}  // namespace execcred::test
