// SPDX-License-Identifier: Apache-2.0
// How a Secret is found: by one GET, or by paged lists that end early.
#include "plugin.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

const std::map<std::string, std::string> kIstio = {{"istio/multiCluster", "true"}};
const std::map<std::string, std::string> kArgocd = {{"argocd.argoproj.io/secret-type", "cluster"}};
const std::map<std::string, std::string> kProfile = {{"x-k8s.io/cluster-profile", "spoke-1"},
                                                     {"x-k8s.io/cluster-inventory-consumer", "me"}};

HubSecret remote(const std::string& name, const std::string& cluster, const std::string& token) {
  return {
      .name = name, .data = {{cluster, stored_kubeconfig("token: " + token)}}, .labels = kIstio};
}

HubSecret argocd(const std::string& name, const std::string& cluster, const std::string& token) {
  return {.name = name,
          .data = {{"name", cluster},
                   {"server", std::string(kSpoke)},
                   {"config", R"({"bearerToken":")" + token + R"("})"}},
          .labels = kArgocd};
}

std::size_t count_of(const Texts& requests, const std::string& part) {
  return static_cast<std::size_t>(std::count_if(
      requests.begin(), requests.end(),
      [&part](const std::string& request) { return request.find(part) != std::string::npos; }));
}

const Ask kAskIstio = {.arguments = {"--convention=istio"}};
const Ask kAskArgocd = {.arguments = {"--convention=argocd"}};
const Ask kAskProfile = {.arguments = {"--convention=cluster-profile"}};

}  // namespace

TEST_CASE("lookup: among 1,000 Secrets a named one still costs exactly one request") {
  Plugin plugin;
  const std::string token = new_token();
  for (int i = 0; i < 1000; ++i) {
    plugin.hub.add(
        {.name = "spoke-" + std::to_string(i), .data = {{"token", i == 1 ? token : "other"}}});
  }
  CHECK(token_of(plugin.run({.arguments = {"--convention=secretreader"}})) == token);
  CHECK(plugin.hub.requests() == Texts{"GET /api/v1/namespaces/clusters/secrets/spoke-1"});
}

TEST_CASE("lookup: the hub selects by labels, two Secrets a page, and a second match ends it") {
  Plugin plugin;
  for (int i = 0; i < 100; ++i) {
    plugin.hub.add({.name = "s-" + std::to_string(i),
                    .data = {{"Config", stored_kubeconfig("token: t")}},
                    .labels = kProfile});
  }
  CHECK_FAILURE(plugin.run(kAskProfile), 1,
                "Secret 'clusters/s-0' and Secret 'clusters/s-1' both are");
  const Texts requests = plugin.hub.requests();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].find("limit=2&") != std::string::npos);
  CHECK(requests[0].find("x-k8s.io/cluster-profile=spoke-1") != std::string::npos);
}

TEST_CASE("lookup: a list whose continue token has expired is read again, without pages") {
  Plugin plugin;
  const std::string token = new_token();
  plugin.hub.next({.status = 200,
                   .body = R"({"kind":"SecretList","items":[],)"
                           R"("metadata":{"continue":"old"}})"});
  plugin.hub.next({.status = 410,
                   .body = R"({"kind":"Status","reason":"Expired",)"
                           R"("metadata":{"continue":"0"}})"});
  plugin.hub.add({.name = "s",
                  .data = {{"Config", stored_kubeconfig("token: " + token)}},
                  .labels = kProfile});
  CHECK(token_of(plugin.run(kAskProfile)) == token);
  const Texts requests = plugin.hub.requests();
  REQUIRE(requests.size() == 3);
  CHECK(requests[2].find("continue=") == std::string::npos);
  CHECK(requests[2].find("limit=") == std::string::npos);
  plugin.hub.always({.status = 410, .body = R"({"kind":"Status","code":410})"});
  CHECK_REFUSAL(plugin.run(kAskProfile), 1, "410 Gone");
}

TEST_CASE("lookup: Secrets of other clusters do not cause more requests") {
  Plugin plugin;
  const std::string token = new_token();
  for (int i = 0; i < 200; ++i) {
    auto labels = kProfile;
    labels["x-k8s.io/cluster-profile"] = "spoke-" + std::to_string(i);
    plugin.hub.add({.name = "s-" + std::to_string(i),
                    .data = {{"Config", stored_kubeconfig("token: " + token)}},
                    .labels = labels});
  }
  CHECK(token_of(plugin.run(kAskProfile)) == token);
  CHECK(plugin.hub.requests().size() == 1);
}

