// SPDX-License-Identifier: Apache-2.0
// The address of the Workload API, and what may be there instead.
#include "build_kind.hpp"
#include "peer.hpp"

#include "unit/temp_dir.hpp"

#include <doctest/doctest.h>
#include <execcred/os/file.hpp>

#include <grp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65532;

void become_stranger() {
  if (setgroups(0, nullptr) != 0 || setresgid(kStranger, kStranger, kStranger) != 0 ||
      setresuid(kStranger, kStranger, kStranger) != 0) {
    _exit(125);
  }
}

bool can_be_stranger(std::string_view what) {
  if (blackbox::kWithCoverage) MESSAGE("skipped: another user cannot write the program's counters");
  return !blackbox::kWithCoverage && is_root_or_counted(what);
}

// Runs a copy of the plugin, which another user may execute.
blackbox::Command as_stranger(const blackbox::Sandbox& sandbox, blackbox::Command command) {
  const std::string copy = sandbox.at("plugin");
  fs::copy_file(command.arguments.front(), copy, fs::copy_options::overwrite_existing);
  fs::permissions(copy, fs::perms(0755));
  command.arguments.front() = copy;
  command.before_exec = become_stranger;
  return command;
}

bool has_ipv6() {
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const FileDescriptor one(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return bind(one.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

TEST_CASE("endpoint: an invalid address of a Workload API is refused, by flag and by variable") {
  for (const std::string uri : {"s",
                                "/run/agent.sock",
                                "run/agent.sock",
                                "./agent.sock",
                                "unix",
                                "unix:",
                                "unix:/",
                                "unix://",
                                "unix:///",
                                "unix://foo",
                                "unix://foo/bar",
                                "unix:foo",
                                "UNIX:///x",
                                "unix:///a?b=c",
                                "unix:///a#b",
                                "unix://user@/a",
                                "unix:///a%20b",
                                "http:///x",
                                "https://127.0.0.1:1",
                                "file:///run/agent.sock",
                                "npipe:///x",
                                "tcp:",
                                "tcp://",
                                "tcp:127.0.0.1:80",
                                "tcp://127.0.0.1",
                                "tcp://127.0.0.1:",
                                "tcp://127.0.0.1:0",
                                "tcp://127.0.0.1:65536",
                                "tcp://127.0.0.1:80x",
                                "tcp://127.0.0.1:80/",
                                "tcp://127.0.0.1:80/x",
                                "tcp://127.0.0.1:80?x",
                                "tcp://127.0.0.1:80#x",
                                "tcp://u@127.0.0.1:80",
                                "tcp://u:p@127.0.0.1:80",
                                "tcp://localhost:80",
                                "tcp://example.com:80",
                                "tcp://:80",
                                "tcp://::1:80",
                                "tcp://[::1]",
                                "tcp://[::1",
                                "tcp://[127.0.0.1]:80",
                                "tcp://127.1:80",
                                "tcp://0x7f000001:80",
                                "tcp://127.0.0.1:-1",
                                "tcp://127.0.0.1:+80",
                                "unix:///a b",
                                "unix:///a\nb",
                                "unix:///a\xffz",
                                " unix:///a",
                                "unix:///a "}) {
    CAPTURE(uri);
    const Outcome by_flag = run_at(uri);
    CHECK_FAILURE(by_flag, 2, "--socket");
    CHECK(blackbox::says(by_flag, "--socket"));
    const Outcome by_variable = run_at("", {.variables = {"SPIFFE_ENDPOINT_SOCKET=" + uri}});
    CHECK_FAILURE(by_variable, 2, "SPIFFE_ENDPOINT_SOCKET");
    CHECK(blackbox::says(by_variable, "SPIFFE_ENDPOINT_SOCKET"));
  }
}

TEST_CASE("endpoint: for a path without its scheme or a slash, the error shows the right URI") {
  CHECK_REFUSAL(run_at("/run/spire/agent.sock"), 2, "unix:///run/spire/agent.sock");
  CHECK_REFUSAL(run_at("unix://run/spire/agent.sock"), 2, "unix:///run/spire/agent.sock");
  CHECK_REFUSAL(run_at("", {.variables = {"SPIFFE_ENDPOINT_SOCKET=/run/spire/agent.sock"}}), 2,
                "unix:///run/spire/agent.sock");
}

TEST_CASE("endpoint: a file or a folder in place of the socket is an error at once") {
  const blackbox::Sandbox sandbox;
  for (const std::string& path : {sandbox.write("file", ""), sandbox.path().native()}) {
    const Outcome outcome = run_at("unix://" + path);
    CHECK_REFUSAL(outcome, 2, "is no socket");
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
}

TEST_CASE("endpoint: if there is none, the error names the flag and the variable") {
  const Outcome outcome = run_at("");
  CHECK_FAILURE(outcome, 2, "the SPIFFE Workload API");
  CHECK(blackbox::says(outcome, "--socket"));
  CHECK(blackbox::says(outcome, "SPIFFE_ENDPOINT_SOCKET"));
  CHECK_FAILURE(run_at("", {.variables = {"SPIFFE_ENDPOINT_SOCKET="}}), 2,
                "the SPIFFE Workload API");
}

TEST_CASE("endpoint: unix:///PATH, unix:/PATH, tcp with IPv4 and with IPv6") {
  const Peer peer(good_answer());
  CHECK_SUCCESS(run_at(peer.server.uri()));
  CHECK_SUCCESS(run_at("unix:" + peer.sandbox.at("agent.sock")));
  const FrameServer four(grpc::says(good_answer()), {});
  CHECK_SUCCESS(run_at(four.uri()));
  CHECK(four.connections() == 1);
  if (!has_ipv6()) {
    MESSAGE("skipped: IPv6, which this system does not have");
    return;
  }
  const FrameServer six(grpc::says(good_answer()), {.is_ipv6 = true});
  CHECK_SUCCESS(run_at(six.uri()));
  CHECK(six.connections() == 1);
}

TEST_CASE("endpoint: --socket and EXECCRED_SOCKET override SPIFFE_ENDPOINT_SOCKET") {
  const Peer one(good_answer());
  const Peer other(good_answer());
  const std::string variable = "SPIFFE_ENDPOINT_SOCKET=" + one.server.uri();
  CHECK_SUCCESS(run_at("", {.variables = {variable}}));
  CHECK(one.server.connections() == 1);
  CHECK_SUCCESS(run_at(other.server.uri(), {.variables = {variable}}));
  CHECK_SUCCESS(run_at("", {.variables = {variable, "EXECCRED_SOCKET=" + other.server.uri()}}));
  CHECK(one.server.connections() == 1);
  CHECK(other.server.connections() == 2);
  // With a flag, the variable's content does not matter.
  CHECK_SUCCESS(run_at(other.server.uri(), {.variables = {"SPIFFE_ENDPOINT_SOCKET=garbage"}}));
}

TEST_CASE("endpoint: a ClusterProfile never chooses it") {
  const Peer mine(good_answer());
  const Peer thief(good_answer());
  const std::string uri = blackbox::json_string(thief.server.uri());
  CHECK_FAILURE(mine.run({.config = "{\"socket\":" + uri + "}"}), 2,
                "spec.cluster.config.socket sets --socket, which may not");
  CHECK_FAILURE(mine.run({.arguments = {"--from-profile", "--socket=" + thief.server.uri()}}), 2,
                "--socket stands behind --from-profile, and may not come");
  CHECK(thief.server.connections() == 0);
}

TEST_CASE("endpoint: a socket path of 107 bytes is accepted, one of 108 is refused") {
  const blackbox::Sandbox sandbox;
  std::string path = sandbox.at("");
  path += std::string(106 - path.size(), 's');
  const std::string longest = path + "/a";
  REQUIRE(longest.size() == 108);
  CHECK_REFUSAL(run_at("unix://" + longest), 2, "107");
  path.push_back('s');
  REQUIRE(path.size() == 107);
  // The server's unfinished name is one byte longer, so it listens elsewhere first.
  const FrameServer server(grpc::says(good_answer()), {.path = sandbox.at("short")});
  fs::rename(sandbox.at("short"), path);
  CHECK_SUCCESS(run_at("unix://" + path));
}

TEST_CASE("endpoint: a missing socket is reported with the mounts that may be missing") {
  const blackbox::Sandbox sandbox;
  const Ask ask = {.timeout = milliseconds(500)};
  for (const std::string name : {"agent.sock", "no/folder/agent.sock"}) {
    const Outcome outcome = run_at("unix://" + sandbox.at(name), ask);
    CHECK_REFUSAL(outcome, 3, sandbox.at(name));
    check_in_time(outcome, ask);
    CHECK(blackbox::says(outcome, "CSI"));
    CHECK(blackbox::says(outcome, "hostPath"));
  }
}

TEST_CASE("endpoint: a file, a folder or a loop of links in place of the socket is an error") {
  const blackbox::Sandbox sandbox;
  sandbox.write("file", "no socket");
  const Ask ask = {.timeout = milliseconds(500)};
  CHECK_FAILURE(run_at("unix://" + sandbox.at("file/agent.sock"), ask), 2,
                "cannot connect to the SPIFFE Workload API at");
  for (const std::string name : {"file", "."}) {
    const Outcome outcome = run_at("unix://" + sandbox.at(name), ask);
    CHECK_FAILURE(outcome, outcome.exit_code == 2 ? 2 : 3, "is no socket");
    check_in_time(outcome, ask);
  }
  fs::create_symlink(sandbox.at("loop"), sandbox.at("loop"));
  CHECK_FAILURE(run_at("unix://" + sandbox.at("loop"), ask), 2,
                "cannot connect to the SPIFFE Workload API at");
}

TEST_CASE("endpoint: a symbolic link to the socket is followed, as kubelets mount them") {
  const Peer peer(good_answer());
  fs::create_symlink(peer.sandbox.at("agent.sock"), peer.sandbox.at("link"));
  CHECK_SUCCESS(run_at("unix://" + peer.sandbox.at("link")));
}

TEST_CASE(
    "endpoint: a folder on the way that others may write to is refused, and nothing is asked") {
  const AgentPeer agent;
  const fs::path home = agent.peer.sandbox.path();
  const fs::path open = home / "open";
  fs::create_directories(open / "closed");
  for (const fs::path& name : {open / "agent.sock", open / "closed/agent.sock"}) {
    CAPTURE(name);
    fs::create_hard_link(home / "agent.sock", name);
    for (const unsigned mode : {0777U, 0775U, 0757U, 01777U}) {
      CAPTURE(mode);
      fs::permissions(open, fs::perms(mode));
      // Root's own folder may be sticky.
      if (mode == 01777 && geteuid() == 0) {
        CHECK_SUCCESS(run_at("unix://" + name.native()));
        continue;
      }
      const Outcome outcome = run_at("unix://" + name.native());
      CHECK_REFUSAL(outcome, 2, "is writable by other users");
      CHECK(blackbox::says(outcome, open.native()));
      CHECK(blackbox::says(outcome, "let root or this user own it"));
    }
    fs::permissions(open, fs::perms(0755));
    CHECK_SUCCESS(run_at("unix://" + name.native()));
  }
  // The way of a link's target counts too.
  fs::create_symlink(open / "agent.sock", home / "link");
  CHECK_SUCCESS(run_at("unix://" + (home / "link").native()));
  fs::permissions(open, fs::perms(0777));
  CHECK_REFUSAL(run_at("unix://" + (home / "link").native()), 2, "is writable by other users");
}

TEST_CASE("endpoint: a socket of root or of this user is asked, whatever its mode is") {
  const AgentPeer agent;
  const std::string socket = agent.peer.sandbox.at("agent.sock");
  for (const unsigned mode : {0700U, 0777U}) {
    fs::permissions(socket, fs::perms(mode));
    CHECK_SUCCESS(agent.run());
  }
  if (!can_be_stranger("a socket of another user")) return;
  CHECK_SUCCESS(
      blackbox::run(as_stranger(agent.peer.sandbox, command_at(agent.peer.server.uri(), {}))));
  REQUIRE(chown(socket.c_str(), kStranger, kStranger) == 0);
  const std::string told = "it belongs to user " + std::to_string(kStranger);
  const Outcome outcome = agent.run();
  CHECK_REFUSAL(outcome, 2, told);
  CHECK(blackbox::says(outcome, socket));
  CHECK_SUCCESS(
      blackbox::run(as_stranger(agent.peer.sandbox, command_at(agent.peer.server.uri(), {}))));
  REQUIRE(chown(socket.c_str(), 0, 0) == 0);
  REQUIRE(chown(agent.peer.sandbox.path().c_str(), kStranger, kStranger) == 0);
  CHECK_REFUSAL(agent.run(), 2, "belongs to user " + std::to_string(kStranger));
}

TEST_CASE("endpoint: a port on which nothing listens is a temporary failure") {
  std::string uri;
  {
    const FrameServer gone(grpc::says(""), {});
    uri = gone.uri();
  }
  const Ask ask = {.timeout = milliseconds(500)};
  const Outcome outcome = run_at(uri, ask);
  CHECK_FAILURE(outcome, 3, "cannot connect to the SPIFFE Workload API at");
  check_in_time(outcome, ask);
}

TEST_CASE("endpoint: a socket without permission is reported at once, with the user's ID") {
  if (!can_be_stranger("a socket of another user")) return;
  const Peer peer(good_answer());
  const std::string path = peer.sandbox.at("agent.sock");
  const blackbox::Command stranger =
      as_stranger(peer.sandbox, command_at(peer.server.uri(), {.timeout = milliseconds(3000)}));
  CHECK_SUCCESS(blackbox::run(stranger));
  REQUIRE(chmod(path.c_str(), 0755) == 0);
  const Outcome outcome = blackbox::run(stranger);
  CHECK_REFUSAL(outcome, 2, "Permission denied");
  check_at_once(outcome);
  CHECK(blackbox::says(outcome, std::to_string(kStranger)));
  CHECK(peer.server.connections() == 1);
}

TEST_CASE("endpoint: the uid and gid to register are those of the process") {
  if (!can_be_stranger("a process of another user")) return;
  const Peer peer(grpc::failure(grpc::kPermissionDenied, "no identity issued"));
  const Outcome outcome = blackbox::run(
      as_stranger(peer.sandbox, command_at(peer.server.uri(), {.timeout = milliseconds(1500)})));
  CHECK_FAILURE(outcome, 1, "has no identity for this process: PermissionDenied: no");
  CHECK(blackbox::says(outcome, "unix:uid:65532"));
  CHECK(blackbox::says(outcome, "unix:gid:65532"));
}

}  // namespace execcred::test
