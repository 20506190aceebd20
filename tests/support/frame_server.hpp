// SPDX-License-Identifier: Apache-2.0
// An HTTP/2 server without TLS that sends exactly the frames of a test, on a Unix socket or on
// loopback, and records what its clients send. Each connection has a thread.
//
//   FrameServer server([](FrameServer::Connection& connection) {
//     if (connection.read_call()) connection.write(h2::settings() + h2::goaway(0, h2::kNoError));
//   }, {.path = sandbox.at("agent.sock")});
#pragma once

#include "grpc_call_reader.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace execcred::test {

// A Unix socket that any user may connect to. Its path appears only after it listens, so that a
// client that finds it can connect. Throws std::runtime_error.
int listen_at(const std::string& path);

class FrameServer {
 public:
  struct Address {
    std::string path = {};  // of a Unix socket; empty: a free port of loopback
    bool is_ipv6 = false;
  };

  // What the client of one connection has sent.
  struct Visit {
    std::chrono::steady_clock::time_point at = {};
    pid_t pid = 0;  // of a Unix socket's client
    bool has_preface = false;
    std::vector<h2::Frame> frames = {};
    GrpcCall call = {};
    bool has_gone = false;

    // The number of frames of this type, without acknowledgements of SETTINGS and PING.
    std::size_t count(h2::Type type) const;
    // Whether the client reset its stream with this code.
    bool was_reset_with(std::uint32_t code) const;
  };

  class Connection {
   public:
    Connection(FrameServer& server, int descriptor, std::size_t number)
        : server_(server), descriptor_(descriptor), number_(number) {}

    std::size_t number() const { return number_; }  // from 0, in the order of acceptance
    // The next frame; nullopt if the client has disconnected.
    std::optional<h2::Frame> read();
    // Reads until the client's call is complete; false if the client disconnects before.
    bool read_call();
    const GrpcCall& call() const { return reader_.call(); }

    // False if the client has disconnected.
    bool write(std::string_view bytes);
    // Writes each byte alone, and the next one only after the client has read it.
    bool write_bytewise(std::string_view bytes);
    // Writes DATA frames as the client's flow-control windows allow.
    bool write_within_windows(std::string_view bytes);

    // Reads until the client has disconnected.
    void wait_for_close();
    // Waits until the client has disconnected, without reading.
    void wait_unread() const;
    // After this the client's writes fail; it can still read.
    void stop_reading() const;
    // Ends the connection: the client reads what was written, then the end.
    void cut() const;

   private:
    void keep(const h2::Frame& frame);
    void note_window(const h2::Frame& frame);
    bool is_taken() const;

    FrameServer& server_;
    int descriptor_;
    std::size_t number_;
    GrpcCallReader reader_;
    std::int64_t connection_window_ = 65535;
    std::int64_t stream_window_ = 65535;
  };

  // An exception ends the connection.
  using Handler = std::function<void(Connection&)>;

  // Listens when it returns. Throws std::runtime_error if it cannot.
  FrameServer(Handler handler, Address address);
  ~FrameServer();
  FrameServer(const FrameServer&) = delete;
  FrameServer& operator=(const FrameServer&) = delete;

  // "unix:///PATH", "tcp://127.0.0.1:PORT", "tcp://[::1]:PORT".
  std::string uri() const;

  std::size_t connections() const;
  std::vector<Visit> visits() const;

 private:
  struct Open {
    int descriptor = -1;
    std::thread thread = {};
  };

  void listen_at_port();
  void accept_connections();
  void serve(int descriptor, std::size_t number);
  void with_visit(std::size_t number, const std::function<void(Visit&)>& change);

  Handler handler_;
  Address address_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  mutable std::mutex mutex_;
  std::vector<Visit> visits_;  // guarded by mutex_
  std::vector<Open> open_;     // used only by the acceptor until it has ended
  std::thread acceptor_;
};

}  // namespace execcred::test
