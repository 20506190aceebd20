// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <execcred/secret.hpp>

#include <string_view>

namespace execcred {

// RFC 4648, section 5, unpadded.
SecretString encode_base64url(std::string_view bytes);

}  // namespace execcred
