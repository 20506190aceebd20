// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/secret.hpp>

#include <optional>
#include <string>

namespace execcred {

// A bearer token, or a client certificate with its key, or both.
struct Credential {
  SecretString token = {};
  std::string client_certificate = {};  // PEM, leaf first
  SecretString client_key = {};         // PEM
  // From a provider: its own end, if it has one. From parse_exec_credential: its
  // expirationTimestamp, if it has one.
  std::optional<TimePoint> expires_at = std::nullopt;
};

}  // namespace execcred
