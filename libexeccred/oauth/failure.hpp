// SPDX-License-Identifier: Apache-2.0
// What a reply of an OAuth 2.0 server says that went wrong, and what to make of it.
#pragma once

#include <execcred/base/error.hpp>
#include <execcred/base/shown_text.hpp>
#include <execcred/http/http.hpp>
#include <execcred/json/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

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
