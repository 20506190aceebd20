// SPDX-License-Identifier: Apache-2.0
#include "live_api.hpp"
#include "unit/expect.hpp"
#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/hub/hub.hpp>

#include <string>

namespace execcred::test {
namespace {

Json profile(const std::string& name, const std::string& name_space, const std::string& env,
             const Json& status = Json::object()) {
  return {{"apiVersion", "multicluster.x-k8s.io/v1alpha1"},
          {"kind", "ClusterProfile"},
          {"metadata", {{"name", name}, {"namespace", name_space}, {"labels", {{"env", env}}}}},
          {"status", status}};
}

// A kubeconfig of the API, with a CA in a file beside it.
std::string write_kubeconfig(const LiveApi& api, const TempDir& dir) {
  const Hub hub = api.hub();
  write_file(dir / "ca.pem", hub.http.tls.ca_certificates);
  const Json config = {
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"current-context", "hub"},
      {"clusters",
       {{{"name", "hub"},
         {"cluster", {{"server", hub.server}, {"certificate-authority", "ca.pem"}}}}}},
      {"users", {{{"name", "reader"}, {"user", {{"token", "t0ken"}}}}}},
      {"contexts", {{{"name", "hub"}, {"context", {{"cluster", "hub"}, {"user", "reader"}}}}}}};
  return write_file(dir / "config", config.dump()).native();
}

TEST_CASE("list_cluster_profiles: filtered by namespace and selector, with the unreadable ones") {
  LiveApi api;
  api.put("clusterprofiles", profile("one", "fleet", "prod"));
  api.put("clusterprofiles", profile("two", "fleet", "test"));
  api.put("clusterprofiles", profile("three", "other", "prod"));
  api.put("clusterprofiles", profile("bad", "fleet", "prod", Json::array()));
  const TempDir dir;
  HubQuery query = {.kubeconfig = write_kubeconfig(api, dir)};

  const Result<LoadedProfiles> all = list_cluster_profiles(query, Environment());
  if (!all) FAIL(full_text(all.error()));
  CHECK(all->profiles.size() == 3);
  REQUIRE(all->problems.size() == 1);
  CHECK(contains(full_text(all->problems[0]), "reading ClusterProfile 'fleet/bad' of the hub"));

  query.name_space = "fleet";
  query.label_selector = "env=test";
  const Result<LoadedProfiles> some = list_cluster_profiles(query, Environment());
  if (!some) FAIL(full_text(some.error()));
  REQUIRE(some->profiles.size() == 1);
  CHECK(some->profiles[0].full_name() == "fleet/two");
  CHECK(some->problems.empty());
}

TEST_CASE("list_cluster_profiles: a malformed query sends no request") {
  LiveApi api;
  const TempDir dir;
  const std::string kubeconfig = write_kubeconfig(api, dir);
  check_fails(list_cluster_profiles({.kubeconfig = kubeconfig, .name_space = "a/b"}, Environment()),
              Error::Kind::configuration, "'a/b' is no name of a namespace");
  check_fails(
      list_cluster_profiles({.kubeconfig = kubeconfig, .label_selector = "=x"}, Environment()),
      Error::Kind::configuration, "=x");
  check_fails(list_cluster_profiles({.kubeconfig = kubeconfig, .context = "none"}, Environment()),
              Error::Kind::configuration, "none");
  CHECK(api.requests().empty());
}

}  // namespace
}  // namespace execcred::test
