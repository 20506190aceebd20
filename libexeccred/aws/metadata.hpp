// SPDX-License-Identifier: Apache-2.0
// The instance metadata service of EC2, version 2: each read shows a session token, which a PUT
// gives. Version 1, which any request forged on the instance's behalf could read, is not spoken.
//
// Plain http to a link-local address, never through a proxy, and each request ends after a second:
// where nobody answers there is no instance, or the token's packets may not travel that far.
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

// AWS_EC2_METADATA_DISABLED=true, in any case.
bool is_aws_metadata_disabled(const Environment& environment);

class AwsMetadata {
 public:
  // All must outlive it.
  AwsMetadata(const AwsMetadataUrls& urls, CallContext& call) : urls_(urls), call_(call) {}

  // Of the instance's role. Fails with no_credential where it has none, or for a reply that is
  // not what it should be; with unavailable where nobody answers.
  Result<AwsCredentials> credentials();
  // That of the instance's availability zone.
  Result<std::string> region();

 private:
  Result<SecretString> get(const std::string& url);
  Status get_token();

  const AwsMetadataUrls& urls_;
  CallContext& call_;
  SecretString token_ = {};
};

}  // namespace execcred
