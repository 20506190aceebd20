// SPDX-License-Identifier: Apache-2.0
// A client certificate of the cluster's, by a CertificateSigningRequest (certificates.k8s.io/v1)
// that an approver accepts.
//
//   no request is kept        make one; its name is random
//   the cluster has it        wait for its decision
//   the cluster has it not    make it again, with the same key: it lives for 24 hours, an hour once
//                             it is decided, and a run may have been killed before it was sent
//   another's has its name    take another name
#pragma once

#include "options.hpp"
#include "pending_request.hpp"

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/cache/credential_cache.hpp>
#include <execcred/hub/client.hpp>
#include <execcred/x509/certificate_request.hpp>

#include <optional>
#include <string>

namespace execcred::bootstrap {

class CertificateSigning {
 public:
  // For one run, which began at `began`. What is referred to must outlive it.
  CertificateSigning(const Options& options, PendingRequestStore& store, TimePoint began);

  // If the call is needed, waits for the decision until its deadline. Fails with no_credential
  // (denied or failed, a certificate that differs from the request, or a refusal of the cluster),
  // or with unavailable.
  Result<FreshCredential> obtain(HubClient& cluster, const CallContext& call);

  // For a run that lets another one read: the error that the request exists and is undecided;
  // otherwise the other run would have shared the outcome. Makes no request.
  std::optional<Error> still_waiting(const CallContext& call);

  // The last failure was that nothing is decided yet. No cache remembers that.
  bool is_waiting() const { return is_waiting_; }
  // To be called when the result of obtain() is stored: the next run makes a new request.
  void finish();

 private:
  // The cluster's object of the request's name.
  struct Found {
    bool is_there = false;
    std::optional<json::Value> ours = {};  // with our spec.request
  };
  // A request without a certificate, as last read.
  struct Seen {
    std::string name = {};
    bool is_approved = false;
  };

  std::optional<PendingRequest> kept(const CallContext& call) const;
  Result<PendingRequest> make(HubClient& cluster, const CallContext& call);
  Result<PendingRequest> make_locked(HubClient& cluster, const CallContext& call);
  Result<Found> find(HubClient& cluster, const PendingRequest& pending) const;
  bool is_out_of_time(const Error& error, const PendingRequest& pending,
                      const CallContext& call) const;
  // nullopt: there is none yet.
  Result<std::optional<FreshCredential>> outcome(const json::Value& object,
                                                 const PendingRequest& pending,
                                                 const HubClient& cluster, const CallContext& call);
  Result<FreshCredential> read_certificate(const json::Value& status, const PendingRequest& pending,
                                           const HubClient& cluster, TimePoint now) const;
  Error waiting(const std::string& name);
  CertificateSubject subject() const;

  const Options& options_;
  PendingRequestStore& store_;
  TimePoint began_;
  std::optional<Seen> seen_;
  std::string issued_;  // the name of the request that gave a certificate
  int made_ = 0;
  bool is_waiting_ = false;
};

}  // namespace execcred::bootstrap
