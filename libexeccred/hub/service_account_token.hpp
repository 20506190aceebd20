// SPDX-License-Identifier: Apache-2.0
// A token of one of the hub's service accounts, for one audience (authentication.k8s.io/v1
// TokenRequest): proof towards an identity provider that trusts the hub's issuer.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/hub/client.hpp>

#include <optional>
#include <string_view>

namespace execcred {

struct ServiceAccountToken {
  SecretString token = {};
  // The earlier of what the hub says and the token's own `exp`; nullopt: neither is there.
  std::optional<TimePoint> expires_at = {};
};

// Asks for a token of an hour; the hub may give another one. Fails with configuration for names
// that Kubernetes does not allow or an audience that is empty or has control characters, as
// HubClient::create() does, and with no_credential for a reply that is not such a token: several
// words, no JWT, or one whose `aud` lacks the audience.
Result<ServiceAccountToken> request_service_account_token(HubClient& hub,
                                                          std::string_view name_space,
                                                          std::string_view name,
                                                          std::string_view audience);

}  // namespace execcred
