// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/credential_cache.hpp>

#include <execcred/base/try.hpp>
#include <execcred/cache/run.hpp>

#include <utility>

namespace execcred {
namespace {

Result<Credential> ask_alone(CallContext call, const CredentialCache::Ask& ask) {
  Issued fresh = TRY(ask(call));
  note_delivery(call.notes, fresh.identity, false);
  return std::move(fresh.credential);
}

}  // namespace

std::optional<CacheDirectory> open_cache(const CacheOptions& options, const CallContext& run) {
  if (options.no_cache) return std::nullopt;
  Result<CacheDirectory> directory =
      CacheDirectory::open(options.directory, run.environment, CacheDirectory::IfMissing::create);
  if (directory) return std::move(directory).value();
  run.debug("no cache: " + directory.error().message);
  // No directory at all is usual in a container. An unsafe one may be another user's attack.
  const auto found = CacheDirectory::find(options.directory, run.environment);
  if (run.notes == nullptr || found) return std::nullopt;
  run.notes->warning =
      "no credential is cached, so each run asks the provider: " + found.error().message +
      "; correct that, or pass --cache-dir=PATH";
  return std::nullopt;
}

Result<Credential> CredentialCache::get(const CacheKey& key, const Ask& ask) const {
  const std::optional<CacheDirectory> directory = open_cache(options_, run_);
  if (!directory) return ask_alone(run_, ask);
  return CacheRun(options_, run_, *directory, key, ask).get();
}

}  // namespace execcred
