// SPDX-License-Identifier: Apache-2.0
#include "listener.hpp"

#include "metrics.hpp"

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <charconv>
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
constexpr int kTimeoutSeconds = 10;

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

Error wrong(std::string message, std::string hint) {
  return Error{
      .kind = Error::Kind::configuration, .message = std::move(message), .hint = std::move(hint)};
}

bool is_ip(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes = {};
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Address address;
  if (colon != std::string::npos) {
    address.host = text.substr(0, colon);
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
      address.host = address.host.substr(1, address.host.size() - 2);
    } else if (address.host.find(':') != std::string::npos) {
      address.host = "?";  // an IPv6 address without brackets
    }
    if (address.host.empty() || address.host == "localhost") address.host = "127.0.0.1";
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (problem == std::errc() && stop == end && is_ip(address.host)) return address;
  }
  return wrong("--listen " + in_quotes(text) + " is no address",
               "write it as :8080 for this machine alone, 0.0.0.0:8080 or [::]:8080");
}

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* object) const { Free(object); }
};
using EventBase = std::unique_ptr<event_base, Freed<event_base, event_base_free>>;
using Http = std::unique_ptr<evhttp, Freed<evhttp, evhttp_free>>;
using Event = std::unique_ptr<event, Freed<event, event_free>>;
using Buffer = std::unique_ptr<evbuffer, Freed<evbuffer, evbuffer_free>>;

void reply(evhttp_request* request, int code, std::string_view type, std::string_view text) {
  evkeyvalq* const headers = evhttp_request_get_output_headers(request);
  evhttp_add_header(headers, "Content-Type", std::string(type).c_str());
  evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
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
  }

  Result<std::string> start(const Address& address, const StopEvent& stop) {
    base_.reset(event_base_new());
    if (base_) http_.reset(evhttp_new(base_.get()));
    if (http_) {
      stop_.reset(event_new(base_.get(), stop.descriptor(), EV_READ, on_stop, base_.get()));
    }
    if (!stop_ || event_add(stop_.get(), nullptr) != 0) {
      return Error{.kind = Error::Kind::unavailable,
                   .message = "cannot serve --listen: " + system_message(errno),
                   .is_local = true};
    }
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(http_.get(), kMaxHeaders);
    evhttp_set_max_body_size(http_.get(), kMaxBody);
    evhttp_set_timeout(http_.get(), kTimeoutSeconds);
    evhttp_set_gencb(http_.get(), on_request, this);
    errno = 0;
    evhttp_bound_socket* const socket =
        evhttp_bind_socket_with_handle(http_.get(), address.host.c_str(), address.port);
    if (socket == nullptr) {
      return wrong("cannot listen on " + address.host + ", port " + std::to_string(address.port) +
                       ": " + system_message(errno == 0 ? EADDRINUSE : errno),
                   "choose another --listen");
    }
    thread_ = std::thread([this] { event_base_dispatch(base_.get()); });
    return name_of(evhttp_bound_socket_get_fd(socket), address.host);
  }

 private:
  static void on_stop(evutil_socket_t, short, void* base) {
    event_base_loopbreak(static_cast<event_base*>(base));
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

  static std::string name_of(evutil_socket_t socket, const std::string& host) {
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    std::uint16_t port = 0;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
      port = address.ss_family == AF_INET6
                 ? ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port)
                 : ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
    }
    const bool is_long = host.find(':') != std::string::npos;
    return (is_long ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }

  GetFigures figures_;
  EventBase base_;
  Http http_;
  Event stop_;
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
