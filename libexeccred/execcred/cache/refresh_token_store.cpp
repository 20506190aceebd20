// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/refresh_token_store.hpp>

#include <execcred/base/digest.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/cache/entry.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/lock.hpp>
#include <execcred/cache/tidy.hpp>

#include <optional>
#include <utility>

namespace execcred {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kHeader = "execcred refresh-token 1";
// Counted from the token's last use; no known server accepts a token that was unused for longer.
constexpr Duration kLongestIdle = std::chrono::hours(24 * 90);

std::string key_of(const RefreshTokenStore::Source& source) {
  return CacheKey()
      .add("token-server", source.token_server)
      .add("client-id", source.client_id)
      .add("refresh-token", fingerprint("refresh-token", source.original.reveal()))
      .text();
}

// Marks the error as one of this machine, which cannot store the token.
Error local(Error error) {
  error.is_local = true;
  return error;
}

Status wait_for(CacheLock& lock, steady_clock::time_point deadline) {
  switch (lock.lock_until(deadline)) {
    case CacheLock::Attempt::locked:
      return {};
    case CacheLock::Attempt::busy:
      return Error::unavailable("another process uses the refresh token all the time");
    case CacheLock::Attempt::impossible:
      break;
  }
  return local(Error::unavailable("no lock can be made for the refresh token"));
}

}  // namespace

RefreshTokenStore::RefreshTokenStore(const CacheDirectory& directory, const Source& source,
                                     const Clock& clock)
    : directory_(&directory), clock_(&clock), key_(key_of(source)) {
  const std::string name = hash_key(key_).hex();
  name_ = name + std::string(kRefreshTokenEnding);
  lock_ = std::make_unique<CacheLock>(directory, name + std::string(kLockEnding));
  current_ = source.original.copy();
}

RefreshTokenStore::RefreshTokenStore(RefreshTokenStore&&) noexcept = default;
RefreshTokenStore& RefreshTokenStore::operator=(RefreshTokenStore&&) noexcept = default;
RefreshTokenStore::~RefreshTokenStore() = default;

Result<RefreshTokenStore> RefreshTokenStore::open(const CacheDirectory& directory,
                                                  const Source& source,
                                                  steady_clock::time_point deadline,
                                                  const Clock& clock) {
  RefreshTokenStore store(directory, source, clock);
  TRY(wait_for(*store.lock_, deadline));
  store.read();
  TRY(store.prepare(source.original)
          .hint("a server may replace the refresh token when it is used, so it is not used where "
                "the new one cannot be kept; --cache-dir names another directory"));
  return store;
}

// Checks that the next token can be written before the current one is spent; the new mtime also
// shows that the file is in use. The user's original stays in its file: a placeholder is written
// here, with space for a longer token.
Status RefreshTokenStore::prepare(const SecretString& original) const {
  if (current_.reveal() != original.reveal()) return write(current_);
  constexpr std::size_t kMore = 1024;
  return write(SecretString(std::string(original.size() + kMore, '\0')));
}

void RefreshTokenStore::read() {
  const std::optional<SecretString> text = directory_->read(name_, kMaxCacheFile);
  if (!text) return;
  FieldReader fields(text->reveal(), kHeader);
  const std::string_view key = fields.field("key");
  const std::string_view token = fields.field("token");
  if (!fields.is_complete() || key != key_) return;
  if (!token.empty() && !has_control_character(token)) current_ = SecretString(token);
}

Status RefreshTokenStore::write(const SecretString& token) const {
  FieldWriter fields(kHeader);
  fields.add("key", key_);
  fields.add("token", token.reveal());
  const SecretString text = fields.finish();
  if (text.size() > kMaxCacheFile)
    return Error::unavailable("the refresh token is too long to be kept");
  Status written = directory_->write(name_, text.reveal(), clock_->now() + kLongestIdle);
  if (!written) return local(std::move(written).error());
  return {};
}

Status RefreshTokenStore::keep(const SecretString& token) {
  if (token.empty() || token.reveal() == current_.reveal()) return {};
  Status written = write(token);
  // A process that empties the directory may have removed the unfinished file.
  if (!written) written = write(token);
  TRY(std::move(written));
  current_ = token.copy();
  return {};
}

}  // namespace execcred
