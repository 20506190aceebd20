// SPDX-License-Identifier: Apache-2.0
#include "listener.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <list>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace execcred::sync {
namespace {

constexpr int kOk = 200;
constexpr int kNotFound = 404;
constexpr int kNotReady = 503;
constexpr int kMaxHeaders = 16 * 1024;
constexpr int kMaxBody = 1024;

// How many connections there may be at once. Further ones wait in the kernel's queue.
constexpr std::size_t kMostConnections = 64;
constexpr int kQueue = 128;
// How long a connection may last, with its request and its reply, so that a slow client does not
// hold its place.
constexpr std::chrono::seconds kLongest(10);
// How often the places of ended connections are given to others.
constexpr timeval kTick = {.tv_sec = 0, .tv_usec = 50'000};

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// The address of an IP address without brackets; nullopt for any other text.
std::optional<Address> address_of(const std::string& host, std::uint16_t port) {
  Address address;
  auto* const four = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    address.size = sizeof *four;
  } else if (inet_pton(AF_INET6, host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    address.size = sizeof *six;
  } else {
    return std::nullopt;
  }
  return address;
}

std::string host_of(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> host = {};
  const auto* const four = reinterpret_cast<const sockaddr_in*>(&address.storage);
  const auto* const six = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  const bool is_six = address.storage.ss_family == AF_INET6;
  inet_ntop(address.storage.ss_family,
            is_six ? static_cast<const void*>(&six->sin6_addr) : &four->sin_addr, host.data(),
            host.size());
  return host.data();
}

// The port is at the same place in both families.
std::string port_of(const Address& address) {
  return std::to_string(ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port));
}

// "127.0.0.1:8080", "[::1]:8080"
std::string name_of(const Address& address) {
  const std::string host = host_of(address);
  const bool is_six = address.storage.ss_family == AF_INET6;
  return (is_six ? "[" + host + "]" : host) + ":" + port_of(address);
}

// An address of either family may be in brackets, because the address of a Pod is of either.
Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    std::string host = text.substr(0, colon);
    const bool is_in_brackets = host.starts_with('[') && host.ends_with(']');
    if (is_in_brackets) {
      host = host.substr(1, host.size() - 2);
    } else if (host.empty() || host == "localhost") {
      host = "127.0.0.1";
    } else if (host.find(':') != std::string::npos) {
      host = "?";  // an IPv6 address without brackets
    }
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data() + colon + 1, end, port);
    const std::optional<Address> address = address_of(host, port);
    if (problem == std::errc() && stop == end && address) return *address;
  }
  return Error::configuration(
      "--listen " + in_quotes(text) + " is no address",
      "write it as :8080 for this machine alone, 0.0.0.0:8080 or [::]:8080");
}

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* object) const { Free(object); }
};
using EventBase = std::unique_ptr<event_base, Freed<event_base, event_base_free>>;
using Http = std::unique_ptr<evhttp, Freed<evhttp, evhttp_free>>;
using Event = std::unique_ptr<event, Freed<event, event_free>>;
using Socket = std::unique_ptr<evconnlistener, Freed<evconnlistener, evconnlistener_free>>;
using Buffer = std::unique_ptr<evbuffer, Freed<evbuffer, evbuffer_free>>;

void reply(evhttp_request* request, int code, std::string_view type, std::string_view text) {
  evkeyvalq* const headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", std::string(type).c_str());
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
  // A connection that waits for another request would hold its place.
  evhttp_add_header(headers, "Connection", "close");
  const Buffer body(evbuffer_new());
  if (body) evbuffer_add(body.get(), text.data(), text.size());
  evhttp_send_reply(request, code, nullptr, body.get());
}

void reply(evhttp_request* request, int code, std::string_view text) {
  reply(request, code, "text/plain; charset=utf-8", text);
}

}  // namespace

class Listener::Server {
 public:
  explicit Server(GetFigures figures) : figures_(std::move(figures)) {}
  ~Server() {
    if (thread_.joinable()) thread_.join();
    http_.reset();
    for (const Connection& connection : connections_) bufferevent_decref(connection.stream);
  }

