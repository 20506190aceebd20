// SPDX-License-Identifier: Apache-2.0
// The key of a cache entry: every input that determines the credential, as sorted name=value lines.
//
// Two keys are equal only if their texts are equal; the hash only names the files. So a text must
// contain everything in which two identities, targets or requests differ, and no secret: the entry
// contains it unchanged, and `execcred cache list` shows it.
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
  // value differs from none.
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
  // All bits mixed, so that keys with one different letter are evenly distributed too.
  std::uint64_t mixed() const;
  bool operator==(const KeyHash&) const = default;
};

KeyHash hash_key(std::string_view text);

}  // namespace execcred
