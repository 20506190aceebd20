// SPDX-License-Identifier: Apache-2.0
// Compares an issued certificate with its request.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/x509/certificate.hpp>
#include <execcred/x509/certificate_request.hpp>

#include <string_view>

namespace execcred {

inline constexpr std::size_t kMaxIssuedChain = 16;

// `chain` is PEM, the leaf first, of at most 1 MiB. Beside what check_client_certificate() refuses:
// more than kMaxIssuedChain certificates, a leaf of another key or subject, or that is not said to
// be for clients, and a certificate that the next one did not sign. Organizations are compared as a
// set; another attribute in the subject is another subject. Fails (no_credential).
Result<ClientCertificate> check_issued_certificate(std::string_view chain,
                                                   const SecretString& private_key,
                                                   const CertificateSubject& subject,
                                                   TimePoint now);

}  // namespace execcred
