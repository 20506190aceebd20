// SPDX-License-Identifier: Apache-2.0
// Every convention with the defaults of its own reader, in front of a hub.
#include "plugin.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

constexpr const char* kManaged =
    "authentication.open-cluster-management.io/is-managed-serviceaccount";

struct Convention {
  std::string name;
  HubSecret secret;  // `TOKEN` in its values is the token, `KUBECONFIG` a kubeconfig with it
  Texts more = {};
  std::string config = R"({"clusterName":"spoke-1"})";
};

std::string argocd_config(const std::string& token) {
  return R"({"bearerToken":")" + token + R"(","tlsClientConfig":{"insecure":false}})";
}

HubSecret filled(HubSecret secret, const std::string& token) {
  for (auto& [key, value] : secret.data) {
    if (value == "TOKEN") value = token;
    if (value == "KUBECONFIG") value = stored_kubeconfig("token: " + token);
    if (value == "ARGOCD") value = argocd_config(token);
  }
  return secret;
}

const std::map<std::string, std::string> kToken = {{"token", "TOKEN"}};

const std::vector<Convention> kInUse = {
    {"secretreader", {.name = "spoke-1", .data = kToken}},
    {"kubeconfig-secretreader",
     {.name = "stored", .data = {{"value", "KUBECONFIG"}}},
     {},
     R"({"name":"stored","key":"value","context":"spoke"})"},
    {"token-secretreader",
     {.name = "stored", .data = {{"t", "TOKEN"}}},
     {},
     R"({"secretName":"stored","secretNamespace":"clusters","key":"t"})"},
    {"cp-creds", {.name = "spoke-1-msa", .data = kToken}, {"--managed-serviceaccount=msa"}},
    {"managed-serviceaccount",
     {.name = "msa", .data = kToken, .labels = {{kManaged, "true"}}, .name_space = "spoke-1"},
     {"--secret-name=msa", "--allow-namespace=spoke-1"}},
    {"cluster-profile",
     {.name = "any",
      .data = {{"Config", "KUBECONFIG"}},
      .labels = {{"x-k8s.io/cluster-profile", "spoke-1"},
                 {"x-k8s.io/cluster-inventory-consumer", "whoever"}}}},
    {"mcr-kubeconfig",
     {.name = "spoke-1",
      .data = {{"kubeconfig", "KUBECONFIG"}},
      .labels = {{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}}}},
    {"cluster-api",
     {.name = "spoke-1-kubeconfig",
      .data = {{"value", "KUBECONFIG"}},
      .labels = {{"cluster.x-k8s.io/cluster-name", "spoke-1"}},
      .type = "cluster.x-k8s.io/secret"}},
    {"istio",
     {.name = "istio-remote-secret-spoke-1",
      .data = {{"spoke-1", "KUBECONFIG"}},
      .labels = {{"istio/multiCluster", "true"}}}},
    {"argocd",
     {.name = "cluster-7",
      .data = {{"name", "spoke-1"}, {"server", std::string(kSpoke)}, {"config", "ARGOCD"}},
      .labels = {{"argocd.argoproj.io/secret-type", "cluster"}}}},
    {"karmada", {.name = "spoke-1", .data = kToken}},
    {"service-account-token",
     {.name = "spoke-1", .data = kToken, .type = "kubernetes.io/service-account-token"}},
    {"generic",
     {.name = "mine", .data = {{"value.yaml", "KUBECONFIG"}}},
     {"--secret-name=mine", "--key=value.yaml", "--format=kubeconfig"}},
};

std::string option_of(const Convention& c) { return "--convention=" + c.name; }

}  // namespace

TEST_CASE("convention: each finds its Secret by its own defaults") {
  for (const Convention& c : kInUse) {
    CAPTURE(c.name);
    Plugin plugin;
    const std::string token = new_token();
    plugin.hub.add(filled(c.secret, token));
    Ask ask{.arguments = c.more, .config = c.config};
    ask.arguments.push_back(option_of(c));
    const Outcome outcome = plugin.run(ask);
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) == token);
  }
}

TEST_CASE("convention: each gives the same bytes as long as nothing changes") {
  for (const Convention& c : kInUse) {
    CAPTURE(c.name);
    Plugin plugin;
    // Ends before --max-age does, so that the time of the call does not matter.
    plugin.hub.add(filled(c.secret, new_token(400)));
    Ask ask{.arguments = c.more, .config = c.config};
    ask.arguments.push_back(option_of(c));
    const Outcome first = plugin.run(ask);
    CHECK_SUCCESS(first);
    CHECK(plugin.run(ask).output == first.output);
  }
}

TEST_CASE("convention: a missing Secret is reported with its namespace") {
  for (const Convention& c : kInUse) {
    CAPTURE(c.name);
    const Plugin plugin;
    Ask ask{.arguments = c.more, .config = c.config};
    ask.arguments.push_back(option_of(c));
    const Outcome outcome = plugin.run(ask);
    CHECK_REFUSAL(outcome, 1, "'" + c.secret.name_space);
  }
}

TEST_CASE("convention: the labels and the type of its Secrets are required") {
  for (const Convention& c : kInUse) {
    if (c.secret.labels.empty() && c.secret.type == "Opaque") continue;
    CAPTURE(c.name);
    Plugin plugin;
    HubSecret secret = filled(c.secret, new_token());
    secret.labels.clear();
    secret.type = "Opaque";
    plugin.hub.add(secret);
    Ask ask{.arguments = c.more, .config = c.config};
    ask.arguments.push_back(option_of(c));
    CHECK_FAILURE(plugin.run(ask), 1, "'" + c.secret.name_space);
  }
}

TEST_CASE("convention: an unknown name is an error that lists all conventions") {
  const Plugin plugin;
  const Outcome outcome = plugin.run({.arguments = {"--convention=secretreaders"}});
  CHECK_REFUSAL(outcome, 2, "'secretreaders' is no convention");
  for (const Convention& c : kInUse) CHECK(says(outcome, c.name));
}

TEST_CASE("convention: a missing name is an error that says which option sets it") {
  struct Case {
    Texts arguments;
    std::string text;
  };
  const Plugin plugin;
  for (const Case& c :
       {Case{{"--convention=generic"}, "--secret-name"},
        Case{{"--convention=cp-creds"}, "--managed-serviceaccount"},
        Case{{"--convention=kubeconfig-secretreader", "--secret-name=a"}, "key"},
        Case{{"--convention=token-secretreader", "--secret-name=a"}, "key"},
        Case{{"--convention=managed-serviceaccount", "--allow-namespace=any"}, "--secret-name"},
        Case{{"--convention=karmada", "--managed-serviceaccount=m"}, "cp-creds"}}) {
    CAPTURE(c.text);
    CHECK_REFUSAL(plugin.run({.arguments = c.arguments}), 2, c.text);
  }
  CHECK_REFUSAL(plugin.run({.arguments = {"--convention=secretreader"}, .config = ""}), 2,
                "clusterName");
  CHECK_REFUSAL(plugin.run_blind({"--convention=secretreader"}), 2, "provideClusterInfo: true");
}

}  // namespace execcred::test
