// SPDX-License-Identifier: Apache-2.0
// The API server's own file (--authentication-config, AuthenticationConfiguration of
// apiserver.config.k8s.io): which JSON Web Tokens it takes. Its CEL expressions are shown, and not
// evaluated.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::doctor {

struct JwtAuthenticator {
  std::string issuer = {};
  std::vector<std::string> audiences = {};
  std::string username_claim = {};
  std::string username_prefix = {};
  struct Required {
    std::string claim = {};
    std::string value = {};
  };
  std::vector<Required> required = {};
  std::vector<std::string> expressions = {};
};

class AuthenticationConfig {
 public:
  // Fails (configuration) where the file cannot be read or is another document.
  static Result<AuthenticationConfig> load(const std::filesystem::path& path);

  // Null where no authenticator of the file is for this issuer.
  const JwtAuthenticator* find(std::string_view issuer) const;
  std::vector<std::string> issuers() const;

 private:
  std::vector<JwtAuthenticator> authenticators_;
};

// What the file says of a token: empty where nothing of it is against the token.
struct Mismatch {
  enum class Kind { none, issuer, audience, other };
  Kind kind = Kind::none;
  std::string message = {};
  std::string hint = {};
};

// A ServiceAccount's token is judged by the cluster's own issuer where the file does not have it.
Mismatch compare(const AuthenticationConfig& config, const UnverifiedClaims& claims,
                 const json::Value& payload);

bool is_service_account(const UnverifiedClaims& claims);

}  // namespace execcred::doctor
