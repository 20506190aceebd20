// SPDX-License-Identifier: Apache-2.0
#include "cache_run.hpp"

#include <execcred/cache_options.hpp>
#include <execcred/credential_cache.hpp>

#include <utility>

namespace execcred {
namespace {

Result<Credential> ask_alone(const CacheOptions& options, const CredentialCache::Ask& ask) {
  ProviderCall call{.deadline = options.deadline};
  TRY_ASSIGN(FreshCredential fresh, ask(call));
  return std::move(fresh.credential);
}

}  // namespace

Result<Credential> CredentialCache::get(const CacheKey& key, const Ask& ask) const {
  const std::optional<CacheDirectory> directory = open_cache(options_, environment_);
  if (!directory) return ask_alone(options_, ask);
  return CacheRun(options_, clock_, *directory, key, ask).get();
}

}  // namespace execcred
