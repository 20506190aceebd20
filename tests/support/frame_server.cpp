// SPDX-License-Identifier: Apache-2.0
#include "frame_server.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace execcred::test {
namespace {

constexpr std::uint16_t kInitialWindowSize = 4;  // its identifier in SETTINGS
constexpr std::size_t kMaxFrame = 16384;

void require_system(bool succeeded, const char* action) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), action);
}

std::uint32_t number_in(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
  return value;
}

pid_t peer_of(int descriptor) {
  ucred peer = {};
  socklen_t size = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace

int listen_at(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string unfinished = path + "~";
  if (unfinished.size() >= sizeof address.sun_path) {
    throw std::runtime_error("the socket's path is too long: " + path);
  }
  std::memcpy(address.sun_path, unfinished.data(), unfinished.size());
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require_system(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                     chmod(unfinished.c_str(), 0777) == 0 && listen(listener, SOMAXCONN) == 0 &&
                     std::rename(unfinished.c_str(), path.c_str()) == 0,
                 "listen at a Unix socket");
  return listener;
}

std::size_t FrameServer::Visit::count(h2::Type type) const {
  const bool may_acknowledge = type == h2::Type::settings || type == h2::Type::ping;
  return static_cast<std::size_t>(
      std::count_if(frames.begin(), frames.end(), [&](const h2::Frame& frame) {
        return frame.type == type && !(may_acknowledge && (frame.flags & h2::kAck) != 0);
      }));
}

bool FrameServer::Visit::was_reset_with(std::uint32_t code) const {
  return std::any_of(frames.begin(), frames.end(), [&](const h2::Frame& frame) {
    return frame.type == h2::Type::rst_stream && frame.stream == call.stream &&
           frame.payload == h2::number32(code);
  });
}

std::optional<h2::Frame> FrameServer::Connection::read() {
  for (;;) {
    if (std::optional<h2::Frame> frame = reader_.next()) {
      keep(*frame);
      note_window(*frame);
      return frame;
    }
    std::array<char, 16384> buffer = {};
    const ssize_t count = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count <= 0) {
      server_.with_visit(number_, [](Visit& visit) { visit.has_gone = true; });
      return std::nullopt;
    }
    reader_.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

void FrameServer::Connection::keep(const h2::Frame& frame) {
  server_.with_visit(number_, [&](Visit& visit) {
    visit.has_preface = reader_.has_preface();
    visit.frames.push_back(frame);
    visit.call = reader_.call();
  });
}

void FrameServer::Connection::note_window(const h2::Frame& frame) {
  if (frame.type == h2::Type::window_update) {
    (frame.stream == 0 ? connection_window_ : stream_window_) += number_in(frame.payload);
  }
  if (frame.type != h2::Type::settings) return;
  for (std::size_t at = 0; at + 6 <= frame.payload.size(); at += 6) {
    const std::string_view pair = std::string_view(frame.payload).substr(at, 6);
    if (number_in(pair.substr(0, 2)) == kInitialWindowSize) {
      stream_window_ = number_in(pair.substr(2));
    }
  }
}

bool FrameServer::Connection::read_call() {
  while (!call().is_complete) {
    if (!read()) return false;
  }
  return true;
}

bool FrameServer::Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool FrameServer::Connection::is_taken() const {
  for (;;) {
    int unread = 0;
    if (ioctl(descriptor_, SIOCOUTQ, &unread) != 0) return false;
    pollfd gone = {.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
    if (poll(&gone, 1, 0) > 0) return false;
    if (unread == 0) return true;
    poll(nullptr, 0, 1);
  }
}

bool FrameServer::Connection::write_bytewise(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [this](const char& byte) {
    return write({&byte, 1}) && is_taken();
  });
}

bool FrameServer::Connection::write_within_windows(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::int64_t window = std::min(connection_window_, stream_window_);
    if (window <= 0) {
      if (!read()) return false;
      continue;
    }
    const std::string_view part =
        bytes.substr(0, std::min(kMaxFrame, static_cast<std::size_t>(window)));
    if (!write(h2::data(call().stream, part))) return false;
    connection_window_ -= static_cast<std::int64_t>(part.size());
    stream_window_ -= static_cast<std::int64_t>(part.size());
    bytes.remove_prefix(part.size());
  }
  return true;
}

void FrameServer::Connection::wait_for_close() {
  while (read()) {
  }
}

void FrameServer::Connection::wait_unread() const {
  pollfd gone = {.fd = descriptor_, .events = POLLRDHUP, .revents = 0};
  poll(&gone, 1, -1);
}

void FrameServer::Connection::stop_reading() const { shutdown(descriptor_, SHUT_RD); }

void FrameServer::Connection::cut() const { shutdown(descriptor_, SHUT_RDWR); }

FrameServer::FrameServer(Handler handler, Address address)
    : handler_(std::move(handler)), address_(std::move(address)) {
  if (address_.path.empty()) {
    listen_at_port();
  } else {
    listener_ = listen_at(address_.path);
  }
  acceptor_ = std::thread([this] { accept_connections(); });
}

void FrameServer::listen_at_port() {
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address =
      address_.is_ipv6 ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four);
  socklen_t size = address_.is_ipv6 ? sizeof six : sizeof four;
  listener_ = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require_system(bind(listener_, address, size) == 0 && listen(listener_, SOMAXCONN) == 0 &&
                     getsockname(listener_, address, &size) == 0,
                 "listen at a port of loopback");
  port_ = ntohs(address_.is_ipv6 ? six.sin6_port : four.sin_port);
}

FrameServer::~FrameServer() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (const Open& open : open_) shutdown(open.descriptor, SHUT_RDWR);
  for (Open& open : open_) {
    open.thread.join();
    close(open.descriptor);
  }
  close(listener_);
  if (!address_.path.empty()) unlink(address_.path.c_str());
}

void FrameServer::accept_connections() {
  for (;;) {
    const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return;
    const int on = 1;
    if (address_.path.empty()) {
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    std::size_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      number = visits_.size();
      visits_.push_back({.at = std::chrono::steady_clock::now(), .pid = peer_of(descriptor)});
    }
    open_.push_back({.descriptor = descriptor, .thread = std::thread([this, descriptor, number] {
                                                 serve(descriptor, number);
                                               })});
  }
}

void FrameServer::serve(int descriptor, std::size_t number) {
  Connection connection(*this, descriptor, number);
  try {
    handler_(connection);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "frame server: connection %zu: %s\n", number, error.what());
  }
  // The destructor closes the descriptor, so that no other connection gets its number before.
  shutdown(descriptor, SHUT_RDWR);
}

void FrameServer::with_visit(std::size_t number, const std::function<void(Visit&)>& change) {
  const std::scoped_lock lock(mutex_);
  change(visits_[number]);
}

std::string FrameServer::uri() const {
  if (!address_.path.empty()) return "unix://" + address_.path;
  return (address_.is_ipv6 ? "tcp://[::1]:" : "tcp://127.0.0.1:") + std::to_string(port_);
}

std::size_t FrameServer::connections() const {
  const std::scoped_lock lock(mutex_);
  return visits_.size();
}

std::vector<FrameServer::Visit> FrameServer::visits() const {
  const std::scoped_lock lock(mutex_);
  return visits_;
}

}  // namespace execcred::test
