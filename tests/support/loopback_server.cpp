// SPDX-License-Identifier: Apache-2.0
#include "loopback_server.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "loopback_identity.hpp"
#include "openssl_handles.hpp"

namespace execcred::test {
namespace {

constexpr std::size_t kMaxOpenConnections = 64;
constexpr timeval kStall{.tv_sec = 10, .tv_usec = 0};

class UniqueFd {
 public:
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&&) = delete;

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

void require_system(bool succeeded, const std::string& action) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), "cannot " + action);
}

sockaddr_in loopback_address() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

UniqueFd listen_on_loopback() {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  require_system(listener.get() >= 0, "make a socket");
  const sockaddr_in address = loopback_address();
  require_system(
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
      "bind to 127.0.0.1");
  require_system(listen(listener.get(), SOMAXCONN) == 0, "listen");
  return listener;
}

std::uint16_t bound_port(const UniqueFd& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  require_system(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0,
                 "learn the port");
  return ntohs(address.sin_port);
}

SslContextPtr make_server_context(const LoopbackIdentity& identity) {
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  require_openssl(context != nullptr &&
                      SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) == 1 &&
                      SSL_CTX_use_certificate(context.get(), identity.certificate.get()) == 1 &&
                      SSL_CTX_use_PrivateKey(context.get(), identity.key.get()) == 1,
                  "set up TLS");
  // Each connection is independent, so that a test's handshake never depends on an earlier test.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context.get(), 0);
  return context;
}

// A client that closes early must not kill the test program. The signal mask ends with its thread.
void block_sigpipe() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// The socket stays open until the acceptor has joined the thread: its number cannot be reused while
// another thread may still shut it down.
struct Connection {
  explicit Connection(UniqueFd accepted) : socket(std::move(accepted)) {}

  UniqueFd socket;
  std::atomic<bool> finished{false};
  std::jthread thread;
};

}  // namespace

class LoopbackServer::Impl {
 public:
  explicit Impl(Handler handler)
      : handler_(std::move(handler)), acceptor_([this] { accept_connections(); }) {}

  ~Impl() {
    stopping_ = true;
    wake_acceptor();
    acceptor_.join();
    for (const Connection& connection : connections_) {
      shutdown(connection.socket.get(), SHUT_RDWR);
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  Impl(Impl&&) = delete;
  Impl& operator=(Impl&&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& ca_pem() const { return identity_.ca_pem; }
  [[nodiscard]] std::size_t accepted() const { return accepted_; }
  [[nodiscard]] std::vector<Request> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }

 private:
  void accept_connections();
  void accept_one();
  void serve(Connection& connection);
  void converse(SSL& tls);
  [[nodiscard]] Response respond_to(SSL& tls);
  [[nodiscard]] Response handle(const Request& request);
  void wake_acceptor() const { eventfd_write(wake_.get(), 1); }

  const LoopbackIdentity identity_ = make_loopback_identity();
  const SslContextPtr context_ = make_server_context(identity_);
  const UniqueFd listener_ = listen_on_loopback();
  const std::uint16_t port_ = bound_port(listener_);
  const UniqueFd wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  const Handler handler_;

  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> accepted_{0};
  mutable std::mutex mutex_;
  std::vector<Request> requests_;      // guarded by mutex_
  std::list<Connection> connections_;  // used by the acceptor, and after its end by the destructor
  std::thread acceptor_;
};

void LoopbackServer::Impl::accept_connections() {
  while (!stopping_) {
    connections_.remove_if([](const Connection& connection) { return connection.finished.load(); });
    // At the limit clients wait in the backlog; a connection that ends wakes this thread.
    const bool may_accept = connections_.size() < kMaxOpenConnections;
    pollfd events[] = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                       {.fd = may_accept ? listener_.get() : -1, .events = POLLIN, .revents = 0}};
    if (poll(events, std::size(events), -1) < 0) continue;
    eventfd_t wakes = 0;
    if (events[0].revents != 0) eventfd_read(wake_.get(), &wakes);
    if (events[1].revents != 0) accept_one();
  }
}

void LoopbackServer::Impl::accept_one() {
  UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.get() < 0) return;
  ++accepted_;
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kStall, sizeof kStall);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kStall, sizeof kStall);
  Connection& connection = connections_.emplace_back(std::move(socket));
  connection.thread = std::jthread([this, &connection] { serve(connection); });
}

void LoopbackServer::Impl::serve(Connection& connection) {
  block_sigpipe();
  const SslPtr tls(SSL_new(context_.get()));
  if (tls != nullptr && SSL_set_fd(tls.get(), connection.socket.get()) == 1 &&
      SSL_accept(tls.get()) == 1) {
    converse(*tls);
    SSL_shutdown(tls.get());
  }
  ERR_clear_error();
  shutdown(connection.socket.get(), SHUT_RDWR);
  connection.finished = true;
  wake_acceptor();
}

void LoopbackServer::Impl::converse(SSL& tls) {
  try {
    const std::string wire = to_wire(respond_to(tls));
    std::size_t written = 0;
    SSL_write_ex(&tls, wire.data(), wire.size(), &written);
  } catch (const PeerGone&) {
    return;  // no client is left to answer
  }
}

LoopbackServer::Response LoopbackServer::Impl::respond_to(SSL& tls) {
  const auto read_bytes = [&tls](std::span<char> buffer) {
    std::size_t size = 0;
    return SSL_read_ex(&tls, buffer.data(), buffer.size(), &size) == 1 ? size : 0;
  };
  try {
    return handle(read_request(read_bytes));
  } catch (const HttpRefusal& refusal) {
    return {.status = refusal.status(), .body = refusal.what()};
  }
}

LoopbackServer::Response LoopbackServer::Impl::handle(const Request& request) {
  {
    const std::scoped_lock lock(mutex_);
    requests_.push_back(request);
  }
  try {
    return handler_(request);
  } catch (const std::exception& error) {
    return {.status = 500, .body = error.what()};
  }
}

LoopbackServer::LoopbackServer(Handler handler)
    : impl_(std::make_unique<Impl>(std::move(handler))) {}
LoopbackServer::~LoopbackServer() = default;

std::string LoopbackServer::url(std::string_view path) const {
  return ("https://127.0.0.1:" + std::to_string(impl_->port())).append(path);
}

const std::string& LoopbackServer::ca_pem() const { return impl_->ca_pem(); }
std::vector<LoopbackServer::Request> LoopbackServer::requests() const { return impl_->requests(); }
std::size_t LoopbackServer::connections() const { return impl_->accepted(); }

}  // namespace execcred::test
