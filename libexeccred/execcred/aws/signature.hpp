// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4: signs a request by headers or in its URL, which proves its sender.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
//
// The code does not need libcrypto (digest.hpp), and makes no request.
#pragma once

#include <execcred/aws/credentials.hpp>
#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/http/http.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

struct AwsRequest {
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  std::string method = "GET";
  std::string host = {};   // as the Host header has it: without the port 443
  std::string path = "/";  // as it is sent
  Pairs parameters = {};   // of the query, decoded, in any order
  Pairs headers = {};      // those that are signed, but for Host; no control characters
  std::string_view body = {};
};

struct AwsScope {
  std::string region = {};
  std::string service = "sts";
};

// Parses an https URL. Fails (configuration) as parse_url() does, and for a query that is not
// form-encoded.
Result<AwsRequest> aws_request(std::string_view method, std::string_view text);

// Returns the headers to be sent with the request: X-Amz-Date, Authorization, and
// X-Amz-Security-Token for a session. The request must be sent exactly as it was signed.
std::vector<HttpHeader> sign_aws_request(const AwsRequest& request,
                                         const AwsCredentials& credentials, const AwsScope& scope,
                                         TimePoint now);

// Returns the presigned https URL. Anyone with the URL can send the request, with its headers, for
// `lifetime` (which the receiver may shorten). The query is sorted, and the signature is last.
// The URL contains the token of a session.
SecretString presign_aws_request(const AwsRequest& request, const AwsCredentials& credentials,
                                 const AwsScope& scope, TimePoint now,
                                 std::chrono::seconds lifetime);

}  // namespace execcred
