// SPDX-License-Identifier: Apache-2.0
// Points in time as Kubernetes writes them and other programs too (RFC 3339, section 5.6: T and Z
// in either case, seconds, and a zone with a colon).
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/result.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace execcred {

// "2026-07-01T12:00:00Z". The year must be from 0 to 9999.
std::string format_rfc3339(std::chrono::sys_seconds time);

// Fractions of a second are read to the nanosecond. A TimePoint cannot hold a year after 2261,
// which becomes the last day of 2261, nor one before 1678, which becomes the first day of 1678.
// Fails (configuration) for any other text.
Result<TimePoint> parse_rfc3339(std::string_view text);

// The text in quotes, for an error about a time. A text that has other characters than a time's may
// be a secret in a wrong field: of it, only the length is told.
std::string quoted_time(std::string_view text);

}  // namespace execcred