  Result<std::string> start(const Address& address, const StopEvent& stop) {
    base_.reset(event_base_new());
    if (base_) http_.reset(evhttp_new(base_.get()));
    if (http_) {
      stop_.reset(event_new(base_.get(), stop.descriptor(), EV_READ, on_stop, base_.get()));
      clock_.reset(event_new(base_.get(), -1, 0, on_tick, this));
    }
    if (!stop_ || !clock_ || event_add(stop_.get(), nullptr) != 0) {
      return Error{.kind = Error::Kind::unavailable,
                   .message = "cannot serve --listen: " + system_message(errno),
                   .is_local = true};
    }
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(http_.get(), kMaxHeaders);
    evhttp_set_max_body_size(http_.get(), kMaxBody);
    evhttp_set_gencb(http_.get(), on_request, this);
    evhttp_set_bevcb(http_.get(), on_connection, this);
    constexpr unsigned kFlags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    errno = 0;
    Socket socket(evconnlistener_new_bind(base_.get(), nullptr, nullptr, kFlags, kQueue,
                                          address.get(), static_cast<int>(address.size)));
    if (!socket || evhttp_bind_listener(http_.get(), socket.get()) == nullptr) {
      return Error::configuration("cannot listen on " + host_of(address) + ", port " +
                                      port_of(address) + ": " +
                                      system_message(errno == 0 ? EADDRINUSE : errno),
                                  "choose another --listen");
    }
    socket_ = socket.release();  // http_ owns it now
    Address bound = {.size = sizeof bound.storage};
    if (getsockname(evconnlistener_get_fd(socket_), reinterpret_cast<sockaddr*>(&bound.storage),
                    &bound.size) != 0) {
      bound = address;
    }
    thread_ = std::thread([this] { event_base_dispatch(base_.get()); });
    return name_of(bound);
  }

 private:
  static void on_stop(evutil_socket_t, short, void* base) {
    event_base_loopbreak(static_cast<event_base*>(base));
  }

  struct Connection {
    bufferevent* stream = nullptr;  // with a reference of ours
    std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  };

  // Makes the stream of a new connection.
  static bufferevent* on_connection(event_base* base, void* server) noexcept {
    bufferevent* const stream = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (stream == nullptr) return nullptr;
    bufferevent_incref(stream);
    auto& self = *static_cast<Server*>(server);
    self.connections_.push_back({.stream = stream});
    if (self.connections_.size() >= kMostConnections) evconnlistener_disable(self.socket_);
    event_add(self.clock_.get(), &kTick);
    return stream;
  }

  // evhttp tells nobody that a connection has ended, but its stream has no callbacks then.
  static bool has_ended(const Connection& connection) {
    bufferevent_event_cb on_event = nullptr;
    bufferevent_getcb(connection.stream, nullptr, nullptr, &on_event, nullptr);
    return on_event == nullptr;
  }

  static void on_tick(evutil_socket_t, short, void* server) noexcept {
    auto& self = *static_cast<Server*>(server);
    const auto oldest = std::chrono::steady_clock::now() - kLongest;
    self.connections_.remove_if([oldest](const Connection& connection) {
      const bool is_over = has_ended(connection);
      if (is_over) bufferevent_decref(connection.stream);
      if (!is_over && connection.begun < oldest) {
        shutdown(bufferevent_getfd(connection.stream), SHUT_RDWR);
      }
      return is_over;
    });
    if (self.connections_.size() < kMostConnections) evconnlistener_enable(self.socket_);
    if (!self.connections_.empty()) event_add(self.clock_.get(), &kTick);
  }

  // No exception may leave this function, because libevent is C.
  static void on_request(evhttp_request* request, void* server) noexcept {
    static_cast<Server*>(server)->answer(request);
  }

  void answer(evhttp_request* request) const {
    const evhttp_uri* const uri = evhttp_request_get_evhttp_uri(request);
    const char* const path = uri == nullptr ? nullptr : evhttp_uri_get_path(uri);
    const std::string_view asked = path == nullptr ? "" : path;
    if (asked == "/metrics") {
      reply(request, kOk, "text/plain; version=0.0.4; charset=utf-8", metrics_text(figures_()));
    } else if (asked == "/healthz") {
      reply(request, kOk, "ok\n");
    } else if (asked == "/readyz") {
      const bool is_ready = figures_().is_ready();
      reply(request, is_ready ? kOk : kNotReady,
            is_ready ? "ok\n" : "the first round is not done\n");
    } else {
      reply(request, kNotFound, "there is /metrics, /healthz and /readyz\n");
    }
  }

  GetFigures figures_;
  std::list<Connection> connections_;
  evconnlistener* socket_ = nullptr;  // of http_
  EventBase base_;
  Http http_;
  Event stop_;
  Event clock_;
  std::thread thread_;
};

Listener::Listener() = default;
Listener::~Listener() = default;

Status Listener::check(const std::string& address) {
  TRY(parse_address(address));
  return {};
}

Result<std::unique_ptr<Listener>> Listener::open(const std::string& address, GetFigures figures,
                                                 const StopEvent& stop) {
  const Address parsed = TRY(parse_address(address));
  std::unique_ptr<Listener> listener(new Listener());
  listener->server_ = std::make_unique<Server>(std::move(figures));
  listener->address_ = TRY(listener->server_->start(parsed, stop));
  return listener;
}

}  // namespace execcred::sync
