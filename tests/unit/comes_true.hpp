// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

namespace execcred::test {

constexpr std::chrono::seconds kPatience(60);

// Calls `is_done` until it returns true or kPatience is over.
template <class Condition>
bool comes_true(const Condition& is_done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (is_done()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace execcred::test
