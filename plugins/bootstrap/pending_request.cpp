// SPDX-License-Identifier: Apache-2.0
#include "pending_request.hpp"

#include <execcred/cache/entry.hpp>
#include <execcred/cache/tidy.hpp>

#include <cstdint>
#include <utility>

namespace execcred::bootstrap {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kHeader = "execcred signing-request 1";
// Counted from when the request was made, or made again.
constexpr Duration kLongestWait = std::chrono::hours(24 * 7);
// A closed request stays for runs that began earlier and do not know the resulting credential yet.
constexpr Duration kClosedStays = std::chrono::minutes(10);

std::string key_of(const CacheKey& credential) {
  return CacheKey().add("signing-request-of", credential.text()).text();
}

SecretString text_of(const PendingRequest& request, const std::string& key) {
  FieldWriter fields(kHeader);
  fields.add("key", key);
  fields.add("name", request.name);
  fields.add("request", request.request);
  fields.add("private-key", request.private_key.reveal());
  fields.add("closed", static_cast<std::int64_t>(
                           request.closed ? request.closed->time_since_epoch().count() : 0));
  return fields.finish();
}

std::optional<PendingRequest> parse(std::string_view text, const std::string& key) {
  FieldReader fields(text, kHeader);
  const std::string_view found_key = fields.field("key");
  PendingRequest request{.name = std::string(fields.field("name")),
                         .request = std::string(fields.field("request")),
                         .private_key = SecretString(fields.field("private-key"))};
  const std::int64_t closed = fields.number("closed");
  if (!fields.is_complete() || found_key != key || request.name.empty()) return std::nullopt;
  if (closed != 0) request.closed = TimePoint(Duration(closed));
  return request;
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
  if (!is_lasting()) return kept_;
  const std::optional<SecretString> text = directory_->read(name_, kMaxCacheFile);
  return text ? parse(text->reveal(), key_) : std::nullopt;
}

void PendingRequestStore::write(const PendingRequest& request) {
  kept_ = request;
  if (!directory_) return;
  const Duration stays = request.closed ? kClosedStays : kLongestWait;
  const SecretString text = text_of(request, key_);
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
