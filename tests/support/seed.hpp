// SPDX-License-Identifier: Apache-2.0
// The seed of a randomised test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace execcred::test {

// The number in EXECCRED_SEED, or else a new one. It is printed, so that a failure can be repeated:
// EXECCRED_SEED=NUMBER scripts/test NAME.
inline std::uint32_t seed() {
  const char* const given = std::getenv("EXECCRED_SEED");
  const std::uint32_t seed = given == nullptr
                                 ? std::random_device()()
                                 : static_cast<std::uint32_t>(std::stoul(std::string(given)));
  std::cout << "EXECCRED_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace execcred::test
