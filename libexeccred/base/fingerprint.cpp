// SPDX-License-Identifier: Apache-2.0
#include <execcred/base/fingerprint.hpp>

#include <execcred/base/sha256.hpp>

namespace execcred {

std::string fingerprint(std::string_view what, std::string_view secret) {
  constexpr std::string_view kNul("\0", 1);
  constexpr std::size_t kDigits = 32;
  return to_hex(Sha256().add(what).add(kNul).add(secret).finish()).substr(0, kDigits);
}

}  // namespace execcred
