// SPDX-License-Identifier: Apache-2.0
// The API server's own file (--authentication-config, AuthenticationConfiguration of
// apiserver.config.k8s.io): the JSON Web Tokens that it accepts. Its CEL expressions are shown, and
// not evaluated.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json.hpp>

#include <filesystem>
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
  // Fails (configuration) if the file cannot be read or is another document.
  static Result<AuthenticationConfig> load(const std::filesystem::path& path);

  // nullptr if no authenticator of the file is for this issuer.
  const JwtAuthenticator* find(std::string_view issuer) const;
  std::vector<std::string> issuers() const;

 private:
  std::vector<JwtAuthenticator> authenticators_;
};

// Why the server would refuse a token by this file. The kind is `none` if the file has no
// objection.
struct Mismatch {
  enum class Kind { none, issuer, audience, other };
  Kind kind = Kind::none;
  std::string message = {};
  std::string hint = {};
};

// Compares a token with the file. If the issuer of a ServiceAccount's token is not in the file, the
// kind is `none`, because the cluster's own issuer decides about such a token.
Mismatch compare(const AuthenticationConfig& config, const UnverifiedClaims& claims,
                 const json::Value& payload);

bool is_service_account(const UnverifiedClaims& claims);

}  // namespace execcred::doctor
