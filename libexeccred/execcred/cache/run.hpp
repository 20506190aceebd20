// SPDX-License-Identifier: Apache-2.0
// One CredentialCache::get() in an existing directory.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/entry.hpp>
#include <execcred/cache/lock.hpp>

#include <optional>
#include <string>

namespace execcred {

class CacheRun {
 public:
  CacheRun(const CacheOptions& options, const CallContext& run, const CacheDirectory& directory,
           const CacheKey& key, const CredentialCache::Ask& ask);

  Result<Credential> get();

 private:
  using Entry = std::optional<CachedCredential>;
  using Failure = std::optional<CachedFailure>;
  enum class Acquired { locked, changed, gave_up };
  // Whether the call is the only way to a credential (nothing_else), or there is a valid one to
  // fall back on (something_fresher).
  enum class Need { nothing_else, something_fresher };

  // For an entry that expires soon, for an entry that its client asks for again, and for no entry.
  Result<Credential> refresh(CachedCredential entry);
  Result<Credential> replace_suspect(CachedCredential entry);
  Result<Credential> obtain();

  // The entry of this key in the directory, even if it has expired.
  Entry read_entry() const;
  Failure read_failure() const;
  // The failure at or after `since` that forbids asking the provider now.
  Failure pending_failure(TimePoint since) const;
  bool is_good(const Entry& entry) const;
  bool is_fresh(const CachedCredential& entry) const;

  Acquired acquire(CacheLock& lock) const;
  // Whether there is a result for a client without a credential: a valid entry, or a failure that
  // forbids asking the provider now.
  bool has_news() const;
  // Asks the provider. `remembered` becomes the failure that is stored for other processes, if
  // there is one.
  Result<Issued> call(bool is_locked, Need need, Failure& remembered) const;
  Failure record(Error error, std::optional<Duration> retry_after) const;
  CachedCredential store(Issued fresh, Duration reask_after, bool is_locked) const;
  // Waits until the failure's window ends. Returns false at once if the failure is not transient or
  // the window is too long to wait for.
  bool wait_for_window(const CachedFailure& failure);

  Credential deliver(CachedCredential entry, const std::string& how) const;
  CacheDirectory::Marked mark(const CachedCredential& entry) const;
  Duration time_left() const;
  TimePoint now() const { return run_.clock.now(); }
  void debug(const std::string& step) const { run_.debug("cache: " + step); }

  const CacheOptions& options_;
  const CallContext& run_;
  const CacheDirectory& directory_;
  const CredentialCache::Ask& ask_;
  std::string key_;
  KeyHash hash_;
  std::string name_;      // of the key's files, without their endings
  Duration reask_after_;  // of the next entry
  Duration waited_ = {};
  mutable bool was_given_ = false;  // by the provider, in this run
};

}  // namespace execcred
