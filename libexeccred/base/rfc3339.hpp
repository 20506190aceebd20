// SPDX-License-Identifier: Apache-2.0
// Points in time as Kubernetes writes and reads them (RFC 3339, in the strict form of Go's
// time.RFC3339: upper-case T and Z, seconds, and a zone with a colon).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace execcred {

// "2026-07-01T12:00:00Z". The year must have four digits (0 to 9999).
std::string format_rfc3339(std::chrono::sys_seconds time);

// Fractions of a second are read to the nanosecond. A time later than a TimePoint can hold becomes
// the end of 2261; an earlier one fails (configuration).
Result<TimePoint> parse_rfc3339(std::string_view text);

}  // namespace execcred
