// SPDX-License-Identifier: Apache-2.0
#include "object_api.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using nlohmann::json;

const ObjectApi::Resource kProfiles = {.path = "/apis/multicluster.x-k8s.io/v1alpha1",
                                       .plural = "clusterprofiles",
                                       .kind = "ClusterProfile"};

ObjectApi three_profiles() {
  ObjectApi api;
  for (const char* name : {"a", "b", "c"}) {
    const json object = {
        {"metadata", {{"namespace", "fleet"}, {"name", name}, {"labels", {{"tier", name}}}}}};
    api.add(kProfiles, object.dump());
  }
  return api;
}

json answer(const ObjectApi& api, const std::string& target, int status) {
  const HttpResponse response = api.answer({.method = "GET", .target = kProfiles.path + target});
  REQUIRE(response.status == status);
  return json::parse(response.body);
}

}  // namespace

TEST_CASE("the object API lists the versions of a group and the resources of a version") {
  ObjectApi api = three_profiles();
  api.add_version("/apis/multicluster.x-k8s.io/v1alpha2");
  const auto get = [&api](const std::string& target) {
    return api.answer({.method = "GET", .target = target});
  };
  const json group = json::parse(get("/apis/multicluster.x-k8s.io").body);
  CHECK(group.at("kind") == "APIGroup");
  CHECK(group.at("versions").size() == 2);
  CHECK(group.at("versions")[1].at("version") == "v1alpha2");
  const json served = json::parse(get(kProfiles.path).body);
  CHECK(served.at("kind") == "APIResourceList");
  CHECK(served.at("resources")[0].at("name") == "clusterprofiles");
  CHECK(json::parse(get("/apis/multicluster.x-k8s.io/v1alpha2").body).at("resources").empty());
  CHECK(get("/apis/other.example.com").status == 404);
  api.forbid_discovery();
  CHECK(get("/apis/multicluster.x-k8s.io").status == 403);
}

TEST_CASE("the object API lists in pages, and each page but the last has a continue token") {
  const ObjectApi api = three_profiles();
  const json first = answer(api, "/clusterprofiles?limit=2", 200);
  CHECK(first.at("kind") == "ClusterProfileList");
  CHECK(first.at("apiVersion") == "multicluster.x-k8s.io/v1alpha1");
  CHECK(first.at("items").size() == 2);
  CHECK(first.at("metadata").at("continue") == "e/+&=%2==");
  const json rest = answer(api, "/clusterprofiles?limit=2&continue=e%2F%2B%26%3D%252%3D%3D", 200);
  REQUIRE(rest.at("items").size() == 1);
  CHECK(rest.at("items")[0].at("metadata").at("name") == "c");
  CHECK_FALSE(rest.at("metadata").contains("continue"));
  CHECK_THROWS(answer(api, "/clusterprofiles?limit=2&continue=e/+&=%2==", 200));
}

TEST_CASE("the object API selects by namespace and label, and gets by name") {
  const ObjectApi api = three_profiles();
  CHECK(answer(api, "/namespaces/fleet/clusterprofiles", 200).at("items").size() == 3);
  CHECK(answer(api, "/namespaces/other/clusterprofiles", 200).at("items").empty());
  CHECK(answer(api, "/clusterprofiles?labelSelector=tier%3Db", 200).at("items").size() == 1);
  const json one = answer(api, "/namespaces/fleet/clusterprofiles/b", 200);
  CHECK(one.at("metadata").at("name") == "b");
  const json none = answer(api, "/namespaces/other/clusterprofiles/b", 404);
  CHECK(none.at("details").at("name") == "b");
}

TEST_CASE("the object API refuses as RBAC does, and answers 404 for unknown resources") {
  ObjectApi api = three_profiles();
  answer(api, "/secrets", 404);
  api.forbid("clusterprofiles");
  CHECK(answer(api, "/clusterprofiles", 403).at("reason") == "Forbidden");
}

}  // namespace execcred::test
