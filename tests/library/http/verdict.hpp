// SPDX-License-Identifier: Apache-2.0
// OpenSSL's verdict on a server's chain, by the rules of http_tls.cpp: with a bundle that it has
// loaded whole, and with execcred's lookup.
#pragma once

#include "support/tls_identity.hpp"
#include "unit/temp_dir.hpp"

#include <execcred/http/system_roots.hpp>
#include <execcred/x509/openssl.hpp>

#include <doctest/doctest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <string>
#include <vector>

namespace execcred::test {

using Chain = std::vector<const Identity*>;  // leaf first

// The error of verifying a chain for a TLS server on this machine, X509_V_OK for none.
inline int verdict(X509_STORE& store, const Chain& chain) {
  X509_STORE_set_flags(&store, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
  STACK_OF(X509)* const others = sk_X509_new_null();
  for (std::size_t i = 1; i < chain.size(); ++i) sk_X509_push(others, chain[i]->certificate.get());
  X509_STORE_CTX* const context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, &store, chain.front()->certificate.get(), others);
  X509_STORE_CTX_set_default(context, "ssl_server");
  X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_auth_level(rules, 2);
  X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  X509_VERIFY_PARAM_set1_host(rules, "localhost", 0);
  X509_verify_cert(context);
  const int error = X509_STORE_CTX_get_error(context);
  X509_STORE_CTX_free(context);
  sk_X509_free(others);
  return error;
}

inline int verdict_of_whole(const std::string& bundle, const Chain& chain) {
  const StoreOwner store(X509_STORE_new());
  X509_STORE_load_file(store.get(), bundle.c_str());
  return verdict(*store, chain);
}

inline int verdict_of_lazy(const RootPaths& paths, const Chain& chain) {
  const StoreOwner store(X509_STORE_new());
  REQUIRE(add_roots(*store, paths));
  const int first = verdict(*store, chain);
  CHECK(verdict(*store, chain) == first);  // now from the store's own cache
  const StoreOwner ahead(X509_STORE_new());
  REQUIRE(add_roots(*ahead, paths));
  read_roots_ahead(*ahead);
  CHECK(verdict(*ahead, chain) == first);
  return first;
}

// A "BEGIN TRUSTED CERTIFICATE" that is trusted or rejected for TLS servers.
inline std::string trusted_pem(const Identity& ca, bool is_rejected) {
  const X509Owner copy(X509_dup(ca.certificate.get()));
  ASN1_OBJECT* const purpose = OBJ_nid2obj(NID_server_auth);
  is_rejected ? X509_add1_reject_object(copy.get(), purpose)
              : X509_add1_trust_object(copy.get(), purpose);
  return written_by([&](BIO* out) { return PEM_write_bio_X509_AUX(out, copy.get()); });
}

}  // namespace execcred::test
