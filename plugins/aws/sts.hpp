// SPDX-License-Identifier: Apache-2.0
// AWS Security Token Service: the two actions that give a role's session.
// https://docs.aws.amazon.com/STS/latest/APIReference/
//
// JSON is requested; XML, the older form, is accepted too. The reply's Code names the failure; the
// status says little: throttling is 400 too.
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
  // All must outlive it.
  StsClient(const StsEndpoint& endpoint, CallContext& call) : endpoint_(endpoint), call_(call) {}

  // Fail with no_credential (refused, or a reply that is no session), unavailable (network, too
  // many requests, an error of STS), configuration (the URL).
  Result<RoleSession> assume_role(const Role& role, const AwsCredentials& credentials);
  // Not signed: the token identifies the caller.
  Result<RoleSession> assume_role_with_web_identity(const Role& role, const SecretString& token);

 private:
  Result<RoleSession> ask(HttpRequest request, const std::string& action,
                          const SecretTexts& secrets);

  const StsEndpoint& endpoint_;
  CallContext& call_;
};

// The reply to an action. `secrets` may not be shown, even if the server repeats them.
Result<RoleSession> read_sts_reply(const HttpResponse& reply, const std::string& action,
                                   const std::string& server, const SecretTexts& secrets);

}  // namespace execcred::aws
