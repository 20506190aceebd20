// SPDX-License-Identifier: Apache-2.0
// New keys and certificates of every kind.
#pragma once

#include "openssl_handles.hpp"

#include <execcred/base/clock.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

// 2026-07-01T12:00:00Z, the time of these tests.
TimePoint noon();

KeyPtr make_ec_key(const char* curve = "P-256");
KeyPtr make_rsa_key();
KeyPtr make_ed25519_key();

struct Wish {
  std::string common_name = "alice";
  std::string organization = "system:masters";
  // Extensions in the syntax of openssl's configuration: {"extendedKeyUsage", "clientAuth"}.
  std::vector<std::pair<std::string, std::string>> extensions = {};
  // As openssl's ASN1_TIME_set_string takes them.
  std::string not_before = "20260101000000Z";
  std::string not_after = "20270101000000Z";
  std::string serial = "1";
};

// Signed by `issuer_key`, or self-signed.
CertificatePtr make_certificate(EVP_PKEY& key, const Wish& wish = {},
                                EVP_PKEY* issuer_key = nullptr);

std::string der_of(X509& certificate);
std::string pem_of(X509& certificate);
std::string pkcs8_der(EVP_PKEY& key);
std::string pkcs8_pem(EVP_PKEY& key);
std::string traditional_pem(EVP_PKEY& key);  // SEC 1, PKCS#1
std::string traditional_der(EVP_PKEY& key);
std::string encrypted_pkcs8_pem(EVP_PKEY& key);
std::string encrypted_pkcs8_der(EVP_PKEY& key);
std::string encrypted_traditional_pem(EVP_PKEY& key);

}  // namespace execcred::test
