// SPDX-License-Identifier: Apache-2.0
// lint --from-hub: every ClusterProfile of the hub, and Istio's remote Secrets.
#include "cli/hub.hpp"
#include "cli/inventory.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>

using namespace blackbox;
using execcred::test::ObjectApi;

namespace {

std::string remote_secret(const std::string& name, const std::string& data,
                          const std::string& name_space = "istio-system",
                          const std::string& label = "istio/multiCluster") {
  return R"({"metadata":{"name":")" + name + R"(","namespace":")" + name_space +
         R"(","labels":{")" + label + R"(":"true"}},"data":)" + data + "}";
}

bool has(const Outcome& outcome, const std::string& text) {
  return outcome.output.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("lint --from-hub: reads all pages, and finds nothing in a valid hub") {
  const Hub hub(hub_of(501));
  const Outcome outcome = hub.run({"lint", "--from-hub"});
  // The CA data of these is no certificate.
  CHECK(outcome.exit_code == 1);
  CHECK(has(outcome, "501 errors, 0 warnings in 501 objects of the hub\n"));
  ObjectApi api = empty_hub();
  api.add(kProfiles, hub_profile("a"));
  const Outcome clean = Hub(std::move(api)).run({"lint", "--from-hub"});
  CHECK_MESSAGE(clean.exit_code == 0, describe(clean));
  CHECK(clean.output == "0 errors, 0 warnings in 1 object of the hub\n");
}

TEST_CASE("lint --from-hub: a hub without ClusterProfiles is an error, unless it may be empty") {
  const Hub hub(empty_hub());
  const Outcome refused = hub.run({"lint", "--from-hub"});
  CHECK(refused.exit_code == 2);
  CHECK(refused.error_output.starts_with("execcred: error: the hub holds no ClusterProfile\n"));
  const Outcome allowed = hub.run({"lint", "--from-hub", "--allow-empty"});
  CHECK_MESSAGE(allowed.exit_code == 0, describe(allowed));
  CHECK(allowed.error_output == "");
}

TEST_CASE("lint --from-hub: findings name the object, --namespace and --selector choose") {
  ObjectApi api = empty_hub();
  std::string bad = hub_profile("bad", "fleet", R"({"tier":"iron"})");
  bad.replace(bad.find("https://"), 8, "http://");
  api.add(kProfiles, hub_profile("good", "other", R"({"tier":"gold"})"));
  api.add(kProfiles, bad);
  const Hub hub(std::move(api));
  const Outcome outcome = hub.run({"lint", "--from-hub"});
  CHECK(outcome.exit_code == 1);
  CHECK(has(outcome,
            "hub: ClusterProfile fleet/bad: error: status.accessProviders[0].cluster.server: "));
  CHECK(has(outcome, "1 error, 0 warnings in 2 objects of the hub\n"));
  CHECK(hub.run({"lint", "--from-hub", "-n", "other"}).exit_code == 0);
  CHECK(hub.run({"lint", "--from-hub", "-l", "tier=gold"}).exit_code == 0);
  const Outcome json = hub.run({"lint", "--from-hub", "-o", "json"});
  CHECK(has(json, R"("file": "hub: ClusterProfile fleet/bad")"));
}

TEST_CASE("lint --from-hub: files are read too, and may have the same ClusterProfile as the hub") {
  ObjectApi api = empty_hub();
  api.add(kProfiles, hub_profile("a"));
  const Hub hub(std::move(api));
  const std::string file = hub.sandbox().write("a.json", hub_profile("a"));
  const Outcome both = hub.run({"lint", file, "--from-hub"});
  CHECK_MESSAGE(both.exit_code == 0, describe(both));
  CHECK(both.output == "0 errors, 0 warnings in 1 file and 1 object of the hub\n");
  CHECK_REFUSAL(hub.run({"lint", file}), 2, "--kubeconfig is given without --from-hub");
}

TEST_CASE("lint --from-hub: finds unmapped providers, and two ClusterProfiles of one cluster") {
  ObjectApi api = empty_hub();
  const std::string member = R"({"multicluster.x-k8s.io/inventory-member-id":"m1"})";
  api.add(kProfiles, hub_profile("a", "fleet", member));
  api.add(kProfiles, hub_profile("b", "other", member));
  const Hub hub(std::move(api));
  const std::string other = hub.sandbox().write("other.json", mapping({mapped("x", "/bin/true")}));
  const Outcome outcome = hub.run({"lint", other, "--from-hub", "--no-files"});
  CHECK(outcome.exit_code == 1);
  CHECK(
      has(outcome,
          "hub: ClusterProfile fleet/a: error: status.accessProviders: lists 'p', and the mapping "
          "has none of these: it has 'x'\n"));
  CHECK(has(outcome, "hub: ClusterProfile other/b: error: status.accessProviders: lists 'p'"));
  CHECK(has(outcome,
            "hub: ClusterProfile other/b: "
            "warning: metadata.labels[\"multicluster.x-k8s.io/inventory-member-id\"]: is 'm1', as "
            "that of 'fleet/a': the two ClusterProfiles are one cluster\n"));
  CHECK(has(outcome, "2 errors, 1 warning in 1 file and 2 objects of the hub\n"));
  CHECK(hub.run({"lint", hub.sandbox().at("mapping.json"), "--from-hub", "--no-files"}).exit_code ==
        0);
}

TEST_CASE("lint --from-hub: finds a cluster that is in two of Istio's Secrets") {
  ObjectApi api = empty_hub();
  api.add(kSecrets, remote_secret("one", R"({"c1":"U2VjcmV0Q2FuYXJ5","c2":"eA=="})"));
  api.add(kSecrets, remote_secret("two", R"({"c1":"eA==","c3":"eA=="})"));
  api.add(kSecrets, remote_secret("far", R"({"c2":"eA=="})", "istio-canary"));
  api.add(kSecrets, remote_secret("else", R"({"c1":"eA=="})", "istio-system", "other"));
  const Hub hub(std::move(api));
  const Outcome outcome = hub.run({"lint", "--from-hub"});
  CHECK(outcome.exit_code == 1);
  CHECK(has(outcome,
            "hub: Secret istio-system/two: error: data.c1: is cluster 'c1', as in Secret "
            "'istio-system/one'\n"));
  CHECK(has(outcome, "hub: Secret istio-canary/far: warning: data.c2: is cluster 'c2'"));
  CHECK(has(outcome, "1 error, 1 warning in 3 objects of the hub\n"));
  CHECK(outcome.output.find("SecretCanary") == std::string::npos);
  CHECK(hub.requests().back() ==
        "GET /api/v1/secrets?limit=40&labelSelector=istio%2FmultiCluster%3Dtrue");
  CHECK(hub.run({"lint", "--from-hub", "-n", "istio-canary"}).exit_code == 0);
}

TEST_CASE("lint --from-hub: Secrets that may not be read are a warning, ClusterProfiles an error") {
  ObjectApi api = empty_hub();
  api.add(kProfiles, hub_profile("a"));
  api.forbid("secrets");
  const Outcome outcome = Hub(api).run({"lint", "--from-hub"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(has(outcome, "hub: Secrets: warning: were not searched"));
  CHECK(has(outcome, "403 Forbidden"));
  CHECK(has(outcome, "[secrets]"));
  api.forbid("clusterprofiles");
  const Hub closed(std::move(api));
  CHECK_REFUSAL(closed.run({"lint", "--from-hub"}), 1, "403 Forbidden");
  // Findings in the files are reported anyway.
  const std::string file = closed.sandbox().write("empty.json", "");
  const Outcome both = closed.run({"lint", file, "--from-hub"});
  CHECK(both.exit_code == 1);
  CHECK(has(both, "is empty"));
  CHECK(both.error_output.find("403 Forbidden") != std::string::npos);
}
