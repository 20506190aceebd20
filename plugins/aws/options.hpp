// SPDX-License-Identifier: Apache-2.0
// The options of execcred-aws. They and the AWS_* variables determine the signing credentials. The
// variables' names and order are those of the AWS SDKs.
#pragma once

#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/profile_choice.hpp>

#include <string>
#include <vector>

namespace execcred::aws {

struct Options {
  std::string cluster_id = {};
  std::string region = {};
  std::string role_arn = {};
  std::vector<ChoicePattern> allow_roles = {};
  std::string session_name = {};
  std::string external_id = {};
  std::string profile = {};
  CacheOptions cache = {};
};

void add_options(OptionSet& set, Options& options);

// Fails (configuration) if an option lacks another one that it needs.
Status check_options(const Options& options, const Settings& settings);

// The value of the header x-k8s-aws-id: up to 253 letters, digits, dots, dashes and underscores.
// Fails (configuration).
Result<std::string> parse_cluster_id(const std::string& text);

}  // namespace execcred::aws
