// SPDX-License-Identifier: Apache-2.0
// The certificate signing request that waits for its decision: its name and its key, which one run
// leaves to the next in the cache directory. An approval may take hours, and a run has seconds.
//
// It is written before the cluster is asked, so that neither a lost answer nor a kill makes a
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
  // When its outcome was taken: no later run uses it.
  std::optional<TimePoint> closed = {};
};

class PendingRequestStore {
 public:
  // Without a directory, and where it cannot be written, what is kept is kept for this run alone.
  // `clock` must outlive the store.
  PendingRequestStore(std::optional<CacheDirectory> directory, const CacheKey& key,
                      const Clock& clock);
  PendingRequestStore(const PendingRequestStore&) = delete;
  PendingRequestStore& operator=(const PendingRequestStore&) = delete;

  // Whether another run finds what is kept here.
  bool is_lasting() const { return directory_.has_value() && !is_unwritten_; }

  // The right to make requests and to write, until it is unlocked: busy where another process has
  // it at the deadline too. Where no lock can be made, nobody is kept out.
  CacheLock::Attempt lock_until(std::chrono::steady_clock::time_point deadline);
  void unlock();

  // A file that is corrupt or of another key counts as none.
  std::optional<PendingRequest> read() const;
  // Its time begins anew.
  void write(const PendingRequest& request);
  // The one of this name, unless another has its place by now.
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
