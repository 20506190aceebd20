// SPDX-License-Identifier: Apache-2.0
// Whose credential a cache entry holds: every input that decides it, as sorted name=value lines.
//
// Two keys are one only if their texts are equal; the hash merely names the files. So a text must
// hold all that tells two identities, two targets or two requests apart, and nothing secret: it
// stands in the entry as it is, and `execcred cache list` shows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

class CacheKey {
 public:
  // A name may come several times (a repeatable option): its values keep their order. An empty
  // value is another input than none.
  CacheKey& add(std::string_view name, std::string_view value);

  // The same for the same inputs, whatever the order in which names were added. Its first line is
  // the version of the cache's format. Control characters, '%' and '=' in names are
  // percent-encoded.
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// FNV-1a of 128 bits.
struct KeyHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  std::string hex() const;  // 32 digits
  // All bits of it, mixed: evenly spread even for keys that differ in one letter.
  std::uint64_t mixed() const;
  bool operator==(const KeyHash&) const = default;
};

KeyHash hash_key(std::string_view text);

}  // namespace execcred
