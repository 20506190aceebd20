// SPDX-License-Identifier: Apache-2.0
// A failure of this machine is not reported as the agent's answer.
#include "unit/expect.hpp"

#include <execcred/spiffe/grpc.hpp>
#include <execcred/spiffe/workload_endpoint.hpp>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace execcred {
namespace {

using namespace std::chrono_literals;
using test::check_fails;
using test::contains;

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + 10s; }

TEST_CASE("connect_to: without a free descriptor the failure is local") {
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const Result<FileDescriptor> socket =
      connect_to({.text = "unix:///run/agent.sock", .path = "/run/agent.sock"}, soon());
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  check_fails(socket, Error::Kind::unavailable, "cannot make a socket: Too many open files");
  CHECK(socket.error().is_local);
}

TEST_CASE("connect_to: a missing agent is not a local failure") {
  const Result<FileDescriptor> socket =
      connect_to({.text = "unix:///nowhere/agent", .path = "/nowhere/agent"}, soon());
  check_fails(socket, Error::Kind::unavailable, "No such file or directory");
  CHECK_FALSE(socket.error().is_local);
}

TEST_CASE("call_grpc: an invalid socket is a local failure, a lost connection is not") {
  const GrpcReply refused = call_grpc(-1, {.method = "/s/m"}, soon());
  CHECK(refused.code == GrpcCode::unavailable);
  CHECK(contains(refused.text, "sending failed: Bad file descriptor"));
  CHECK(refused.is_local);

  std::array<int, 2> ends = {};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  close(ends[1]);
  const GrpcReply lost = call_grpc(ends[0], {.method = "/s/m"}, soon());
  CHECK(lost.code == GrpcCode::unavailable);
  CHECK_FALSE(lost.is_local);
  close(ends[0]);
}

}  // namespace
}  // namespace execcred
