// SPDX-License-Identifier: Apache-2.0
// The instance metadata service of EC2, version 2: each read sends a session token that a PUT
// returned. Version 1 is not used, because a forged request (SSRF) could read it.
//
// The requests use plain http to a link-local address, never a proxy. Each attempt ends after a
// second. Without an answer, this machine is not an instance, or the hop limit of the token's
// packets is too low.
#pragma once

#include <execcred/aws/credentials.hpp>
#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>

#include <chrono>
#include <string>

namespace execcred {

struct AwsMetadataUrls {
  std::string token = "http://169.254.169.254/latest/api/token";
  std::string role = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
  std::string zone = "http://169.254.169.254/latest/meta-data/placement/availability-zone";
  std::chrono::seconds token_lifetime = std::chrono::hours(6);
};

// Whether AWS_EC2_METADATA_DISABLED is "true", in upper or lower case.
bool is_aws_metadata_disabled(const Environment& environment);

class AwsMetadata {
 public:
  // `urls` and `call` must outlive the object.
  AwsMetadata(const AwsMetadataUrls& urls, CallContext& call) : urls_(urls), call_(call) {}

  // The credentials of the instance's role. Fails with no_credential if it has no role or the reply
  // is invalid, and with unavailable if there is no answer.
  Result<AwsCredentials> credentials();
  // The region of the instance's availability zone. Fails in the same way.
  Result<std::string> region();

 private:
  // `if_missing` is what the answer 404 means; empty where it means nothing of its own.
  Result<SecretString> get(const std::string& url, std::string_view if_missing = {});
  Status get_token();

  const AwsMetadataUrls& urls_;
  CallContext& call_;
  SecretString token_ = {};
};

}  // namespace execcred
