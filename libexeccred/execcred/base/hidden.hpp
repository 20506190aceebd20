// SPDX-License-Identifier: Apache-2.0
// What a program wrote on standard error, without what may be a secret.
#pragma once

#include <execcred/base/text.hpp>

#include <string>
#include <string_view>

namespace execcred {

// What without_secrets() writes for a secret.
inline constexpr std::string_view kHidden = "(hidden)";

// The words of a program's output that may be its token: a single word, or words with a digit; at
// most 201.
SecretTexts secrets_in(std::string_view output);

// The text with "(hidden)" for each of the secrets, and for what looks like one: JWTs, "Bearer X",
// the user and password of a URL, PEM, and runs of 32 or more characters of base64 or hexadecimal
// digits that are no part of a path or of a host's name. Takes linear time for each secret.
std::string without_secrets(std::string_view text, const SecretTexts& secrets = {});

// The same without the runs, which certificates and the IDs of clients have too: for a text whose
// other secrets are known by their names.
std::string without_tokens(std::string_view text);

}  // namespace execcred
