// SPDX-License-Identifier: Apache-2.0
// What a fuzz target is made of: one function that judges any input. The input need not be good;
// what must hold is the property that the target states, by require().
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace execcred::fuzz {

// The target. Called again and again in one process: it must keep nothing.
void check(std::string_view input);

// Ends the program where a property does not hold, which libFuzzer takes for a crash.
void require(bool holds, std::string_view property);

// The parts between separators; fewer than `count` are filled up with empty ones, and the last
// takes all that is left.
std::vector<std::string_view> parts(std::string_view input, std::string_view separator,
                                    std::size_t count);

// The first bytes of the input as a number, any number.
std::int64_t number_from(std::string_view input);

}  // namespace execcred::fuzz
