// SPDX-License-Identifier: Apache-2.0
// Gets a client certificate in one run, with the cache, the inner plugin, and the request that
// waits for approval.
//
// The cache lets one process ask while the others wait, and gives a call two thirds of the run's
// time. A run waits for a request until its own end, so it calls repeatedly.
#pragma once

#include "options.hpp"
#include "pending_request.hpp"
#include "signing_request.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/cache/key.hpp>
#include <execcred/exec/provider.hpp>

#include <chrono>
#include <optional>

namespace execcred::bootstrap {

class SigningRun {
 public:
  // The arguments must outlive the object.
  SigningRun(const Options& options, const CredentialRequest& request, const CacheKey& key,
             const CallContext& run);

  // Fails as CertificateSigning::obtain() and run_inner_plugin() do.
  Result<Credential> get();

 private:
  Result<Issued> ask(CallContext& call);
  CertificateSigning& signing();
  bool leaves_it_to_others(const CallContext& call) const;

  const Options& options_;
  const CredentialRequest& request_;
  const CacheKey& key_;
  CallContext run_;  // which ends early enough to report the request's name
  TimePoint began_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<PendingRequestStore> store_;
  std::optional<CertificateSigning> signing_;
  std::optional<Credential> bootstrap_;
  bool is_waiting_ = false;
};

}  // namespace execcred::bootstrap
