// SPDX-License-Identifier: Apache-2.0
// The public keys of an issuer (JSON Web Key Set, RFC 7517), to check whether one of them signed a
// token.
#pragma once

#include <execcred/base/secret.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json.hpp>

namespace execcred::doctor {

enum class Signature {
  good,
  foreign,  // none of the keys signed it
  unknown,  // an algorithm or a key that is not read here, or no key is of that algorithm
};

Signature check_signature(const SecretString& token, const UnverifiedClaims& claims,
                          const json::Value& keys);

}  // namespace execcred::doctor
