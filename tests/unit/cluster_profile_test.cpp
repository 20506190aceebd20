// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/access.hpp>
#include <execcred/cluster_profile.hpp>

#include <string>
#include <vector>

namespace execcred {
namespace {

using test::check_fails;

constexpr auto kConfiguration = Error::Kind::configuration;

std::vector<std::string> names(const std::vector<ClusterProfile>& profiles) {
  std::vector<std::string> names;
  for (const ClusterProfile& profile : profiles) names.push_back(profile.full_name());
  return names;
}

std::vector<std::string> providers(const ClusterProfile& profile) {
  std::vector<std::string> names;
  for (const AccessProvider& provider : profile.access_providers) {
    names.push_back(provider.name + "@" + provider.path);
  }
  return names;
}

std::string json_profile(std::string_view name, std::string_view status = "{}") {
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile","metadata":{"namespace":"fleet","name":")" +
         std::string(name) + R"("},"status":)" + std::string(status) + "}";
}

TEST_CASE("parse_cluster_profiles: any way in which Kubernetes tools write them") {
  const std::string yaml =
      "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ClusterProfile\n"
      "metadata: {namespace: fleet, name: a}\n";
  const std::string other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";
  const std::string items = json_profile("a") + "," + json_profile("b");
  const std::string untyped = R"({"metadata":{"namespace":"fleet","name":"a"}},)"
                              R"({"metadata":{"namespace":"fleet","name":"b"}})";
  struct Case {
    std::string_view way;
    std::string text;
    std::vector<std::string> names;
  };
  for (
      const Case& c : std::vector<Case>{
          {"YAML", yaml, {"fleet/a"}},
          {"JSON", json_profile("a"), {"fleet/a"}},
          {"documents",
           yaml + "---\n" + other + "---\n---\n" + json_profile("b") + "\n",
           {"fleet/a", "fleet/b"}},
          {"JSON documents", json_profile("b") + "\n" + json_profile("a"), {"fleet/b", "fleet/a"}},
          {"a List",
           R"({"apiVersion":"v1","kind":"List","items":[)" + items +
               R"(,{"apiVersion":"v1","kind":"Secret","data":{"k":"v"}}]})",
           {"fleet/a", "fleet/b"}},
          {"a List of Lists",
           R"({"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[)" +
               items + "]}]}",
           {"fleet/a", "fleet/b"}},
          {"a ClusterProfileList, whose items have no kind",
           R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfileList","metadata":{},"items":[)" +
               untyped + "]}",
           {"fleet/a", "fleet/b"}},
          {"an empty list",
           R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfileList","items":[]})",
           {}},
          {"other kinds only", other, {}},
          {"nothing", "", {}},
          {"comments", "# nothing\n---\n", {}},
          {"a later version of the group",
           R"({"apiVersion":"multicluster.x-k8s.io/v1beta1","kind":"ClusterProfile","metadata":{"name":"a"}})",
           {"a"}}}) {
    CAPTURE(c.way);
    const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(c.text);
    if (!profiles) FAIL(test::story(profiles.error()));
    CHECK(names(*profiles) == c.names);
  }
}

TEST_CASE("parse_cluster_profiles: what is malformed is refused, with its place") {
  struct Case {
    std::string text;
    std::string_view told;
  };
  const std::string head =
      R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)";
  for (
      const Case& c : std::vector<Case>{
          {"[]", "the document"},
          {"just text", "the document"},
          {"{", "the document"},
          {"{}", "kind is missing"},
          {R"({"kind":"ClusterProfile"})", "apiVersion is missing"},
          {R"({"apiVersion":"v1","kind":"ClusterProfile","metadata":{"name":"a"}})", "apiVersion"},
          {R"({"apiVersion":"multicluster.x-k8s.io.evil/v1","kind":"ClusterProfile","metadata":{"name":"a"}})",
           "apiVersion"},
          {head + R"("metadata":null})", "metadata is missing"},
          {head + R"("metadata":{}})", "metadata.name is missing"},
          {head + R"("metadata":{"name":"../a"}})", "metadata.name"},
          {head + R"("metadata":{"name":"A"}})", "metadata.name"},
          {head + R"("metadata":{"name":"a","namespace":"a.b"}})", "metadata.namespace"},
          {head + R"("metadata":{"name":"a","name":"b"}})", "more than once"},
          {head + R"("metadata":{"name":"a"},"status":[]})", "status"},
          {json_profile("a", R"({"accessProviders":{}})"), "status.accessProviders"},
          {json_profile("a", R"({"accessProviders":[1]})"), "status.accessProviders[0]"},
          {json_profile("a", R"({"accessProviders":[{}]})"), "status.accessProviders[0].name"},
          {json_profile("a", R"({"accessProviders":[{"name":"x"},{"name":"x"}]})"),
           "status.accessProviders[1].name"},
          {json_profile("a", R"({"credentialProviders":[{"name":"x"},{"name":"x"}]})"),
           "status.credentialProviders[1].name"},
          {R"({"apiVersion":"v1","kind":"List","items":[)" + json_profile("a") + "," +
               json_profile("B") + "]}",
           "items[1]"}}) {
    CAPTURE(c.text);
    check_fails(parse_cluster_profiles(c.text), kConfiguration, c.told);
  }
}

TEST_CASE("parse_cluster_profile: accessProviders win over the deprecated credentialProviders") {
  const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(json_profile(
      "a",
      R"({"credentialProviders":[{"name":"old","cluster":{"server":"https://old"}},{"name":"both","cluster":{"server":"https://deprecated"}}],)"
      R"("accessProviders":[{"name":"new","cluster":{"server":"https://new"}},{"name":"both","cluster":{"server":"https://current"}}]})"));
  REQUIRE(profiles);
  const ClusterProfile& profile = profiles->front();
  CHECK(providers(profile) == std::vector<std::string>{"new@status.accessProviders[0]",
                                                       "both@status.accessProviders[1]",
                                                       "old@status.credentialProviders[0]"});
  CHECK(*profile.access_providers[1].cluster.find("server")->string() == "https://current");
}

TEST_CASE("parse_cluster_profile: no status, no providers, null ones") {
  for (const std::string_view status : {"null", "{}", R"({"accessProviders":null})",
                                        R"({"accessProviders":[],"credentialProviders":[]})"}) {
    CAPTURE(status);
    const Result<std::vector<ClusterProfile>> profiles =
        parse_cluster_profiles(json_profile("a", status));
    REQUIRE(profiles);
    CHECK(profiles->front().access_providers.empty());
  }
}

TEST_CASE("parse_cluster_profile: a malformed cluster harms no other provider") {
  const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(json_profile(
      "a",
      R"({"accessProviders":[{"name":"bad","cluster":{"certificate-authority":"/etc/ca.crt","server":1}},)"
      R"({"name":"none"},{"name":"good","cluster":{"server":"https://h"}}]})"));
  REQUIRE(profiles);
  const Result<ProviderMapping> mapping = parse_provider_mapping(
      R"({"providers":[{"name":"good","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"/p"}},)"
      R"({"name":"bad","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"/p"}},)"
      R"({"name":"none","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"/p"}}]})");
  REQUIRE(mapping);
  const Result<Access> good = resolve_access(*mapping, profiles->front());
  REQUIRE(good);
  CHECK(good->cluster.server == "https://h");
  check_fails(resolve_access(*mapping, profiles->front(), "bad"), kConfiguration,
              "status.accessProviders[0].cluster.certificate-authority");
  check_fails(resolve_access(*mapping, profiles->front(), "none"), kConfiguration,
              "status.accessProviders[1].cluster is missing");
}

}  // namespace
}  // namespace execcred