TEST_CASE("lookup: the profile's namespace is one more label, and a consumer may be named") {
  Plugin plugin;
  const std::string token = new_token();
  for (const std::string name_space : {"fleet", "other"}) {
    auto labels = kProfile;
    labels["x-k8s.io/cluster-profile-namespace"] = name_space;
    const std::string stored = name_space == "fleet" ? token : new_token();
    plugin.hub.add({.name = "in-" + name_space,
                    .data = {{"Config", stored_kubeconfig("token: " + stored)}},
                    .labels = labels});
  }
  CHECK_FAILURE(plugin.run(kAskProfile), 1,
                "Secret 'clusters/in-fleet' and Secret 'clusters/in-other'");
  Ask ask = kAskProfile;
  ask.arguments.emplace_back("--selector=x-k8s.io/cluster-profile-namespace=fleet");
  CHECK(token_of(plugin.run(ask)) == token);
  ask.arguments.back() += ",x-k8s.io/cluster-inventory-consumer=somebody-else";
  CHECK_FAILURE(plugin.run(ask), 1, "no Secret in namespace 'clusters' is meant by the labels");
}

TEST_CASE("lookup: a required label is one more label by which Secrets are found") {
  Plugin plugin;
  const std::string token = new_token();
  const auto add = [&](HubSecret secret, bool is_approved) {
    if (is_approved) secret.labels["approved"] = "yes";
    plugin.hub.add(std::move(secret));
  };
  for (const bool is_approved : {false, true}) {
    const std::string name = is_approved ? "b" : "a";
    const std::string stored = is_approved ? token : new_token();
    add({.name = name,
         .data = {{"Config", stored_kubeconfig("token: " + stored)}},
         .labels = kProfile},
        is_approved);
    add(argocd("argocd-" + name, "spoke-1", stored), is_approved);
    add(remote(is_approved ? name : "istio-remote-secret-spoke-1", "spoke-1", stored), is_approved);
  }
  for (Ask ask : {kAskProfile, kAskArgocd, kAskIstio}) {
    CAPTURE(ask.arguments.front());
    ask.arguments.emplace_back("--require-label=approved=yes");
    CHECK(token_of(plugin.run(ask)) == token);
    // It replaces no label that --selector names.
    ask.arguments.emplace_back("--selector=approved=no");
    CHECK_FAILURE(plugin.run(ask), 1, "approved=no");
  }
}

TEST_CASE("lookup: a Secret that labels find can be named too, and is then read by one GET") {
  Plugin plugin;
  const std::string token = new_token();
  plugin.hub.add({.name = "one",
                  .data = {{"Config", stored_kubeconfig("token: " + token)}},
                  .labels = kProfile});
  plugin.hub.add(
      {.name = "two", .data = {{"Config", stored_kubeconfig("token: x")}}, .labels = kProfile});
  plugin.hub.add({.name = "bare", .data = {{"Config", stored_kubeconfig("token: x")}}});
  Ask ask = kAskProfile;
  ask.arguments.emplace_back("--secret-name=one");
  CHECK(token_of(plugin.run(ask)) == token);
  CHECK(plugin.hub.requests() == Texts{"GET /api/v1/namespaces/clusters/secrets/one"});
  ask.arguments.back() = "--secret-name=bare";
  CHECK_REFUSAL(plugin.run(ask), 1, "does not have the label");
}

TEST_CASE("istio: the Secret with the name of the cluster is read first, and ends the lookup") {
  Plugin plugin;
  const std::string token = new_token();
  plugin.hub.add(remote("istio-remote-secret-spoke-1", "spoke-1", token));
  plugin.hub.add(remote("another", "spoke-1", new_token()));
  CHECK(token_of(plugin.run(kAskIstio)) == token);
  CHECK(plugin.hub.requests() ==
        Texts{"GET /api/v1/namespaces/clusters/secrets/istio-remote-secret-spoke-1"});
}

TEST_CASE("istio: otherwise the Secret that has the cluster's key is found in paged lists") {
  Plugin plugin;
  const std::string token = new_token();
  for (int i = 0; i < 50; ++i) {
    plugin.hub.add(remote("r-" + std::to_string(i), "cluster-" + std::to_string(i), "other"));
  }
  HubSecret both = remote("of-two", "spoke-1", token);
  both.data["spoke-2"] = "users: [this is no kubeconfig";
  plugin.hub.add(both);
  CHECK(token_of(plugin.run(kAskIstio)) == token);
  const Texts requests = plugin.hub.requests();
  CHECK(count_of(requests, "/istio-remote-secret-spoke-1") == 1);
  CHECK(count_of(requests, "labelSelector=istio/multiCluster=true") == 3);
  CHECK(count_of(requests, "limit=20") == 3);
}

TEST_CASE("istio: a Secret of that name without the label is not used") {
  Plugin plugin;
  const std::string token = new_token();
  HubSecret unlabelled = remote("istio-remote-secret-spoke-1", "spoke-1", new_token());
  unlabelled.labels.clear();
  plugin.hub.add(unlabelled);
  CHECK_REFUSAL(plugin.run(kAskIstio), 1, "no Secret in namespace 'clusters'");
  plugin.hub.add(remote("another", "spoke-1", token));
  CHECK(token_of(plugin.run(kAskIstio)) == token);
}

