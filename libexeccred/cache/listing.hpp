// SPDX-License-Identifier: Apache-2.0
// The cache as people see it: what is in it, without the secrets.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/error.hpp>
#include <execcred/cache/directory.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace execcred {

struct CacheItem {
  std::string key = {};       // CacheKey::text(): name=value lines
  std::string identity = {};  // of a credential
  std::string target = {};    // of a credential
  TimePoint created = {};
  TimePoint ends = {};  // of a failure: when the provider may be asked again
  std::optional<Error> failure = std::nullopt;  // of a failure
};

// Credentials and failures by key, a credential before its failure. What has ended is listed while
// it is there; files that do not count are not.
std::vector<CacheItem> list_cache(const CacheDirectory& directory);

// Removes all but the locks and the refresh tokens, which a server gave in place of others that are
// spent. Tells how many credentials and failures that were.
std::size_t clear_cache(const CacheDirectory& directory);

}  // namespace execcred
