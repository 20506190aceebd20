// SPDX-License-Identifier: Apache-2.0
// Dates of HTTP (RFC 9110, section 5.6.7), in the three forms that every recipient must take.
#pragma once

#include <execcred/base/clock.hpp>

#include <optional>
#include <string_view>

namespace execcred {

// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" (`now` decides the century) or
// "Sun Nov  6 08:49:37 1994". nullopt for anything else, a day of the week that is not the date's
// and years outside 1678 to 2261 included.
std::optional<TimePoint> parse_http_date(std::string_view text, TimePoint now);

}  // namespace execcred
