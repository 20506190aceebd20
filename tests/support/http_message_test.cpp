// SPDX-License-Identifier: Apache-2.0
#include "http_message.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

// Hands the text out in pieces, as a network does.
HttpRequest read_in_pieces(std::string_view text, std::size_t piece) {
  return read_request([&](std::span<char> buffer) {
    const std::size_t size = std::min({piece, buffer.size(), text.size()});
    std::memcpy(buffer.data(), text.data(), size);
    text.remove_prefix(size);
    return size;
  });
}

int status_of_refusal(std::string_view text) {
  try {
    read_in_pieces(text, text.size());
  } catch (const HttpRefusal& refusal) {
    return refusal.status();
  }
  return 0;
}

TEST_CASE("read_request: the pieces in which a request arrives do not matter") {
  constexpr std::string_view kText =
      "POST /token?x=1 HTTP/1.1\r\nhost: a\r\nX-Empty:\r\ncontent-length: 5\r\n\r\nhelloEXTRA";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, kText.size()}) {
    CAPTURE(piece);
    const HttpRequest request = read_in_pieces(kText, piece);
    CHECK(request.method == "POST");
    CHECK(request.target == "/token?x=1");
    CHECK(request.path() == "/token");
    CHECK(request.header("HOST") == "a");
    CHECK(request.header("x-empty") == "");
    CHECK_FALSE(request.header("absent").has_value());
    CHECK(request.body == "hello");
  }
}

TEST_CASE("read_request: a malformed or too large request is refused with a fitting status") {
  struct Case {
    std::string text;
    int status;
  };
  const Case cases[] = {
      {"GET /\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\n\r\n", 400},
      {"GET / x HTTP/1.1\r\n\r\n", 400},
      {"GET  HTTP/1.1\r\n\r\n", 400},
      {"GET http://evil.example/ HTTP/1.1\r\n\r\n", 400},
      {"G\x01T / HTTP/1.1\r\n\r\n", 400},
      {"GET /\x01 HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nName : x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nA: b\nInjected: c\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413},
      {"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501},
      {"GET / HTTP/1.1\r\nA: " + std::string(kMaxHeadBytes, 'a') + "\r\n\r\n", 431},
      {std::string(2 * kMaxHeadBytes, 'a'), 431},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text.substr(0, 80));
    CHECK(status_of_refusal(each.text) == each.status);
  }
}

TEST_CASE("read_request: a client that stops in the middle is gone, not refused") {
  CHECK_THROWS_AS(read_in_pieces("", 1), PeerGone);
  CHECK_THROWS_AS(read_in_pieces("GET / HTTP/1.1\r\n", 8), PeerGone);
  CHECK_THROWS_AS(read_in_pieces("GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf", 8), PeerGone);
}

TEST_CASE("to_wire: adds Content-Length, unless the test sets one, which may be wrong") {
  CHECK(to_wire({.status = 200, .headers = {"A: b"}, .body = "xyz"}) ==
        "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\nConnection: close\r\n\r\nxyz");
  CHECK(to_wire({.status = 299, .headers = {"content-length: 9"}, .body = "xyz"}) ==
        "HTTP/1.1 299 \r\ncontent-length: 9\r\nConnection: close\r\n\r\nxyz");
}

}  // namespace
}  // namespace execcred::test
