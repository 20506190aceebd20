// SPDX-License-Identifier: Apache-2.0
// The content of the cache, for people and for programs.
#pragma once

#include "paint.hpp"

#include <execcred/base/clock.hpp>
#include <execcred/cache/listing.hpp>
#include <execcred/json/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace execcred::cli {

// One line an entry, in columns; a failure has a second one with its error, and with its key if no
// credential shows the identity. `is_wide` adds the key to each. Empty for no entries.
std::string cache_text(const std::vector<CacheItem>& items, TimePoint now, bool is_wide,
                       const Paint& paint);
// The key of each, one a line.
std::string cache_names(const std::vector<CacheItem>& items);

// {"directory": …, "items": [{state, identity, target, created, age, expires | askAgain, key,
// error}]}; without a directory where there is none.
json::Value cache_json(std::string_view directory, const std::vector<CacheItem>& items,
                       TimePoint now);

}  // namespace execcred::cli
