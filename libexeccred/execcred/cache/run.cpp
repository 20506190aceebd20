// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/run.hpp>

#include <execcred/base/assert.hpp>
#include <execcred/base/encoding.hpp>
#include <execcred/cache/tidy.hpp>

#include <algorithm>
#include <utility>

namespace execcred {
namespace {

using std::chrono::steady_clock;

std::string in_seconds(Duration duration) {
  return format_duration(std::chrono::ceil<std::chrono::seconds>(duration));
}

Error repeated(const CachedFailure& failure, TimePoint now) {
  Error error = failure.error;
  error.context.push_back("remembering this from another run, for " +
                          in_seconds(failure.until - now) + " more");
  return error;
}

}  // namespace

CacheRun::CacheRun(const CacheOptions& options, const CallContext& run,
                   const CacheDirectory& directory, const CacheKey& key,
                   const CredentialCache::Ask& ask)
    : options_(options),
      run_(run),
      directory_(directory),
      ask_(ask),
      key_(key.text()),
      hash_(hash_key(key_)),
      name_(hash_.hex()),
      reask_after_(options.times.first_reask) {}

Result<Credential> CacheRun::get() {
  Entry entry = read_entry();
  if (entry) reask_after_ = std::max(reask_after_, entry->reask_after / 2);
  if (!entry || !is_good(entry)) return obtain();
  if (!is_fresh(*entry)) return refresh(*std::move(entry));
  const bool is_asked_again = mark(*entry) == CacheDirectory::Marked::before;
  if (is_asked_again && is_suspect(*entry, read_failure(), now(), options_.times)) {
    return replace_suspect(*std::move(entry));
  }
  note_delivery(run_.notes, entry->identity, true);
  debug("a credential " + in_seconds(age_of(*entry, now())) + " old");
  return std::move(entry->credential);
}

Result<Credential> CacheRun::refresh(CachedCredential entry) {
  CacheLock lock(directory_, name_ + std::string(kLockEnding));
  const CacheLock::Attempt attempt = lock.try_lock();
  if (attempt == CacheLock::Attempt::busy) {
    return deliver(std::move(entry), "it is being refreshed by another process");
  }
  const bool is_pending = pending_failure(entry.created).has_value();
  if (Entry latest = read_entry(); is_good(latest)) entry = *std::move(latest);
  if (is_fresh(entry)) return deliver(std::move(entry), "another process refreshed it");
  if (is_pending) {
    return deliver(std::move(entry), "the provider failed a moment ago");
  }
  Failure remembered;
  const bool is_locked = attempt == CacheLock::Attempt::locked;
  Result<Issued> fresh = call(is_locked, Need::something_fresher, remembered);
  if (fresh) return deliver(store(std::move(*fresh), reask_after_, is_locked), "refreshed");
  if (entry.expires <= now()) return std::move(fresh).error();
  return deliver(std::move(entry), "cannot be refreshed yet: " + fresh.error().message);
}

Result<Credential> CacheRun::replace_suspect(CachedCredential entry) {
  const CacheTimes& times = options_.times;
  CacheLock lock(directory_, name_ + std::string(kLockEnding));
  if (lock.try_lock() != CacheLock::Attempt::locked) {
    return deliver(std::move(entry), "asked for again, while another process asks the provider");
  }
  const Failure before = read_failure();
  Entry latest = read_entry();
  if (is_good(latest) && latest->id != entry.id) {
    return deliver(*std::move(latest), "another process replaced it");
  }
  if (!is_good(latest)) {
    lock.unlock();
    return obtain();
  }
  if (!is_suspect(entry, before, now(), times)) {
    return deliver(std::move(entry), "asked for again, and the provider failed a moment ago");
  }
  debug("asked for again by the same client, so the provider is asked");
  Failure remembered;
  Result<Issued> fresh = call(true, Need::something_fresher, remembered);
  if (fresh) {
    const Duration reask_after =
        2 * std::clamp(entry.reask_after, times.first_reask, times.longest_lifetime / 2);
    return deliver(store(std::move(*fresh), reask_after, true), "replaced");
  }
  const bool is_refused = fresh.error().kind == Error::Kind::no_credential &&
                          !fresh.error().is_local && !fresh.error().is_transient;
  if (!is_refused && fresh.error().kind != Error::Kind::configuration) {
    return deliver(std::move(entry), "cannot be replaced now: " + fresh.error().message);
  }
  // The provider refuses this identity, so no other process gets its earlier credential.
  if (is_refused) directory_.remove(name_ + std::string(kCredentialEnding));
  return std::move(fresh).error();
}

Result<Credential> CacheRun::obtain() {
  CacheLock lock(directory_, name_ + std::string(kLockEnding));
  for (;;) {
    if (Entry entry = read_entry(); is_good(entry)) {
      return deliver(*std::move(entry), "another process brought it");
    }
    if (const Failure pending = pending_failure(TimePoint::min())) {
      if (!wait_for_window(*pending)) return repeated(*pending, now());
      continue;
    }
    const Acquired acquired = acquire(lock);
    if (acquired == Acquired::changed) continue;
    Failure remembered;
    const bool is_locked = acquired == Acquired::locked;
    Result<Issued> fresh = call(is_locked, Need::nothing_else, remembered);
    if (fresh) {
      CachedCredential entry = store(std::move(*fresh), reask_after_, is_locked);
      if (is_locked) remove_needless_lock(directory_, name_, lock);
      return deliver(std::move(entry), "new");
    }
    if (is_locked) remove_needless_lock(directory_, name_, lock);
    lock.unlock();
    if (!remembered || !wait_for_window(*remembered)) return std::move(fresh).error();
  }
}

CacheRun::Acquired CacheRun::acquire(CacheLock& lock) const {
  constexpr Duration kLongestPause = std::chrono::milliseconds(32);
  const Duration limit = std::min(options_.times.longest_lock_wait, time_left() / 4 * 3);
  Duration pause = std::chrono::milliseconds(1);
  Duration waited = {};
  for (;;) {
    const CacheLock::Attempt attempt = lock.try_lock();
    if (attempt != CacheLock::Attempt::busy && has_news()) {
      lock.unlock();
      return Acquired::changed;
    }
    if (attempt == CacheLock::Attempt::locked) return Acquired::locked;
    if (attempt == CacheLock::Attempt::impossible || waited >= limit) {
      debug(waited >= limit ? "no lock after " + format_duration(waited) : "no lock can be made");
      return Acquired::gave_up;
    }
    const auto start = steady_clock::now();
    options_.pause(pause);
    waited += std::max<Duration>(pause, steady_clock::now() - start);
    if (has_news()) return Acquired::changed;
    pause = std::min(2 * pause, kLongestPause);
  }
}

// Reads the failure first: a process without the lock may store an entry and then remove the
// failure.
bool CacheRun::has_news() const {
  return pending_failure(TimePoint::min()).has_value() || is_good(read_entry());
}

Result<Issued> CacheRun::call(bool is_locked, Need need, Failure& remembered) const {
  CallContext call = run_;
  call.outcome = std::make_shared<CallOutcome>();
  call.may_retry = false;
  call.is_needed = need == Need::nothing_else;
  // Other processes wait for three quarters of their time, and must get a failure before that. If
  // there is a valid entry, time must remain to return it if the request fails.
  const bool ends_sooner = is_locked || need == Need::something_fresher;
  if (ends_sooner && call.deadline != steady_clock::time_point::max()) {
    call.deadline = steady_clock::now() + time_left() / 3 * 2;
  }
  debug("asking the provider");
  Result<Issued> fresh = ask_(call);
  was_given_ = fresh.has_value();
  if (fresh) return fresh;
  if (call.outcome->is_spent) fresh.error().is_transient = false;
  remembered = record(fresh.error(), call.outcome->retry_after);
  tidy_after_failure(directory_, name_, now());
  return fresh;
}

CacheRun::Failure CacheRun::record(Error error, std::optional<Duration> retry_after) const {
  const bool is_ours =
      error.kind == Error::Kind::internal || error.kind == Error::Kind::configuration;
  if (is_ours || error.is_local) return std::nullopt;
  CachedFailure failure =
      next_failure(read_failure(), std::move(error), retry_after, now(), options_.times);
  failure.key = key_;
  EXECCRED_ASSERT(failure.until > failure.created);
  const Status written = directory_.write(name_ + std::string(kFailureEnding),
                                          write_cached_failure(failure), failure.until);
  if (!written) debug(written.error().message);
  return failure;
}

CachedCredential CacheRun::store(Issued fresh, Duration reask_after, bool is_locked) const {
  const CacheTimes& times = options_.times;
  CachedCredential entry{.key = key_, .created = now(), .reask_after = reask_after};
  const TimePoint ends = fresh.credential.expires_at.value_or(now() + times.endless_lifetime);
  entry.expires = std::min(ends, entry.created + times.longest_lifetime);
  entry.identity = std::move(fresh.identity);
  entry.target = std::move(fresh.target);
  entry.credential = std::move(fresh.credential);
  EXECCRED_ASSERT(!entry.credential.expires_at || entry.expires <= *entry.credential.expires_at);
  // This run claims the same end as the runs that read the entry.
  if (entry.credential.expires_at) entry.credential.expires_at = entry.expires;
  const SecretString text = write_cached_credential(entry);
  if (entry.expires <= entry.created || text.size() > kMaxCacheFile) {
    tidy_after_failure(directory_, name_, now());
    return entry;
  }
  const Status written =
      directory_.write(name_ + std::string(kCredentialEnding), text.reveal(), entry.expires);
  if (!written) {
    debug(written.error().message);
    return entry;
  }
  entry.id = checksum_of(text.reveal());
  // Without the lock, this could remove a newer failure; a failure older than the entry has no
  // effect anyway.
  if (is_locked) directory_.remove(name_ + std::string(kFailureEnding));
  tidy_cache(directory_, name_, entry.id, now());
  return entry;
}

bool CacheRun::wait_for_window(const CachedFailure& failure) {
  const Duration pause = std::max<Duration>(failure.until - now(), std::chrono::milliseconds(1));
  if (!failure.error.is_transient || pause > time_left() / 2) return false;
  if (pause > options_.times.retry_patience - waited_) return false;
  debug("trying again in " + format_duration(pause) + ": " + failure.error.message);
  options_.pause(pause);
  waited_ += pause;
  return true;
}

Credential CacheRun::deliver(CachedCredential entry, const std::string& how) const {
  EXECCRED_ASSERT(entry.key == key_);
  if (entry.id != 0) mark(entry);
  note_delivery(run_.notes, entry.identity, !was_given_);
  debug("a credential " + in_seconds(age_of(entry, now())) + " old: " + how);
  return std::move(entry.credential);
}

CacheRun::Entry CacheRun::read_entry() const {
  const std::optional<SecretString> text =
      directory_.read(name_ + std::string(kCredentialEnding), kMaxCacheFile);
  if (!text) return std::nullopt;
  Entry entry = parse_cached_credential(text->reveal());
  if (!entry || entry->key != key_) return std::nullopt;
  return entry;
}

CacheRun::Failure CacheRun::read_failure() const {
  const std::optional<SecretString> text =
      directory_.read(name_ + std::string(kFailureEnding), kMaxCacheFile);
  if (!text) return std::nullopt;
  Failure failure = parse_cached_failure(text->reveal());
  if (!failure || failure->key != key_) return std::nullopt;
  return failure;
}

CacheRun::Failure CacheRun::pending_failure(TimePoint since) const {
  Failure failure = read_failure();
  if (!failure || failure->created < since) return std::nullopt;
  if (!is_pending(*failure, now())) return std::nullopt;
  return failure;
}

bool CacheRun::is_good(const Entry& entry) const {
  return entry.has_value() && is_valid(*entry, now(), options_.times);
}

bool CacheRun::is_fresh(const CachedCredential& entry) const {
  const Duration window =
      refresh_window(entry.expires - entry.created, options_.refresh_before, hash_);
  return now() < entry.expires - window;
}

// A client that cannot be distinguished from others never counts as asking again.
CacheDirectory::Marked CacheRun::mark(const CachedCredential& entry) const {
  const std::optional<std::string> client = options_.client();
  if (!client) return CacheDirectory::Marked::failed;
  constexpr std::uint64_t kTidiers = 256;  // one in so many new clients
  const std::uint64_t asker = hash_key(*client + "\n" + options_.client_detail).mixed();
  const CacheDirectory::Marked marked = directory_.mark(
      name_ + "." + hex_digits(entry.id) + "." + hex_digits(asker) + std::string(kMarkEnding));
  if (marked == CacheDirectory::Marked::now && asker % kTidiers == 0) {
    tidy_marks(directory_, name_, now());
  }
  return marked;
}

Duration CacheRun::time_left() const {
  return std::max<Duration>(run_.deadline - std::chrono::steady_clock::now(), Duration::zero());
}

}  // namespace execcred
