// SPDX-License-Identifier: Apache-2.0
// The errors of Entra's token endpoint: an OAuth 2.0 error, whose description contains the code of
// the actual reason ("AADSTS700016: ...").
#pragma once

#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/failure.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace execcred::azure {

// The error in the reply; nullopt for a 200 without an error. The code determines the hint and
// whether the failure may pass. If the reply has no known code, the OAuth error and the status do.
std::optional<Error> entra_failure(const HttpResponse& reply, const std::string& server);

// Judges a reply by entra_failure(); a 200 without an error is accepted.
Verdict judge_entra_reply(const HttpResponse& reply, const std::string& server);

// The digits after the first "AADSTS" that is followed by digits; empty if there is none.
std::string_view aadsts_code(std::string_view description);

}  // namespace execcred::azure
