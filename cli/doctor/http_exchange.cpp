// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 (RFC 9112) over the connection of connection.hpp.
#include "connection.hpp"

#include <execcred/base/cause.hpp>
#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>
#include <execcred/base/version.hpp>
#include <execcred/http/reply.hpp>

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace execcred::doctor {
namespace {

constexpr std::size_t kMaxReply = 1024 * 1024;

Error server_error(std::string message) {
  return Error{.kind = Error::Kind::unavailable,
               .message = std::move(message),
               .cause = cause::kServerError};
}

Error no_http(std::string message) {
  return Error{.kind = Error::Kind::no_credential,
               .message = std::move(message),
               .hint = "is this the address of a Kubernetes API server?",
               .cause = cause::kNotAKubernetesApi};
}

template <int base>
std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// How the end of the body is determined.
struct Framing {
  bool is_chunked = false;
  std::optional<std::size_t> length = std::nullopt;
};

Result<Framing> framing_of(const HttpResponse& response, std::string_view method) {
  Framing framing;
  if (method == "HEAD" || response.status == 204 || response.status == 304) {
    framing.length = 0;
    return framing;
  }
  if (const auto coding = response.header("transfer-encoding")) {
    framing.is_chunked = ascii_lower(*coding) == "chunked";
    if (framing.is_chunked) return framing;
    return no_http("the reply has a transfer coding that is not chunked");
  }
  if (const auto length = response.header("content-length")) {
    framing.length = number<10>(*length);
    if (!framing.length) return no_http("the reply has a malformed Content-Length");
  }
  return framing;
}

bool closes(const HttpResponse& response) {
  const auto connection = response.header("connection");
  return connection && ascii_lower(*connection).find("close") != std::string::npos;
}

}  // namespace

// The error of a connection that was cut. Before the TLS connection to the server is open, it is
// the proxy's failure.
Error Connection::cut(std::string message) const {
  Error error = server_error(std::move(message));
  if (!is_open_) error.cause = cause::kProxyFailed;
  return error;
}

Status Connection::write_all(std::string_view text, TimePoint deadline) {
  while (!text.empty()) {
    short events = POLLOUT;
    if (active_ == nullptr) {
      const ssize_t count = send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (count >= 0) {
        text.remove_prefix(static_cast<std::size_t>(count));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return cut("the connection was cut: " + system_message(errno));
    } else {
      ERR_clear_error();
      const int count = SSL_write(active_, text.data(), static_cast<int>(text.size()));
      if (count > 0) {
        text.remove_prefix(static_cast<std::size_t>(count));
        continue;
      }
      const int reason = SSL_get_error(active_, count);
      ERR_clear_error();
      if (reason == SSL_ERROR_WANT_READ) {
        events = POLLIN;
      } else if (reason != SSL_ERROR_WANT_WRITE) {
        return cut("the connection was cut while the request was sent");
      }
    }
    const Waited waited = wait(events, deadline);
    if (waited != Waited::ready) {
      return cut("the server did not accept the request within " +
                 format_duration(patience_.limit));
    }
  }
  return {};
}

// Returns 0 at the end of the connection.
Result<std::size_t> Connection::read_some(char* buffer, std::size_t size, TimePoint deadline) {
  for (;;) {
    short events = POLLIN;
    if (active_ == nullptr) {
      const ssize_t count = recv(socket_.get(), buffer, size, 0);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno == EINTR) continue;
      if (errno == ECONNRESET) return std::size_t{0};
      if (errno != EAGAIN) return cut("the connection failed: " + system_message(errno));
    } else {
      ERR_clear_error();
      const int count = SSL_read(active_, buffer, static_cast<int>(size));
      if (count > 0) return static_cast<std::size_t>(count);
      const int reason = SSL_get_error(active_, count);
      ERR_clear_error();
      if (reason == SSL_ERROR_WANT_WRITE) {
        events = POLLOUT;
      } else if (reason != SSL_ERROR_WANT_READ) {
        if (is_refused()) return tls_failure(reason, active_ == ssl_.get(), true);
        return std::size_t{0};
      }
    }
    const Waited waited = wait(events, deadline);
    if (waited == Waited::ready) continue;
    Error silence = cut("there was no reply within " + format_duration(patience_.limit));
    if (waited == Waited::stopped) silence.message = "it was interrupted";
    return silence;
  }
}

namespace {

// Reads a reply piece by piece. `more` appends the next bytes to the buffer, and returns false at
// the end of the connection.
class ReplyReader {
 public:
  using More = std::function<Result<bool>(std::string&)>;

  ReplyReader(std::string& buffer, More more) : buffer_(buffer), more_(std::move(more)) {}

  Status read(std::string_view method, HttpReply& reply) {
    TRY(read_head(reply));
    const Framing framing = TRY(framing_of(reply.response(), method));
    if (framing.is_chunked) return read_chunks(reply);
    if (framing.length) return read_body(*framing.length, reply);
    ends_connection_ = true;
    return read_rest(reply);
  }

  bool has_begun() const { return has_begun_; }
  bool ends_connection() const { return ends_connection_; }

 private:
  Result<std::string> line() {
    for (;;) {
      const std::size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        has_begun_ = true;
        std::string text = buffer_.substr(0, end + 1);
        buffer_.erase(0, end + 1);
        return text;
      }
      if (buffer_.size() > HttpReply::kMaxHead) return no_http("the reply is not HTTP/1.1");
      has_begun_ = has_begun_ || !buffer_.empty();
      TRY(need_more());
    }
  }

  Status need_more() {
    const bool is_more = TRY(more_(buffer_));
    if (is_more) return {};
    return server_error(has_begun_ ? "the connection was cut in the middle of the reply"
                                   : "the connection was closed without a reply");
  }

  Status read_head(HttpReply& reply) {
    for (;;) {
      const std::string text = TRY(line());
      if (!reply.take_header_line(text)) return no_http("the reply is not HTTP/1.1");
      if (reply.has_head()) return {};
    }
  }

  Status take(std::size_t size, HttpReply& reply) {
    while (size > 0) {
      if (buffer_.empty()) TRY(need_more());
      const std::size_t count = std::min(size, buffer_.size());
      if (!reply.take_body(std::string_view(buffer_).substr(0, count))) {
        return no_http("the reply is larger than 1 MiB");
      }
      buffer_.erase(0, count);
      size -= count;
    }
    return {};
  }

  Status read_body(std::size_t size, HttpReply& reply) { return take(size, reply); }

  Status read_chunks(HttpReply& reply) {
    for (;;) {
      const std::string head = TRY(line());
      const std::string_view digits = trim(std::string_view(head).substr(0, head.find(';')));
      const std::optional<std::size_t> size = number<16>(digits);
      if (!size || *size > kMaxReply) return no_http("the reply has a malformed chunk");
      if (*size == 0) break;
      TRY(take(*size, reply));
      const std::string end = TRY(line());
      if (!trim(end).empty()) return no_http("the reply has a malformed chunk");
    }
    for (;;) {
      const std::string trailer = TRY(line());
      if (trim(trailer).empty()) return {};
    }
  }

  Status read_rest(HttpReply& reply) {
    for (;;) {
      TRY(take(buffer_.size(), reply));
      const bool is_more = TRY(more_(buffer_));
      if (!is_more) return {};
    }
  }

  std::string& buffer_;
  More more_;
  bool has_begun_ = false;
  bool ends_connection_ = false;
};

}  // namespace

