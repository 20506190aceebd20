// SPDX-License-Identifier: Apache-2.0
// The claims of a JSON Web Token (RFC 7519), NOT verified: only the API server, which has the
// issuer's keys, can verify them. They show when to ask again, and reveal a misconfiguration early;
// no security decision may depend on them.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/json/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred {

// The header and the claims, which are JSON objects.
struct Jwt {
  json::Value header;
  json::Value claims;
};

// Returns nullopt for an opaque token: one that does not have three parts, or whose first part is
// not the base64url of text that starts like a JSON object. Fails (no_credential) for a malformed
// JWT: its header or claims are not a JSON object, or a key is duplicated.
Result<std::optional<Jwt>> parse_jwt(const SecretString& token);

struct UnverifiedClaims {
  std::optional<TimePoint> expires_at;  // exp, cut to whole seconds, at most the year 2262
  std::optional<TimePoint> not_before;  // nbf, likewise
  std::vector<std::string> audiences;   // aud, a string or an array
  std::string issuer;                   // iss, or empty
  std::string subject;                  // sub, or empty
  std::string key_id;                   // kid of the header, or empty
  std::string algorithm;                // alg of the header, or empty
  std::optional<std::string> type;      // typ of the header; empty where it is no string
  bool has_id = false;                  // jti is there
};

// Fails (no_credential) if exp or nbf is not a number, or if aud is neither a string nor an array
// of strings.
Result<UnverifiedClaims> unverified_claims(const Jwt& jwt);
// The same for what parse_jwt() returned: nullopt and its failure stay as they are.
Result<std::optional<UnverifiedClaims>> unverified_claims(const Result<std::optional<Jwt>>& jwt);
// The same for a token.
Result<std::optional<UnverifiedClaims>> unverified_claims(const SecretString& token);

// What is the same in all tokens of one identity. Providers decide by more than the subject, for
// example by the branch or the environment of a CI job.
struct TokenIdentity {
  std::string issuer;   // iss, or empty
  std::string subject;  // sub, or empty
  // All claims but exp, iat, nbf, jti, and pod and warnafter in "kubernetes.io". This is JSON in a
  // canonical form: members of objects are sorted, numbers keep their digits, aud is a sorted
  // array.
  std::string claims;
};

// Fails (no_credential) if aud is neither a string nor an array of strings.
Result<TokenIdentity> token_identity(const Jwt& jwt);

// Whether a server may accept the assertion only once (RFC 7523, section 3): true if it has a jti,
// or cannot be read.
bool is_single_use(const SecretString& assertion);

// Whether the claims contain one of the audiences. Takes little more time than reading both lists,
// which may have thousands of members.
bool has_any_audience(const UnverifiedClaims& claims, const std::vector<std::string>& audiences);

// Fails (no_credential) unless the claims contain one of the audiences that `option` demands, and
// for a token that is no JWT (nullopt). An empty list demands nothing.
Status check_audience(const std::optional<UnverifiedClaims>& claims, std::string_view option,
                      const std::vector<std::string>& wanted);
// The same for a token. Fails as unverified_claims() does, too.
Status check_audience(const SecretString& token, std::string_view option,
                      const std::vector<std::string>& wanted);

// Fails (no_credential) for claims that have expired at `now`, or begin more than 60 s after it.
Status check_lifetime(const UnverifiedClaims& claims, TimePoint now);
// The same for the claims of a credential's token, and never for an opaque token. The credential
// ends with its token at the latest.
Status check_token(const std::optional<UnverifiedClaims>& claims, TimePoint now,
                   Credential& credential);
// The result of these two for a token that something should have renewed: the error of an expired
// one has a remedy, and the cause source-expired.
Status of_source(Status checked);
// The same for a token. Fails as unverified_claims() does, too, and never for an opaque token.
Status check_source_lifetime(const SecretString& token, TimePoint now);

}  // namespace execcred
