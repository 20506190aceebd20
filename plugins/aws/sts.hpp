// SPDX-License-Identifier: Apache-2.0
// AWS Security Token Service: the two actions that return a role's session.
// https://docs.aws.amazon.com/STS/latest/APIReference/
//
// JSON is requested; XML, the older form, is accepted too. The Code in the reply identifies the
// failure. The status does not: throttling is a 400 too.
#pragma once

#include "role.hpp"

#include <execcred/aws/credentials.hpp>
#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/http/http.hpp>
#include <execcred/oauth/failure.hpp>

#include <string>

namespace execcred::aws {

struct StsEndpoint {
  std::string url = {};     // https
  std::string region = {};  // that requests are signed for
  TlsSettings tls = {};
};

struct RoleSession {
  AwsCredentials credentials = {};
  std::string arn = {};  // of the session, or empty
};

class StsClient {
 public:
  // `endpoint` and `call` must outlive the client.
  StsClient(const StsEndpoint& endpoint, CallContext& call) : endpoint_(endpoint), call_(call) {}

  // Both fail (no_credential) if STS refuses or the reply is not a session, (unavailable) for a
  // network error, too many requests or an error of STS, and (configuration) if the URL is invalid.
  Result<RoleSession> assume_role(const Role& role, const AwsCredentials& credentials);
  // The request is not signed: the token identifies the caller.
  Result<RoleSession> assume_role_with_web_identity(const Role& role, const SecretString& token);

 private:
  Result<RoleSession> ask(HttpRequest request, const std::string& action);

  const StsEndpoint& endpoint_;
  CallContext& call_;
};

// Reads the reply to an action.
Result<RoleSession> read_sts_reply(const HttpResponse& reply, const std::string& action,
                                   const std::string& server);

}  // namespace execcred::aws
