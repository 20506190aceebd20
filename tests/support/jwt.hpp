// SPDX-License-Identifier: Apache-2.0
// A JSON Web Token without a valid signature, for code that does not check it.
#pragma once

#include <execcred/base/encoding.hpp>

#include <string>
#include <string_view>

namespace execcred::test {

inline std::string jwt(std::string_view claims) {
  return std::string(encode_base64url(R"({"alg":"RS256"})").reveal()) + "." +
         std::string(encode_base64url(claims).reveal()) + ".c2ln";
}

}  // namespace execcred::test
