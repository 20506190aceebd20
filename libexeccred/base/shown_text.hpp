// SPDX-License-Identifier: Apache-2.0
// What others say, as it may be shown to people.
#pragma once

#include <execcred/base/secret.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace execcred {

// What must not be seen although a server repeats it.
using SecretTexts = std::vector<SecretString>;

// The text, on one line and cut after `limit` bytes, with "***" for whatever of it also stands in
// a secret or looks like a JWT.
std::string shown_text(std::string_view text, const SecretTexts& secrets, std::size_t limit);

}  // namespace execcred
