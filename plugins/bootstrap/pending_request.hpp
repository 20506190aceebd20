// SPDX-License-Identifier: Apache-2.0
// The certificate signing request that waits for its decision. A run stores its name and its key in
// the cache directory for the next run, because an approval may take hours, and a run has only
// seconds.
//
// The request is stored before the cluster is asked, so that neither a lost reply nor a kill leads
// to a second request. Only one process at a time makes requests; all may wait for one.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/lock.hpp>
#include <execcred/cache/pending_request.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace execcred::bootstrap {

class PendingRequestStore {
 public:
  // Without a writable directory, the request is stored for this run only. `clock` must outlive the
  // store.
  PendingRequestStore(std::optional<CacheDirectory> directory, const CacheKey& key,
                      const Clock& clock);
  PendingRequestStore(const PendingRequestStore&) = delete;
  PendingRequestStore& operator=(const PendingRequestStore&) = delete;

  // Whether another run finds what is stored here.
  bool is_lasting() const { return directory_.has_value() && !is_unwritten_; }

  // Locks the right to make requests and to write, until unlock(): busy if another process still
  // has it at the deadline. If no lock can be made, there is no exclusion.
  CacheLock::Attempt lock_until(std::chrono::steady_clock::time_point deadline);
  void unlock();

  // The stored request; nullopt if there is none, or the file is corrupt or of another key.
  std::optional<PendingRequest> read() const;
  // Stores the request; the time after which its file may be removed starts again.
  void write(const PendingRequest& request);
  // Marks the request of this name as closed, unless another one has replaced it. If another
  // process holds the lock, nothing changes.
  void close(const std::string& name);

 private:
  std::optional<CacheDirectory> directory_;
  const Clock& clock_;
  std::string key_;   // CacheKey::text()
  std::string name_;  // of the file
  std::unique_ptr<CacheLock> lock_;
  std::optional<PendingRequest> in_memory_;
  bool is_unwritten_ = false;
};

}  // namespace execcred::bootstrap
