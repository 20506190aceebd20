// SPDX-License-Identifier: Apache-2.0
//
// The part of HTTP/1.1 (RFC 9112) that a test server needs: one request in, one response out.
//
// Requests are bounded and read strictly: a client under test that sends something odd should see
// a refusal, not a lenient server. Chunked request bodies are refused; no client here sends one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace execcred::test {

inline constexpr std::size_t kMaxHeadBytes = std::size_t{64} * 1024;
inline constexpr std::size_t kMaxBodyBytes = std::size_t{1024} * 1024;

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method = {};
  std::string target = {};  // as sent: path and query
  std::vector<HttpHeader> headers = {};
  std::string body = {};

  // The first header of that name in any case; absent is not the same as empty.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;

  // The target up to its query.
  [[nodiscard]] std::string_view path() const;
};

struct HttpResponse {
  int status = 200;
  std::vector<std::string> headers = {};  // whole lines, sent as they are: "Location: …"
  std::string body = {};
};

// A request that is answered with this status and reaches no handler.
class HttpRefusal : public std::runtime_error {
 public:
  HttpRefusal(int status, const std::string& reason)
      : std::runtime_error(reason), status_(status) {}

  [[nodiscard]] int status() const { return status_; }

 private:
  int status_;
};

// The client closed, reset or stalled before its request was complete.
class PeerGone : public std::runtime_error {
 public:
  PeerGone() : std::runtime_error("the client went away") {}
};

// Fills a part of the buffer and returns its size; 0 means that nothing more will come.
using ReadBytes = std::function<std::size_t(std::span<char>)>;

// Throws HttpRefusal or PeerGone.
HttpRequest read_request(const ReadBytes& read_bytes);

// Adds Content-Length (unless the response has its own, right or wrong) and "Connection: close".
std::string to_wire(const HttpResponse& response);

}  // namespace execcred::test
