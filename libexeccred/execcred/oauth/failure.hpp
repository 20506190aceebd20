// SPDX-License-Identifier: Apache-2.0
// Errors in the replies of OAuth 2.0 servers. They are in the JSON body (RFC 6749, section 5.2) or
// in a WWW-Authenticate header (RFC 6750, section 3); gateways in front of a server often report an
// error only in the header.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/http/http.hpp>
#include <execcred/json/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct ChallengeError {
  std::string error = {};
  std::string description = {};  // or empty
};

// The error of the first challenge that has one, whatever its scheme (DPoP has errors too, RFC
// 9449). nullopt if no challenge has an error, or if the header is longer than 8 KiB or does not
// have the syntax of RFC 9110, section 11.6.1.
std::optional<ChallengeError> challenge_error(std::string_view header);

// What an error code of a provider means.
struct KnownFailure {
  std::string_view code;
  bool may_pass = false;
  std::string_view hint = {};
  std::string_view cause = {};
};

// nullptr if the table does not have the code.
const KnownFailure* find_failure(std::span<const KnownFailure> table, std::string_view code);

// The error of a reply with an error code: the table says what the code means, and the status where
// it does not. A 429 may pass, whatever the code.
Error known_failure(std::span<const KnownFailure> table, std::string_view code, int status,
                    std::string message);

// The following functions make an error with a remedy from an OAuth 2.0 server's reply.

// For a reply that has a status other than 200 and no OAuth error: unavailable and transient for
// is_passing_status(), else no_credential. `server` is the server's origin.
Error status_failure(const HttpResponse& reply, const std::string& server);
// The same, but with the error in the reply's WWW-Authenticate header if there is one (RFC 6750,
// section 3).
Error challenge_failure(const HttpResponse& reply, const std::string& server);

// The JSON object in the body of a 200 (RFC 8259). Fails (no_credential) if the body is not a JSON
// object or has duplicate keys.
Result<json::SecretValue> json_object_of(const HttpResponse& reply, const std::string& server);

// The error in the reply (RFC 6749, section 5.2, and extensions of it). A 200 with an `error` is a
// failure too. nullopt if the reply is a 200 with a JSON object that has no `error`.
std::optional<Error> oauth_failure(const HttpResponse& reply, const std::string& server);

}  // namespace execcred
