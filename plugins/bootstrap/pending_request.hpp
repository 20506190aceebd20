// SPDX-License-Identifier: Apache-2.0
// The certificate signing request that waits for its decision: its name and its key, which a run
// stores in the cache directory for the next one. An approval may take hours, and a run has
// seconds.
//
// It is written before the cluster is asked, so that neither a lost answer nor a kill leads to a
// second request. One process at a time makes requests; all may wait for one.
#pragma once

#include <execcred/base/clock.hpp>
#include <execcred/base/copyable_secret.hpp>
#include <execcred/cache/directory.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/cache/lock.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace execcred::bootstrap {

struct PendingRequest {
  std::string name = {};            // of the CertificateSigningRequest
  std::string request = {};         // PEM, PKCS#10
  CopyableSecret private_key = {};  // PEM
  // When its result was used: no later run uses it.
  std::optional<TimePoint> closed = {};
};

class PendingRequestStore {
 public:
  // Without a writable directory, the request is kept for this run only. `clock` must outlive the
  // store.
  PendingRequestStore(std::optional<CacheDirectory> directory, const CacheKey& key,
                      const Clock& clock);
  PendingRequestStore(const PendingRequestStore&) = delete;
  PendingRequestStore& operator=(const PendingRequestStore&) = delete;

  // Whether another run finds what is kept here.
  bool is_lasting() const { return directory_.has_value() && !is_unwritten_; }

  // The right to make requests and to write, until it is unlocked: busy if another process still
  // has it at the deadline. If no lock can be made, there is no exclusion.
  CacheLock::Attempt lock_until(std::chrono::steady_clock::time_point deadline);
  void unlock();

  // A file that is corrupt or of another key counts as none.
  std::optional<PendingRequest> read() const;
  // Its time starts again.
  void write(const PendingRequest& request);
  // Removes the one of this name, unless another one has replaced it.
  void close(const std::string& name);

 private:
  std::optional<CacheDirectory> directory_;
  const Clock& clock_;
  std::string key_;   // CacheKey::text()
  std::string name_;  // of the file
  std::unique_ptr<CacheLock> lock_;
  std::optional<PendingRequest> kept_;
  bool is_unwritten_ = false;
};

}  // namespace execcred::bootstrap
