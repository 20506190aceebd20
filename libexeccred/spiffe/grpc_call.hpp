// SPDX-License-Identifier: Apache-2.0
// One gRPC call on a connection of its own: HTTP/2 with prior knowledge, without TLS (RFC 9113
// section 3.3), by nghttp2.
#pragma once

#include <execcred/base/secret.hpp>
#include <execcred/spiffe/grpc_message.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

struct GrpcRequest {
  std::string method = {};  // "/SpiffeWorkloadAPI/FetchJWTSVID"
  std::vector<std::pair<std::string, std::string>> metadata = {};  // names in lower case
  std::string message = {};
  // The method answers with a stream: its first message is enough, and the rest is cancelled.
  bool takes_first = false;
  std::size_t max_message = 4 * 1024 * 1024;
};

struct GrpcReply {
  // ok: `message` is the answer. Failures of the connection have the code that gRPC's libraries
  // give them: unavailable for one that was lost, deadline_exceeded.
  GrpcCode code = GrpcCode::unknown;
  std::string text = {};  // of the status, printable, without secrets of ours
  // The other side's answer cannot be understood, or is not gRPC's: asking again will not help.
  bool is_malformed = false;
  bool is_local = false;  // this machine's failure
  SecretString message = {};
};

// `socket` is connected and non-blocking; it is not closed.
GrpcReply call_grpc(int socket, const GrpcRequest& request,
                    std::chrono::steady_clock::time_point deadline);

}  // namespace execcred
