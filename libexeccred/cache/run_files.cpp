// SPDX-License-Identifier: Apache-2.0
// What a CacheRun reads, and the times it reads it by.
#include <execcred/cache/run.hpp>
#include <execcred/cache/tidy.hpp>

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace execcred {

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
  if (!is_pending(*failure, now(), options_.times)) return std::nullopt;
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

// One who cannot be told from others is never taken to ask again.
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
  return std::max<Duration>(options_.deadline - std::chrono::steady_clock::now(), Duration::zero());
}

void CacheRun::sleep_for(Duration pause) const {
  if (options_.pause) {
    options_.pause(pause);
    return;
  }
  const auto whole = std::chrono::floor<std::chrono::seconds>(pause);
  timespec left = {.tv_sec = static_cast<time_t>(whole.count()),
                   .tv_nsec = static_cast<long>((pause - whole).count())};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace execcred
