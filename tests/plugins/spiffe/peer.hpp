// SPDX-License-Identifier: Apache-2.0
// Runs execcred-spiffe as clients do, against a Workload API of the case.
#pragma once

#include "support/plugin_rig.hpp"
#include "support/workload_agent.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr const char* kWorkload = "spiffe://example.org/workload";
inline constexpr const char* kAudience = "kubernetes";

using Connection = FrameServer::Connection;
using Visit = FrameServer::Visit;
using Handler = FrameServer::Handler;

struct Ask {
  std::string type = "jwt";
  Texts arguments = {};
  Texts variables = {};
  std::string server = kSpoke;  // empty: no document from the client
  std::string config = {};      // spec.cluster.config
  bool has_audience = true;     // --audience=kubernetes, of a JWT-SVID
  bool is_traced = false;       // --debug
  milliseconds timeout = milliseconds(2000);
  std::function<void()> before_exec = {};
};

// Runs the program with this socket; an empty one is not passed.
blackbox::Command command_at(const std::string& uri, const Ask& ask);
Outcome run_at(const std::string& uri, const Ask& ask = {});

// A Workload API that a handler implements, on its own Unix socket.
class Peer {
 public:
  explicit Peer(Handler handler) : server(std::move(handler), {.path = sandbox.at("agent.sock")}) {}
  // A Workload API that answers every call with these bytes.
  explicit Peer(std::string bytes) : Peer(grpc::says(std::move(bytes))) {}

  Outcome run(const Ask& ask = {}) const { return run_at(server.uri(), ask); }
  // The data of the last client, after it has closed.
  Visit last() const;

  blackbox::Sandbox sandbox;
  FrameServer server;
};

// A Workload API that works.
class AgentPeer {
 public:
  explicit AgentPeer(std::vector<WorkloadAgent::Identity> identities = {{.spiffe_id = kWorkload}})
      : agent(std::move(identities)), peer(agent.handler()) {}

  // Issued credentials are registered as secrets.
  Outcome run(const Ask& ask = {}) const;
  Visit last() const { return peer.last(); }

  WorkloadAgent agent;
  Peer peer;
};

// The message of a valid answer to a JWT call, and to an X.509 call; always the same.
const std::string& good_jwt();
const std::string& good_x509();
// The bytes of the answer to a JWT call on the connection.
std::string good_answer();
// An answer without the head: its DATA and trailers.
std::string good_rest();

// A failure that was reported before the timeout, plus a margin for a loaded machine.
void check_in_time(const Outcome& outcome, const Ask& ask);
// The same, reported before there was time for a retry.
void check_at_once(const Outcome& outcome);

// Checks that a peer with these bytes is reported at once, after one connection.
void check_refused(const std::string& bytes, int exit_code, const std::string& told);
// Checks that the call is retried after one such answer.
void check_retried(const std::string& bytes);

}  // namespace execcred::test
