// SPDX-License-Identifier: Apache-2.0
// Checks of a credential without a request.
#pragma once

#include "report.hpp"

#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred::doctor {

struct CertificateFacts {
  std::string subject = {};
  std::string issuer = {};                // RFC 4514
  std::vector<std::string> issuers = {};  // DER, of each certificate of the chain
  TimePoint not_before = {};
  TimePoint not_after = {};
};

// The properties of the credential, as far as they can be read.
struct CredentialFacts {
  std::optional<UnverifiedClaims> claims = std::nullopt;
  json::Value payload = {};  // of a JWT
  std::optional<CertificateFacts> certificate = std::nullopt;
  // It cannot be sent: the step says why.
  bool is_unusable = false;
  // A failure that is dropped if the server accepts the credential.
  bool is_provisional = false;
};

struct CredentialRules {
  TimePoint now = {};
  // The credential is that of a kubeconfig, and of no program.
  bool is_written = false;
  // It is in a file beside the kubeconfig, which something may renew.
  bool is_renewed = false;
  Duration warn_before = {};
};

// Writes the step `credential`, and the item's `expires`.
CredentialFacts check_credential(const Credential& credential, const CredentialRules& rules,
                                 Item& item);

}  // namespace execcred::doctor
