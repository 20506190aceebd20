// SPDX-License-Identifier: Apache-2.0
// Agents that do not answer, at each stage: the run ends within --timeout, and names the stage.
#include "peer.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace execcred::test {
namespace {

const Ask kImpatient = {.timeout = milliseconds(500)};

void check_told(const Outcome& outcome, const std::string& stage) {
  CAPTURE(outcome.error_output);
  CHECK_FAILURE(outcome, 3, "timed out while waiting for the answer of the SPIFFE");
  check_in_time(outcome, kImpatient);
  CHECK(outcome.elapsed >= kImpatient.timeout - milliseconds(100));
  CHECK(blackbox::says(outcome, stage));
}

// Sends the bytes, then nothing, and keeps the connection open.
Handler falls_silent_after(std::string bytes) { return grpc::says(std::move(bytes)); }

}  // namespace

TEST_CASE("silence: an agent that accepts, reads and never answers" *
          doctest::description("promise 1")) {
  for (const std::string type : {"jwt", "x509"}) {
    Ask ask = kImpatient;
    ask.type = type;
    const Peer peer([](Connection& connection) { connection.wait_for_close(); });
    check_told(peer.run(ask), "answer");
    CHECK(peer.server.connections() == 1);
  }
}

TEST_CASE("silence: the error is reported early enough to name the socket" *
          doctest::description("promise 1")) {
  const Peer peer([](Connection& connection) { connection.wait_for_close(); });
  // The run's own timer knows only the stage; on a busy machine it may end the run first.
  CHECK(blackbox::wait_until([&] {
    const Outcome outcome = peer.run(kImpatient);
    return blackbox::says(outcome, "timed out") && blackbox::says(outcome, peer.server.uri());
  }));
}

TEST_CASE("silence: an agent that accepts and reads nothing" * doctest::description("promise 1")) {
  const Peer peer([](Connection& connection) { connection.wait_unread(); });
  check_told(peer.run(kImpatient), "answer");
}

TEST_CASE(
    "silence: an agent reads nothing, or late, of a request that is larger than socket buffers" *
    doctest::description("promise 1")) {
  const std::string wide_windows = h2::settings({{4, 1U << 24U}}) + h2::window_update(0, 1U << 24U);
  Ask ask = kImpatient;
  for (int i = 0; i < 15; ++i) {
    ask.arguments.push_back("--audience=" + std::to_string(i) + std::string(120'000, 'a'));
  }
  const Peer never([&](Connection& connection) {
    connection.write(wide_windows);
    connection.wait_unread();
  });
  check_told(never.run(ask), "answer");
  CHECK(never.server.connections() == 1);
  const Peer late([&](Connection& connection) {
    connection.write(wide_windows);
    poll(nullptr, 0, 200);
    if (!connection.read_call()) return;
    connection.write(h2::settings_ack() + h2::headers(1,
                                                      {{":status", "200"},
                                                       {"content-type", "application/grpc"},
                                                       {"grpc-status", "3"},
                                                       {"grpc-message", "too long"}},
                                                      true));
    connection.wait_for_close();
  });
  ask.timeout = milliseconds(5000);
  const Outcome outcome = late.run(ask);
  CHECK_FAILURE(outcome, 1, "did not answer: InvalidArgument: too long");
  CHECK(blackbox::says(outcome, "too long"));
  CHECK(late.server.connections() == 1);
  CHECK(late.last().call.body.size() > 1'800'000);
}

TEST_CASE("silence: in the middle of an answer, at several points" *
          doctest::description("promise 1")) {
  const std::string whole = good_answer();
  const std::string start = grpc::greeting();
  for (const std::string& part :
       {start, start.substr(0, 5), grpc::begin(), grpc::begin() + h2::data(1, "\0\0"),
        whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1),
        grpc::begin() + h2::data(1, h2::message(good_jwt()))}) {
    const Peer peer(falls_silent_after(part));
    check_told(peer.run(kImpatient), "answer");
  }
  const Peer x509(falls_silent_after(grpc::begin()));
  Ask ask = kImpatient;
  ask.type = "x509";
  check_told(x509.run(ask), "answer");
}

TEST_CASE("silence: an answer that arrives slowly does not extend the timeout" *
          doctest::description("promise 1")) {
  const Peer peer([](Connection& connection) {
    if (!connection.read_call() || !connection.write(grpc::begin())) return;
    while (connection.write(h2::data(1, "")) && poll(nullptr, 0, 20) == 0) continue;
  });
  check_told(peer.run(kImpatient), "answer");
}

TEST_CASE("silence: a socket whose queue is full" * doctest::description("promise 1")) {
  const blackbox::Sandbox sandbox;
  const std::string path = sandbox.at("agent.sock");
  const int listener = listen_at(path);
  REQUIRE(listen(listener, 0) == 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  std::vector<int> fillers;
  bool is_full = false;
  for (int i = 0; i < 4; ++i) {
    const int filler = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    is_full = connect(filler, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0;
    fillers.push_back(filler);
  }
  REQUIRE(is_full);
  const Outcome outcome = run_at("unix://" + path, kImpatient);
  CHECK_FAILURE(outcome, 3, "cannot connect to the SPIFFE Workload API at");
  check_in_time(outcome, kImpatient);
  CHECK(blackbox::wait_until(
      [&] { return blackbox::says(run_at("unix://" + path, kImpatient), "unavailable"); }));
  for (const int filler : fillers) close(filler);
  close(listener);
}

TEST_CASE("silence: the run has no child process and one thread, and SIGTERM ends it" *
          doctest::description("promise 1")) {
  const Peer peer([](Connection& connection) { connection.wait_for_close(); });
  blackbox::Child child(command_at(peer.server.uri(), {.timeout = milliseconds(8000)}));
  REQUIRE(blackbox::wait_until([&] { return peer.server.connections() == 1; }));
  const std::string task = "/proc/" + std::to_string(child.pid()) + "/task/";
  CHECK(blackbox::read_text(task + std::to_string(child.pid()) + "/children") == "");
  CHECK(blackbox::process_status(child.pid(), "Threads") == "1");
  child.send(SIGTERM);
  const Outcome outcome = child.wait();
  CHECK_FALSE(outcome.was_hanging);
  CHECK(outcome.elapsed < blackbox::kNoWait);
  CHECK(outcome.output == "");
  CHECK(outcome.signal == SIGTERM);
}

TEST_CASE("silence: the default timeout is below the ten seconds of the consumers" *
          doctest::description("promise 1")) {
  const Peer peer([](Connection& connection) { connection.wait_for_close(); });
  blackbox::Command command = command_at(peer.server.uri(), {});
  std::erase_if(command.arguments,
                [](const std::string& text) { return text.starts_with("--timeout="); });
  const Outcome outcome = blackbox::run(command);
  CHECK_FAILURE(outcome, 3, "timed out while waiting for the answer of the SPIFFE");
  CHECK(outcome.elapsed > milliseconds(7000));
  CHECK(outcome.elapsed < blackbox::kConsumersLimit);
}

}  // namespace execcred::test
