// SPDX-License-Identifier: Apache-2.0
// The SPIFFE Workload API (SPIFFE Workload API standard): the identities that the agent on this
// machine issues to this process.
//
// The agent attests the process that connects to its socket, so the connection is this process's
// own, and it stays until the answer is there. One call is one connection: gRPC over HTTP/2 without
// TLS.
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
  // What the call refers to must outlive this. A request is tried again up to the call's deadline
  // after failures that may pass: no socket yet, an agent that starts or stops, an entry that has
  // not reached the agent. Only a call that is not needed is tried once: the agent is on this
  // machine, so may_retry is not used.
  WorkloadApi(WorkloadEndpoint endpoint, CallContext call)
      : endpoint_(std::move(endpoint)), call_(std::move(call)) {}

  // Each list holds at least one SVID, and no field of one is empty but its hint. Fails:
  // no_credential (the agent has no identity for this process, refuses the request, or answers what
  // cannot be understood), configuration (the socket may not be opened), unavailable (no answer
  // until the deadline). Messages say in which step that was, and the last cause.

  // FetchJWTSVID. `audiences` are not empty; an empty `spiffe_id` asks for all identities.
  Result<std::vector<JwtSvidMessage>> fetch_jwt_svids(const std::vector<std::string>& audiences,
                                                      const std::string& spiffe_id) const;
  // The first message of FetchX509SVID.
  Result<std::vector<X509SvidMessage>> fetch_x509_svids() const;

 private:
  WorkloadEndpoint endpoint_;
  CallContext call_;
};

// The Workload API's messages (workload.proto of the SPIFFE Workload API standard), to and from
// Protocol Buffers.

std::string encode_jwt_svid_request(const std::vector<std::string>& audiences,
                                    const std::string& spiffe_id);

// Unknown fields are ignored. Fails (no_credential): what is no Protocol Buffers message, no
// SVID or more than 1,000, one without a mandatory field.
Result<std::vector<JwtSvidMessage>> decode_jwt_svid_response(std::string_view message);
Result<std::vector<X509SvidMessage>> decode_x509_svid_response(std::string_view message);

}  // namespace execcred
