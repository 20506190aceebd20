// SPDX-License-Identifier: Apache-2.0
// `execcred sync` as a process that runs for long: renewal, changed files, its end.
#include "build_kind.hpp"
#include "fleet_run.hpp"

#include "cli/inventory.hpp"
#include "documents.hpp"
#include "plugin_under_test.hpp"

#include <doctest/doctest.h>
#include <execcred/os/file.hpp>
#include <execcred/os/signal_block.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace blackbox;
namespace fs = std::filesystem;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// How many connections the program at this port has accepted. One that still waits in the kernel's
// queue has no inode. /proc/PID/fd would need a right that a container may lack.
std::size_t accepted_at(int port) {
  constexpr unsigned kEstablished = 1;
  std::ifstream table("/proc/net/tcp");
  std::size_t count = 0;
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    unsigned local = 0;
    unsigned state = 0;
    unsigned long inode = 0;
    const int fields =
        std::sscanf(line.c_str(), "%*s %*8x:%4x %*8x:%*4x %2x %*x:%*x %*x:%*x %*x %*u %*u %lu",
                    &local, &state, &inode);
    if (fields == 3 && static_cast<int>(local) == port && state == kEstablished && inode != 0)
      ++count;
  }
  return count;
}

}  // namespace

TEST_SUITE_BEGIN("sync");

TEST_CASE("sync: a credential is renewed before it expires, and EXECCRED_REFRESH_BEFORE is set") {
  const Fleet fleet({"a"});
  fleet.set_lifetime(6);
  Run run(fleet);
  CHECK(wait_until([&] { return fleet.runs() >= 3; }));
  CHECK(run.end().exit_code == 0);
  const std::vector<std::string> refreshes = fleet.refreshes();
  CHECK(refreshes.at(0) == "none");
  for (const std::size_t i : {1UL, 2UL}) {
    const std::string& text = refreshes.at(i);
    CHECK_MESSAGE((text == "1s" || text == "2s" || text == "3s"), text);
  }
  CHECK(run.log().find("level") == std::string::npos);
}

TEST_CASE("sync: changed files are seen at once, and a deleted folder is written again") {
  const Fleet fleet({"a", "b"});
  Run run(fleet);
  CHECK(wait_until([&] { return fs::exists(fleet.folder("b") / "token"); }));
  fleet.write_profile("c", {provider("p", "https://c.example")});
  CHECK(wait_until([&] { return fs::exists(fleet.folder("c") / "token"); }));
  fleet.remove_profile("b");
  CHECK(wait_until([&] { return !fs::exists(fleet.folder("b")); }));
  fs::create_directories(fleet.sandbox().path() / "profiles" / "more");
  fleet.sandbox().write("profiles/more/d.json", profile("d", {provider("p", "https://d.example")}));
  CHECK(wait_until([&] { return fs::exists(fleet.folder("d") / "token"); }));
  fs::remove_all(fleet.folder("a"));
  CHECK(wait_until([&] { return fs::exists(fleet.folder("a") / "token"); }));
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync: the ClusterProfiles of a path that goes missing are still renewed") {
  const Fleet fleet({"a"});
  fleet.set_lifetime(6);
  const std::string more = fleet.sandbox().at("more");
  fleet.sandbox().write("more/b.json", profile("b", {provider("p", "https://b.example:6443")}));
  Run run(fleet, {"-f", more});
  CHECK(wait_until([&] { return fs::exists(fleet.folder("b") / "token"); }));
  fs::rename(fleet.sandbox().path() / "profiles", fleet.sandbox().path() / "elsewhere");
  CHECK(wait_until([&] { return count_of(run.log(), "error: ") > 0; }));
  fleet.sandbox().write("more/c.json", profile("c", {provider("p", "https://c.example:6443")}));
  CHECK(wait_until([&] { return fs::exists(fleet.folder("c") / "token"); }));
  const std::string token = fleet.token("a");
  CHECK(wait_until([&] { return fs::exists(fleet.folder("a")) && fleet.token("a") != token; }));
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync: a mapping that loses its providers while sync runs removes nothing") {
  const Fleet fleet({"a", "b", "c"});
  const std::string mapping = read_text(fleet.sandbox().path() / "mapping.json");
  const auto write_mapping = [&](const std::string& text) {
    const std::string partial = fleet.sandbox().write("partial", text);
    fs::rename(partial, fleet.sandbox().path() / "mapping.json");
  };
  for (const bool is_allowed : {false, true}) {
    CAPTURE(is_allowed);
    write_mapping(mapping);
    Run run(fleet,
            is_allowed ? std::vector<std::string>{"--allow-empty"} : std::vector<std::string>{});
    CHECK(wait_until([&] { return fs::exists(fleet.folder("b") / "token"); }));
    write_mapping(R"({"providers":[]})");
    // Each cluster is judged by the new mapping before this process ends.
    CHECK(wait_until([&] { return count_of(run.log(), "cause=provider-unknown") >= 3; }));
    for (const char* name : {"a", "b", "c"}) {
      CHECK(wait_until([&] { return fs::exists(fleet.folder(name)) != is_allowed; }));
    }
    if (!is_allowed) {
      CHECK(count_of(run.log(), "mapping.json' has no provider") == 1);
      CHECK(run.log().find("credential=\"it stays, because nothing may be removed now\"") !=
            std::string::npos);
    }
    CHECK(run.end().exit_code == 0);
  }
}

