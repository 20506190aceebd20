// SPDX-License-Identifier: Apache-2.0
// The options of the credential cache, the same for every plugin that has one.
#pragma once

#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/provider.hpp>

#include <array>
#include <string_view>

namespace execcred {

// Adds --cache-dir, --no-cache and --refresh-before to `set`. `options` must outlive `set`.
void add_cache_options(OptionSet& set, CacheOptions& options);
// The same for a plugin that has a cache on request: --cache in place of --no-cache, without which
// the others have no use.
void add_cache_options_on_request(OptionSet& set, CacheOptions& options, bool& is_requested);
inline constexpr std::array<std::string_view, 1> kCacheRequested = {"true"};

// The options for one run: with the server of its cluster as `client_detail`, which distinguishes
// the clients in one process.
CacheOptions cache_of_run(CacheOptions options, const CredentialRequest& request);

}  // namespace execcred
