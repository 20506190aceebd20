// SPDX-License-Identifier: Apache-2.0
// Temporary failures are retried, with growing pauses, until the deadline.
#include "peer.hpp"
#include "rights.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace execcred::test {
namespace {

std::string number(auto value) { return std::to_string(value); }

// The pauses between attempts, in milliseconds.
std::vector<std::int64_t> pauses_of(const Peer& peer) {
  std::vector<std::int64_t> pauses;
  const std::vector<Visit> visits = peer.server.visits();
  for (std::size_t i = 1; i < visits.size(); ++i) {
    pauses.push_back(
        std::chrono::duration_cast<milliseconds>(visits[i].at - visits[i - 1].at).count());
  }
  return pauses;
}

}  // namespace

TEST_CASE("retry: permission denied twice, then an identity") {
  WorkloadAgent agent({{.spiffe_id = kWorkload}});
  for (const std::string type : {"jwt", "x509"}) {
    const Peer peer(
        grpc::first(2, grpc::says(grpc::failure(grpc::kPermissionDenied, "no identity issued")),
                    agent.handler()));
    CHECK_SUCCESS(peer.run({.type = type}));
    CHECK(peer.server.connections() == 3);
  }
}

TEST_CASE("retry: a subject token from the Workload API is retried too, also with a cache") {
  WorkloadAgent agent({{.spiffe_id = kWorkload}});
  const Peer peer(
      grpc::first(2, grpc::says(grpc::failure(grpc::kPermissionDenied, "no identity issued")),
                  agent.handler()));
  CHECK_SUCCESS(blackbox::run(
      {.arguments = {std::string(EXECCRED_BIN "/execcred-oidc-federation"), "--flow=pass-through",
                     "--subject=spiffe", "--socket=" + peer.server.uri(),
                     std::string("--subject-audience=") + kAudience,
                     "--cache-dir=" + peer.sandbox.at("cache")},
       .environment = {}}));
  CHECK(peer.server.connections() == 3);
}

TEST_CASE("cache: processes of one user in two containers do not share a subject's credential") {
  WorkloadAgent agent({{.spiffe_id = kWorkload}});
  const Peer peer(agent.handler());
  blackbox::Command command = {
      .arguments = {std::string(EXECCRED_BIN "/execcred-oidc-federation"), "--flow=pass-through",
                    "--subject=spiffe", "--socket=" + peer.server.uri(),
                    std::string("--subject-audience=") + kAudience,
                    "--cache-dir=" + peer.sandbox.at("cache")},
      .environment = {}};
  for (int run = 0; run < 2; ++run) CHECK_SUCCESS(blackbox::run(command));
  CHECK(peer.server.connections() == 1);
  const std::optional<Outcome> outcome = blackbox::run_if_allowed(
      command, "a mount namespace of its own", [] { return unshare(CLONE_NEWNS) == 0; });
  if (!outcome) return;
  CHECK_SUCCESS(*outcome);
  CHECK(peer.server.connections() == 2);
}

TEST_CASE("retry: without an identity until the deadline, the error says what to register") {
  const Peer peer(grpc::failure(grpc::kPermissionDenied, "no identity issued"));
  const Ask ask = {.timeout = milliseconds(1000)};
  blackbox::Child child(command_at(peer.server.uri(), ask));
  const Outcome outcome = child.wait();
  CHECK_REFUSAL(outcome, 1, "no identity issued");
  check_in_time(outcome, ask);
  CHECK(blackbox::says(outcome, number(child.pid())));
  CHECK(blackbox::says(outcome, "unix:uid:" + number(geteuid())));
  CHECK(blackbox::says(outcome, "unix:gid:" + number(getegid())));
  CHECK(blackbox::says(outcome, "k8s:"));
  CHECK(peer.server.connections() >= 3);
  for (const Visit& visit : peer.server.visits()) CHECK(visit.pid == child.pid());
}

TEST_CASE("retry: it goes on until the deadline, and the last attempt is in the last quarter") {
  for (const int code : {grpc::kPermissionDenied, grpc::kUnavailable}) {
    for (const int timeout : {700, 1000, 2500}) {
      CAPTURE(code);
      CAPTURE(timeout);
      const Peer peer(grpc::failure(code));
      const auto start = std::chrono::steady_clock::now();
      const Outcome outcome = peer.run({.timeout = milliseconds(timeout)});
      CHECK_FAILURE(outcome, code == grpc::kPermissionDenied ? 1 : 3,
                    "while trying for the last of ");
      const auto last = peer.server.visits().back().at - start;
      CHECK(std::chrono::duration_cast<milliseconds>(last).count() > timeout * 3 / 4);
      CHECK(outcome.elapsed < milliseconds(timeout) + blackbox::kGrace);
    }
  }
}

TEST_CASE("retry: the pauses grow from a tenth of a second, with jitter") {
  const Peer peer(grpc::failure(grpc::kUnavailable, "try again"));
  const Ask ask = {.timeout = milliseconds(7000)};
  CHECK_FAILURE(peer.run(ask), 3, "did not answer: Unavailable: try again");
  const std::vector<std::int64_t> pauses = pauses_of(peer);
  REQUIRE(pauses.size() >= 5);
  CHECK(pauses.size() <= 12);
  std::int64_t longest = 100;
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(pauses[i] >= longest / 2);
    CHECK(pauses[i] <= longest + 400);
    longest = std::min<std::int64_t>(2 * longest, 2000);
  }
  for (const std::int64_t pause : pauses) CHECK(pause <= 2400);
}

