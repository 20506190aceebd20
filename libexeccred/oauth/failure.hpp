// SPDX-License-Identifier: Apache-2.0
// What a WWW-Authenticate header says that was wrong with a token (RFC 6750, section 3): gateways
// in front of a server often report it only there.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>
#include <execcred/http/http.hpp>
#include <execcred/json/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

struct ChallengeError {
  std::string error = {};
  std::string description = {};  // or empty
};

// Of the first challenge that has an error, whatever its scheme (DPoP has errors too, RFC 9449).
// nullopt: there is none, or the header is not as RFC 9110, section 11.6.1, has it.
std::optional<ChallengeError> challenge_error(std::string_view header);

// Reads the error of an OAuth 2.0 server's reply, and adds the remedy.

// A reply without an error of OAuth: a status other than 200. `server` is its origin.
Error status_failure(const HttpResponse& reply, const std::string& server);
// With the error that its WWW-Authenticate header has, if any (RFC 6750, section 3).
Error status_failure(const HttpResponse& reply, const std::string& server,
                     const SecretTexts& secrets);

// The JSON object of a 200 (RFC 8259, duplicate keys refused). Fails (no_credential).
Result<json::Value> json_object_of(const HttpResponse& reply, const std::string& server,
                                   const SecretTexts& secrets);

// RFC 6749, section 5.2, and what extensions add to it. A 200 with an `error` is a failure too.
// nullopt: the reply is a JSON object that claims success.
std::optional<Error> oauth_failure(const HttpResponse& reply, const std::string& server,
                                   const SecretTexts& secrets);

}  // namespace execcred
