// SPDX-License-Identifier: Apache-2.0
// The right to ask the provider for one key: a kernel flock on a file of its own. The kernel gives
// it back however its holder ends. Only its holder removes the file, and who gets the flock looks
// whether the name still leads to that file: else two processes could each hold the lock of a file
// that has the name for one of them only.
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

  // Does not wait. Makes the file again where its holder has removed it.
  Attempt try_lock();
  // Waits for its holders; busy where there is one at the deadline too.
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
