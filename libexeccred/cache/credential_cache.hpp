// SPDX-License-Identifier: Apache-2.0
// A provider's credentials, shared by all processes of one user, so that a fleet of them costs the
// provider one call. docs/cache.md is the protocol.
//
//   reading  one small file; no lock, and no cryptography
//   asking   one process per key, behind a kernel lock; the others wait for what it brings, or are
//            given the credential that is still good
//   failing  is remembered too: a provider that is down gets one call per window
//
// What a client holds may be refused before its end. A client that asks again for what it was
// given has perhaps met that, so its next run asks the provider; see is_suspect().
//
// The cache never is the reason for an error: without a safe directory, a free inode or a lock,
// the provider is asked as if there were none.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/client.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/policy.hpp>
#include <execcred/exec/exec_credential.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct CacheOptions {
  bool no_cache = false;                        // --no-cache
  std::string directory = {};                   // --cache-dir
  std::optional<Duration> refresh_before = {};  // --refresh-before
  // What tells clients within one process apart: the cluster that is asked for.
  std::string client_detail = {};
  CacheTimes times = {};
  std::function<std::optional<std::string>()> client = parent_identity;
  std::function<void(Duration)> pause = pause_for;
};

struct FreshCredential {
  Credential credential = {};
  std::string identity = {};  // whose it is, and what it is for: shown by `execcred cache list`
  std::string target = {};
};

class CredentialCache {
 public:
  using Ask = std::function<Result<FreshCredential>(CallContext&)>;

  // What `run` refers to must outlive the cache.
  CredentialCache(CacheOptions options, CallContext run)
      : options_(std::move(options)), run_(std::move(run)) {}

  // Each call of `ask` has a context of its own, with what is left to it of the run's time.
  // Fails as `ask` does, or did a moment ago. `ask` may be called more than once, in turn, and is
  // not called at all for a hit. A failure is told to others by its kind: unavailable is asked
  // again soon (within this run only if it is transient). Internal ones, ones of configuration and
  // local failures are not kept: after a file is corrected nobody must wait, and no provider
  // answered.
  Result<Credential> get(const CacheKey& key, const Ask& ask) const;

 private:
  CacheOptions options_;
  CallContext run_;
};

}  // namespace execcred
