// SPDX-License-Identifier: Apache-2.0
// A token of one of a cluster's service accounts (authentication.k8s.io/v1 TokenRequest).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/exec/jwt.hpp>
#include <execcred/hub/client.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace execcred {

// Checks NAMESPACE/NAME, as an option names a service account. Fails (configuration).
Result<std::string> parse_service_account(const std::string& text);

struct ServiceAccountTokenRequest {
  std::string name_space = {};
  std::string name = {};
  std::vector<std::string> audiences = {};  // none: that of the API server
  // In whole seconds; the API's minimum is ten minutes.
  Duration lifetime = std::chrono::hours(1);
};

struct ServiceAccountToken {
  SecretString token = {};
  // The earlier of the hub's expirationTimestamp and the token's own `exp`; nullopt if there is
  // neither.
  std::optional<TimePoint> expires_at = {};
  UnverifiedClaims claims = {};
};

// Requests a token, to which the hub may give another lifetime. Fails (configuration) if Kubernetes
// does not allow a name, or if an audience is empty or has control characters. Fails as
// HubClient::create() does. Fails (no_credential) if the reply is not such a token: it has several
// words, is not a JWT, or its `aud` lacks an audience. The caller must compare the token's subject.
Result<ServiceAccountToken> request_service_account_token(
    HubClient& hub, const ServiceAccountTokenRequest& request);

}  // namespace execcred