TEST_CASE("sync: a plugin that can be run only later is found without a restart") {
  struct Case {
    std::string cause;
    std::string first;  // of the program; empty: it is not there
    mode_t mode = 0755;
  };
  for (const Case& row : std::vector<Case>{{"program-missing", "", 0755},
                                           {"program-not-executable", "#!/bin/sh\n", 0644},
                                           {"program-missing", "#!/no/such/interpreter\n", 0755},
                                           {"program-wrong-architecture", "MZ", 0755}}) {
    if (row.first == "MZ" && !blackbox::kSaysWhyNotStarted) continue;
    CAPTURE(row.cause);
    CAPTURE(row.first);
    const Fleet fleet({"a"});
    const std::string program = fleet.sandbox().at("bin/late");
    fleet.sandbox().write("mapping.json", mapping({mapped("p", program)}));
    if (!row.first.empty()) fleet.sandbox().write("bin/late", row.first, row.mode);
    Run run(fleet);
    CHECK(wait_until([&] { return run.log().find("cause=" + row.cause) != std::string::npos; }));
    const std::string good = fleet.sandbox().script("bin/good", printing("late-t0ken"));
    fs::rename(good, program);
    CHECK(wait_until([&] { return fleet.token("a") == "late-t0ken"; }));
    CHECK(run.end().exit_code == 0);
  }
}

TEST_CASE("sync: a changed mapping is read again, a broken one is reported and not used") {
  const Fleet fleet({"a"});
  Run run(fleet);
  CHECK(wait_until([&] { return fs::exists(fleet.folder("a") / "token"); }));
  const std::string token = fleet.token("a");
  const std::string before = read_text(fleet.sandbox().path() / "mapping.json");
  fleet.sandbox().write("mapping.json", "{");
  CHECK(wait_until([&] { return run.log().find("error: ") != std::string::npos; }));
  CHECK(fleet.token("a") == token);
  const std::string other = fleet.sandbox().script("bin/other", printing("another-t0ken"));
  fleet.sandbox().write("mapping.json", mapping({mapped("p", other)}));
  CHECK(wait_until([&] { return fleet.token("a") == "another-t0ken"; }));
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync: after SIGTERM, the running plugin ends, and sync exits with 0") {
  const Fleet fleet({"a"});
  fleet.sandbox().write(
      "mapping.json",
      mapping({mapped("p",
                      fleet.sandbox().script("bin/hang", "echo $$ > '" + fleet.sandbox().at("pid") +
                                                             "'\nexec sleep 1000"))}));
  Run run(fleet);
  CHECK(wait_until([&] { return !read_text(fleet.sandbox().path() / "pid").empty(); }));
  const pid_t plugin = std::stoi(read_text(fleet.sandbox().path() / "pid"));
  const Outcome outcome = run.end();
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  CHECK(wait_until([&] { return !is_running(plugin); }));
  CHECK(fs::is_empty(fleet.root()));
}

TEST_CASE("sync: each signal that ends a run ends also what its plugins left running") {
  for (const int signal : execcred::kEndingSignals) {
    CAPTURE(signal);
    const Fleet fleet({"a"});
    const std::string daemon = fleet.sandbox().at("daemon");
    const std::string hang = daemon_in(daemon) + "exec sleep 1000";
    fleet.sandbox().write("mapping.json",
                          mapping({mapped("p", fleet.sandbox().script("bin/hang", hang))}));
    Run run(fleet);
    REQUIRE(wait_until([&] { return !read_text(daemon).empty(); }));
    const pid_t left = std::stoi(read_text(daemon));
    run.send(signal);
    const Outcome outcome = run.wait();
    const bool is_usual = signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
    CHECK_MESSAGE(outcome.exit_code == (is_usual ? 0 : 128 + signal), describe(outcome));
    CHECK(wait_until([&] { return !is_running(left); }));
  }
}

