// SPDX-License-Identifier: Apache-2.0
// Lists the content of the cache for people, without the secrets.
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

// Lists credentials and failures by key, a credential before the failure of its key. Expired ones
// are listed while their files exist. Files that may not be used or cannot be parsed are left out.
std::vector<CacheItem> list_cache(const CacheDirectory& directory);

// Removes all files of the cache except the locks and the refresh tokens. A refresh token cannot be
// replaced, because the server no longer accepts the previous ones. Returns the number of
// credentials and failures that were removed.
std::size_t clear_cache(const CacheDirectory& directory);

}  // namespace execcred
