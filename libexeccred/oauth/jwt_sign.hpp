// SPDX-License-Identifier: Apache-2.0
// Signing JSON Web Tokens (RFC 7515, compact; RFC 7518, RFC 8037), with the keys that clients
// authenticate by. OpenSSL is initialised by the first key, without its configuration file.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/json/json.hpp>

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace execcred {

class SigningKey {
 public:
  // PEM of one private key (PKCS#8, PKCS#1 or SEC 1). Without an algorithm: RS256 for RSA, ES256,
  // ES384 or ES512 by the curve, EdDSA for Ed25519 and Ed448. Fails (no_credential) for a key that
  // is missing, damaged, encrypted, of another kind, or RSA of less than 2048 bits; with
  // configuration for an algorithm that is unknown or does not fit the key.
  static Result<SigningKey> read(const SecretString& pem, std::string_view algorithm = {});

  // The name of JWA: RS256, PS256, ES256, EdDSA and so on.
  std::string_view algorithm() const { return algorithm_; }

  // HEADER.PAYLOAD.SIGNATURE of any header and payload, which are not checked.
  Result<SecretString> sign(std::string_view header, std::string_view payload) const;

 private:
  SigningKey() = default;

  std::shared_ptr<evp_pkey_st> key_;
  std::string_view algorithm_;
};

// A time as JWTs have it (RFC 7519, NumericDate), in whole seconds.
json::Value numeric_date(TimePoint time);

// A JWT with these claims. A key id that is empty is left out.
Result<SecretString> sign_jwt(const SigningKey& key, std::string_view key_id,
                              const json::Value& claims);

}  // namespace execcred
