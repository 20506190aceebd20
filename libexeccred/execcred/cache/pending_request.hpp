// SPDX-License-Identifier: Apache-2.0
// The file of a certificate signing request for which execcred-bootstrap waits.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/copyable_secret.hpp>
#include <execcred/base/secret.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct PendingRequest {
  std::string key = {};             // CacheKey::text()
  std::string name = {};            // of the CertificateSigningRequest
  std::string request = {};         // PEM, PKCS#10
  CopyableSecret private_key = {};  // PEM
  // The time at which its result was used; runs that begin later do not use it.
  std::optional<TimePoint> closed = {};
};

SecretString write_pending_request(const PendingRequest& entry);
// nullopt unless the text is exactly what write_pending_request() would write.
std::optional<PendingRequest> parse_pending_request(std::string_view text);

}  // namespace execcred
