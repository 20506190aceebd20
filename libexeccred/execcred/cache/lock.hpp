// SPDX-License-Identifier: Apache-2.0
// The lock of one key. Its holder may ask the provider for this key. It is a kernel flock on a
// separate file, which the kernel releases when the holder ends for any reason. Only the holder
// removes the file. A process that gets the flock checks that the name still refers to that file:
// otherwise two processes could each hold a lock of the same name on different files.
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
  // Waits for the other holders; returns busy if the lock is still held at the deadline.
  Attempt lock_until(std::chrono::steady_clock::time_point deadline);
  void unlock() const;
  // Removes the lock's file. May be called only while the lock is held.
  void remove() const;

 private:
  void open();
  bool has_name() const;

  const CacheDirectory& directory_;
  std::string name_;
  FileDescriptor file_;
};

}  // namespace execcred
