// SPDX-License-Identifier: Apache-2.0
#include "credential_plan.hpp"

#include "process.hpp"

#include <execcred/aws/metadata.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace execcred::aws {
namespace {

// Each role of a chain costs a call of STS, and takes a part of the stack.
constexpr std::size_t kMostRoles = 20;

using MaybeSource = std::optional<CredentialPlan::Source>;

// As in botocore, a profile with a web identity does not count as one with a role.
bool has_role(const Profile& profile) {
  return profile.has("role_arn") && !profile.has("web_identity_token_file");
}

bool has_keys(const Profile& profile) { return profile.has("aws_access_key_id"); }

SecretString copy_of(const SecretString* text) {
  return text == nullptr ? SecretString() : text->copy();
}

// Whether --profile chose the profile, and not AWS_PROFILE: then credentials in the environment are
// ignored.
bool is_profile_chosen(const Settings& settings) {
  return settings.get("profile").is_from_controller();
}

// Whether a ClusterProfile chose the role, which the patterns allow.
bool is_role_of_profile(const Settings& settings) {
  return settings.get("role-arn").is_from_profile();
}

class Planner {
 public:
  Planner(const Options& options, const Settings& settings, const Environment& environment,
          const Profiles& profiles)
      : options_(options),
        is_profile_chosen_(is_profile_chosen(settings)),
        is_role_of_profile_(is_role_of_profile(settings)),
        environment_(environment),
        profiles_(profiles) {}

  Result<CredentialPlan> plan();

 private:
  // Adds to `roles` the roles of a chain of source_profiles; the role of the first profile is the
  // last.
  Result<CredentialPlan::Source> role_source(const Profile& profile, std::vector<Role>& roles);
  Result<CredentialPlan::Source> source_profile(const Profile& profile, std::vector<Role>& roles);
  Result<CredentialPlan::Source> named_source(const std::string& name) const;
  Result<Role> role_of(const Profile& profile) const;

  // `chosen` is a role that replaces the web identity's own; it may be empty.
  Result<MaybeSource> web_identity(const Profile* profile, bool with_environment,
                                   const std::string& chosen = {}) const;
  Result<MaybeSource> of_profile(const Profile& profile) const;
  Result<MaybeSource> container() const;
  Result<CredentialPlan::Source> instance() const;

