// SPDX-License-Identifier: Apache-2.0
#include <execcred/cache/lock.hpp>

#include <execcred/base/duration.hpp>
#include <execcred/base/pause.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace execcred {
namespace {

bool is_lock_file(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

int open_lock(int directory, const std::string& name) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  return openat(directory, name.c_str(), kFlags, 0600);
}

}  // namespace

CacheLock::CacheLock(const CacheDirectory& directory, std::string name)
    : directory_(directory), name_(std::move(name)) {
  open();
}

void CacheLock::open() {
  const int directory = directory_.descriptor();
  file_.reset(open_lock(directory, name_));
  if (file_ && is_lock_file(file_.get())) return;
  if (!file_ && errno != ELOOP && errno != EISDIR && errno != ENXIO) return;
  // No execcred process uses such a file as the lock, so it is not held and may be removed.
  file_.reset();
  if (unlinkat(directory, name_.c_str(), 0) != 0) {
    unlinkat(directory, name_.c_str(), AT_REMOVEDIR);
  }
  file_.reset(open_lock(directory, name_));
  if (file_ && !is_lock_file(file_.get())) file_.reset();
}

bool CacheLock::has_name() const {
  struct stat file = {};
  struct stat named = {};
  return fstat(file_.get(), &file) == 0 &&
         fstatat(directory_.descriptor(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

CacheLock::Attempt CacheLock::try_lock() {
  constexpr int kMostRemoved = 100;  // during this call
  for (int i = 0; i < kMostRemoved; ++i) {
    if (!file_) return Attempt::impossible;
    while (flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EINTR) return errno == EWOULDBLOCK ? Attempt::busy : Attempt::impossible;
    }
    if (has_name()) return Attempt::locked;
    open();
  }
  return Attempt::busy;
}

CacheLock::Attempt CacheLock::lock_until(std::chrono::steady_clock::time_point deadline) {
  constexpr Duration kLongestPause = std::chrono::milliseconds(32);
  for (Duration pause = std::chrono::milliseconds(1);; pause = std::min(2 * pause, kLongestPause)) {
    const Attempt attempt = try_lock();
    if (attempt != Attempt::busy) return attempt;
    const Duration left = deadline - std::chrono::steady_clock::now();
    if (left <= Duration::zero()) return attempt;
    pause_for(std::min(pause, left));
  }
}

void CacheLock::unlock() const { flock(file_.get(), LOCK_UN); }

void CacheLock::remove() const { directory_.remove(name_); }

}  // namespace execcred
