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
  std::string target = {};    // of a credential; of a signing request, as kubectl names it
  TimePoint created = {};
  // Of a failure: when the provider may be asked again. Of a signing request: when it was used, or
  // may be removed unused.
  TimePoint ends = {};
  std::optional<Error> failure = std::nullopt;  // of a failure
  bool is_pending = false;  // a signing request whose certificate was not used yet
};

// Lists credentials, failures and signing requests by key, a credential before the failure of its
// key. Expired and used ones are listed while their files exist. Files that may not be used or
// cannot be parsed are left out.
std::vector<CacheItem> list_cache(const CacheDirectory& directory);

// Removes all files of the cache except the locks, the refresh tokens and the pending signing
// requests. A refresh token cannot be replaced, because the server no longer accepts the previous
// ones; and a new signing request needs another approval. Returns the number of removed items of
// list_cache().
std::size_t clear_cache(const CacheDirectory& directory);

}  // namespace execcred
