// SPDX-License-Identifier: Apache-2.0
// Signs JSON Web Tokens (RFC 7515, compact; RFC 7518, RFC 8037) with the private keys of OAuth
// clients. Reading the first key initialises OpenSSL, without its configuration file.
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
  // Reads the PEM of one private key (PKCS#8, PKCS#1 or SEC 1). The default algorithm is RS256 for
  // RSA, ES256, ES384 or ES512 by the curve, and EdDSA for Ed25519 and Ed448. Fails (no_credential)
  // if the key is missing, damaged, encrypted, of another kind, or RSA with less than 2048 bits;
  // fails (configuration) if the algorithm is unknown or does not fit the key.
  static Result<SigningKey> read(const SecretString& pem, std::string_view algorithm = {});

  // The algorithm's name in RFC 7518 and RFC 8037: RS256, PS256, ES256, EdDSA and so on.
  std::string_view algorithm() const { return algorithm_; }

  // The JWS HEADER.PAYLOAD.SIGNATURE; header and payload are not checked. Fails (internal) if
  // OpenSSL cannot sign.
  Result<SecretString> sign(std::string_view header, std::string_view payload) const;

 private:
  SigningKey() = default;

  std::shared_ptr<evp_pkey_st> key_;
  std::string_view algorithm_;
};

// A time as a NumericDate (RFC 7519), rounded down to whole seconds.
json::Value numeric_date(TimePoint time);

// A JWT with these claims. It has no `kid` if `key_id` is empty.
Result<SecretString> sign_jwt(const SigningKey& key, std::string_view key_id,
                              const json::Value& claims);

}  // namespace execcred
