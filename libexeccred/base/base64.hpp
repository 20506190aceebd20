// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648): the standard alphabet with padding, and the URL alphabet without.
#pragma once

#include <execcred/base/secret.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace execcred {

// Section 4, padded. CR and LF are passed over, as Go's encoding/base64 does; anything else that
// is not in the alphabet, wrong padding and stray bits are nullopt.
std::optional<std::string> decode_base64(std::string_view text);

// Section 5, unpadded (JWTs, RFC 7515). Strict: no white space, no padding, no stray bits.
std::optional<std::string> decode_base64url(std::string_view text);

std::string encode_base64(std::string_view bytes);
// Section 5, unpadded.
SecretString encode_base64url(std::string_view bytes);

}  // namespace execcred
