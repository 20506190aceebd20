// SPDX-License-Identifier: Apache-2.0
// Owners of OpenSSL's objects, and the initialisation of OpenSSL.
#pragma once

#include <execcred/base/result.hpp>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace execcred {

template <auto Free>
struct OpensslFree {
  template <class Object>
  void operator()(Object* object) const {
    Free(object);
  }
};

using BioOwner = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using KeyOwner = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using NameOwner = std::unique_ptr<X509_NAME, OpensslFree<X509_NAME_free>>;
using StoreOwner = std::unique_ptr<X509_STORE, OpensslFree<X509_STORE_free>>;
using X509Owner = std::unique_ptr<X509, OpensslFree<X509_free>>;

// Initialises libcrypto with only what TLS and X.509 need, which takes half the time of a full
// start.

// Must be called before any other function of libcrypto or libssl. Further calls do nothing. No
// configuration file is read, because it can load code. Fails (internal) if OpenSSL cannot be
// initialised.
Status start_openssl();

}  // namespace execcred
