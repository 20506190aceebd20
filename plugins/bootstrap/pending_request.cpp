// SPDX-License-Identifier: Apache-2.0
#include "pending_request.hpp"

#include <execcred/cache/entry.hpp>
#include <execcred/cache/tidy.hpp>

#include <utility>

namespace execcred::bootstrap {
namespace {

using std::chrono::steady_clock;

// Counted from when the request was made, or made again.
constexpr Duration kLongestWait = std::chrono::hours(24 * 7);
// A closed request stays for runs that began earlier and do not know the resulting credential yet.
constexpr Duration kClosedStays = std::chrono::minutes(10);

std::string key_of(const CacheKey& credential) {
  return CacheKey().add("signing-request-of", credential.text()).text();
}

}  // namespace

PendingRequestStore::PendingRequestStore(std::optional<CacheDirectory> directory,
                                         const CacheKey& key, const Clock& clock)
    : directory_(std::move(directory)), clock_(clock), key_(key_of(key)) {
  const std::string name = hash_key(key_).hex();
  name_ = name + std::string(kSigningRequestEnding);
  if (directory_) {
    lock_ = std::make_unique<CacheLock>(*directory_, name + std::string(kLockEnding));
  }
}

CacheLock::Attempt PendingRequestStore::lock_until(steady_clock::time_point deadline) {
  return lock_ ? lock_->lock_until(deadline) : CacheLock::Attempt::impossible;
}

void PendingRequestStore::unlock() {
  if (lock_) lock_->unlock();
}

std::optional<PendingRequest> PendingRequestStore::read() const {
  if (!is_lasting()) return in_memory_;
  const std::optional<SecretString> text = directory_->read(name_, kMaxCacheFile);
  if (!text) return std::nullopt;
  std::optional<PendingRequest> request = parse_pending_request(text->reveal());
  if (!request || request->key != key_) return std::nullopt;
  return request;
}

void PendingRequestStore::write(const PendingRequest& request) {
  in_memory_ = request;
  in_memory_->key = key_;
  if (!directory_) return;
  const Duration stays = request.closed ? kClosedStays : kLongestWait;
  const SecretString text = write_pending_request(*in_memory_);
  is_unwritten_ = !directory_->write(name_, text.reveal(), clock_.now() + stays);
}

void PendingRequestStore::close(const std::string& name) {
  constexpr Duration kPatience = std::chrono::milliseconds(200);
  const bool is_busy = lock_until(steady_clock::now() + kPatience) == CacheLock::Attempt::busy;
  std::optional<PendingRequest> request = read();
  if (!is_busy && request && request->name == name && !request->closed) {
    request->closed = clock_.now();
    write(*request);
  }
  unlock();
}

}  // namespace execcred::bootstrap
