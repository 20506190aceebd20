// SPDX-License-Identifier: Apache-2.0
// The checks of a credential that need no request.
#pragma once

#include <execcred/engine/report.hpp>

#include <execcred/exec/exec_credential.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/json/json.hpp>
#include <execcred/x509/certificate.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred::engine {

struct CertificateFacts {
  std::string subject = {};
  CertifiedUser user = {};
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
  // The first of the ends of the token and the certificate; nullopt if neither has one that can be
  // read.
  std::optional<TimePoint> own_end = std::nullopt;
  // The credential cannot be sent. The step `credential` has the reason.
  bool is_unusable = false;
  // The credential has failed only by this machine's clock: it, its token or its certificate has
  // ended, or has not begun. The failure becomes a warning if the
  // server accepts the credential, or if the credential is valid by the server's clock.
  bool is_provisional = false;
};

struct CredentialRules {
  TimePoint now = {};
  // The credential is in a kubeconfig, and not from a program.
  bool is_written = false;
  // The credential is in a file that the kubeconfig names, which another program may renew.
  bool is_renewed = false;
  Duration warn_before = {};
};

// Writes the step `credential`, and the item's `expires`. Nothing that the item shows from then on
// has a part of the credential that is secret.
CredentialFacts check_credential(const Credential& credential, const CredentialRules& rules,
                                 Item& item);

}  // namespace execcred::engine
