// SPDX-License-Identifier: Apache-2.0
// What a WWW-Authenticate header says that was wrong with a token (RFC 6750, section 3): gateways
// in front of a server often say it there alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct ChallengeError {
  std::string error = {};
  std::string description = {};  // or empty
};

// Of the first challenge that has an error, whatever its scheme (DPoP has errors too, RFC 9449).
// nullopt: there is none, or the header is not as RFC 9110, section 11.6.1, has it.
std::optional<ChallengeError> challenge_error(std::string_view header);

}  // namespace execcred
