// SPDX-License-Identifier: Apache-2.0
// The replies of the endpoints of managed identities. Numbers may be strings. The token's expiry is
// "expires_on"; "expires_in" counts from when the token was made, not from the reply.
#pragma once

#include "managed_endpoint.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/failure.hpp>
#include <execcred/oauth/token_reply.hpp>

#include <optional>
#include <string>

namespace execcred::azure {

// The requested identity: a parameter and its value. Without a name, it is the platform's own.
struct IdentitySelector {
  std::string name = {};
  std::string value = {};
};

struct ManagedReplyRules {
  ManagedEndpoint::Kind kind = ManagedEndpoint::Kind::imds;
  IdentitySelector selector = {};
  TimePoint now = {};
  std::string server = {};  // the endpoint's origin, for messages
};

// The error for a reply; nullopt for a 200. These may pass (unavailable, transient): those of
// is_passing_status(); from IMDS, which is updated now and then, also 404 and 410.
std::optional<Error> managed_failure(const HttpResponse& reply, const ManagedReplyRules& rules);

// Judges a reply by managed_failure(); a 200 is accepted.
Verdict judge_managed_reply(const HttpResponse& reply, const ManagedReplyRules& rules);

// Reads a 200. The token expires at the earliest of expires_on, expires_in and its own exp. Fails
// (no_credential), also if the reply names another identity than the requested one.
Result<TokenReply> parse_managed_reply(const HttpResponse& reply, const ManagedReplyRules& rules);

}  // namespace execcred::azure
