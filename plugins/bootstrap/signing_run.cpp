// SPDX-License-Identifier: Apache-2.0
#include "signing_run.hpp"

#include "cluster.hpp"
#include "inner_plugin.hpp"

#include <execcred/base/pause.hpp>
#include <execcred/base/try.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/exec/cache_options.hpp>

#include <algorithm>
#include <utility>

namespace execcred::bootstrap {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// The timer that ends the run does not know the request's name, so the run ends before it.
CallContext with_time_to_report(CallContext run) {
  const Duration left = run.deadline - steady_clock::now();
  run.deadline -= std::min<Duration>(left / 10, milliseconds(500));
  return run;
}

}  // namespace

SigningRun::SigningRun(const Options& options, const CredentialRequest& request,
                       const CacheKey& key, const CallContext& run)
    : options_(options),
      request_(request),
      key_(key),
      run_(with_time_to_report(run)),
      began_(run.clock.now()) {}

Result<Credential> SigningRun::get() {
  constexpr Duration kPause = milliseconds(100);
  const CredentialCache cache(cache_of_run(options_.cache, request_), run_);
  for (;;) {
    is_waiting_ = false;
    Result<Credential> credential =
        cache.get(key_, [this](CallContext& call) { return ask(call); });
    if (credential && signing_) signing_->finish();
    const Duration left = run_.deadline - steady_clock::now();
    if (credential || !is_waiting_ || left <= 2 * kPause) return credential;
    pause_for(jittered(kPause));
  }
}

Result<Issued> SigningRun::ask(CallContext& call) {
  if (!bootstrap_ && leaves_it_to_others(call)) {
    if (std::optional<Error> waiting = signing().still_waiting(call)) {
      is_waiting_ = true;
      return *std::move(waiting);
    }
  }
  if (!bootstrap_) bootstrap_ = TRY(run_inner_plugin(options_.credential, request_, call));
  HubClient cluster = TRY(open_cluster(request_, *bootstrap_, options_.credential.program, call));
  Result<Issued> fresh = signing().obtain(cluster, call);
  is_waiting_ = signing().is_waiting();
  return fresh;
}

// Created at first use: a cache hit does not need it.
CertificateSigning& SigningRun::signing() {
  if (!signing_) {
    store_.emplace(open_cache(options_.cache, run_), key_, run_.clock);
    signing_.emplace(options_, *store_, began_);
  }
  return *signing_;
}

// Whether to leave the request to other runs. Either the call has all the remaining time: it runs
// without the cache's lock, after a wait for it, and each of a thousand such runs would start the
// inner plugin only to read the same request. Or so little time is left that the read would fail,
// and be cached as a failure of the cluster.
bool SigningRun::leaves_it_to_others(const CallContext& call) const {
  const auto now = steady_clock::now();
  const Duration whole = run_.deadline - start_;
  const bool has_waited =
      call.deadline == run_.deadline && now - start_ >= std::min<Duration>(whole / 2, seconds(9));
  return has_waited || call.deadline - now < std::min<Duration>(whole / 4, seconds(1));
}

}  // namespace execcred::bootstrap
