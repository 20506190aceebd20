// SPDX-License-Identifier: Apache-2.0
// execcred-aws: gives the client a token for an EKS cluster, which is a request to STS that is
// signed with AWS credentials, and that the cluster's authenticator sends.
//
// Signing needs no request and is done in each run, so tokens are not cached. A session that was
// requested (a role's, a container's, an instance's) is cached, so that a fleet of clusters costs
// one call.
#include "plugin.hpp"

#include "credential_plan.hpp"
#include "eks_token.hpp"
#include "endpoint.hpp"
#include "options.hpp"
#include "region.hpp"
#include "session.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/cache_options.hpp>
#include <execcred/json/json.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace execcred::aws {

class Aws final : public Provider {
 public:
  void add_options(OptionSet& set) override { aws::add_options(set, options_); }

  Status change_options(OptionSet& /*set*/, const Settings& settings) override {
    has_own_region_ = settings.get("region").is_from_controller();
    options_.is_profile_chosen = settings.get("profile").is_from_controller();
    return {};
  }

  Status check(const Settings& /*settings*/) const override { return check_options(options_); }

  Result<std::string> principal(const Settings& settings, const Environment& environment) override {
    options_.is_role_of_profile = settings.get("role-arn").is_from_profile();
    const Profiles profiles = TRY(Profiles::load(environment));
    const CredentialPlan plan = TRY(plan_credentials(options_, environment, &profiles));
    if (!plan.roles.empty()) return plan.roles.back().arn;
    const auto* const identity = std::get_if<WebIdentity>(&plan.source);
    if (identity != nullptr) return identity->role.arn;
    // Keys in the environment may be of a session of this role.
    const auto role = environment.get("AWS_ROLE_ARN");
    if (!role || options_.is_profile_chosen) return std::string();
    return parse_role_arn(std::string(*role));
  }

  Result<Credential> get_credential(const CredentialRequest& request,
                                    const CallContext& run) override {
    options_.is_role_of_profile = request.settings->get("role-arn").is_from_profile();
    std::optional<Profiles> profiles;
    if (!has_environment_keys(options_, run.environment) || options_.region.empty()) {
      profiles = TRY(Profiles::load(run.environment));
    }
    const Profiles* const files = profiles ? &*profiles : nullptr;
    const CredentialPlan plan = TRY(plan_credentials(options_, run.environment, files));
    const CacheOptions cache = cache_options(request, run);
    const std::string region = TRY(token_region(options_, files, cache, run));
    const AwsCredentials credentials = TRY(credentials_of(plan, files, region, cache, run));
    run.debug("signing as " + credentials.access_key_id + " for " + options_.cluster_id + " in " +
              region);
    return sign_eks_token({.cluster_id = options_.cluster_id,
                           .region = region,
                           .host = sts_host(region, endpoint_variant(run.environment))},
                          credentials, run.clock.now());
  }

 private:
  CacheOptions cache_options(const CredentialRequest& request, const CallContext& run) const;
  Result<AwsCredentials> credentials_of(const CredentialPlan& plan, const Profiles* profiles,
                                        const std::string& region, const CacheOptions& cache,
                                        const CallContext& run) const;

  Options options_;
  bool has_own_region_ = false;  // by --region, and not by a ClusterProfile
};

CacheOptions Aws::cache_options(const CredentialRequest& request, const CallContext& run) const {
  CacheOptions cache = cache_of_run(options_.cache, request);
  cache.client = [&run] { return client_of_token(run.clock.now()); };
  return cache;
}

// A ClusterProfile may name a region of another partition, whose STS would refuse the request.
Status check_partition(const CredentialPlan& plan, const std::string& region) {
  std::vector<std::string_view> roles;
  if (const auto* identity = std::get_if<WebIdentity>(&plan.source)) {
    roles.emplace_back(identity->role.arn);
  }
  for (const Role& role : plan.roles) roles.emplace_back(role.arn);
  for (const std::string_view role : roles) {
    if (is_in_partition_of(role, region)) continue;
    return Error{.kind = Error::Kind::configuration,
                 .message = "the role " + in_quotes(role) + " is not valid in region " +
                            in_quotes(region) + ", which is of another partition",
                 .hint = "a cluster of another partition needs a role there"};
  }
  return {};
}

Result<AwsCredentials> Aws::credentials_of(const CredentialPlan& plan, const Profiles* profiles,
                                           const std::string& region, const CacheOptions& cache,
                                           const CallContext& run) const {
  if (plan.is_local()) return std::get<AwsCredentials>(plan.source);
  StsTarget sts;
  if (plan.asks_sts()) {
    sts.region = TRY(sts_region(options_, has_own_region_, profiles, region, run));
    TRY(check_partition(plan, sts.region));
    sts.url = TRY(sts_url(sts.region, run.environment));
  }
  const CacheKey key = TRY(session_key(plan, sts, run.environment));
  const auto ask = [&](CallContext& call) { return new_session(plan, sts, call); };
  const Credential session = TRY(CredentialCache(cache, run).get(key, ask));
  json::Value document = TRY(json::parse(session.token.reveal()));
  Result<AwsCredentials> credentials = aws_credentials_of_json(document, "SessionToken");
  json::wipe(document);
  return credentials;
}

PluginDefinition plugin() {
  return {.info = {.name = "execcred-aws",
                   .summary =
                       "Gives the client a token for an EKS cluster, signed with AWS credentials.",
                   .examples = {{{"Print a token for the EKS cluster spoke-1",
                                  "execcred-aws --cluster-id=spoke-1 --region=us-west-2"},
                                 {"Print one that is signed with a role",
                                  "execcred-aws --cluster-id=spoke-1 "
                                  "--role-arn=arn:aws:iam::123456789012:role/reader"}}}},
          .make = [] { return std::unique_ptr<Provider>(std::make_unique<Aws>()); }};
}

}  // namespace execcred::aws
