// SPDX-License-Identifier: Apache-2.0
// A correct server of the SPIFFE Workload API. Tests change it to make incorrect servers:
//
//   WorkloadAgent agent({{.spiffe_id = "spiffe://example.org/controller"}});
//   FrameServer server(agent.handler(), {.path = sandbox.at("agent.sock")});
#pragma once

#include "frame_server.hpp"
#include "svid_issuer.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred::test {

namespace grpc {

// Status codes.
inline constexpr int kOk = 0;
inline constexpr int kInvalidArgument = 3;
inline constexpr int kPermissionDenied = 7;
inline constexpr int kUnimplemented = 12;
inline constexpr int kUnavailable = 14;

// The first frames of a server: SETTINGS, and the acknowledgement of the client's SETTINGS.
std::string greeting();
// The headers of an answer.
std::string head(std::uint32_t stream = 1);
// greeting() and head().
std::string begin(std::uint32_t stream = 1);
std::string trailers(const std::string& status, const std::string& message = {},
                     std::uint32_t stream = 1);
// A whole answer of one message.
std::string answer(std::string_view message, std::uint32_t stream = 1);
// The first message of a stream that stays open.
std::string stream_answer(std::string_view message, std::uint32_t stream = 1);
// A failure in the form of gRPC servers: trailers only.
std::string failure(int status, const std::string& message = {}, std::uint32_t stream = 1);

// Reads the call, writes the bytes, and waits until the client disconnects.
FrameServer::Handler says(std::string bytes);
// The first `count` connections are handled by one, all others by the other.
FrameServer::Handler first(std::size_t count, FrameServer::Handler one, FrameServer::Handler other);

}  // namespace grpc

class WorkloadAgent {
 public:
  struct Identity {
    std::string spiffe_id = {};
    std::string hint = {};
    std::string common_name = "workload";
    std::string organization = "SPIRE";
    std::int64_t seconds = 300;  // how long its SVIDs live
  };

  explicit WorkloadAgent(std::vector<Identity> identities);

  // The bytes that answer a call. The same call gets the same SVIDs until half of their lifetime.
  std::string answer(const GrpcCall& call);
  FrameServer::Handler handler();

  const SvidIssuer& issuer() const { return issuer_; }
  // Tokens and private keys that were sent.
  std::vector<std::string> secrets() const;

 private:
  std::string answer_jwt(const GrpcCall& call);
  std::string answer_x509(const GrpcCall& call);
  std::string jwt_of(const Identity& identity, const std::vector<std::string>& audiences);
  X509SvidWire x509_of(const Identity& identity);

  template <typename Svid>
  struct Kept {
    Svid svid = {};
    std::int64_t until = 0;
  };

  std::vector<Identity> identities_;
  SvidIssuer issuer_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::pair<const Identity*, std::vector<std::string>>, Kept<std::string>> tokens_;
  std::map<const Identity*, Kept<X509SvidWire>> certificates_;
  std::vector<std::string> secrets_;
};

}  // namespace execcred::test
