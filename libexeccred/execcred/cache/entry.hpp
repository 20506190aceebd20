// SPDX-License-Identifier: Apache-2.0
// The format of the cache's files, and the entries for credentials and failures.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/duration.hpp>
#include <execcred/base/secret.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

// The checksum of all lines before the last line, which contains it.
std::uint64_t cache_checksum(std::string_view text);

class FieldWriter {
 public:
  explicit FieldWriter(std::string_view header);

  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::int64_t value) { add(name, std::to_string(value)); }
  SecretString finish();

 private:
  SecretString text_;
};

// Reads the fields in their order. After the first mismatch, every field is missing: empty, or 0.
class FieldReader {
 public:
  FieldReader(std::string_view text, std::string_view header);

  std::string_view field(std::string_view name);
  // A number that is not negative, spelled exactly as FieldWriter writes it.
  std::int64_t number(std::string_view name);
  // The next field if it has this name, else nullopt.
  std::optional<std::string_view> optional_field(std::string_view name);
  // Whether every byte was read, without a mismatch.
  bool is_complete() const { return is_good_ && rest_.empty(); }
  std::uint64_t checksum() const { return checksum_; }

 private:
  std::string_view take_line();
  std::string_view take(std::size_t size);

  std::string_view rest_;
  std::uint64_t checksum_ = 0;
  bool is_good_ = true;
};

// A file of the credential cache contains a credential, or a provider's failure.
//
//   execcred credential 2
//   key 52
//   …52 bytes…
//   created 19
//   1782907200000000000
//   …
//   end 0f1e2d3c4b5a6978
//
// The fields have a fixed order, and each has its length in bytes. The last line has a checksum of
// all lines before it, so any damage is detected, and each entry has exactly one form. The format
// is execcred's own because each run reads it: it is parsed in place, and the secret is in one
// piece of memory that is wiped.

inline constexpr std::size_t kMaxCacheFile = 512 * 1024;

struct CachedCredential {
  std::string key = {};  // CacheKey::text()
  TimePoint created = {};
  TimePoint expires = {};  // as an entry; the credential itself may have no end
  // The age of the entry from which a client that asks again is assumed to have been refused with
  // it.
  Duration reask_after = std::chrono::seconds(10);
  std::string identity = {};  // the identity, for people
  std::string target = {};    // the target, for people
  Credential credential = {};
  std::uint64_t id = 0;  // the checksum; from parsing
};

struct CachedFailure {
  std::string key = {};
  TimePoint created = {};
  TimePoint until = {};  // the provider is not asked before
  std::int64_t count = 1;
  Error error = {};
};

// The parsers return nullopt unless the text is exactly what the writers would write.
SecretString write_cached_credential(const CachedCredential& entry);
std::optional<CachedCredential> parse_cached_credential(std::string_view text);

std::string write_cached_failure(const CachedFailure& entry);
std::optional<CachedFailure> parse_cached_failure(std::string_view text);

// The checksum in the last line of a text that a writer returned; 0 if the text has none.
std::uint64_t checksum_of(std::string_view text);

}  // namespace execcred
