// SPDX-License-Identifier: Apache-2.0
// A new private key, and a certificate request for it (PKCS#10, RFC 2986).
#pragma once

#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <string>
#include <vector>

namespace execcred {

enum class KeyType { ecdsa_p256, rsa_2048, ed25519 };

// The identity of a client certificate for Kubernetes: the common name is the user, and each
// organization a group.
struct CertificateSubject {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
};

struct CertificateRequest {
  SecretString private_key = {};  // PEM, PKCS#8
  std::string request = {};       // PEM, "CERTIFICATE REQUEST"; it asks for no extensions
};

// The texts of the subject must be UTF-8 and not empty. Each call makes a new key. Fails (internal)
// if OpenSSL fails.
Result<CertificateRequest> make_certificate_request(KeyType type,
                                                    const CertificateSubject& subject);

}  // namespace execcred
