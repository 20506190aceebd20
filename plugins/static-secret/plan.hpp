// SPDX-License-Identifier: Apache-2.0
// The place of a credential for one cluster, as the options give it.
#pragma once

#include "options.hpp"

#include <execcred/exec/provider.hpp>

#include <string>

namespace execcred::static_secret {

// A Secret of the API, or the files of a volume, with every template expanded and every name
// checked.
struct Plan {
  Format format = Format::token;
  Lookup lookup = Lookup::by_name;
  std::string name_space = {};
  std::string secret_name = {};  // may be empty where labels find it
  std::string key = {};
  std::string cluster_name = {};  // for the lookups that go by it
  std::string type = {};
  LabelSelector selector = {};  // with the required labels
  std::string secret_dir = {};
};

// `own_namespace` is that of this process; `is_namespace_literal` is true if the namespace option
// does not come from a ClusterProfile. Fails (configuration) if a name is missing or malformed,
// (no_credential) if a rule refuses a namespace or cluster.
Result<Plan> make_plan(const Options& options, const CredentialRequest& request,
                       const std::string& own_namespace, bool is_namespace_literal);

}  // namespace execcred::static_secret
