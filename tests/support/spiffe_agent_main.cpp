// SPDX-License-Identifier: Apache-2.0
//
// spiffe-agent: replaces a SPIFFE agent where only the time of the answers matters, as in
// scripts/bench.
//
// It has one thread, and makes an SVID once in half of its lifetime, so that it adds almost no
// time to a client's run. It runs until SIGTERM, SIGINT or the end of its parent process.

#include <getopt.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "server_program.hpp"
#include "workload_agent.hpp"

namespace execcred::test {
namespace {

constexpr const char* kUsage =
    "usage: spiffe-agent --socket PATH [--spiffe-id ID]...\n"
    "\n"
    "The SPIFFE Workload API on a Unix socket: JWT-SVIDs and X.509-SVIDs for every client.\n"
    "\n"
    "  --socket PATH   where to listen; when the socket is there, the agent is ready\n"
    "  --spiffe-id ID  whose SVIDs, default spiffe://example.org/workload (repeatable)\n";

struct Options {
  std::string socket;
  std::vector<WorkloadAgent::Identity> identities;
  bool help = false;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options parse_options(int argc, char** argv) {
  const option known[] = {{"socket", required_argument, nullptr, 's'},
                          {"spiffe-id", required_argument, nullptr, 'i'},
                          {"help", no_argument, nullptr, 'h'},
                          {nullptr, 0, nullptr, 0}};
  Options options;
  int chosen = 0;
  while ((chosen = getopt_long(argc, argv, "", known, nullptr)) != -1) {
    if (chosen == 's') options.socket = optarg;
    if (chosen == 'i') options.identities.push_back({.spiffe_id = optarg});
    if (chosen == 'h') options.help = true;
    if (chosen == '?') throw UsageError("see --help");
  }
  if (optind != argc) throw UsageError(std::string("unexpected argument '") + argv[optind] + "'");
  if (options.socket.empty() && !options.help) throw UsageError("--socket is required");
  if (options.identities.empty()) {
    options.identities.push_back({.spiffe_id = "spiffe://example.org/workload"});
  }
  return options;
}

class Loop {
 public:
  Loop(int listener, std::vector<WorkloadAgent::Identity> identities)
      : listener_(listener), epoll_(epoll_create1(EPOLL_CLOEXEC)), agent_(std::move(identities)) {
    watch(listener_);
  }
  ~Loop() { close(epoll_); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run() {
    for (;;) {
      std::array<epoll_event, 64> events = {};
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int ready = events[static_cast<std::size_t>(i)].data.fd;
        if (ready == listener_) {
          accept_one();
        } else {
          serve(ready);
        }
      }
    }
  }

 private:
  struct Client {
    GrpcCallReader reader = {};
    bool is_answered = false;
  };

  void watch(int descriptor) const {
    epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      throw std::runtime_error("cannot watch a connection");
    }
  }

  void accept_one() {
    const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    watch(descriptor);
    clients_.emplace(descriptor, std::make_unique<Client>());
  }

  void serve(int descriptor) {
    std::array<char, 16384> buffer = {};
    const ssize_t count = recv(descriptor, buffer.data(), buffer.size(), 0);
    if (count > 0 && take(descriptor, {buffer.data(), static_cast<std::size_t>(count)})) return;
    clients_.erase(descriptor);
    close(descriptor);
  }

  // False if the connection to the client must be closed.
  bool take(int descriptor, std::string_view bytes) {
    Client& client = *clients_.at(descriptor);
    try {
      client.reader.feed(bytes);
      while (client.reader.next()) continue;
    } catch (const std::runtime_error&) {
      return false;
    }
    if (client.is_answered || !client.reader.call().is_complete) return true;
    client.is_answered = true;
    // The answer fits in the socket's buffer for every client that is measured.
    const std::string answer = agent_.answer(client.reader.call());
    return send(descriptor, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(answer.size());
  }

  int listener_;
  int epoll_;
  WorkloadAgent agent_;
  std::map<int, std::unique_ptr<Client>> clients_;
};

int run(int argc, char** argv) {
  try {
    Options options = parse_options(argc, argv);
    if (options.help) {
      std::fputs(kUsage, stdout);
      return EXIT_SUCCESS;
    }
    die_with_parent();
    Loop(listen_at(options.socket), std::move(options.identities)).run();
    return EXIT_SUCCESS;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "spiffe-agent: error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "spiffe-agent: error: %s\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace execcred::test

int main(int argc, char** argv) { return execcred::test::run(argc, argv); }
