// SPDX-License-Identifier: Apache-2.0
// The subject token of external_account credentials: the identity of this process, confirmed by
// another issuer than Google.
#pragma once

#include "credentials.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/inputs.hpp>
#include <execcred/http/http.hpp>

#include <string>
#include <string_view>

namespace execcred::google {

class Subject {
 public:
  // Reads a token in a file. Any other token is identified by its source, and is not fetched.
  // `account` is null for credentials that have no subject token. It must outlive the subject.
  static Result<Subject> open(const ExternalAccount* account, Inputs& inputs);

  // The token. Fails (no_credential) if it is invalid or expired, and as the request that fetches
  // it does.
  Result<SecretString> get(const TlsSettings& tls, CallContext& call) const;

 private:
  explicit Subject(const ExternalAccount* account) : account_(account) {}

  Status read(Inputs& inputs);
  Result<SecretString> fetch(const TlsSettings& tls, CallContext& call) const;

  const ExternalAccount* account_;
  SecretString token_;  // of a file
};

// The token in a text: the whole text, or a string member of its JSON if `field` is not empty.
// Fails (no_credential).
Result<SecretString> subject_token_of(const SecretString& text, const std::string& field,
                                      const std::string& type);

// Runs the program of an ExecutableSource; the form of its reply is in
// https://google.aip.dev/auth/4117. The program gets this process's environment, and
// GOOGLE_EXTERNAL_ACCOUNT_*. Fails (configuration) if GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES is
// not "1".
Result<SecretString> run_executable(const ExecutableSource& source, const ExternalAccount& account,
                                    const CallContext& call);

// The reply that an executable printed, or left in its output file.
struct ExecutableReply {
  SecretString token = {};
  std::optional<TimePoint> expires_at = {};
};

// Fails (no_credential) if the text is not such a reply, or one of another version, or if it
// reports a failure or has expired at `now`.
Result<ExecutableReply> parse_executable_reply(std::string_view text, TimePoint now);

// A signed request for sts:GetCallerIdentity, which Google sends to AWS to get the identity.
Result<SecretString> sign_for_aws(const AwsSource& source, const std::string& audience,
                                  CallContext& call);

// Reads the variables that determine the AWS identity.
void plan_aws(Inputs& inputs);

}  // namespace execcred::google
