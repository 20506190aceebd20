// SPDX-License-Identifier: Apache-2.0
// Gets a client certificate of the cluster by a CertificateSigningRequest (certificates.k8s.io/v1)
// that an approver accepts.
//
//   no request is stored      make one, with a random name
//   the cluster has it        wait for its decision
//   the cluster lacks it      make it again, with the same key: the cluster keeps it for 24 hours,
//                             and for an hour after the decision, or a run was killed before it was
//                             sent
//   another one has its name  take another name
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
  // For one run, which began at `began`. `options` and `store` must outlive this.
  CertificateSigning(const Options& options, PendingRequestStore& store, TimePoint began);

  // If the call is needed, waits for the decision until its deadline. Fails (no_credential) if the
  // request is denied or failed, if the certificate differs from the request, or if the cluster
  // refuses; else with unavailable.
  Result<Issued> obtain(HubClient& cluster, const CallContext& call);

  // For a run that lets another run ask the cluster: the error that the request exists and is
  // undecided; nullopt if no undecided request is stored. Makes no request.
  std::optional<Error> still_waiting(const CallContext& call);

  // Whether the last failure was that nothing is decided yet. No cache remembers that failure.
  bool is_waiting() const { return is_waiting_; }
  // Must be called when the result of obtain() is stored: the next run then makes a new request.
  void finish();

 private:
  // The cluster's object with the request's name.
  struct Found {
    bool is_there = false;
    std::optional<json::Value> ours = {};  // with our spec.request
  };
  // The request as it was made or last read, without a certificate.
  struct Seen {
    std::string name = {};
    bool is_approved = false;
  };

  std::optional<PendingRequest> stored(const CallContext& call) const;
  Result<PendingRequest> make(HubClient& cluster, const CallContext& call);
  Result<PendingRequest> make_locked(HubClient& cluster, const CallContext& call);
  Result<Found> find(HubClient& cluster, const PendingRequest& pending) const;
  Result<Found> look(HubClient& cluster, const PendingRequest& pending, const CallContext& call);
  // The credential, or an error if the request was refused; nullopt if there is no decision yet.
  Result<std::optional<Issued>> outcome(const json::Value& object, const PendingRequest& pending,
                                        const HubClient& cluster, const CallContext& call);
  Result<Issued> read_certificate(const json::Value& status, const PendingRequest& pending,
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