TEST_CASE("retry: the pauses of six processes differ") {
  std::vector<std::int64_t> seen;
  for (int i = 0; i < 6; ++i) {
    const Peer peer(
        grpc::first(2, grpc::says(grpc::failure(grpc::kUnavailable)), grpc::says(good_answer())));
    CHECK_SUCCESS(peer.run());
    const std::vector<Visit> visits = peer.server.visits();
    REQUIRE(visits.size() == 3);
    seen.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(visits[2].at - visits[1].at).count() /
        1000);
  }
  std::sort(seen.begin(), seen.end());
  CHECK(seen.back() - seen.front() >= 5);
}

TEST_CASE("retry: Unavailable, REFUSED_STREAM and GOAWAY below the stream are retried") {
  const std::string start = grpc::greeting();
  for (const std::string& first :
       {grpc::failure(grpc::kUnavailable, "attestation failed"),
        start + h2::rst_stream(1, h2::kRefusedStream), start + h2::goaway(0, h2::kNoError),
        start + h2::goaway(0, 11, "too_many_pings"),
        grpc::begin() + h2::rst_stream(1, h2::kRefusedStream)}) {
    const Peer peer(grpc::first(2, grpc::says(first), grpc::says(good_answer())));
    CHECK_SUCCESS(peer.run());
    CHECK(peer.server.connections() == 3);
  }
}

TEST_CASE("retry: an agent that closes the connection at once is called again") {
  const Peer peer(grpc::first(
      2, [](Connection&) {}, grpc::says(good_answer())));
  CHECK_SUCCESS(peer.run());
  const Peer reset(grpc::first(
      2, [](Connection& connection) { connection.cut(); }, grpc::says(good_answer())));
  CHECK_SUCCESS(reset.run());
}

TEST_CASE("retry: an agent that starts shortly after the plugin is called") {
  const blackbox::Sandbox sandbox;
  const std::string path = sandbox.at("late/agent.sock");
  blackbox::Child child(command_at("unix://" + path, {.timeout = milliseconds(5000)}));
  poll(nullptr, 0, 250);
  std::filesystem::create_directory(sandbox.at("late"));
  const FrameServer server(grpc::says(good_answer()), {.path = path});
  const Outcome outcome = child.wait();
  CHECK_SUCCESS(outcome);
  CHECK(server.connections() == 1);
}

TEST_CASE("retry: a socket without a listener is retried until an agent listens") {
  const blackbox::Sandbox sandbox;
  const std::string path = sandbox.at("agent.sock");
  close(listen_at(path));
  const Ask ask = {.timeout = milliseconds(600)};
  const Outcome refused = run_at("unix://" + path, ask);
  CHECK_REFUSAL(refused, 3, "Connection refused");
  check_in_time(refused, ask);
  blackbox::Child child(command_at("unix://" + path, {.timeout = milliseconds(5000)}));
  const FrameServer server(grpc::says(good_answer()), {.path = path});
  CHECK_SUCCESS(child.wait());
}

TEST_CASE("retry: the last cause is reported with the number of attempts") {
  const Peer peer(
      grpc::first(1, grpc::says(grpc::failure(grpc::kPermissionDenied, "no identity issued")),
                  grpc::says(grpc::failure(grpc::kUnavailable, "attestation failed"))));
  const Outcome outcome = peer.run({.timeout = milliseconds(1000)});
  CHECK_FAILURE(outcome, 3, "did not answer: Unavailable: attestation failed");
  CHECK(blackbox::says(outcome, "attestation failed"));
  CHECK(blackbox::says(outcome, " times"));
}

TEST_CASE("retry: if the agent stops answering, its previous error is reported") {
  const Peer peer(
      grpc::first(2, grpc::says(grpc::failure(grpc::kPermissionDenied, "no identity issued")),
                  [](Connection& connection) { connection.wait_for_close(); }));
  const Ask ask = {.timeout = milliseconds(2000)};
  const Outcome outcome = peer.run(ask);
  CHECK_FAILURE(outcome, outcome.exit_code == 1 ? 1 : 3,
                "timed out while waiting for the answer of the SPIFFE");
  check_in_time(outcome, ask);
  CHECK(blackbox::says(outcome, "no identity issued"));
}

TEST_CASE("retry: InvalidArgument and Unimplemented are reported at once, without a retry") {
  for (const int code : {grpc::kInvalidArgument, grpc::kUnimplemented}) {
    const Peer peer(grpc::failure(code, "security header missing from request"));
    const Outcome outcome = peer.run();
    CHECK_FAILURE(outcome, 1, "security header missing from request");
    check_at_once(outcome);
    CHECK(blackbox::says(outcome, "security header missing"));
    CHECK(peer.server.connections() == 1);
  }
}

}  // namespace execcred::test
