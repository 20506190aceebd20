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

// `chain` is PEM, the leaf first, of at most 1 MiB. Fails as check_client_certificate() does. Fails
// (no_credential) also for more than kMaxIssuedChain certificates, for a leaf of another key or
// subject, for a leaf whose extended key usage does not name clientAuth, and for a certificate that
// the next one did not sign. Organizations are compared as a set. A subject with any other
// attribute is another subject.
Result<ClientCertificate> check_issued_certificate(std::string_view chain,
                                                   const SecretString& private_key,
                                                   const CertificateSubject& subject,
                                                   TimePoint now);

}  // namespace execcred
