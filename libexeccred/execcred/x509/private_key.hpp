// SPDX-License-Identifier: Apache-2.0
// Reads one private key, in any of its usual forms.
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/x509/openssl.hpp>

#include <string_view>

namespace execcred {

struct PrivateKey {
  KeyOwner key = {};
  SecretString pem = {};  // with the label of its type, whatever its input label was
};

// Reads PEM or DER: PKCS#8, or the SEC 1 and PKCS#1 forms of EC and RSA keys. Fails
// (no_credential).
Result<PrivateKey> read_private_key(const SecretString& text);

// Succeeds for the types that Go's TLS clients, client-go among them, can use: RSA, EC on a NIST
// curve, and Ed25519. Fails (no_credential).
Status check_usable_by_clients(const EVP_PKEY& key);

// Reads PKCS#8 in DER that is not encrypted and has nothing after it; null for anything else.
KeyOwner read_pkcs8_key(std::string_view der);

}  // namespace execcred
