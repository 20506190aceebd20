// SPDX-License-Identifier: Apache-2.0
// The right to ask the provider for one key: a kernel flock on a file of its own. The kernel gives
// it back however its holder ends. The file is never removed, or two processes could each hold the
// lock of a file that has the name for one of them only.
#pragma once

#include <execcred/cache_directory.hpp>

#include <string>

namespace execcred {

class CacheLock {
 public:
  enum class Attempt { locked, busy, impossible };

  CacheLock(const CacheDirectory& directory, const std::string& name);

  // Does not wait.
  Attempt try_lock();
  void unlock() const;

 private:
  FileDescriptor file_;
};

}  // namespace execcred
