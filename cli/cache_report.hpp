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

// A table with one row for each entry; empty if there are no entries. Below the row of a failure
// are its error and, if the row has neither a target nor a key, its key. `is_wide` adds a column
// with the keys.
std::string cache_text(const std::vector<CacheItem>& items, TimePoint now, bool is_wide,
                       const Paint& paint);
// The key of each entry, one line each.
std::string cache_names(const std::vector<CacheItem>& items);

// {"directory": …, "items": [{state, identity, target, created, ageSeconds, expires |
// askedAgainAfter, error, key}]}. "directory" is left out if `directory` is empty.
json::Value cache_json(std::string_view directory, const std::vector<CacheItem>& items,
                       TimePoint now);

}  // namespace execcred::cli
