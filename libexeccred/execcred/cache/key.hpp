// SPDX-License-Identifier: Apache-2.0
// The key of a cache entry: every input that determines the credential, as sorted name=value lines.
//
// Two keys are equal only if their texts are equal; the hash is only for the names of files. So a
// text must contain everything in which two identities, targets or requests differ. It must contain
// no secret, because the entry contains the text unchanged and `execcred cache list` shows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

class CacheKey {
 public:
  // A name may be added several times (a repeatable option): its values keep their order. An empty
  // value is different from no value.
  CacheKey& add(std::string_view name, std::string_view value);

  // The text is the same for the same inputs, whatever the order in which the names were added. Its
  // first line is the version of the cache's format. Control characters, '%', and '=' in names are
  // percent-encoded.
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// The hash of a key's text: FNV-1a with 128 bits.
struct KeyHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  std::string hex() const;  // 32 digits
  // The hash with all its bits mixed, so that keys that differ in one letter are evenly distributed
  // too.
  std::uint64_t mixed() const;
  bool operator==(const KeyHash&) const = default;
};

KeyHash hash_key(std::string_view text);

}  // namespace execcred
