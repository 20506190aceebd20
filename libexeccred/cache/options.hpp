// SPDX-License-Identifier: Apache-2.0
// The options of the credential cache, the same for every plugin that has one.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/provider.hpp>

#include <optional>

namespace execcred {

// --cache-dir, --no-cache and --refresh-before. `options` must outlive `set`.
void add_cache_options(OptionSet& set, CacheOptions& options);

// The same for one run, with its cluster, which distinguishes the clients in one process.
CacheOptions cache_of_run(CacheOptions options, const CredentialRequest& request);

// The directory that the options name, which is created if it is missing. nullopt for --no-cache,
// and if no directory is safe, which the debug log reports.
std::optional<CacheDirectory> open_cache(const CacheOptions& options, const CallContext& run);

}  // namespace execcred
