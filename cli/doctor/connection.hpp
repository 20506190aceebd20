// SPDX-License-Identifier: Apache-2.0
// The connection to a server in separate steps, so that each failure belongs to one step: name,
// TCP, proxy, TLS, and HTTP/1.1 over them.
//
// libcurl, which all other modules use, does these steps in one call, and reports few details of
// some failures. TLS and its verification are those of the http module. An error has a cause
// (cause.hpp), except for an interruption and a fault of this machine.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/http.hpp>
#include <execcred/http/route.hpp>
#include <execcred/http/tls.hpp>
#include <execcred/os/file.hpp>

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::doctor {

// How the server of a cluster is reached.
struct Route {
  Url server = {};
  Host verified = {};  // tls-server-name, or the server's host
  std::optional<Proxy> proxy = std::nullopt;
  TlsSettings tls = {};
  bool is_insecure = false;  // insecure-skip-tls-verify

  // HOST:PORT of the server.
  std::string authority() const { return authority_of(server.host, server.port); }
};

struct Patience {
  Duration limit = {};  // of each step
  int stop = -1;        // when it can be read from, every step ends
};

struct PeerFacts {
  std::string protocol = {};  // "TLSv1.3"
  std::string subject = {};
  std::optional<std::chrono::sys_seconds> not_after = std::nullopt;  // of the server's certificate
  std::string ca_subject = {};
  std::optional<std::chrono::sys_seconds> ca_not_after = std::nullopt;  // of the CA it leads to
  bool wants_client_certificate = false;
  std::vector<std::string> client_cas = {};  // DER of the names that the server asks for
};

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
struct SslContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

class Connection {
 public:
  // `route` must outlive the connection.
  Connection(const Route& route, Patience patience) : route_(route), patience_(patience) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The steps, to be called in this order. Each returns a text for the report. A failure has its
  // cause.
  Result<std::string> resolve();
  Result<std::string> connect();
  Result<std::string> open_tunnel();
  Result<std::string> handshake();
  // Does all steps on a new connection. A name that was resolved before is not resolved again.
  Status open();

  // Starts one time limit for all following calls, until the next call of start_step(). Before the
  // first call, each of the steps above has its own limit.
  void start_step() { step_end_ = std::chrono::steady_clock::now() + patience_.limit; }

  const PeerFacts& peer() const { return peer_; }
  // Whether the server has asked for a client certificate, also if the handshake then failed.
  bool wants_client_certificate() const {
    return tls_ != nullptr && tls_->events().wants_client_certificate;
  }
  // Whether the peer has ended TLS by an alert about the client's certificate, or its absence. In
  // TLS 1.2 that ends the handshake. In TLS 1.3 the client has completed the handshake by then, so
  // the alert comes at the first read.
  bool is_refused() const;
  // Whether the connection is open and the server's certificate was verified, so that a credential
  // may be sent.
  bool is_verified() const { return is_open_ && !route_.is_insecure; }

  // Sends a request, and returns the reply, of any status. Redirects are not followed. If the
  // server has closed a kept connection, the request is sent again on a new one. Fails as open()
  // does, with unavailable (no reply, the connection was cut), with no_credential (the reply is not
  // HTTP/1.1, or is too large), or with internal (`authorization` is given, and the server is not
  // verified). `headers` are whole lines with their line ends.
  Result<HttpResponse> exchange(std::string_view method, std::string_view path,
                                std::string_view body, const SecretString& authorization,
                                std::string_view headers = {});

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  using SslOwner = std::unique_ptr<SSL, SslFree>;
  using SslContextOwner = std::unique_ptr<SSL_CTX, SslContextFree>;
  enum class Waited { ready, timed_out, stopped };

  struct Address {
    sockaddr_storage storage = {};
    socklen_t size = 0;
  };

  TimePoint deadline() const {
    return step_end_ ? *step_end_ : std::chrono::steady_clock::now() + patience_.limit;
  }
  Waited wait(short events, TimePoint deadline) const;
  const Url& next_hop() const { return route_.proxy ? route_.proxy->url : route_.server; }

  Status prepare_tls();
  Result<SslOwner> shake_hands(SslContextOwner& context, SSL* outer, bool is_server);
  Status check_speaks_tls(bool is_server, TimePoint deadline);
  // `is_agreed`: both sides have agreed on a version and a cipher.
  Error tls_failure(int reason, bool is_server, bool is_agreed) const;
  // The host that the certificate of the proxy or the server must name.
  const Host& host_of(bool is_server) const;
  Error certificate_failure(bool is_server) const;
  Error connect_failure(int problem) const;
  void take_peer(SSL& ssl);

  Error cut(std::string message) const;
  Status write_all(std::string_view text, TimePoint deadline);
  Result<std::size_t> read_some(char* buffer, std::size_t size, TimePoint deadline);
  Status tunnel_by_connect(TimePoint deadline);
  Status tunnel_by_socks(TimePoint deadline);
  Status log_in_to_socks(TimePoint deadline);
  Error socks_failure(std::string_view cause, const std::string& what) const;
  Result<std::string> read_exactly(std::size_t size, TimePoint deadline);
  Result<HttpResponse> exchange_once(std::string_view method, const std::string& request,
                                     const SecretString& authorization, std::string_view body,
                                     bool& was_closed);

  const Route& route_;
  Patience patience_;
  std::optional<TimePoint> step_end_;
  std::vector<Address> addresses_;
  FileDescriptor socket_;
  std::unique_ptr<Tls> tls_;
  // The outer ones are for the connection to an https proxy.
  SslContextOwner outer_context_;
  SslOwner outer_;
  SslContextOwner context_;
  SslOwner ssl_;
  SSL* active_ = nullptr;  // through which is read and written; null: the socket
  PeerFacts peer_;
  bool is_open_ = false;
  std::string unread_;  // of the connection, after the requested one
};

}  // namespace execcred::doctor
