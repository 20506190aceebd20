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

// "2026-07-01T12:00:00Z". The year must be from 0 to 9999.
std::string format_rfc3339(std::chrono::sys_seconds time);

// Fractions of a second are read to the nanosecond. A year after 2261, which a TimePoint may be too
// small to hold, becomes the last day of 2261. Fails (configuration) for any other text, and for a
// year before 1678.
Result<TimePoint> parse_rfc3339(std::string_view text);

// The text in quotes, for an error about a time. A text that has other characters than a time's may
// be a secret in a wrong field: of it, only the length is told.
std::string quoted_time(std::string_view text);

}  // namespace execcred
