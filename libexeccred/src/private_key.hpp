// SPDX-License-Identifier: Apache-2.0
// One private key, in whichever form it is kept.
#pragma once

#include <execcred/result.hpp>
#include <execcred/secret.hpp>

#include <memory>

#include <openssl/evp.h>
#include <openssl/x509.h>

namespace execcred {

template <auto Free>
struct OpensslDeleter {
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    Free(handle);
  }
};

using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;

struct PrivateKey {
  KeyPtr key = {};
  SecretString pem = {};  // labelled as what it is, whatever label it came with
};

// PEM or DER: PKCS#8, or the SEC 1 and PKCS#1 forms of EC and RSA keys. Fails (no_credential).
Result<PrivateKey> read_private_key(const SecretString& text);

}  // namespace execcred
