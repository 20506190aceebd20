// SPDX-License-Identifier: Apache-2.0
// The errors of Entra's token endpoint: an error of OAuth 2.0, whose description contains the code
// of the real reason ("AADSTS700016: ...").
#pragma once

#include <execcred/http/http.hpp>
#include <execcred/http/retry.hpp>
#include <execcred/oauth/failure.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace execcred::azure {

// nullopt for a 200 without an error. The code decides whether the failure may pass, and the hint;
// without a code that is known here, the OAuth error and the status do.
std::optional<Error> entra_failure(const HttpResponse& reply, const std::string& server,
                                   const SecretTexts& secrets);

// An accepted reply is a 200 without an error.
Verdict judge_entra_reply(const HttpResponse& reply, const std::string& server,
                          const SecretTexts& secrets);

// The digits after the first "AADSTS" that has any; empty where there is none.
std::string_view aadsts_code(std::string_view description);

}  // namespace execcred::azure
