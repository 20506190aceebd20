// SPDX-License-Identifier: Apache-2.0
// The connection to a server. Each failure belongs to one step: name, TCP, proxy, TLS, or HTTP over
// them.
//
// libcurl does all of them but the first: it does not say why a name has no address. About a failed
// handshake it says little, so OpenSSL's callbacks (tls.hpp) give the reason. An error has a cause
// (cause.hpp), except for an interruption and a fault of this machine.
#pragma once

#include "steps.hpp"

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/url.hpp>
#include <execcred/http/curl_client.hpp>

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::doctor {

// How the server of a cluster is reached.
struct Route {
  Url server = {};
  Host verified = {};  // tls-server-name, or the server's host
  std::optional<Url> proxy = std::nullopt;
  HttpSettings http = {};
  bool is_insecure = false;  // insecure-skip-tls-verify

  // HOST:PORT of the server.
  std::string authority() const { return authority_of(server.host, server.port); }
};

struct Patience {
  Duration limit = {};  // of the look-up of the name, of the other steps up to TLS, and of a step
  int stop = -1;        // when it can be read from, every step ends
};

struct PeerFacts {
  std::string protocol = {};  // "TLSv1.3"
  std::string subject = {};
  std::optional<std::chrono::sys_seconds> not_after = std::nullopt;  // of the server's certificate
  std::string ca_subject = {};
  std::optional<std::chrono::sys_seconds> ca_not_after = std::nullopt;  // of the CA it leads to
  bool asks_for_client_certificate = false;
  std::vector<std::string> client_cas = {};  // DER of the names that the server asks for
};

class Connection final : private CurlClient {
 public:
  // The steps of the way to a server, in their order.
  static constexpr std::array kWay = {StepId::name, StepId::connect, StepId::proxy, StepId::tls};

  // `route` must outlive the connection.
  Connection(const Route& route, Patience patience)
      : CurlClient(route.http, patience.stop), route_(route), patience_(patience) {}

  // Connects, and sends nothing.
  Status open();

  // Sends a request to a path below the server's URL, over the kept connection if there is one, and
  // returns the reply, of any status. Redirects are not followed. Fails with the cause of the step
  // that failed, with unavailable (no reply, the connection was cut), with no_credential (the reply
  // is not HTTP/1.1, or is too large), or with internal (`token` is given, and the server is not
  // verified).
  Result<HttpResponse> exchange(HttpRequest request, std::string_view path,
                                const SecretString& token);

  // Starts one time limit for all following requests. Without this, the limit starts when the first
  // connection is open.
  void start_step() { step_end_ = std::chrono::steady_clock::now() + patience_.limit; }
  // The limit is that of the other connection, which has been open.
  void share_step(const Connection& other) { step_end_ = other.step_end_; }

  // What was seen at a step of the way of the last connection; null if the way did not get there.
  const std::string* seen(StepId step) const;
  const PeerFacts& peer() const { return peer_; }
  // Whether the peer has ended TLS by an alert about the client's certificate, or its absence. In
  // TLS 1.2 that ends the handshake. In TLS 1.3 the client has completed the handshake by then, so
  // the alert is in place of a reply, even if the request could not be sent.
  bool is_refused() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Attempt {
    curl_socket_t socket = CURL_SOCKET_BAD;
    sockaddr_storage address = {};
    socklen_t size = 0;
  };

  void adjust(CurlOptions& options) override;
  TimePoint end() const override { return step_end_.value_or(way_end_); }
  Error explain(const HttpFailure& failure) const override;

  static curl_socket_t on_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static CURLcode on_tls(CURL* curl, void* context, void* self);
  void take_peer(const SSL& ssl);

  const Url& next_hop() const { return route_.proxy ? *route_.proxy : route_.server; }
  Status resolve();
  Result<HttpResponse> go(HttpRequest request, std::string_view path);
  std::string connected_address() const;

  Error connect_failure(const HttpFailure& failure) const;
  Error proxy_failure(const HttpFailure& failure) const;
  Error tls_failure(const HttpFailure& failure) const;
  // The host that the certificate of the proxy or the server must name.
  const Host& host_of(bool is_server) const {
    return is_server ? route_.verified : route_.proxy->host;
  }
  Error certificate_failure(bool is_server, const std::string& peer) const;
  Error alert_failure(bool is_server, const std::string& peer) const;

  const Route& route_;
  Patience patience_;
  std::string resolved_;  // for CURLOPT_RESOLVE
  curl_slist resolve_list_ = {};
  TimePoint way_end_ = {};
  std::optional<TimePoint> step_end_;
  std::vector<Attempt> attempts_;  // to connect, of the request that is being sent
  TimePoint start_ = {};           // of the first of them
  std::map<StepId, std::string> seen_;
  PeerFacts peer_;
};

}  // namespace execcred::doctor
