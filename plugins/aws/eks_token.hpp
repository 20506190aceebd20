// SPDX-License-Identifier: Apache-2.0
// The token that EKS accepts: a presigned request to STS for the signer's own identity. The
// cluster's authenticator sends this request.
// https://github.com/kubernetes-sigs/aws-iam-authenticator#api-authorization-from-outside-a-cluster
#pragma once

#include <execcred/aws/credentials.hpp>
#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace execcred::aws {

inline constexpr std::string_view kEksTokenStart = "k8s-aws-v1.";

// The lifetime that is claimed for a token, if its session does not expire sooner. The
// authenticator accepts the request for 15 minutes.
inline constexpr std::chrono::minutes kClaimedLifetime(14);

struct TokenTarget {
  std::string cluster_id = {};
  std::string region = {};
  std::string host = {};  // of STS
};

// Makes no request. The credential's expiry is that of the signing session, limited so that the
// plugin claims at most kClaimedLifetime. Fails (no_credential) if the session has expired, or if
// the token is too long for the authenticator.
Result<Credential> sign_eks_token(const TokenTarget& target, const AwsCredentials& credentials,
                                  TimePoint now);

}  // namespace execcred::aws
