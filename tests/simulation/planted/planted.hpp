// SPDX-License-Identifier: Apache-2.0
// The faults of planted/faults.py, which the simulation must find. One is on at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace execcred::simulation {

inline constexpr std::size_t kNoFault = static_cast<std::size_t>(-1);
inline std::size_t planted_fault = kNoFault;

inline bool is_planted(std::size_t fault) { return planted_fault == fault; }

// The names of all faults.
std::vector<std::string> planted_faults();

}  // namespace execcred::simulation
