// SPDX-License-Identifier: Apache-2.0
#include "eks_token.hpp"

#include <execcred/aws/signature.hpp>
#include <execcred/base/cause.hpp>
#include <execcred/base/encoding.hpp>

#include <algorithm>
#include <chrono>

namespace execcred::aws {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMaxToken = 4096;
// The value is a convention; the authenticator checks the date instead.
constexpr seconds kExpires(60);
// plugin_main claims 30 s less.
constexpr seconds kLifetime = kClaimedLifetime + seconds(30);

}  // namespace

Result<Credential> sign_eks_token(const TokenTarget& target, const AwsCredentials& credentials,
                                  TimePoint now) {
  if (credentials.expires_at && *credentials.expires_at <= now) {
    return Error{.kind = Error::Kind::no_credential,
                 .message = "the session that signs has ended",
                 .hint = "check whatever renews it, and this machine's clock",
                 .cause = cause::kSourceExpired};
  }
  const AwsRequest request = {
      .host = target.host,
      .parameters = {{"Action", "GetCallerIdentity"}, {"Version", "2011-06-15"}},
      .headers = {{"x-k8s-aws-id", target.cluster_id}}};
  const SecretString url =
      presign_aws_request(request, credentials, {.region = target.region}, now, kExpires);
  Credential credential{.token = SecretString(kEksTokenStart), .expires_at = now + kLifetime};
  credential.token.append(encode_base64url(url.reveal()).reveal());
  if (credentials.expires_at) {
    credential.expires_at = std::min(*credential.expires_at, *credentials.expires_at);
  }
  if (credential.token.size() <= kMaxToken) return credential;
  return Error::no_credential("the token would have " + std::to_string(credential.token.size()) +
                                  " bytes, and an EKS cluster takes " + std::to_string(kMaxToken),
                              "the session's own token is too long: give the session fewer tags");
}

}  // namespace execcred::aws
