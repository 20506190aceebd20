// SPDX-License-Identifier: Apache-2.0
// The private keys of RFC 7515 (appendices A.2 and A.3) and RFC 8037 (appendix A), and new ones.
#pragma once

#include "openssl_handles.hpp"

#include <execcred/base/secret.hpp>

#include <string>
#include <string_view>

namespace execcred::test {

// PEM, in three forms: PKCS#1, SEC 1, PKCS#8.
SecretString rfc7515_rsa_key();
SecretString rfc7515_ec_key();
SecretString rfc8037_key();
// Encrypted PKCS#8.
SecretString encrypted_key();

KeyPtr new_rsa_key(unsigned bits);
KeyPtr new_ec_key(const char* curve);
KeyPtr new_ed25519_key();

SecretString pkcs8_pem(const KeyPtr& key);
KeyPtr parse_key(const SecretString& pem);

// Whether the key has signed the compact JWS, as verified by OpenSSL.
bool is_signed_by(std::string_view token, std::string_view algorithm, const KeyPtr& key);

// The decoded part of a compact JWS: 0 header, 1 payload, 2 signature.
std::string part_of(std::string_view token, std::size_t index);

}  // namespace execcred::test
