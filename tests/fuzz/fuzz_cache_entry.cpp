// SPDX-License-Identifier: Apache-2.0
// The cache's files: only what the writers write is accepted, byte for byte, and all that they
// write is read back. The input is used as a file, and again as the fields of a file.
#include "fuzz.hpp"

#include <execcred/base/encoding.hpp>
#include <execcred/base/text.hpp>
#include <execcred/cache/entry.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/policy.hpp>

#include <optional>
#include <string>
#include <vector>

namespace execcred::fuzz {
namespace {

// Adds the last line with the right checksum, so that the lines before it are checked too.
std::string with_checksum(std::string_view body) {
  std::string text(body);
  if (!text.ends_with('\n')) text.push_back('\n');
  return text + "end " + hex_digits(cache_checksum(text)) + "\n";
}

void check_decisions(const CachedCredential& entry, TimePoint now) {
  const CacheTimes times;
  if (!is_valid(entry, now, times)) return;
  require(now < entry.expires, "nothing that has ended");
  require(entry.expires - entry.created <= times.longest_lifetime, "nothing for ever");
  const Duration lifetime = entry.expires - entry.created;
  const Duration window = refresh_window(lifetime, std::nullopt, hash_key(entry.key));
  require(window >= Duration::zero() && window <= lifetime / 10 * 9, "some life before the window");
}

void check_credential(std::string_view text, TimePoint now) {
  const std::optional<CachedCredential> entry = parse_cached_credential(text);
  if (!entry) return;
  require(write_cached_credential(*entry).reveal() == text, "one spelling");
  require(entry->id == checksum_of(text), "the checksum is the entry's id");
  require(!has_control_character(entry->credential.token.reveal()), "a token fits a header");
  require(entry->created >= TimePoint() && entry->expires >= TimePoint(), "no time before 1970");
  check_decisions(*entry, now);
}

void check_failure(std::string_view text, TimePoint now) {
  const std::optional<CachedFailure> entry = parse_cached_failure(text);
  if (!entry) return;
  require(write_cached_failure(*entry) == text, "one spelling");
  require(entry->error.kind != Error::Kind::internal, "no defect is kept");
  const CachedFailure next = next_failure(entry, entry->error, std::nullopt, now, {});
  require(next.until > now && next.until - now <= kLongestRetryAfter, "a window that passes");
}

void check_written(std::string_view input) {
  const std::vector<std::string_view> fields = parts(input, "\n", 4);
  CachedCredential entry{.key = CacheKey().add(fields[0], fields[1]).text(),
                         .created = TimePoint(std::chrono::seconds(1)),
                         .expires = TimePoint(std::chrono::seconds(2)),
                         .identity = std::string(fields[2]),
                         .target = std::string(fields[3])};
  entry.credential.client_certificate = std::string(input) + "c";
  entry.credential.client_key = SecretString(std::string(input) + "k");
  const SecretString text = write_cached_credential(entry);
  const std::optional<CachedCredential> read = parse_cached_credential(text.reveal());
  require(read.has_value(), "what is written is read");
  require(read->key == entry.key && read->identity == fields[2] && read->target == fields[3],
          "the fields are as they were");
  require(!parse_cached_failure(text.reveal()), "a credential is no failure");

  const CachedFailure failure{.error = {.kind = Error::Kind::unavailable,
                                        .message = std::string(fields[0]),
                                        .context = {std::string(fields[1])},
                                        .hint = std::string(fields[2])}};
  const std::optional<CachedFailure> read_failure =
      parse_cached_failure(write_cached_failure(failure));
  require(read_failure.has_value(), "what is written is read");
  require(read_failure->error.message == fields[0] && read_failure->error.context[0] == fields[1] &&
              read_failure->error.hint == fields[2],
          "the failure is as it was");
}

}  // namespace

void check(std::string_view input) {
  // A time that a clock can show.
  const TimePoint now(std::chrono::seconds(number_from(input) & 0xffffffff));
  for (const std::string& text : {std::string(input), with_checksum(input)}) {
    check_credential(text, now);
    check_failure(text, now);
  }
  check_written(input);
}

}  // namespace execcred::fuzz
