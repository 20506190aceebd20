// SPDX-License-Identifier: Apache-2.0
// The right to ask the provider for one key: a kernel flock on a file of its own. The kernel
// releases it when its holder ends for any reason. Only its holder removes the file. A process that
// gets the flock checks that the name still refers to that file: otherwise two processes could each
// hold a lock of the same name on different files.
#pragma once

#include <execcred/cache/directory.hpp>

#include <chrono>
#include <string>

namespace execcred {

class CacheLock {
 public:
  enum class Attempt { locked, busy, impossible };

  // `directory` must outlive the lock.
  CacheLock(const CacheDirectory& directory, std::string name);

  // Does not wait. Creates the file again if its holder has removed it.
  Attempt try_lock();
  // Waits for its holders; returns busy if it is still held at the deadline.
  Attempt lock_until(std::chrono::steady_clock::time_point deadline);
  void unlock() const;
  // Removes the file. Only while the lock is held.
  void remove() const;

 private:
  void open();
  bool has_name() const;

  const CacheDirectory& directory_;
  std::string name_;
  FileDescriptor file_;
};

}  // namespace execcred
