// SPDX-License-Identifier: Apache-2.0
// A provider's credentials, shared by all processes of one user, so that a fleet of them costs the
// provider one call. docs/cache.md is the protocol.
//
//   reading  one small file; no lock, and no cryptography
//   asking   one process per key, behind a kernel lock; the others wait for its result, or are
//            given the credential that is still valid
//   failing  is stored too: a provider that is down gets one call per window
//
// A server may refuse a credential before it ends. If a client asks again for the credential that
// it has, this may be the reason, so its next run asks the provider; see is_suspect().
//
// The cache never causes an error: without a safe directory, a free inode or a lock, the provider
// is asked as without a cache.
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
  // Distinguishes the clients in one process: the cluster that is asked for.
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

  // Each call of `ask` has its own context, with the remaining time of the run. Fails as `ask`
  // does, or did a moment ago. `ask` may be called several times, one after the other, and is not
  // called for a hit. Other processes get a failure by its kind: after `unavailable` the provider
  // is asked again soon (within this run only if it is transient). Failures of the kinds internal
  // and configuration, and local failures, are not stored: after a file is corrected no run must
  // wait.
  Result<Credential> get(const CacheKey& key, const Ask& ask) const;

 private:
  CacheOptions options_;
  CallContext run_;
};

}  // namespace execcred
