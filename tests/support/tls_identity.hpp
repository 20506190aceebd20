// SPDX-License-Identifier: Apache-2.0
// Certificates made for one test: valid ones, and every kind of invalid one.
#pragma once

#include "openssl_handles.hpp"

#include <string>
#include <vector>

namespace execcred::test {

struct Identity {
  KeyPtr key = {};
  CertificatePtr certificate = {};
  std::string pem = {};
  std::string key_pem = {};
};

struct Extension {
  int nid = 0;
  std::string value = {};  // as in openssl.cnf
};

struct IdentityOptions {
  std::string common_name = "test server";
  std::string alternative_names = "IP:127.0.0.1,DNS:localhost";  // empty: no such extension
  long begins = -3600;                                           // seconds from now
  long ends = 86400;
  bool is_ca = false;
  bool is_version_1 = false;         // without extensions
  const Identity* issuer = nullptr;  // nullptr: self-signed
  const Identity* key_of = nullptr;  // whose key to use, instead of a new one
  int rsa_bits = 0;                  // 0: ECDSA P-256
  bool sha1 = false;
  bool printable_name = false;  // the common name as PrintableString instead of UTF8String
  // Added to the usual extensions; basicConstraints replaces the usual one.
  std::vector<Extension> extensions = {};
};

// Throws std::runtime_error when OpenSSL fails.
Identity make_identity(const IdentityOptions& options);

Identity make_ca(const std::string& common_name);

}  // namespace execcred::test
