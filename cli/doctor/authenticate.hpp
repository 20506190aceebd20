// SPDX-License-Identifier: Apache-2.0
// The server's verdict on the credential: the steps clock, authenticate and authorize.
#pragma once

#include "api.hpp"
#include "authentication_config.hpp"
#include "connection.hpp"
#include "steps.hpp"

#include <execcred/engine/credential_check.hpp>

#include <optional>
#include <vector>

namespace execcred::doctor {

struct ServerCheck {
  const Credential& credential;
  const engine::CredentialFacts& facts;
  const AuthenticationConfig* config = nullptr;
  const std::vector<Permission>& permissions;
  const Impersonation& act_as;
};

// Writes the three steps to `item`. `anonymous` presents no client certificate. `identified`
// presents the credential's certificate; if the credential has none, it is the same connection as
// `anonymous`. Both must verify the server's certificate. `first` is the answer to the first
// request, a review with the credential over `identified`.
void ask_server(const ServerCheck& check, Result<Answer> first, Connection& anonymous,
                Connection& identified, Item& item);

// Reports that the server has ended TLS because of the client's certificate or its absence
// (Connection::is_refused), after a handshake that seemed to succeed.
void report_refusal(const Error& error, Item& item);

// How far the server's clock is ahead of this one, by a reply with a Date.
Duration skew_of(const Answer& answer);
// Writes the step clock.
void compare_clocks(Duration skew, Item& item);

// Why a server answered 401, as far as this can be found out. explain_unauthorized() sends only
// requests without the credential.
struct Unauthorized {
  std::string_view cause = {};
  std::string message = {};
  std::string hint = {};
};
Unauthorized explain_unauthorized(const ServerCheck& check, const PeerFacts& peer,
                                  std::optional<TimePoint> server_time, Api& anonymous);

}  // namespace execcred::doctor
