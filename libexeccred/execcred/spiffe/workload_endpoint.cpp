// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/workload_endpoint.hpp>

#include <execcred/base/cause.hpp>
#include <execcred/base/error.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/os/file_walk.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace execcred {
namespace {

using std::chrono::steady_clock;

constexpr const char* kNamed = "SPIFFE_ENDPOINT_SOCKET or --socket names the agent's socket";

// Connecting to a file or a directory fails with the same error as connecting to a socket without a
// listener.
bool is_no_socket(const std::string& path) {
  struct stat status = {};
  return !path.empty() && ::stat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode);
}

Error failure(const WorkloadEndpoint& endpoint, int error_number) {
  Error error = {.kind = Error::Kind::unavailable,
                 .message = "cannot connect to the SPIFFE Workload API at " +
                            in_quotes(endpoint.text) + ": " + system_message(error_number),
                 .is_transient = true,
                 .is_local = error_number != ENOENT && error_number != EAGAIN &&
                             !is_network_failure(error_number)};
  switch (error_number) {
    case ENOENT:
      error.hint =
          "is an agent running, and its socket's folder mounted here (the SPIFFE CSI "
          "driver, or a hostPath)?";
      return error;
    case ECONNREFUSED:
      if (is_no_socket(endpoint.path)) {
        error.message = in_quotes(endpoint.path) + " is no socket";
        error.hint = kNamed;
        break;
      }
      error.hint = "the agent has ended or is starting; see its log";
      return error;
    case EACCES:
    case EPERM:
      error.hint = "this process, uid " + std::to_string(::geteuid()) + ", gid " +
                   std::to_string(::getegid()) +
                   ", needs write permission on the socket, and SELinux or AppArmor must allow it";
      error.cause = cause::kSourceForbidden;
      break;
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EPROTOTYPE:
      error.hint = kNamed;
      break;
    default:
      return error;
  }
  error.kind = Error::Kind::configuration;
  error.is_transient = false;
  return error;
}

socklen_t fill(const WorkloadEndpoint& endpoint, sockaddr_storage& storage) {
  if (!endpoint.path.empty()) {
    auto& address = reinterpret_cast<sockaddr_un&>(storage);
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, endpoint.path.data(), endpoint.path.size());
    return sizeof(sockaddr_un);
  }
  const std::uint8_t* bytes = endpoint.address.bytes.data();
  if (endpoint.address.v6) {
    auto& address = reinterpret_cast<sockaddr_in6&>(storage);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(endpoint.port);
    std::memcpy(&address.sin6_addr, bytes, sizeof address.sin6_addr);
    return sizeof(sockaddr_in6);
  }
  auto& address = reinterpret_cast<sockaddr_in&>(storage);
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  std::memcpy(&address.sin_addr, bytes, sizeof address.sin_addr);
  return sizeof(sockaddr_in);
}

// Waits until the connection is made or fails. Returns its errno value, or 0; ETIMEDOUT at the
// deadline.
int wait_for_connection(int socket, steady_clock::time_point deadline) {
  pollfd descriptor = {.fd = socket, .events = POLLOUT, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return ETIMEDOUT;
    const int ready =
        ::poll(&descriptor, 1, static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX)));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready > 0) break;
  }
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

Result<FileDescriptor> connect_to(const WorkloadEndpoint& endpoint,
                                  steady_clock::time_point deadline) {
  if (!endpoint.path.empty()) {
    TRY(check_way_to_socket(endpoint.path).context("looking at the Workload API's socket"));
  }
  sockaddr_storage storage = {};
  const socklen_t size = fill(endpoint, storage);
  FileDescriptor socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return Error{.kind = Error::Kind::unavailable,
                 .message = "cannot make a socket: " + system_message(errno),
                 .is_local = true};
  }
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size) == 0) {
    return socket;
  }
  // EAGAIN means that the queue of a Unix socket is full; no connection is in progress then.
  const int problem =
      errno == EINPROGRESS || errno == EINTR ? wait_for_connection(socket.get(), deadline) : errno;
  if (problem != 0) return failure(endpoint, problem);
  return socket;
}

namespace {

constexpr std::size_t kMaxSocketPath = 107;  // sun_path less its NUL, unix(7)
constexpr std::string_view kForms =
    "it looks like unix:///run/spire/agent.sock or tcp://127.0.0.1:8081";

Error wrong(std::string_view text, std::string_view problem,
            std::string hint = std::string(kForms)) {
  return Error::configuration(
      "the Workload API's address " + redacted_url(text) + " " + std::string(problem),
      std::move(hint));
}

Result<WorkloadEndpoint> parse_unix(std::string_view text, std::string_view rest) {
  std::string_view path = rest;
  if (path.starts_with("//")) path.remove_prefix(2);
  if (path.empty()) return wrong(text, "has no path");
  if (path.substr(0, path.find('/')).find('@') != std::string_view::npos) {
    return wrong(text, "has user information");
  }
  if (!path.starts_with('/')) {
    return wrong(text, "has a path that is not absolute",
                 "write three slashes: unix:///" + std::string(path));
  }
  if (path.starts_with("//")) return wrong(text, "has more slashes than unix:///PATH");
  if (path == "/") return wrong(text, "has no path");
  if (path.size() > kMaxSocketPath) {
    return wrong(text, "has a path of more than 107 bytes, which no socket can have");
  }
  return WorkloadEndpoint{.text = std::string(text), .path = std::string(path)};
}

// Parses //ADDRESS:PORT, with an IPv6 address in brackets.
Result<WorkloadEndpoint> parse_tcp(std::string_view text, std::string_view rest) {
  if (!rest.starts_with("//")) return wrong(text, "has no '//' behind its scheme");
  rest.remove_prefix(2);
  if (rest.find('@') != std::string_view::npos) return wrong(text, "has user information");
  if (rest.find('/') != std::string_view::npos) return wrong(text, "has a path, which tcp has not");
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.ends_with(']')) return wrong(text, "has no port");

  std::string_view host = rest.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  WorkloadEndpoint endpoint = {.text = std::string(text)};
  if (!parse_ip_address(host, endpoint.address) || endpoint.address.v6 != is_bracketed) {
    return wrong(text, "has a host that is no IP address");
  }
  const std::string_view port = rest.substr(colon + 1);
  const auto [end, problem] =
      std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (problem != std::errc() || end != port.data() + port.size() || endpoint.port == 0) {
    return wrong(text, "has no port between 1 and 65535");
  }
  return endpoint;
}

}  // namespace

Result<WorkloadEndpoint> parse_workload_endpoint(std::string_view text) {
  if (text.starts_with('/')) {
    return wrong(text, "is a path, not a URI", "write unix://" + std::string(text));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return wrong(text, "is no URI");
  const std::string_view scheme = text.substr(0, colon);
  if (scheme != "unix" && scheme != "tcp") return wrong(text, "is neither a unix nor a tcp URI");
  if (!is_visible_ascii(text)) return wrong(text, "has white space or other characters than ASCII");
  if (text.find('?') != std::string_view::npos) return wrong(text, "has a query");
  if (text.find('#') != std::string_view::npos) return wrong(text, "has a fragment");
  if (text.find('%') != std::string_view::npos) return wrong(text, "has percent-encoding");
  const std::string_view rest = text.substr(colon + 1);
  return scheme == "unix" ? parse_unix(text, rest) : parse_tcp(text, rest);
}

Result<std::string> checked_workload_endpoint(const std::string& text) {
  TRY(parse_workload_endpoint(text));
  return text;
}

}  // namespace execcred
