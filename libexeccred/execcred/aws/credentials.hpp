// SPDX-License-Identifier: Apache-2.0
// The credentials that sign requests to AWS: an access key, or a session that expires.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/copyable_secret.hpp>
#include <execcred/base/environment.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/json/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct AwsCredentials {
  std::string access_key_id = {};
  CopyableSecret secret_access_key = {};
  CopyableSecret session_token = {};                   // empty for a user's own key
  std::optional<TimePoint> expires_at = std::nullopt;  // of a session, where it is known
};

// Fails (no_credential) if a part is missing, too long, or has a byte that a request cannot
// contain.
Status check_aws_credentials(const AwsCredentials& credentials);

// Reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN (or its older name
// AWS_SECURITY_TOKEN) and AWS_CREDENTIAL_EXPIRATION. Returns nullopt if the first is not set. Fails
// (configuration) if the second is missing, or if one is malformed.
Result<std::optional<AwsCredentials>> aws_credentials_of_environment(
    const Environment& environment);

// Reads the members AccessKeyId, SecretAccessKey and Expiration of an object, and its session
// token. Metadata servers call that member "Token", and all others "SessionToken". Unknown members
// are ignored. Fails (no_credential), and shows no secret.
Result<AwsCredentials> aws_credentials_of_json(const json::Value& object,
                                               std::string_view token_member);

// Reads an RFC 3339 time, or a number of seconds since 1970, perhaps with a fraction or an
// exponent. Fails (no_credential).
Result<TimePoint> parse_aws_expiration(const json::Value& value);

// A JSON object that aws_credentials_of_json(…, "SessionToken") reads.
SecretString write_aws_credentials(const AwsCredentials& credentials);

}  // namespace execcred
