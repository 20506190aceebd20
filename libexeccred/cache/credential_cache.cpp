// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/credential_cache.hpp>

#include <execcred/base/try.hpp>
#include <execcred/cache/options.hpp>
#include <execcred/cache/run.hpp>

#include <utility>

namespace execcred {
namespace {

Result<Credential> ask_alone(CallContext call, const CredentialCache::Ask& ask) {
  FreshCredential fresh = TRY(ask(call));
  note_delivery(call.notes, fresh.identity, false);
  return std::move(fresh.credential);
}

}  // namespace

Result<Credential> CredentialCache::get(const CacheKey& key, const Ask& ask) const {
  const std::optional<CacheDirectory> directory = open_cache(options_, run_);
  if (!directory) return ask_alone(run_, ask);
  return CacheRun(options_, run_, *directory, key, ask).get();
}

}  // namespace execcred
