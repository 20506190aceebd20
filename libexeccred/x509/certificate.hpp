// SPDX-License-Identifier: Apache-2.0
// Client certificates and their private keys (RFC 5280, RFC 7468, RFC 5208, RFC 5915, RFC 8017),
// checked before they are given to a client. Certificates that the API server would refuse, and a
// CA with its key, are refused here with the reason.
//
// The server checks signatures, issuers and key sizes. OpenSSL is initialised by the first call,
// without its configuration file (OPENSSL_CONF names code to load).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <string>
#include <string_view>

namespace execcred {

struct ClientCertificate {
  std::string chain = {};         // PEM: the leaf, then the others in the order in which they came
  SecretString private_key = {};  // PEM, in the form in which it came (PKCS#8, SEC 1 or PKCS#1)
  TimePoint not_before = {};      // of the leaf
  TimePoint not_after = {};       // of the leaf, at most the year 2262
};

// Each may be PEM, base64 of PEM, or DER (one certificate, one key), of at most 1 MiB. Text around
// PEM blocks and blocks of another kind are dropped, a missing final newline added, so equal
// inputs give equal bytes. The leaf is the first certificate to which the key belongs; where it
// comes again, it is dropped.
//
// Fails (no_credential): no certificate or no key, several keys, malformed ones, an encrypted key,
// a key that belongs to none of the certificates, a CA certificate as leaf, an extended key usage
// without clientAuth, not valid yet (by more than a minute, as clocks differ), expired. Messages
// show subject and times, never the key. Only the mismatch is transient: a rotation replaces
// certificate and key one after the other.
Result<ClientCertificate> check_client_certificate(std::string_view certificates,
                                                   const SecretString& private_key, TimePoint now);

}  // namespace execcred
