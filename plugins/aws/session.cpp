// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "eks_token.hpp"
#include "process.hpp"
#include "sts.hpp"

#include <execcred/aws/metadata.hpp>
#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/url.hpp>
#include <execcred/exec/bearer_token.hpp>
#include <execcred/exec/inner_program.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/http/http.hpp>

#include <utility>

namespace execcred::aws {
namespace {

constexpr std::string_view kCaBundle = "AWS_CA_BUNDLE";

Status plan_web_identity(WebIdentity& identity, Inputs& inputs) {
  identity.token = TRY(
      inputs.token_file("token", identity.token_file)
          .context("reading the web identity's token " + in_quotes(identity.token_file.native()))
          .hint("AWS_WEB_IDENTITY_TOKEN_FILE, or web_identity_token_file of the profile, names it: "
                "a projected serviceAccountToken"));
  return {};
}

Status plan_source(CredentialPlan::Source& source, Inputs& inputs) {
  if (std::holds_alternative<AwsCredentials>(source)) return {};
  if (auto* const identity = std::get_if<WebIdentity>(&source)) {
    return plan_web_identity(*identity, inputs);
  }
  if (auto* const endpoint = std::get_if<ContainerEndpoint>(&source)) {
    return plan_container(*endpoint, inputs);
  }
  inputs.add_machine();
  if (std::holds_alternative<InnerCommand>(source)) {
    add_environment(true, inputs);
  } else {
    metadata_urls(inputs.environment());
  }
  return {};
}

// Requests one session: from the source through the roles.
class SessionChain {
 public:
  SessionChain(const StsTarget& target, CallContext& call) : call_(call) {
    endpoint_.url = target.url;
    endpoint_.region = target.region;
  }

  Result<RoleSession> begin(const CredentialPlan::Source& source);
  Result<RoleSession> assume(const Role& role, const AwsCredentials& credentials) {
    TRY(read_ca());
    return StsClient(endpoint_, call_).assume_role(role, credentials);
  }

 private:
  Result<RoleSession> with_web_identity(const WebIdentity& identity);
  Result<AwsCredentials> of_instance();
  Status read_ca();

  CallContext& call_;
  StsEndpoint endpoint_ = {};
};

Status SessionChain::read_ca() {
  const auto path = call_.environment.get(kCaBundle);
  if (!path || !endpoint_.tls.ca_certificates.empty()) return {};
  endpoint_.tls.ca_certificates =
      TRY(read_ca_file(std::string(*path))
              .context("reading AWS_CA_BUNDLE " + in_quotes(*path))
              .hint("it names CA certificates for STS and an agent, instead of the system's"));
  return {};
}

Result<RoleSession> SessionChain::with_web_identity(const WebIdentity& identity) {
  const std::optional<UnverifiedClaims> claims = TRY(identity.token.claims());
  if (claims) {
    Status checked = of_source(check_lifetime(*claims, call_.clock.now()));
    if (!checked) checked.error().is_local = true;
    TRY(std::move(checked).context("looking at the web identity's token"));
  }
  TRY(read_ca());
  return StsClient(endpoint_, call_)
      .assume_role_with_web_identity(identity.role, identity.token.text());
}

Result<AwsCredentials> SessionChain::of_instance() {
  const AwsMetadataUrls urls = metadata_urls(call_.environment);
  return AwsMetadata(urls, call_)
      .credentials()
      .context("looking for credentials: neither variables nor a profile give them")
      .hint(
          "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, a web identity, or run "
          "where the instance has a role");
}

Result<RoleSession> SessionChain::begin(const CredentialPlan::Source& source) {
  if (const auto* keys = std::get_if<AwsCredentials>(&source)) {
    return RoleSession{.credentials = *keys};
  }
  if (const auto* identity = std::get_if<WebIdentity>(&source)) return with_web_identity(*identity);
  RoleSession session;
  if (const auto* command = std::get_if<InnerCommand>(&source)) {
    session.credentials = TRY(run_credential_process(*command, call_));
  } else if (const auto* endpoint = std::get_if<ContainerEndpoint>(&source)) {
    if (endpoint->is_https()) TRY(read_ca());
    session.credentials = TRY(ask_container(*endpoint, endpoint_.tls, call_));
  } else {
    session.credentials = TRY(of_instance());
  }
  return session;
}

Status check_end(const AwsCredentials& credentials, TimePoint now) {
  if (!credentials.expires_at || *credentials.expires_at > now) return {};
  return Error{.kind = Error::Kind::no_credential,
               .message = "the session that was given has ended already",
               .hint = "check this machine's clock, and whatever renews the session",
               .cause = cause::kSourceExpired};
}

}  // namespace

std::optional<std::string> client_of_token(TimePoint now) {
  std::optional<std::string> client = parent_identity();
  if (client) *client += " " + std::to_string(now.time_since_epoch() / kClaimedLifetime);
  return client;
}

AwsMetadataUrls metadata_urls(const Environment& environment) {
  std::string base = "http://169.254.169.254";
  if (ascii_lower(environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").value_or("")) ==
      "ipv6") {
    base = "http://[fd00:ec2::254]";
  }
  if (const auto named = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT")) base = *named;
  while (base.ends_with('/')) base.pop_back();
  return {.token = base + "/latest/api/token",
          .role = base + "/latest/meta-data/iam/security-credentials/",
          .zone = base + "/latest/meta-data/placement/availability-zone/"};
}

Status plan_session(CredentialPlan& plan, Inputs& inputs) {
  TRY(plan_source(plan.source, inputs));
  const auto* endpoint = std::get_if<ContainerEndpoint>(&plan.source);
  if (plan.asks_sts() || (endpoint != nullptr && endpoint->is_https()))
    inputs.environment().get(kCaBundle);
  return {};
}

Result<Issued> new_session(const CredentialPlan& plan, const StsTarget& sts, CallContext& call) {
  SessionChain chain(sts, call);
  RoleSession session = TRY(chain.begin(plan.source));
  TRY(check_end(session.credentials, call.clock.now()));
  for (const Role& role : plan.roles) {
    session = TRY(chain.assume(role, session.credentials));
  }
  Issued fresh;
  fresh.credential.token = write_aws_credentials(session.credentials);
  fresh.credential.expires_at = session.credentials.expires_at;
  fresh.identity = session.arn.empty() ? session.credentials.access_key_id : session.arn;
  fresh.target = "EKS tokens";
  if (plan.asks_sts()) {
    const Url url = TRY(parse_url(sts.url));
    fresh.target += " at " + origin_of(url);
  }
  return fresh;
}

}  // namespace execcred::aws
