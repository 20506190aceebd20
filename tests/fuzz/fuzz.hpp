// SPDX-License-Identifier: Apache-2.0
// The interface of a fuzz target: one function that checks any input. The input may be invalid. The
// target calls require() for each property that must hold.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace execcred::fuzz {

// The target. It is called many times in one process, and must keep no state.
void check(std::string_view input);

// Aborts the program if a property does not hold. libFuzzer reports this as a crash.
void require(bool holds, std::string_view property);

// The `count` parts between separators. Missing parts are empty, and the last part has the rest of
// the input.
std::vector<std::string_view> parts(std::string_view input, std::string_view separator,
                                    std::size_t count);

// The first eight bytes of the input as a number.
std::int64_t number_from(std::string_view input);

}  // namespace execcred::fuzz
