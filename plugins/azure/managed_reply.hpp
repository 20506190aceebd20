// SPDX-License-Identifier: Apache-2.0
// What the endpoints of managed identities answer. Numbers may be strings; the token's end is
// "expires_on", and "expires_in" counts from when the token was made, not from the reply.
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

// The requested identity: a parameter and its value. Without a name: the platform's own.
struct IdentitySelector {
  std::string name = {};
  std::string value = {};
};

struct ManagedReplyRules {
  ManagedEndpoint::Kind kind = ManagedEndpoint::Kind::imds;
  IdentitySelector selector = {};
  TimePoint now = {};
  std::string server = {};   // the endpoint's origin, for messages
  SecretTexts secrets = {};  // what was sent and may not be shown
};

// nullopt for a 200. What may pass (unavailable, transient): 429 and 5xx; from IMDS, which is
// updated now and then, also 404 and 410; from App Service also 408.
std::optional<Error> managed_failure(const HttpResponse& reply, const ManagedReplyRules& rules);

// An accepted reply is a 200.
Verdict judge_managed_reply(const HttpResponse& reply, const ManagedReplyRules& rules);

// A reply of 200. It ends at the earliest of expires_on, expires_in and the token's own exp. Fails
// (no_credential), also for a reply that names another identity than was asked for.
Result<TokenReply> parse_managed_reply(const HttpResponse& reply, const ManagedReplyRules& rules);

}  // namespace execcred::azure
