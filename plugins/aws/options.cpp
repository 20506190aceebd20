// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "role.hpp"

#include <execcred/aws/region.hpp>
#include <execcred/base/text.hpp>
#include <execcred/exec/cache_options.hpp>

#include <algorithm>

namespace execcred::aws {
namespace {

constexpr ValueForm kClusterForm = {"^[A-Za-z0-9][A-Za-z0-9._-]*$", 253};
constexpr ValueForm kRoleForm = {
    "^arn:aws[-A-Za-z0-9]*:iam::[0-9]{12}:role(/[A-Za-z0-9_+=,.@-]+)+$", 2048};
constexpr ValueForm kRegionForm = {"^[a-z]{2,}(-[a-z]+)+-[0-9]+$", 32};

// Whether the pattern's prefix ends before the resource, so that it allows other accounts.
bool allows_other_accounts(std::string_view pattern) {
  constexpr std::ptrdiff_t kColons = 5;
  return pattern.ends_with('*') && std::count(pattern.begin(), pattern.end(), ':') < kColons;
}

Result<std::string> parse_region(const std::string& text) {
  if (is_aws_region(text)) return text;
  return Error::configuration(in_quotes(text) + " is no name of an AWS region", "like us-west-2");
}

}  // namespace

Result<std::string> parse_cluster_id(const std::string& text) {
  constexpr std::size_t kMaxSize = 253;
  if (!text.empty() && text.size() <= kMaxSize && is_alphanumeric(text.front()) &&
      is_alphanumeric_or(text, "-_.")) {
    return text;
  }
  return Error::configuration(in_quotes(text) + " is no name of a cluster",
                              "letters, digits, dots, dashes and underscores, as EKS has them");
}

void add_options(OptionSet& set, Options& options) {
  set.group("Request");
  set.add_parsed("cluster-id", options.cluster_id, "ID",
                 "Name of the EKS cluster, or the ID its authenticator expects", parse_cluster_id)
      .required()
      .form(kClusterForm)
      .from_profile(Option::Profile::config_and_arguments, {"clusterId"})
      .or_from_field("clusterName")
      .not_identity("each run signs its token for it, with a session of many clusters");
  set.add_parsed("region", options.region, "REGION", "Region of the STS that the token is for",
                 parse_region)
      .default_text("that of the AWS profile or the instance")
      .from_profile()
      .form(kRegionForm)
      .example("us-west-2")
      .variable("AWS_REGION")
      .variable("AWS_DEFAULT_REGION")
      .not_identity("each run signs its token for it; the region of STS is an input of its own");
  set.group("Credential source");
  set.add_parsed("role-arn", options.role_arn, "ARN", "Role to assume with the credentials",
                 parse_role_arn)
      .chosen_among("allow-role")
      .form(kRoleForm)
      .example("arn:aws:iam::123456789012:role/controller");
  set.add_parsed("session-name", options.session_name, "NAME",
                 "With --role-arn: name of the session", parse_session_name)
      .default_text(kDefaultSessionName);
  set.add_parsed("external-id", options.external_id, "ID",
                 "With --role-arn: external ID that the role requires", parse_external_id)
      .secret();
  set.add("profile", options.profile, "NAME", "Profile of the shared config and credentials files")
      .default_text("default")
      .variable("AWS_PROFILE")
      .variable("AWS_DEFAULT_PROFILE");
  set.group("Access rules");
  add_choice_patterns(set, "allow-role", options.allow_roles,
                      "Role that a ClusterProfile may choose")
      .example("arn:aws:iam::123456789012:role/fleet-*")
      .weakens("lets a ClusterProfile choose a role of any account",
               "name the account: arn:aws:iam::ACCOUNT:role/NAME", allows_other_accounts);
  add_cache_options(set, options.cache);
}

Status check_options(const Options& options, const Settings& settings) {
  // A ClusterProfile may choose the role.
  if (!options.role_arn.empty() || !options.allow_roles.empty()) return {};
  if (!options.external_id.empty()) {
    return Error::configuration(settings.as_typed("--external-id") + " needs --role-arn");
  }
  if (options.session_name.empty()) return {};
  return Error::configuration(
      settings.as_typed("--session-name") + " needs --role-arn",
      "AWS_ROLE_SESSION_NAME names the session of a web identity, role_session_name that "
      "of a profile's role");
}

}  // namespace execcred::aws
