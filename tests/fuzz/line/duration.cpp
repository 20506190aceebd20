// SPDX-License-Identifier: Apache-2.0
// Durations: accepted and refused as by Go, with Go's value; a written duration is read back.
#include "fuzz.hpp"
#include "go_duration.hpp"
#include "line.hpp"

#include <execcred/base/duration.hpp>

#include <cstdint>
#include <optional>

namespace execcred::fuzz {
namespace {

void check_round_trip(Duration duration) {
  const Result<Duration> again = parse_duration(format_duration(duration));
  require(again.has_value() && *again == duration, "what is written reads back");
}

}  // namespace

void check_duration(std::string_view input) {
  const Result<Duration> ours = parse_duration(input);
  const std::optional<std::int64_t> theirs = go_parse_duration(input);
  require(ours.has_value() == theirs.has_value(), "taken where Go takes it");
  if (ours) {
    require(ours->count() == *theirs, "Go's value");
    check_round_trip(*ours);
  } else {
    require(ours.error().kind == Error::Kind::configuration, "a malformed one is configuration");
  }
  const Result<Duration> timeout = parse_timeout(input);
  const bool is_timeout = theirs && *theirs > 0 && *theirs <= std::int64_t{60} * 1'000'000'000;
  require(timeout.has_value() == is_timeout, "a time-out is above 0 and at most 60 s");

  check_round_trip(Duration(number_from(input)));
}

}  // namespace execcred::fuzz
