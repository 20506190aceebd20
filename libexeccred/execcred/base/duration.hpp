// SPDX-License-Identifier: Apache-2.0
// Durations as Go writes them (time.ParseDuration), because Kubernetes users type those: "90s",
// "1h30m", "1.5h", "500ms".
#pragma once

#include <execcred/base/result.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace execcred {

using Duration = std::chrono::nanoseconds;

// Fails (configuration) where time.ParseDuration does, also if the duration does not fit into
// 64-bit nanoseconds (about 292 years).
Result<Duration> parse_duration(std::string_view text);

// Parses the time limit of a run. Fails (configuration) if it is not above 0 and at most 60 s.
Result<Duration> parse_timeout(std::string_view text);

// The shortest form a person would type: "8s", "10m", "1h30m", "1.5s".
std::string format_duration(Duration duration);

}  // namespace execcred
