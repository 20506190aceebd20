// SPDX-License-Identifier: Apache-2.0
// A server on 127.0.0.1 and a free port that sends exactly the bytes of a test, with or without
// TLS. Each connection has a thread.
#pragma once

#include "tls_identity.hpp"

#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace execcred::test {

// The server's side of one connection.
class Stream {
 public:
  Stream(int descriptor, SSL* tls) : descriptor_(descriptor), tls_(tls) {}

  // Up to `size` bytes; empty at the end or on an error.
  std::string read(std::size_t size);
  // A request's head and its body by Content-Length; empty at the end.
  std::string read_request();
  // False if the client is gone.
  bool write(std::string_view bytes);
  // Waits until the client has closed, as a server that never answers does.
  void wait_for_close();
  // Ends the connection by RST, without close_notify.
  void reset();
  // Ends the connection as close() does: by RST if the client has sent something that is not read.
  void close();
  // Ends the connection by FIN, without close_notify.
  void cut() { shutdown(descriptor_, SHUT_RDWR); }
  // Copies both directions between this and another connection, until one ends.
  void join(int other);

  bool has_peer_certificate() const;

 private:
  bool is_readable_before(int other) const;

  int descriptor_;
  SSL* tls_;
};

struct ServerTls {
  const Identity* identity = nullptr;
  std::vector<const Identity*> chain = {};
  int least_version = TLS1_2_VERSION;
  int greatest_version = 0;
  const Identity* client_ca = nullptr;      // a client certificate of this CA is required
  int client_error = 0;                     // X509_V_ERR_… that every client certificate gets
  bool asks_for_certificate = false;        // any client certificate, or none, will do
  std::vector<const Identity*> names = {};  // the CA names in the certificate request
};

class StreamServer {
 public:
  using Handler = std::function<void(Stream&)>;

  explicit StreamServer(Handler handler) : StreamServer(std::move(handler), ServerTls{}) {}
  StreamServer(Handler handler, const ServerTls& tls);
  ~StreamServer();
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view path = "/") const;
  std::size_t connections() const { return connections_; }
  // Connections that were closed because TLS failed.
  std::size_t refused() const { return refused_; }
  std::string server_names() const;  // SNI of the handshakes so far, joined by commas

 private:
  struct Connection {
    int descriptor = -1;
    std::thread thread = {};
  };

  void accept_connections();
  void serve(int descriptor);
  void converse(int descriptor, SSL* tls);

  Handler handler_;
  SslContextPtr tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<std::size_t> refused_ = 0;
  mutable std::mutex mutex_;
  std::string server_names_;      // guarded by mutex_
  std::vector<Connection> open_;  // used only by the acceptor until it has ended
  std::thread acceptor_;
};

// Connects to a port of 127.0.0.1; throws if it cannot.
int connect_to(std::uint16_t port);

// Answers every request on the connection with the same bytes.
StreamServer::Handler answers(std::string reply);

}  // namespace execcred::test
