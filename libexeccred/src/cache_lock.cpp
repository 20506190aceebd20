// SPDX-License-Identifier: Apache-2.0
#include "cache_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

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

CacheLock::CacheLock(const CacheDirectory& directory, const std::string& name)
    : file_(open_lock(directory.descriptor(), name)) {
  if (file_ && is_lock_file(file_.get())) return;
  if (!file_ && errno != ELOOP && errno != EISDIR && errno != ENXIO) return;
  // No file that any process of ours would take for the lock, so nobody holds it.
  file_.reset();
  if (unlinkat(directory.descriptor(), name.c_str(), 0) != 0) {
    unlinkat(directory.descriptor(), name.c_str(), AT_REMOVEDIR);
  }
  file_.reset(open_lock(directory.descriptor(), name));
  if (file_ && !is_lock_file(file_.get())) file_.reset();
}

CacheLock::Attempt CacheLock::try_lock() {
  if (!file_) return Attempt::impossible;
  for (;;) {
    if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return Attempt::locked;
    if (errno == EINTR) continue;
    return errno == EWOULDBLOCK ? Attempt::busy : Attempt::impossible;
  }
}

void CacheLock::unlock() const { flock(file_.get(), LOCK_UN); }

}  // namespace execcred