  const Options& options_;
  bool is_profile_chosen_;
  bool is_role_of_profile_;
  const Environment& environment_;
  const Profiles& profiles_;
  std::vector<std::string> visited_ = {};
};

Status refuse_interactive(const Profile& profile) {
  if (profile.has("mfa_serial")) {
    return Error::configuration(
        "the profile " + in_quotes(profile.name()) + " needs an MFA code (mfa_serial)",
        "a controller has no MFA device; use a role that needs none");
  }
  return {};
}

Error person_needed(const Profile& profile, std::string_view what) {
  return Error::configuration("the profile " + in_quotes(profile.name()) + " is of " +
                                  std::string(what) + ", which needs a login in a browser",
                              "a controller cannot log in; use a role, a web identity, or keys");
}

// The keys in a section. Fails (configuration) if they are malformed, because they are the file's.
Result<CredentialPlan::Source> keys_of(const ConfigSection& section, const std::string& profile) {
  AwsCredentials keys = {.secret_access_key = copy_of(section.find("aws_secret_access_key")),
                         .session_token = copy_of(section.find("aws_session_token"))};
  if (const SecretString* const id = section.find("aws_access_key_id")) {
    keys.access_key_id = id->reveal();
  }
  if (keys.session_token.empty()) {
    keys.session_token = copy_of(section.find("aws_security_token"));
  }
  Status checked = check_aws_credentials(keys);
  if (checked) return CredentialPlan::Source(std::move(keys));
  checked.error().kind = Error::Kind::configuration;
  checked.error().context.push_back("reading the keys of the profile " + in_quotes(profile));
  return std::move(checked).error();
}

Result<MaybeSource> Planner::web_identity(const Profile* profile, bool with_environment,
                                          const std::string& chosen) const {
  const auto setting = [&](std::string_view variable,
                           std::string_view name) -> Result<std::string> {
    const auto value = with_environment ? environment_.get(variable) : std::nullopt;
    if (value) return std::string(*value);
    return profile == nullptr ? Result<std::string>(std::string()) : profile->text(name);
  };
  const std::string file = TRY(setting("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file"));
  if (file.empty()) return MaybeSource();
  WebIdentity identity = {.token_file = expand_home(file, environment_)};
  std::string arn = chosen;
  if (arn.empty()) {
    arn = TRY(setting("AWS_ROLE_ARN", "role_arn"));
  }
  if (arn.empty()) {
    return Error::configuration("a web identity is there, and no role for it",
                                "AWS_ROLE_ARN, or role_arn in the profile, names the role");
  }
  identity.role.arn = TRY(parse_role_arn(arn));
  std::string session = TRY(setting("AWS_ROLE_SESSION_NAME", "role_session_name"));
  if (!session.empty()) {
    identity.role.session_name = TRY(parse_session_name(session));
  }
  return MaybeSource(std::move(identity));
}

Result<MaybeSource> Planner::of_profile(const Profile& profile) const {
  MaybeSource source = TRY(web_identity(&profile, false));
  if (source) return source;
  for (const std::string_view name : {"sso_session", "sso_start_url", "sso_account_id"}) {
    if (profile.has(name)) return person_needed(profile, "IAM Identity Center");
  }
  const ConfigSection* const credentials = profile.credentials();
  const ConfigSection* const config = profile.config();
  constexpr std::string_view kKey = "aws_access_key_id";
  if (credentials != nullptr && credentials->find(kKey) != nullptr) {
    source = TRY(keys_of(*credentials, profile.name()));
    return source;
  }
  if (profile.has("login_session")) return person_needed(profile, "a login of the aws command");
  const std::string process = TRY(profile.text("credential_process"));
  if (!process.empty()) {
    Result<InnerCommand> command = parse_credential_process(process);
    const std::string comment = profile.comment_place("credential_process");
    if (!command && !comment.empty()) {
      command.error().hint = comment +
                             ": white space and '#' or ';' begin a comment, in quotes too; put "
                             "such an argument into a script";
    }
    return MaybeSource(TRY(std::move(command)));
  }
  if (config != nullptr && config->find(kKey) != nullptr) {
    source = TRY(keys_of(*config, profile.name()));
  }
  return source;
}

Result<MaybeSource> Planner::container() const {
  std::optional<ContainerEndpoint> endpoint = TRY(container_endpoint(environment_));
  return endpoint ? MaybeSource(*std::move(endpoint)) : MaybeSource();
}

Result<CredentialPlan::Source> Planner::instance() const {
  if (!is_aws_metadata_disabled(environment_)) return CredentialPlan::Source(Instance{});
  return Error::configuration(
      "there are no credentials, and AWS_EC2_METADATA_DISABLED is set",
      "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, a web identity, or the "
      "container's credentials; profiles are read from " +
          profiles_.places());
}

Result<Role> Planner::role_of(const Profile& profile) const {
  TRY(refuse_interactive(profile));
  Role role;
  const std::string arn = TRY(profile.text("role_arn"));
  role.arn = TRY(parse_role_arn(arn));
  const std::string session = TRY(profile.text("role_session_name"));
  if (!session.empty()) {
    role.session_name = TRY(parse_session_name(session));
  }
  const std::string external_id = TRY(profile.text("external_id"));
  if (!external_id.empty()) {
    role.external_id = TRY(parse_external_id(external_id));
  }
  const std::string duration = TRY(profile.text("duration_seconds"));
  if (!duration.empty()) {
    role.duration = TRY(parse_session_duration(duration).context("reading duration_seconds"));
  }
  return role;
}

Result<CredentialPlan::Source> Planner::named_source(const std::string& name) const {
  const std::string lower = ascii_lower(name);
  if (lower == "environment") {
    std::optional<AwsCredentials> keys = TRY(aws_credentials_of_environment(environment_));
    if (keys) return CredentialPlan::Source(*std::move(keys));
    return Error::configuration(
        "credential_source is Environment, and AWS_ACCESS_KEY_ID is not set");
  }
  if (lower == "ecscontainer") {
    MaybeSource source = TRY(container());
    if (source) return *std::move(source);
    return Error::configuration(
        "credential_source is EcsContainer, and no variable names such an endpoint",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI does");
  }
  if (lower == "ec2instancemetadata") return instance();
  return Error::configuration("the credential_source " + in_quotes(name) + " is not known",
                              "there are: Environment, Ec2InstanceMetadata, EcsContainer");
}

Result<CredentialPlan::Source> Planner::source_profile(const Profile& profile,
                                                       std::vector<Role>& roles) {
  const std::string name = TRY(profile.text("source_profile"));
  const std::optional<Profile> source = profiles_.find(name);
  if (!source) {
    return Error::configuration("the source_profile " + in_quotes(name) + " is not there",
                                "it was looked for in " + profiles_.places());
  }
  const bool is_visited = std::find(visited_.begin(), visited_.end(), name) != visited_.end();
  // A profile may be its own source, with keys beside its role.
  if (is_visited && !(name == profile.name() && has_keys(*source))) {
    return Error::configuration("the source_profile " + in_quotes(name) + " leads back to itself");
  }
  if (!has_keys(*source) && has_role(*source)) return role_source(*source, roles);
  MaybeSource found = TRY(of_profile(*source));
  if (found) return *std::move(found);
  return Error::configuration("the source_profile " + in_quotes(name) + " has no credentials");
}

Result<CredentialPlan::Source> Planner::role_source(const Profile& profile,
                                                    std::vector<Role>& roles) {
  if (visited_.size() == kMostRoles) {
    return Error::configuration(
        "the chain of source_profiles has more than " + std::to_string(kMostRoles) + " roles",
        "shorten the chain: each of its roles is one more call of STS");
  }
  visited_.push_back(profile.name());
  const auto find = [&]() -> Result<CredentialPlan::Source> {
    Role role = TRY(role_of(profile));
    const std::string named = TRY(profile.text("credential_source"));
    if (named.empty() != profile.has("source_profile")) {
      return Error::configuration("a role needs either source_profile or credential_source");
    }
    CredentialPlan::Source source =
        TRY(named.empty() ? source_profile(profile, roles) : named_source(named));
    roles.push_back(std::move(role));
    return source;
  };
  return find().context("reading the profile " + in_quotes(profile.name()));
}

Result<CredentialPlan> Planner::plan() {
  const std::string name = profile_name(options_);
  const std::optional<Profile> profile = profiles_.find(name);
  if (!profile && name != "default") {
    return Error::configuration("there is no profile " + in_quotes(name),
                                "it was looked for in " + profiles_.places());
  }
  CredentialPlan plan;
  MaybeSource source;
  if (profile && has_role(*profile)) {
    source = TRY(role_source(*profile, plan.roles));
  }
  if (!source) {
    const std::string chosen = is_role_of_profile_ ? options_.role_arn : std::string();
    source = TRY(web_identity(profile ? &*profile : nullptr, !is_profile_chosen_, chosen));
  }
  if (!source && profile) {
    source = TRY(of_profile(*profile));
  }
  if (!source) {
    source = TRY(container());
  }
  if (!source) {
    source = TRY(instance());
  }
  plan.source = *std::move(source);
  return plan;
}

// The role of the web identity is already the ClusterProfile's; the mapping sets the rest.
Status choose_role(const Options& options, const Settings& settings, Role& role) {
  if (!options.external_id.empty()) {
    return Error::configuration(
        settings.as_typed("--external-id") + " has no use where a web identity assumes the role",
        "AssumeRoleWithWebIdentity has no external ID: the role trusts the token's issuer "
        "and subject");
  }
  if (!options.session_name.empty()) role.session_name = options.session_name;
  return {};
}

}  // namespace

std::string profile_name(const Options& options) {
  return options.profile.empty() ? "default" : options.profile;
}

bool has_environment_keys(const Settings& settings, const Environment& environment) {
  return !is_profile_chosen(settings) && environment.get("AWS_ACCESS_KEY_ID").has_value();
}

Result<CredentialPlan> plan_credentials(const Options& options, const Settings& settings,
                                        const Environment& environment, const Profiles* profiles) {
  CredentialPlan plan;
  if (has_environment_keys(settings, environment)) {
    std::optional<AwsCredentials> keys = TRY(aws_credentials_of_environment(environment));
    if (keys) plan.source = *std::move(keys);
  } else {
    plan = TRY(Planner(options, settings, environment, *profiles).plan());
  }
  if (options.role_arn.empty()) return plan;
  if (auto* identity = std::get_if<WebIdentity>(&plan.source);
      identity != nullptr && plan.roles.empty() && is_role_of_profile(settings)) {
    TRY(choose_role(options, settings, identity->role));
    return plan;
  }
  Role role = {.arn = options.role_arn, .external_id = options.external_id};
  if (!options.session_name.empty()) role.session_name = options.session_name;
  plan.roles.push_back(std::move(role));
  return plan;
}

}  // namespace execcred::aws