TEST_CASE("sync --listen: health, readiness and metrics") {
  const Fleet fleet({"a"});
  fleet.write_profile("b", {provider("failing")});
  Run run(fleet, {"--listen=127.0.0.1:0"});
  CHECK(wait_until([&] { return run.get("/readyz").find(" 200 ") != std::string::npos; }));
  CHECK(run.get("/healthz").find(" 200 ") != std::string::npos);
  CHECK(run.get("/other").find(" 404 ") != std::string::npos);
  const std::string metrics = run.get("/metrics?x=1");
  CHECK(metrics.find("execcred_credential_expiry_timestamp_seconds{namespace=\"fleet\",name=\"a\","
                     "provider=\"p\"} 1") != std::string::npos);
  CHECK(metrics.find("\nexeccred_sync_clusters 2\n") != std::string::npos);
  CHECK(metrics.find("\nexeccred_sync_renewals_total 1\n") != std::string::npos);
  CHECK(metrics.find("\nexeccred_sync_failures_total{cause=\"program-failed\"} ") !=
        std::string::npos);
  CHECK(metrics.find("\nexeccred_sync_plugin_duration_seconds_count ") != std::string::npos);
  CHECK(metrics.find("\nexeccred_sync_watch_up 1\n") != std::string::npos);
  CHECK(metrics.find("example") == std::string::npos);
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync --listen: an address of either family, which may be in brackets") {
  for (const std::string address :
       {":0", "localhost:0", "127.0.0.1:0", "[127.0.0.1]:0", "[::1]:0"}) {
    CAPTURE(address);
    const Fleet fleet({"a"});
    Run run(fleet, {"--listen=" + address});
    const std::string host = address == "[::1]:0" ? "[::1]:" : "127.0.0.1:";
    CHECK(wait_until([&] {
      return run.log().find("/readyz address=" + host) != std::string::npos ||
             run.log().find("Cannot assign requested address") != std::string::npos;
    }));
    run.end();
  }
  const Fleet fleet({"a"});
  for (const std::string address : {"[]:0", "[localhost]:0", "::1:0", "[::1]", "[::1]:", "[::1:0",
                                    "10.0.0.1]:0", "[[::1]]:0", "[10.0.0]:0", "127.0.0.1:65536"}) {
    CAPTURE(address);
    CHECK_REFUSAL(fleet.sync({"--to-dir=" + fleet.root().native(), "--listen=" + address}), 2,
                  "is no address");
  }
}

TEST_CASE("sync --listen: at most 64 connections at once, and a slow one does not keep its place") {
  const Fleet fleet({"a"});
  Run run(fleet, {"--listen=127.0.0.1:0"});
  CHECK(wait_until([&] { return run.get("/readyz").find(" 200 ") != std::string::npos; }));
  const std::string log = run.log();
  const int port = std::stoi(log.substr(log.find("127.0.0.1:") + 10));
  CHECK(wait_until([&] { return accepted_at(port) == 0; }));
  std::vector<execcred::FileDescriptor> clients;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(connect(clients.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address) ==
            0);
    // Some send a part of a request, which never ends.
    if (i % 2 == 0) CHECK(write(clients.back().get(), "GET /hea", 8) == 8);
  }
  CHECK(wait_until([&] { return accepted_at(port) == 64; }));
  // This request waits, until the first places are free again.
  std::atomic<bool> is_trickling = true;
  std::thread trickle([&] {
    while (is_trickling) {
      for (const auto& client : clients) {
        static_cast<void>(send(client.get(), "x", 1, MSG_NOSIGNAL));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  const auto start = std::chrono::steady_clock::now();
  CHECK(run.get("/healthz").find(" 200 ") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start > std::chrono::seconds(5));
  CHECK(accepted_at(port) <= 64);
  is_trickling = false;
  trickle.join();
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync --listen: an error if the port is in use") {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(descriptor, 1) == 0);
  REQUIRE(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const Fleet fleet({"a"});
  Run run(fleet, {"--listen=:" + std::to_string(ntohs(address.sin_port))});
  CHECK(run.wait().exit_code == 2);
  CHECK(run.log().find("cannot listen on 127.0.0.1, port ") != std::string::npos);
  close(descriptor);
}

TEST_CASE("sync: a reader that resolves ..data once sees one complete generation") {
  const Fleet fleet({"a"});
  fleet.set_lifetime(2);
  Run run(fleet);
  CHECK(wait_until([&] { return fs::exists(fleet.folder("a") / "token"); }));
  std::size_t generations = 0;
  fs::path last;
  while (generations < 4) {
    const fs::path data = fs::canonical(fleet.folder("a") / "..data");
    if (data == last) {
      usleep(1000);
      continue;
    }
    last = data;
    ++generations;
    CHECK(read_text(data / "token").starts_with("t0ken-"));
    CHECK(read_text(data / "expiration").size() == 20);
    CHECK(read_text(data / "kubeconfig").find("tokenFile: token\n") != std::string::npos);
  }
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync --listen: a document that cannot be read does not keep it from being ready") {
  const Fleet fleet({"a"});
  fleet.sandbox().write("profiles/broken.yaml", "kind: ClusterProfile\nmetadata: [");
  Run run(fleet, {"--listen=:0"});
  CHECK(wait_until([&] { return run.get("/readyz").find(" 200 ") != std::string::npos; }));
  CHECK(fs::exists(fleet.folder("a") / "token"));
  CHECK(run.end().exit_code == 0);
}

TEST_CASE("sync --listen: not ready while a plugin of the first round runs") {
  const Fleet fleet({"a"});
  fleet.sandbox().write(
      "mapping.json",
      mapping({mapped("p", fleet.sandbox().script("bin/hang", "exec sleep 1000"))}));
  Run run(fleet, {"--listen=:0"});
  CHECK(wait_until([&] { return run.get("/readyz").find(" 503 ") != std::string::npos; }));
  CHECK(run.get("/healthz").find(" 200 ") != std::string::npos);
  CHECK(run.end().exit_code == 0);
}
