// SPDX-License-Identifier: Apache-2.0
// Client certificates and their private keys (RFC 5280, RFC 7468, RFC 5208, RFC 5915, RFC 8017),
// checked before they are given to a client. Certificates that the API server would refuse, and a
// CA with its key, are refused here with the reason.
//
// The server checks signatures, issuers and key sizes. The first call initialises OpenSSL, without
// its configuration file (OPENSSL_CONF can name code to load).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct ClientCertificate {
  std::string chain = {};         // PEM: the leaf, then the others in the order in which they came
  SecretString private_key = {};  // PEM, in the form in which it came (PKCS#8, SEC 1 or PKCS#1)
  TimePoint not_before = {};      // of the leaf
  TimePoint not_after = {};       // of the leaf, at most the year 2262
};

// What an API server reads from a client certificate: the common name, and the organizations.
struct CertifiedUser {
  std::string name = {};
  std::vector<std::string> groups = {};  // sorted, each once

  bool operator==(const CertifiedUser&) const = default;
};

// Each input may be PEM, base64 of PEM, or DER (one certificate, one key), of at most 1 MiB. Text
// around PEM blocks and blocks of another kind are dropped, and a missing final newline is added,
// so that equal inputs give equal bytes. The leaf is the first certificate to which the key
// belongs; further copies of it are dropped.
//
// Fails (no_credential) if there is no certificate, no key or more than one, if one is malformed,
// if the key is encrypted, of a type that clients cannot use, or belongs to none of the
// certificates, if the leaf is a CA certificate, has an extended key usage without clientAuth, has
// expired, or is not valid yet (by more than a minute, because clocks differ). Messages show
// subject and times, never the key. Only the mismatch is transient: a rotation replaces certificate
// and key one after the other. Fails (internal) if OpenSSL cannot be initialised.
Result<ClientCertificate> check_client_certificate(std::string_view certificates,
                                                   const SecretString& private_key, TimePoint now);
// The same for the certificate and the key of a credential that another program or a server has
// just issued, which then ends with the leaf at the latest. The leaf may be a CA certificate: only
// a stored one can be a CA's by mistake.
Status check_pair(Credential& credential, TimePoint now);

// The certificates of a CA's file that Go's crypto/x509 takes, as PEM that every reader takes: a
// block that is no certificate is passed over. Fails (configuration) if there is none.
Result<std::string> go_authorities(std::string_view pem);

}  // namespace execcred
