// SPDX-License-Identifier: Apache-2.0
// execcred-aws: gives the client a token for an EKS cluster, which is a request to STS that is
// signed with AWS credentials, and that the cluster's authenticator sends.
//
// Signing needs no request and is done in each run, so tokens are not cached. A session that was
// requested (a role's, a container's, an instance's) is cached, so that a fleet of clusters costs
// one call.
#include "credential_plan.hpp"
#include "eks_token.hpp"
#include "endpoint.hpp"
#include "options.hpp"
#include "region.hpp"
#include "session.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/exec/plugin_main.hpp>
#include <execcred/json/json.hpp>
#include <execcred/json/json_reader.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace execcred::aws {

namespace {

// A ClusterProfile may name a region of another partition, whose STS would refuse the request.
Status check_partition(const CredentialPlan& plan, const std::string& region) {
  std::vector<std::string_view> roles;
  if (const auto* identity = std::get_if<WebIdentity>(&plan.source)) {
    roles.emplace_back(identity->role.arn);
  }
  for (const Role& role : plan.roles) roles.emplace_back(role.arn);
  for (const std::string_view role : roles) {
    if (is_in_partition_of(role, region)) continue;
    return Error::configuration("the role " + in_quotes(role) + " is not valid in region " +
                                    in_quotes(region) + ", which is of another partition",
                                "a cluster of another partition needs a role there");
  }
  return {};
}

Result<StsTarget> target_in(const std::string& region, const CredentialPlan& plan,
                            const Environment& environment) {
  StsTarget sts;
  if (!plan.asks_sts()) return sts;
  sts.region = region;
  TRY(check_partition(plan, region));
  sts.url = TRY(sts_url(region, environment));
  return sts;
}

// What a run knows before it asks anybody. Only the instance may know the region. Then that of STS
// is the same.
struct Known {
  CredentialPlan plan = {};
  std::optional<std::string> region = {};
  StsTarget sts = {};

  // Whether nobody need be asked.
  bool is_all() const { return region && plan.is_local(); }
};

// What is kept, as JSON: a session, and a region that the instance gave.
SecretString kept_text(const SecretString& session, const std::string& region) {
  SecretString text(R"({"Region":")" + region + "\"");
  if (!session.empty()) {
    text.append(R"(,"Session":)");
    text.append(session.reveal());
  }
  text.append("}");
  return text;
}

// The ARN of the role that signs; empty if it is not known.
std::string principal_of(const CredentialPlan& plan, const Settings& settings,
                         const Environment& environment) {
  if (!plan.roles.empty()) return plan.roles.back().arn;
  const auto* const identity = std::get_if<WebIdentity>(&plan.source);
  if (identity != nullptr) return identity->role.arn;
  // Keys in the environment may be of a session of this role.
  const auto role = environment.get("AWS_ROLE_ARN");
  if (!role || settings.get("profile").is_from_controller()) return {};
  return parse_role_arn(std::string(*role)) ? std::string(*role) : std::string();
}

Result<Issued> ask(const Known& known, CallContext& call) {
  const std::string region = known.region ? std::string() : TRY(region_of_instance(call));
  StsTarget sts = known.sts;
  if (!known.region) sts = TRY(target_in(region, known.plan, call.environment));
  Issued issued = {.identity = "this instance", .target = "its region"};
  if (!known.plan.is_local()) issued = TRY(new_session(known.plan, sts, call));
  issued.credential.token = kept_text(issued.credential.token, region);
  return issued;
}

}  // namespace

class Aws final : public Provider {
 public:
  void add_options(OptionSet& set) override { aws::add_options(set, options_); }

  std::vector<Finding> check(const Settings& settings,
                             const Environment& /*environment*/) const override {
    return refusals(check_options(options_, settings));
  }

  Result<Plan> plan(const Settings& settings, Inputs& inputs) const override {
    const auto known = std::make_shared<Known>(TRY(read(settings, inputs)));
    Plan plan = {.ask = [known](CallContext& call) { return ask(*known, call); }};
    plan.principal =
        principal_of(known->plan, settings, inputs.unrecorded_environment("it is for people"));
    plan.finish = [this, known](Credential issued, const CallContext& run) {
      return sign(*known, issued, run);
    };
    if (known->is_all()) {
      plan.ask = [](CallContext& /*call*/) { return Result<Issued>(Issued()); };
      return plan;
    }
    plan.cache = options_.cache;
    plan.cache->options.client = [] { return client_of_token(system_clock().now()); };
    return plan;
  }

 private:
  Result<Known> read(const Settings& settings, Inputs& inputs) const;
  Result<Credential> sign(const Known& known, const Credential& issued,
                          const CallContext& run) const;

  Options options_;
};

Result<Known> Aws::read(const Settings& settings, Inputs& inputs) const {
  const Environment& environment = inputs.environment();
  std::optional<Profiles> profiles;
  if (!has_environment_keys(settings, environment) || options_.region.empty()) {
    const auto read_shared = [&inputs](const std::filesystem::path& path, std::size_t max_bytes) {
      return inputs.secret_file("profiles", path, max_bytes);
    };
    profiles = TRY(Profiles::load(environment, read_shared));
  }
  const Profiles* const files = profiles ? &*profiles : nullptr;
  Known known = {.plan = TRY(plan_credentials(options_, settings, environment, files))};
  known.region = TRY(known_region(options_, files, environment));
  if (known.is_all()) return known;
  TRY(plan_session(known.plan, inputs));
  if (!known.region) {
    inputs.add_machine();
    return known;
  }
  const bool is_own = settings.get("region").is_from_controller();
  const std::string region = TRY(sts_region(options_, is_own, files, *known.region, environment));
  known.sts = TRY(target_in(region, known.plan, environment));
  inputs.add("sts", known.sts.url);
  inputs.add("sts.region", known.sts.region);
  return known;
}

// Signing needs no request, so each run has a token of its own.
Result<Credential> Aws::sign(const Known& known, const Credential& issued,
                             const CallContext& run) const {
  std::string region = known.region.value_or("");
  AwsCredentials credentials;
  if (known.plan.is_local()) credentials = std::get<AwsCredentials>(known.plan.source);
  if (!known.is_all()) {
    const json::SecretValue document = TRY(json::parse_secret(issued.token.reveal()));
    if (!known.region) region = json::text_or_empty(*document, "Region");
    const json::Value* const session = document->find("Session");
    if (session != nullptr) credentials = TRY(aws_credentials_of_json(*session, "SessionToken"));
  }
  run.debug("signing as " + credentials.access_key_id + " for " + options_.cluster_id + " in " +
            region);
  return sign_eks_token({.cluster_id = options_.cluster_id,
                         .region = region,
                         .host = sts_host(region, endpoint_variant(run.environment))},
                        credentials, run.clock.now());
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
