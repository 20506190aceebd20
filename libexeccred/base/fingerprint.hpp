// SPDX-License-Identifier: Apache-2.0
// What stands for a secret where the secret itself may not stand: in a cache's key.
#pragma once

#include <string>
#include <string_view>

namespace execcred {

// 32 hexadecimal digits of SHA-256 over `what`, a NUL and the secret. Tells two secrets apart, and
// one secret's uses; whoever has it learns nothing of a secret that cannot be guessed.
std::string fingerprint(std::string_view what, std::string_view secret);

}  // namespace execcred
