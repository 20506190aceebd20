// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "growth.hpp"
#include "support/profiles.hpp"
#include "temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/access.hpp>
#include <execcred/kube/cluster_profile.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace execcred {
namespace {

using test::check_fails;
using test::parse_cluster_profiles;

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

TEST_CASE("for_each_cluster_profile: accepts every form in which Kubernetes tools write them") {
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
          {"v1alpha2",
           R"({"apiVersion":"multicluster.x-k8s.io/v1alpha2","kind":"ClusterProfile","metadata":{"name":"a"}})",
           {"a"}}}) {
    CAPTURE(c.way);
    const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(c.text);
    if (!profiles) FAIL(test::full_text(profiles.error()));
    CHECK(names(*profiles) == c.names);
  }
}

TEST_CASE("for_each_cluster_profile: a malformed document is refused with the path of the field") {
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
          {R"({"apiVersion":"v1","kind":"List","items":[)" + json_profile("a") + "," +
               json_profile("B") + "]}",
           "items[1]"}}) {
    CAPTURE(c.text);
    check_fails(parse_cluster_profiles(c.text), kConfiguration, c.told);
  }
}

TEST_CASE("resolve_access: only what is needed to reach the cluster must be well-formed") {
  struct Case {
    std::string status, told;  // told: of the failure to use it; empty: it is used
  };
  const std::string good = R"({"name":"p","cluster":{"server":"https://a"}})";
  const std::string list = R"("accessProviders":[)" + good + "]";
  const std::string property = R"("properties":[{"name":"cluster.clusterset.k8s.io","value":)";
  for (const Case& c : std::vector<Case>{
           {"{" + property + R"("a\tb"}],)" + list + "}", ""},
           {"{" + property + "7}]," + list + "}", ""},
           {R"({"properties":{},"conditions":"none",)" + list + "}", ""},
           {R"({"properties":[1,{"name":2}],"conditions":[1,{"type":2}],)" + list + "}", ""},
           {R"({"conditions":[{"type":"ControlPlaneHealthy","status":true}],)" + list + "}", ""},
           {R"({"credentialProviders":7,)" + list + "}", ""},
           {R"({"accessProviders":[1,{},{"name":"\t"},)" + good + "]}", ""},
           {R"({"accessProviders":[{"name":"x"},{"name":"x"},)" + good + "]}", ""},
           {R"({"accessProviders":[)" + good + "," + good + "]}",
            "status.accessProviders[1].name is 'p', like that of an entry before it"},
           {R"({"credentialProviders":[)" + good + "," + good + "]}",
            "status.credentialProviders[1].name is 'p', like that of an entry before it"},
           {R"({"accessProviders":[1]})", "status.accessProviders[0] must be an object"},
           {R"({"accessProviders":[{}]})", "status.accessProviders[0].name is missing"},
           {R"({"accessProviders":[{"name":"x"},{"name":7}]})", "status.accessProviders[1].name"},
           {R"({"credentialProviders":{}})", "status.credentialProviders must be an array"}}) {
    CAPTURE(c.status);
    const Result<std::vector<ClusterProfile>> profiles =
        parse_cluster_profiles(json_profile("a", c.status));
    REQUIRE(profiles);
    CHECK(profiles->front().cluster_id.empty());
    CHECK_FALSE(profiles->front().is_unhealthy());
    ProviderMapping mapping;
    MappedProvider& provider = mapping.providers.emplace_back();
    provider.name = "p";
    provider.exec.command = "/plugin";
    const Result<Access> access = resolve_access(mapping, profiles->front());
    if (c.told.empty()) {
      CHECK(access);
    } else {
      check_fails(access, kConfiguration, c.told);
    }
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

constexpr std::string_view kKnown =
    "apiVersion is 'multicluster.x-k8s.io/v1beta1', not multicluster.x-k8s.io/v1alpha1 or v1alpha2";

TEST_CASE("for_each_cluster_profile: an unknown version is an error that names the known ones") {
  const std::string profile =
      R"({"apiVersion":"multicluster.x-k8s.io/v1beta1","kind":"ClusterProfile","metadata":{"name":"a"}})";
  const std::string list =
      R"({"apiVersion":"multicluster.x-k8s.io/v1beta1","kind":"ClusterProfileList","items":[]})";
  const std::string item =
      R"({"apiVersion":"multicluster.x-k8s.io/v1alpha2","kind":"ClusterProfileList","items":[)" +
      profile + "]}";
  for (const std::string& text : {profile, list, item}) {
    CAPTURE(text);
    check_fails(parse_cluster_profiles(text), kConfiguration, kKnown);
  }
}

// A profile of v1alpha2 with one provider, which has this cluster.
std::string newer(std::string_view cluster) {
  return R"({"apiVersion":"multicluster.x-k8s.io/v1alpha2","kind":"ClusterProfile","metadata":{"name":"a"},)"
         R"("status":{"accessProviders":[{"name":"p","cluster":)" +
         std::string(cluster) + "}]}}";
}

TEST_CASE("ClusterProfile: it is unhealthy only if ControlPlaneHealthy or Joined is False") {
  const std::string healthy = "ControlPlaneHealthy";
  struct Case {
    std::vector<std::pair<std::string, std::string>> conditions;
    std::string_view unhealthy;
  };
  for (const Case& c : std::vector<Case>{{{}, ""},
                                         {{{healthy, "True"}}, ""},
                                         {{{healthy, "Unknown"}}, ""},
                                         {{{healthy, "False"}}, "ControlPlaneHealthy"},
                                         {{{"Joined", "True"}}, ""},
                                         {{{"Joined", "Unknown"}, {healthy, "Unknown"}}, ""},
                                         {{{"Joined", "False"}}, "Joined"},
                                         {{{healthy, "True"}, {"Joined", "False"}}, "Joined"},
                                         {{{"Joined", "False"}, {healthy, "Unknown"}}, "Joined"},
                                         {{{"Joined", "True"}, {healthy, "False"}}, healthy},
                                         {{{"Other", "False"}}, ""}}) {
    std::string list;
    for (const auto& [type, status] : c.conditions) {
      list += (list.empty() ? R"({"type":")" : R"(,{"type":")") + type + R"(","status":")" +
              status + "\"}";
    }
    CAPTURE(list);
    for (const std::string version : {"v1alpha1", "v1alpha2"}) {
      std::string text = json_profile("a", R"({"conditions":[)" + list + "]}");
      text.replace(text.find("v1alpha1"), 8, version);
      const auto profiles = parse_cluster_profiles(text);
      REQUIRE(profiles.has_value());
      CHECK(profiles->front().unhealthy_condition == c.unhealthy);
      CHECK(profiles->front().is_unhealthy() == !c.unhealthy.empty());
    }
  }
}

TEST_CASE("for_each_cluster_profile: v1alpha2 has no credentialProviders") {
  const std::string text =
      R"({"apiVersion":"multicluster.x-k8s.io/v1alpha2","kind":"ClusterProfileList","items":[)"
      R"({"metadata":{"name":"a"},"status":{"credentialProviders":[{"name":"p"}]}},)"
      R"({"metadata":{"name":"b"},"status":{"credentialProviders":7,)"
      R"("accessProviders":[{"name":"p","cluster":{"server":"https://h"}}]}}]})";
  const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(text);
  REQUIRE(profiles);
  REQUIRE(profiles->size() == 2);
  CHECK(profiles->front().version == ProfileVersion::v1alpha2);
  CHECK(providers(profiles->front()).empty());
  CHECK(providers(profiles->back()) == std::vector<std::string>{"p@status.accessProviders[0]"});
  ProviderMapping mapping;
  mapping.providers.push_back({.name = "p", .path = "providers[0]", .exec = {.command = "/p"}});
  const Result<Access> access = resolve_access(mapping, profiles->front());
  check_fails(access, kConfiguration, "no provider of the mapping is in the ClusterProfile");
  CHECK(access.error().hint ==
        "the ClusterProfile lists no provider; status.credentialProviders is no field of v1alpha2");
}

TEST_CASE("resolve_access: in v1alpha2 server and proxy-url are URLs with a host") {
  struct Case {
    std::string cluster;
    std::string_view told;
  };
  ProviderMapping mapping;
  mapping.providers.push_back({.name = "p", .path = "providers[0]", .exec = {.command = "/p"}});
  for (const Case& c : std::vector<Case>{
           {R"({"server":"h:6443"})",
            "status.accessProviders[0].cluster.server is 'h:6443', no URL with a host"},
           {R"({"server":"https://"})", "cluster.server is 'https://', no URL with a host"},
           {R"({"server":"https://h","proxy-url":"h:1"})", "cluster.proxy-url is 'h:1', no URL"},
           {R"({"server":"https://h","proxy-url":"ftp://h:1"})",
            "cluster.proxy-url has the scheme 'ftp', not http, https or socks5"},
           {R"({"server":"https://h","extensions":[{"name":"x","extension":{}},)"
            R"({"name":"x","extension":{}}]})",
            "cluster.extensions[1].name is 'x', like that of another extension"}}) {
    CAPTURE(c.cluster);
    const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(newer(c.cluster));
    REQUIRE(profiles);
    check_fails(resolve_access(mapping, profiles->front()), kConfiguration, c.told);
  }
  for (const std::string_view cluster :
       {R"({"server":"https://h:6443/p","proxy-url":"socks5://p:1"})",
        R"({"server":"https://h","proxy-url":""})"}) {
    const Result<std::vector<ClusterProfile>> profiles = parse_cluster_profiles(newer(cluster));
    REQUIRE(profiles);
    CHECK(resolve_access(mapping, profiles->front()));
  }
}

TEST_CASE("parse_cluster_profile: reads inventory-member-id, a label or a property") {
  const auto id_of = [](const std::string& labels) {
    const auto profiles = parse_cluster_profiles(
        R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)"
        R"("metadata":{"name":"a","labels":)" +
        labels + "}}");
    return profiles ? profiles->front().inventory_member_id : "(refused)";
  };
  CHECK(id_of(R"({"multicluster.x-k8s.io/inventory-member-id":"spoke-7"})") == "spoke-7");
  CHECK(id_of(R"({"other":"spoke-7"})").empty());
  CHECK(id_of("null").empty());
  CHECK(id_of(R"({"multicluster.x-k8s.io/inventory-member-id":7})").empty());
  // The label precedes a property of this name.
  const auto with_property = [&id_of](const std::string& labels, const std::string& value) {
    return id_of(labels +
                 R"(},"status":{"properties":[{"name":"x","value":"y"},{"name":)"
                 R"("multicluster.x-k8s.io/inventory-member-id","value":)" +
                 value + "}]");
  };
  CHECK(with_property("{}", R"("spoke-7")") == "spoke-7");
  CHECK(with_property(R"({"multicluster.x-k8s.io/inventory-member-id":"a"})", R"("b")") == "a");
  CHECK(with_property("{}", "7").empty());
}

TEST_CASE("parse_cluster_profile: status and providers may be missing, null or empty") {
  for (const std::string_view status : {"null", "{}", R"({"accessProviders":null})",
                                        R"({"accessProviders":[],"credentialProviders":[]})"}) {
    CAPTURE(status);
    const Result<std::vector<ClusterProfile>> profiles =
        parse_cluster_profiles(json_profile("a", status));
    REQUIRE(profiles);
    CHECK(profiles->front().access_providers.empty());
  }
}

TEST_CASE("parse_cluster_profile: a malformed cluster does not affect other providers") {
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

// A list of providers that have only a name.
std::string list_of(std::size_t count) {
  std::string entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries += (i == 0 ? R"({"name":"p)" : R"(,{"name":"p)") + std::to_string(i) + R"("})";
  }
  return "[" + entries + "]";
}

TEST_CASE("parse_cluster_profile: the time is linear in the number of providers" *
          doctest::description("promise 30")) {
  for (const std::string_view field : {"accessProviders", "credentialProviders"}) {
    CAPTURE(field);
    test::check_linear(
        3'000,
        [field](std::size_t count) {
          return json_profile("a", "{\"" + std::string(field) + "\":" + list_of(count) + "}");
        },
        [](const std::string& text) { CHECK(parse_cluster_profiles(text)); });
  }
  test::check_linear(
      1'500,
      [](std::size_t count) {
        return json_profile("a", R"({"credentialProviders":)" + list_of(2 * count) +
                                     R"(,"accessProviders":)" + list_of(count) + "}");
      },
      [](const std::string& text) { CHECK(parse_cluster_profiles(text)); });
}

TEST_CASE("parse_cluster_profile: a list may have at most 100,000 providers") {
  const auto parsed = [](std::string_view field, std::size_t count) {
    return parse_cluster_profiles(
        json_profile("a", "{\"" + std::string(field) + "\":" + list_of(count) + "}"));
  };
  const Result<std::vector<ClusterProfile>> profiles = parsed("accessProviders", 100'000);
  REQUIRE(profiles);
  CHECK(profiles->front().access_providers.size() == 100'000);
  constexpr const char* kTold = "has more than 100000 entries";
  check_fails(parsed("accessProviders", 100'001), kConfiguration, kTold);
  const Result<std::vector<ClusterProfile>> deprecated = parsed("credentialProviders", 100'001);
  REQUIRE(deprecated);
  REQUIRE(deprecated->front().provider_problem);
  CHECK(test::contains(deprecated->front().provider_problem->message, kTold));
}

TEST_CASE("load_profiles: reads a file or a folder, and reports files that cannot be read") {
  const test::TempDir dir;
  test::make_directory(dir / "inner");
  test::write_file(dir / "a.json", json_profile("a"));
  test::write_file(dir / "inner/b.yaml", json_profile("b"));
  test::write_file(dir / "bad.yml", json_profile("bad", "[]"));
  test::write_file(dir / "notes.txt", "no profile");

  const Result<LoadedProfiles> file = load_profiles(dir / "a.json");
  if (!file) FAIL(test::full_text(file.error()));
  CHECK(names(file->profiles) == std::vector<std::string>{"fleet/a"});
  CHECK(file->problems.empty());

  const Result<LoadedProfiles> folder = load_profiles(dir.path());
  if (!folder) FAIL(test::full_text(folder.error()));
  std::vector<std::string> found = names(folder->profiles);
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<std::string>{"fleet/a", "fleet/b"});
  REQUIRE(folder->problems.size() == 1);
  CHECK(test::full_text(folder->problems[0]).find("bad.yml") != std::string::npos);

  check_fails(load_profiles(dir / "none"), kConfiguration, "none");
}

}  // namespace
}  // namespace execcred
