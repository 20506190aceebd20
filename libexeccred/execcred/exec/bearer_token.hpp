// SPDX-License-Identifier: Apache-2.0
// A bearer token as an Authorization header may contain it (RFC 6750): one word of visible ASCII.
//
// A file that is mounted in a token's place by mistake (a key, a kubeconfig, a certificate) must
// never be sent to a server, so it is recognised here. Messages never show the content.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/jwt.hpp>

#include <filesystem>
#include <optional>
#include <utility>

namespace execcred {

// A token that was checked and parsed once, by bearer_token().
class BearerToken {
 public:
  BearerToken() = default;  // empty

  const SecretString& text() const { return text_; }
  SecretString take() && { return std::move(text_); }

  // Its JWT. Returns nullopt and fails as parse_jwt() does.
  const Result<std::optional<Jwt>>& jwt() const { return jwt_; }
  // Its claims. Returns nullopt and fails as unverified_claims() does.
  Result<std::optional<UnverifiedClaims>> claims() const { return unverified_claims(jwt_); }

 private:
  friend Result<BearerToken> bearer_token(const SecretString& content);
  explicit BearerToken(SecretString text) : text_(std::move(text)), jwt_(parse_jwt(text_)) {}

  SecretString text_;
  Result<std::optional<Jwt>> jwt_ = std::optional<Jwt>();
};

// The content without the white space at both ends. Fails (no_credential) if it is empty, has
// several words or a byte that is not visible ASCII, is clearly not a token, or is part of a JWT
// (check_whole).
Result<BearerToken> bearer_token(const SecretString& content);
// The same for the content of a file, a variable or a Secret: the error has a remedy for its
// writer, and the cause source-missing if there is no content.
Result<BearerToken> bearer_token_of_source(const SecretString& content);
// The same for a file. Fails as read_secret_file() does, too.
Result<BearerToken> read_bearer_token(const std::filesystem::path& path);

// Fails (no_credential) for a token that begins as a JWT does (eyJ, the base64url of {") but is
// neither a JWT nor a JWE: a file that was read half written, for example. A cut within the
// signature is found only where the rest is no base64url. Every other token is opaque, and passes.
// bearer_token() and parse_exec_credential() call it, so others need not.
Status check_whole(const SecretString& token);

}  // namespace execcred
