// SPDX-License-Identifier: Apache-2.0
//
// Owners of the OpenSSL objects that the test support uses, and the function that reports failures.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace execcred::test {

template <auto Free>
struct OpensslDeleter {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    Free(handle);
  }
};

using BignumPtr = std::unique_ptr<BIGNUM, OpensslDeleter<BN_free>>;
using BioPtr = std::unique_ptr<BIO, OpensslDeleter<BIO_free_all>>;
using CertificatePtr = std::unique_ptr<X509, OpensslDeleter<X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, OpensslDeleter<X509_EXTENSION_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslDeleter<EVP_PKEY_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpensslDeleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, OpensslDeleter<SSL_free>>;

// Throws with OpenSSL's own reason unless `succeeded`; `action` completes "cannot …".
inline void require_openssl(bool succeeded, const std::string& action) {
  if (succeeded) return;
  const char* reason = ERR_reason_error_string(ERR_get_error());
  throw std::runtime_error("cannot " + action + ": " +
                           (reason != nullptr ? reason : "no reason given by OpenSSL"));
}

inline void set_random_serial(X509& certificate) {
  const BignumPtr serial(BN_new());
  require_openssl(serial != nullptr && BN_rand(serial.get(), 64, BN_RAND_TOP_ONE, 0) == 1 &&
                      BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(&certificate)),
                  "choose a serial number");
}

// The text that `write` puts into its BIO. `write` returns 1 for success, as OpenSSL does.
template <class Write>
std::string written_by(Write write) {
  const BioPtr memory(BIO_new(BIO_s_mem()));
  require_openssl(memory != nullptr && write(memory.get()) == 1, "write a key or certificate");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace execcred::test
