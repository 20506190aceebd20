// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/pending_request.hpp>

#include <execcred/cache/entry.hpp>

#include <chrono>
#include <cstdint>

namespace execcred {
namespace {

constexpr std::string_view kHeader = "execcred signing-request 1";

}  // namespace

SecretString write_pending_request(const PendingRequest& entry) {
  FieldWriter fields(kHeader);
  fields.add("key", entry.key);
  fields.add("name", entry.name);
  fields.add("request", entry.request);
  fields.add("private-key", entry.private_key.reveal());
  fields.add("closed", entry.closed ? entry.closed->time_since_epoch().count() : std::int64_t{0});
  return fields.finish();
}

std::optional<PendingRequest> parse_pending_request(std::string_view text) {
  FieldReader fields(text, kHeader);
  PendingRequest entry;
  entry.key = fields.field("key");
  entry.name = fields.field("name");
  entry.request = fields.field("request");
  entry.private_key = SecretString(fields.field("private-key"));
  const TimePoint closed{std::chrono::nanoseconds(fields.number("closed"))};
  if (!fields.is_complete() || entry.name.empty()) return std::nullopt;
  if (closed != TimePoint()) entry.closed = closed;
  return entry;
}

}  // namespace execcred
