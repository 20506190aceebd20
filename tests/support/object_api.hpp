// SPDX-License-Identifier: Apache-2.0
//
// The objects of a kube-apiserver, for a client that gets one by its name or lists them: pages with
// limit and continue, selection by one label, RBAC's refusals, and the discovery of a group's
// versions and of a version's resources.
//
// A list holds the objects in the order in which they were added. Its continue token has no meaning
// for a client, and has characters that a URL must encode. Bearer tokens are not checked.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http_message.hpp"

namespace execcred::test {

class ObjectApi {
 public:
  struct Resource {
    std::string path;    // "/apis/multicluster.x-k8s.io/v1alpha1" or "/api/v1"
    std::string plural;  // "clusterprofiles"
    std::string kind;    // "ClusterProfile"
  };

  // `json` has metadata.namespace, metadata.name and perhaps metadata.labels.
  void add(const Resource& resource, const std::string& json);
  void serve(const Resource& resource);  // without objects
  // Requests for it are answered with 403.
  void forbid(const std::string& plural) { forbidden_.insert(plural); }
  // The group has this version too, for resources that are not served here.
  void add_version(const std::string& path) { versions_.push_back(path); }
  // Requests for what the API serves are answered with 403.
  void forbid_discovery() { is_discovery_forbidden_ = true; }

  // May be called by several threads at once, while no thread adds.
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) const;

 private:
  struct Object {
    std::string name_space;
    std::string name;
    std::map<std::string, std::string> labels;
    std::string json;
  };
  struct Collection {
    Resource resource;
    std::vector<Object> objects;
  };
  struct Query;

  Collection& collection(const Resource& resource);
  [[nodiscard]] const Collection* find(const Query& query) const;
  [[nodiscard]] HttpResponse discover(const std::string& path) const;
  static HttpResponse list(const Collection& collection, const Query& query);
  static HttpResponse get(const Collection& collection, const Query& query);

  std::vector<Collection> collections_;
  std::set<std::string> forbidden_;
  std::vector<std::string> versions_;
  bool is_discovery_forbidden_ = false;
};

// The decoded parameter of a target's query; empty if there is none of that name.
std::string query_parameter(std::string_view target, std::string_view name);

}  // namespace execcred::test
