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

// Adds --cache-dir, --no-cache and --refresh-before to `set`. `options` must outlive `set`.
void add_cache_options(OptionSet& set, CacheOptions& options);

// The options for one run: with the server of its cluster as `client_detail`, which distinguishes
// the clients in one process.
CacheOptions cache_of_run(CacheOptions options, const CredentialRequest& request);

// Opens the directory that the options name, and creates it if it is missing. nullopt for
// --no-cache, and if no directory is safe or can be created; the debug log reports the latter, and
// the run's notes warn of an unsafe one.
std::optional<CacheDirectory> open_cache(const CacheOptions& options, const CallContext& run);

}  // namespace execcred
