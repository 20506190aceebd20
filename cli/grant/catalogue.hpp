// SPDX-License-Identifier: Apache-2.0
// What a cluster must be told, so that an identity may do what is asked for, and nothing more:
// Kubernetes objects, and what an administrator does beside them. docs/grant.md has the sources of
// what is said about clouds.
#pragma once

#include "identity.hpp"

#include "doctor/api.hpp"

#include <execcred/json/json.hpp>

#include <string>
#include <vector>

namespace execcred::grant {

struct Rules {
  std::vector<doctor::Permission> permissions = {};
  std::string cluster_role = {};  // instead of permissions
  bool binds_groups = false;
};

// The cluster, for the names of the objects.
struct Subject {
  std::string name_space = {};
  std::string name = {};
  std::string provider = {};
  std::string cluster_id = {};  // the EKS cluster's name, or empty

  // "execcred:NAMESPACE:NAME:PROVIDER"; a digest of them if that has more than 63 characters or a
  // part has one outside [A-Za-z0-9._-]. Two subjects never share a name.
  std::string object_name() const;
};

struct Grant {
  Identity identity = {};
  std::vector<std::string> remarks = {};  // one sentence each, in one line
  json::Array objects = {};
  json::Value authentication = {};         // an AuthenticationConfiguration; null: none
  std::vector<std::string> commands = {};  // for a shell, one line each
  std::string fragment = {};               // YAML for the ConfigMap aws-auth; empty: none
};

Grant grant_of(const Identity& identity, const Subject& subject, const Url& server,
               const Rules& rules);

}  // namespace execcred::grant
