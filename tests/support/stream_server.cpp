// SPDX-License-Identifier: Apache-2.0
#include "stream_server.hpp"

#include "conformance/order.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace execcred::test {
namespace {

void require_system(bool succeeded, const char* action) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), action);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

SslContextPtr make_context(const ServerTls& tls) {
  if (tls.identity == nullptr) return nullptr;
  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  require_openssl(context != nullptr, "set up TLS");
  SSL_CTX_set_security_level(context.get(), 0);  // weak parameters must reach the client
  SSL_CTX_set_cipher_list(context.get(), "ALL:@SECLEVEL=0");
  SSL_CTX_set_min_proto_version(context.get(), tls.least_version);
  SSL_CTX_set_max_proto_version(context.get(), tls.greatest_version);
  require_openssl(SSL_CTX_use_certificate(context.get(), tls.identity->certificate.get()) == 1 &&
                      SSL_CTX_use_PrivateKey(context.get(), tls.identity->key.get()) == 1,
                  "use a certificate");
  for (const Identity* link : tls.chain) {
    SSL_CTX_add1_chain_cert(context.get(), link->certificate.get());
  }
  if (tls.asks_for_certificate) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
    for (const Identity* const ca : tls.names) {
      SSL_CTX_add_client_CA(context.get(), ca->certificate.get());
    }
  }
  if (tls.client_ca != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), tls.client_ca->certificate.get());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (tls.client_error != 0) {
    const auto judge = [](X509_STORE_CTX* store, void* error) {
      X509_STORE_CTX_set_error(store, static_cast<int>(reinterpret_cast<std::intptr_t>(error)));
      return 0;
    };
    SSL_CTX_set_cert_verify_callback(
        context.get(), judge,
        reinterpret_cast<void*>(static_cast<std::intptr_t>(tls.client_error)));
  }
  return context;
}

std::size_t content_length(std::string_view head) {
  constexpr std::string_view kName = "Content-Length: ";
  const std::size_t at = head.find(kName);
  std::size_t length = 0;
  if (at != std::string_view::npos) {
    std::from_chars(head.data() + at + kName.size(), head.data() + head.size(), length);
  }
  return length;
}

}  // namespace

std::string Stream::read(std::size_t size) {
  std::string bytes(size, '\0');
  const auto count = tls_ != nullptr ? SSL_read(tls_, bytes.data(), static_cast<int>(size))
                                     : recv(descriptor_, bytes.data(), size, 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  blackbox::order_threads();
  return bytes;
}

std::string Stream::read_request() {
  std::string request;
  std::size_t end = std::string::npos;
  while ((end = request.find("\r\n\r\n")) == std::string::npos) {
    const std::string more = read(4096);
    if (more.empty()) return {};
    request += more;
  }
  const std::size_t whole = end + 4 + content_length(std::string_view(request).substr(0, end));
  while (request.size() < whole) {
    const std::string more = read(4096);
    if (more.empty()) return {};
    request += more;
  }
  return request;
}

bool Stream::write(std::string_view bytes) {
  blackbox::order_threads();
  while (!bytes.empty()) {
    const auto count = tls_ != nullptr
                           ? SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))
                           : send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Stream::wait_for_close() {
  while (!read(4096).empty()) {
  }
}

void Stream::reset() {
  const linger hard = {.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close();
}

void Stream::close() {
  // The descriptor's number stays in use until the connection's thread closes it. An unconnected
  // socket in its place closes the connection now.
  const int null = socket(AF_UNIX, SOCK_STREAM, 0);
  dup2(null, descriptor_);
  ::close(null);
}

bool Stream::is_readable_before(int other) const {
  if (tls_ != nullptr && SSL_pending(tls_) > 0) return true;
  std::array<pollfd, 2> events = {pollfd{.fd = descriptor_, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = other, .events = POLLIN, .revents = 0}};
  poll(events.data(), events.size(), -1);
  return events[0].revents != 0;
}

void Stream::join(int other) {
  Stream far(other, nullptr);
  for (;;) {
    Stream* const from = is_readable_before(other) ? this : &far;
    const std::string bytes = from->read(16384);
    if (bytes.empty() || !(from == this ? &far : this)->write(bytes)) return;
  }
}

bool Stream::has_peer_certificate() const {
  return tls_ != nullptr && SSL_get0_peer_certificate(tls_) != nullptr;
}

StreamServer::StreamServer(Handler handler, const ServerTls& tls)
    : handler_(std::move(handler)),
      tls_(make_context(tls)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  require_system(bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     listen(listener_, SOMAXCONN) == 0 &&
                     getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0,
                 "listen");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_connections(); });
}

StreamServer::~StreamServer() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (const Connection& connection : open_) shutdown(connection.descriptor, SHUT_RDWR);
  for (Connection& connection : open_) {
    connection.thread.join();
    close(connection.descriptor);
  }
  close(listener_);
}

void StreamServer::accept_connections() {
  for (;;) {
    const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    ++connections_;
    open_.push_back({.descriptor = descriptor,
                     .thread = std::thread([this, descriptor] { serve(descriptor); })});
  }
}

void StreamServer::serve(int descriptor) {
  if (tls_ == nullptr) {
    converse(descriptor, nullptr);
  } else {
    const SslPtr tls(SSL_new(tls_.get()));
    SSL_set_fd(tls.get(), descriptor);
    const bool is_accepted = SSL_accept(tls.get()) == 1;
    if (const char* name = SSL_get_servername(tls.get(), TLSEXT_NAMETYPE_host_name)) {
      const std::scoped_lock lock(mutex_);
      server_names_ += (server_names_.empty() ? "" : ",") + std::string(name);
    }
    if (is_accepted) {
      converse(descriptor, tls.get());
      SSL_shutdown(tls.get());
    } else {
      Stream(descriptor, nullptr).close();
      ++refused_;
    }
  }
  shutdown(descriptor, SHUT_RDWR);
}

void StreamServer::converse(int descriptor, SSL* tls) {
  Stream stream(descriptor, tls);
  handler_(stream);
}

std::string StreamServer::url(std::string_view path) const {
  return (tls_ == nullptr ? "http://127.0.0.1:" : "https://127.0.0.1:") + std::to_string(port_) +
         std::string(path);
}

std::string StreamServer::server_names() const {
  const std::scoped_lock lock(mutex_);
  return server_names_;
}

int connect_to(std::uint16_t port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  require_system(
      connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
      "connect");
  return descriptor;
}

StreamServer::Handler answers(std::string reply) {
  return [reply = std::move(reply)](Stream& stream) {
    while (!stream.read_request().empty() && stream.write(reply)) {
    }
  };
}

}  // namespace execcred::test
