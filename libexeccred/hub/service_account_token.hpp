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

struct ServiceAccountTokenRequest {
  std::string name_space = {};
  std::string name = {};
  std::vector<std::string> audiences = {};  // none: that of the API server
  // In whole seconds; the API's minimum is ten minutes.
  Duration lifetime = std::chrono::hours(1);
};

struct ServiceAccountToken {
  SecretString token = {};
  // The earlier of what the hub says and the token's own `exp`; nullopt: neither is there.
  std::optional<TimePoint> expires_at = {};
  UnverifiedClaims claims = {};
};

// The hub may give a token of another lifetime. Fails with configuration for names that Kubernetes
// does not allow or an audience that is empty or has control characters, as HubClient::create()
// does, and with no_credential for a reply that is not such a token: several words, no JWT, or one
// whose `aud` lacks an audience. The caller compares the token's subject.
Result<ServiceAccountToken> request_service_account_token(
    HubClient& hub, const ServiceAccountTokenRequest& request);

}  // namespace execcred
