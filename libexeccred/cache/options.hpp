// SPDX-License-Identifier: Apache-2.0
// The options of the credential cache, the same for every plugin that has one.
#pragma once

#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/exec/option_set.hpp>
#include <execcred/exec/provider.hpp>

#include <optional>

namespace execcred {

// --cache-dir, --no-cache and --refresh-before. `options` must outlive `set`.
void add_cache_options(OptionSet& set, CacheOptions& options);

// The same for one run: its deadline, its debug log, and the cluster that it is for, which tells
// the clients within one process apart. `services` must outlive them.
CacheOptions cache_of_run(CacheOptions options, const CredentialRequest& request,
                          const Services& services);

// Where what the options mean is kept; nullopt for --no-cache, and where no directory is safe,
// which the options' debug is told. It is made where it is missing.
std::optional<CacheDirectory> open_cache(const CacheOptions& options,
                                         const Environment& environment);

}  // namespace execcred