TEST_CASE("istio: two Secrets with one cluster are an error for that cluster only") {
  Plugin plugin;
  const std::string token = new_token();
  plugin.hub.add(remote("one", "spoke-1", new_token()));
  plugin.hub.add(remote("two", "spoke-1", new_token()));
  plugin.hub.add(remote("three", "spoke-3", token));
  CHECK_REFUSAL(plugin.run(kAskIstio), 1, "'clusters/one' and Secret 'clusters/two'");
  Ask other = kAskIstio;
  other.config = R"({"clusterName":"spoke-3"})";
  CHECK(token_of(plugin.run(other)) == token);
}

TEST_CASE("istio: the local cluster is never taken from a Secret") {
  Plugin plugin;
  plugin.hub.add(remote("istio-remote-secret-spoke-1", "spoke-1", new_token()));
  Ask ask = kAskIstio;
  ask.arguments.emplace_back("--local-cluster=spoke-1");
  CHECK_REFUSAL(plugin.run(ask), 1, "this side's own");
  CHECK(plugin.hub.requests().empty());
  ask.arguments.back() = "--local-cluster=spoke-2";
  CHECK_SUCCESS(plugin.run(ask));
}

TEST_CASE("argocd: the Secret whose name key is the cluster is used, even beside broken ones") {
  Plugin plugin;
  const std::string token = new_token();
  HubSecret broken = argocd("broken", "x", "other");
  broken.data.erase("name");
  broken.raw_data["name"] = "!!";
  plugin.hub.add(broken);
  for (int i = 0; i < 30; ++i) {
    plugin.hub.add(argocd("c-" + std::to_string(i), "cluster-" + std::to_string(i), "other"));
  }
  plugin.hub.add(argocd("found", "spoke-1", token));
  CHECK(token_of(plugin.run(kAskArgocd)) == token);
  CHECK(count_of(plugin.hub.requests(), "labelSelector=argocd.argoproj.io/secret-type=cluster") ==
        2);
  plugin.hub.add(argocd("again", "spoke-1", token));
  CHECK_REFUSAL(plugin.run(kAskArgocd), 1, "'clusters/found' and Secret 'clusters/again'");
  Ask named = kAskArgocd;
  named.arguments.emplace_back("--secret-name=found");
  CHECK(token_of(plugin.run(named)) == token);
}

TEST_CASE("lookup: an answer with another object, or with another kind, is refused") {
  const HubSecret other{.name = "spoke-2", .data = {{"token", new_token()}}};
  const HubSecret elsewhere{
      .name = "spoke-1", .data = {{"token", new_token()}}, .name_space = "kube-system"};
  const HubSecret asked_for{.name = "spoke-1", .data = {{"token", new_token()}}};
  std::string config_map = to_json(asked_for);
  config_map.replace(config_map.find("Secret"), 6, "ConfigMap");
  const std::string list = R"({"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[]})";
  for (const std::string& body :
       {to_json(other), to_json(elsewhere), config_map, to_json(asked_for, true), list,
        std::string("[]"), std::string("null"), std::string(R"({"kind":"Secret"})"),
        std::string(R"({"kind":"Secret","metadata":{"name":"spoke-1","namespace":"clusters"},)"
                    R"("data":["x"]})"),
        R"({"kind":"Secret",)" + to_json(asked_for).substr(1), std::string("<html>"),
        std::string()}) {
    CAPTURE(body);
    Plugin plugin;
    plugin.hub.always({.body = body});
    CHECK_FAILURE(plugin.run({.arguments = {"--convention=secretreader"}}), 1, "the hub");
  }
}

TEST_CASE("lookup: an invalid list, or one with items that were not requested, is refused") {
  HubSecret stray = remote("stray", "spoke-1", new_token());
  stray.name_space = "kube-system";
  HubSecret unlabelled = remote("unlabelled", "spoke-1", new_token());
  unlabelled.labels.clear();
  const std::string start = R"({"kind":"SecretList","apiVersion":"v1","metadata":{},"items":[)";
  for (const std::string& body :
       {to_json(remote("x", "spoke-1", "t")), start + to_json(stray, true) + "]}",
        start + to_json(unlabelled, true) + "]}", start + R"({"kind":"Pod"}]})", start + "7]}",
        std::string("{}")}) {
    CAPTURE(body);
    Plugin plugin;
    plugin.hub.next(status_reply(404, "NotFound", "x"));
    plugin.hub.always({.body = body});
    CHECK_FAILURE(plugin.run({.arguments = {"--convention=argocd"}}), 1, "in namespace 'clusters'");
  }
}

}  // namespace execcred::test
