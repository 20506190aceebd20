// SPDX-License-Identifier: Apache-2.0
// The subject token of external_account credentials: the identity of this process, confirmed by
// another issuer than Google.
#pragma once

#include "credentials.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/provider.hpp>
#include <execcred/http/http.hpp>

#include <string>
#include <string_view>

namespace execcred::google {

class Subject {
 public:
  // Adds the token's identity to the key, unless the credentials file contains it. A token in a
  // file is read, and its issuer, subject and audiences are its identity; no token is fetched.
  // `account` is null for credentials that have no subject token. The arguments must outlive the
  // subject.
  static Result<Subject> open(const ExternalAccount* account, const CallContext& run,
                              CacheKey& key);

  // The token. Fails (no_credential) if it is invalid or expired, and as the request that fetches
  // it does.
  Result<SecretString> get(const TlsSettings& tls, CallContext& call) const;

 private:
  Subject(const ExternalAccount* account, const CallContext& run) : account_(account), run_(&run) {}

  Status identify(CacheKey& key);
  Result<SecretString> fetch(const TlsSettings& tls, CallContext& call) const;

  const ExternalAccount* account_;
  const CallContext* run_;
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

// Adds the variables that determine the AWS identity.
void identify_aws(const Environment& environment, CacheKey& key);

}  // namespace execcred::google
