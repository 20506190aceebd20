// SPDX-License-Identifier: Apache-2.0
// A provider's credentials, shared by all processes of one user, so that many processes cause one
// call of the provider. docs/cache.md describes the protocol.
//
//   reading  reads one small file, without a lock and without cryptography
//   asking   is done by one process per key, which holds a kernel lock; the others wait for its
//            result, or use the credential that is still valid
//   failing  is stored too: a provider that is down gets one call per window
//
// A server may refuse a credential before it expires. If a client asks again for the credential
// that it has, this may be the reason, so its next run asks the provider; see is_suspect().
//
// The cache never causes an error: without a safe directory, a free inode or a lock, the provider
// is asked as if there were no cache.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/credential.hpp>
#include <execcred/base/pause.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/client.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/policy.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

struct CacheOptions {
  bool no_cache = false;                        // --no-cache
  std::string directory = {};                   // --cache-dir
  std::optional<Duration> refresh_before = {};  // --refresh-before
  // The server of the cluster that the credential is for; it distinguishes the clients in one
  // process.
  std::string client_detail = {};
  CacheTimes times = {};
  // Who gets the credential, so that a client that asks again is known (is_suspect()). nullopt: not
  // known, so that it never counts as asking again.
  std::function<std::optional<std::string>()> client = parent_identity;
  std::function<void(Duration)> pause = pause_for;  // how a run waits; a test does not
};

// What a provider gave.
struct Issued {
  Credential credential = {};
  std::string identity = {};  // whose it is, and what it is for: shown by `execcred cache list`
  std::string target = {};
};

// Opens the directory that the options name, and creates it if it is missing. nullopt for
// --no-cache, and if no directory is safe or can be created; the debug log reports the latter, and
// the run's notes warn of an unsafe one.
std::optional<CacheDirectory> open_cache(const CacheOptions& options, const CallContext& run);

class CredentialCache {
 public:
  using Ask = std::function<Result<Issued>(CallContext&)>;

  // The objects that `run` refers to must outlive the cache.
  CredentialCache(CacheOptions options, CallContext run)
      : options_(std::move(options)), run_(std::move(run)) {}

  // Returns a valid credential from the cache, or else calls `ask`, possibly several times in
  // sequence. Each call of `ask` has its own context, which ends at the run's deadline or earlier.
  // Fails as `ask` does, or as it did a moment ago: other processes get a stored failure with the
  // same kind. After an `unavailable` failure the provider is asked again soon (within this run
  // only if the failure is transient). Failures of the kinds internal and configuration, and local
  // failures, are not stored, so that no run must wait after a file is corrected.
  Result<Credential> get(const CacheKey& key, const Ask& ask) const;

 private:
  CacheOptions options_;
  CallContext run_;
};

}  // namespace execcred
