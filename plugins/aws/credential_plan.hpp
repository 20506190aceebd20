// SPDX-License-Identifier: Apache-2.0
// Where the credentials come from, decided before any request: one source, and the roles that are
// assumed from there, one after the other.
//
// The order is that of the AWS SDKs (botocore's): keys in the environment; a role of the profile; a
// web identity; the profile's keys or its program; the container's endpoint; the instance's role. A
// role that a ClusterProfile chooses replaces the web identity's own role, so that one call gets
// it; with any other source it is assumed in addition, like --role-arn. --profile, unlike
// AWS_PROFILE, ignores the environment's keys and web identity.
#pragma once

#include "container.hpp"
#include "options.hpp"
#include "profiles.hpp"
#include "role.hpp"

#include <execcred/aws/credentials.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/settings.hpp>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace execcred::aws {

struct WebIdentity {
  std::filesystem::path token_file = {};
  Role role = {};
  BearerToken token = {};  // of the file, read by plan_session()
};

struct Instance {};  // its metadata service

struct CredentialPlan {
  using Source =
      std::variant<AwsCredentials, WebIdentity, InnerCommand, ContainerEndpoint, Instance>;

  Source source = Instance{};
  std::vector<Role> roles = {};

  // Whether no request is needed, because the keys are known.
  bool is_local() const { return roles.empty() && std::holds_alternative<AwsCredentials>(source); }
  // Whether STS is called.
  bool asks_sts() const { return !roles.empty() || std::holds_alternative<WebIdentity>(source); }
};

// The profile to use: that of the option and its variables, or "default".
std::string profile_name(const Options& options);

// Whether the keys in the environment are used, so that no file is needed for credentials.
bool has_environment_keys(const Settings& settings, const Environment& environment);

// `profiles` may be nullptr if has_environment_keys(). Fails (configuration) if the profile does
// not exist or cannot be used.
Result<CredentialPlan> plan_credentials(const Options& options, const Settings& settings,
                                        const Environment& environment, const Profiles* profiles);

}  // namespace execcred::aws
