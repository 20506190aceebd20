// SPDX-License-Identifier: Apache-2.0
// The content of the cache for people, without the secrets.
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

// Credentials and failures by key, a credential before its failure. Expired ones are listed while
// they exist; files that may not be used are not.
std::vector<CacheItem> list_cache(const CacheDirectory& directory);

// Removes everything except the locks and the refresh tokens, whose predecessors the server no
// longer accepts. Returns how many credentials and failures were removed.
std::size_t clear_cache(const CacheDirectory& directory);

}  // namespace execcred