Result<HttpResponse> Connection::exchange_once(std::string_view method, const std::string& request,
                                               const SecretString& authorization,
                                               std::string_view body, bool& was_closed) {
  const TimePoint end = deadline();
  SecretString text(request);
  if (!authorization.empty()) {
    text.append("Authorization: Bearer ");
    text.append(authorization.reveal());
    text.append("\r\n");
  }
  text.append("\r\n");
  text.append(body);
  const Status written = write_all(text.reveal(), end);
  was_closed = !written;
  TRY(written);
  ReplyReader reader(unread_, [this, end](std::string& buffer) -> Result<bool> {
    std::array<char, 16 * 1024> bytes;
    const std::size_t count = TRY(read_some(bytes.data(), bytes.size(), end));
    buffer.append(bytes.data(), count);
    return count > 0;
  });
  HttpReply reply(kMaxReply);
  const Status read = reader.read(method, reply);
  was_closed =
      !read && !reader.has_begun() && !is_refused() && std::chrono::steady_clock::now() < end;
  TRY(read);
  if (reader.ends_connection() || closes(reply.response())) is_open_ = false;
  return std::move(reply.response());
}

Result<HttpResponse> Connection::exchange(std::string_view method, std::string_view path,
                                          std::string_view body, const SecretString& authorization,
                                          std::string_view headers) {
  std::string request = std::string(method) + " " + route_.server.path + std::string(path) +
                        " HTTP/1.1\r\nHost: " + route_.authority() + "\r\nUser-Agent: execcred/" +
                        kVersion + "\r\nAccept: application/json, application/jwk-set+json\r\n";
  if (!body.empty()) {
    request +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  request += headers;
  bool is_new = !is_open_;
  for (;;) {
    if (!is_open_) TRY(open());
    if (!authorization.empty() && !is_verified()) {
      return Error{.message = "a credential is not sent to a server that is not verified"};
    }
    bool was_closed = false;
    Result<HttpResponse> response = exchange_once(method, request, authorization, body, was_closed);
    if (response) return response;
    is_open_ = false;
    // A server may close a kept connection at any time.
    if (!was_closed || is_new) return response;
    is_new = true;
  }
}

}  // namespace execcred::doctor
