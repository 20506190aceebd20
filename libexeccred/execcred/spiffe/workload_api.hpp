// SPDX-License-Identifier: Apache-2.0
// The SPIFFE Workload API (SPIFFE Workload API standard): the identities that the agent on this
// machine issues to this process.
//
// The agent attests the process that connects to its socket. So this process makes the connection
// itself, and keeps it until it has the answer. Each call has its own connection: gRPC over HTTP/2
// without TLS.
#pragma once

#include <execcred/base/call_context.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

// As the agent sent it, not validated: see jwt_svid.hpp.
struct JwtSvidMessage {
  std::string spiffe_id = {};
  SecretString svid = {};
  std::string hint = {};  // may be empty
};

// As the agent sent it, not validated: see x509_svid.hpp.
struct X509SvidMessage {
  std::string spiffe_id = {};
  std::string certificates = {};  // DER, one after the other, the leaf first
  SecretString private_key = {};  // PKCS#8 DER
  std::string bundle = {};        // DER, one after the other: the trust domain's authorities
  std::string hint = {};          // may be empty
};

class WorkloadApi {
 public:
  // The objects that `call` refers to must outlive this. A request is repeated up to the call's
  // deadline after failures that may pass: there is no socket yet, the agent starts or stops, or an
  // entry has not reached the agent. Only if the call is not needed (CallContext::is_needed), it is
  // tried once. The agent is on this machine, so may_retry is not used.
  WorkloadApi(WorkloadEndpoint endpoint, CallContext call)
      : endpoint_(std::move(endpoint)), call_(std::move(call)) {}

  // Each returned list has at least one SVID, and no field of an SVID is empty except its hint.
  // Fails (no_credential) if the agent has no identity for this process, refuses the request, or
  // sends an answer that cannot be parsed; (configuration) if the socket may not be opened;
  // (unavailable) if there is no answer until the deadline. Messages name the step that failed, and
  // the last cause.

  // Calls FetchJWTSVID. `audiences` must not be empty; an empty `spiffe_id` requests all
  // identities.
  Result<std::vector<JwtSvidMessage>> fetch_jwt_svids(const std::vector<std::string>& audiences,
                                                      const std::string& spiffe_id) const;
  // Calls FetchX509SVID and uses its first message.
  Result<std::vector<X509SvidMessage>> fetch_x509_svids() const;

 private:
  WorkloadEndpoint endpoint_;
  CallContext call_;
};

// The Workload API's messages (workload.proto of the SPIFFE Workload API standard), to and from
// Protocol Buffers.

std::string encode_jwt_svid_request(const std::vector<std::string>& audiences,
                                    const std::string& spiffe_id);

// Unknown fields are ignored. Fails (no_credential) if the message is not Protocol Buffers, has no
// SVID or more than 1,000, or if an SVID lacks a mandatory field.
Result<std::vector<JwtSvidMessage>> decode_jwt_svid_response(std::string_view message);
Result<std::vector<X509SvidMessage>> decode_x509_svid_response(std::string_view message);

}  // namespace execcred
