// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/grpc.hpp>

#include "unit/expect.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST_CASE("parse_grpc_status: only decimal digits") {
  for (int i = 0; i <= 16; ++i) {
    CAPTURE(i);
    CHECK(parse_grpc_status(std::to_string(i)) == static_cast<GrpcCode>(i));
  }
  CHECK(parse_grpc_status("0") == GrpcCode::ok);
  CHECK(parse_grpc_status("7") == GrpcCode::permission_denied);
  CHECK(parse_grpc_status("14") == GrpcCode::unavailable);
  for (const std::string_view text : {"17", "99", "1000", "4294967295"}) {
    CHECK(parse_grpc_status(text) == GrpcCode::unknown);
  }
  for (const std::string& text :
       {""s, "banana"s, "OK"s, " 0"s, "0 "s, "00"s, "07"s, "+0"s, "-0"s, "-1"s, "0x0"s, "1.0"s,
        "1e1"s, "0,0"s, "0\0"s, "4294967296"s, "99999999999999999999"s}) {
    CAPTURE(text);
    CHECK(parse_grpc_status(text) == std::nullopt);
  }
}

TEST_CASE("name_of: the names that gRPC's libraries print") {
  CHECK(name_of(GrpcCode::ok) == "OK");
  CHECK(name_of(GrpcCode::permission_denied) == "PermissionDenied");
  CHECK(name_of(GrpcCode::unimplemented) == "Unimplemented");
  CHECK(name_of(GrpcCode::unavailable) == "Unavailable");
  CHECK(name_of(GrpcCode::unauthenticated) == "Unauthenticated");
}

TEST_CASE("decode_grpc_message: valid escapes, no control characters, a limited length" *
          doctest::description("promise 20")) {
  struct Case {
    std::string text;
    std::string wanted;
  };
  for (const Case& c : {
           Case{"", ""},
           Case{"no identity issued", "no identity issued"},
           Case{"a%20b", "a b"},
           Case{"%41%5a%7a", "AZz"},
           Case{"%5A%7A", "Zz"},
           Case{"100%", "100%"},
           Case{"100%2", "100%2"},
           Case{"%zz%2", "%zz%2"},
           Case{"%g0%4g", "%g0%4g"},
           Case{"%%41", "%A"},
           Case{"%2541", "%41"},
           Case{"%E4%B8%96", "\xe4\xb8\x96"},
           Case{"\u4e16", "\u4e16"},
           Case{"a%00b%0ac%0D%1b%7fd", "abcd"},
           Case{"a\x01\x1b[2Jb\x7f\n", "a[2Jb"},
       }) {
    CAPTURE(c.text);
    CHECK(decode_grpc_message(c.text) == c.wanted);
  }
  CHECK(decode_grpc_message(std::string(5000, 'x')) == std::string(1024, 'x'));
  CHECK(decode_grpc_message(std::string(1024, 'x')).size() == 1024);
  std::string escapes;
  for (int i = 0; i < 5000; ++i) escapes += "%78";
  CHECK(decode_grpc_message(escapes) == std::string(1024, 'x'));
}

TEST_CASE("code_of_http_status: as gRPC maps it") {
  CHECK(code_of_http_status(400) == GrpcCode::internal);
  CHECK(code_of_http_status(401) == GrpcCode::unauthenticated);
  CHECK(code_of_http_status(403) == GrpcCode::permission_denied);
  CHECK(code_of_http_status(404) == GrpcCode::unimplemented);
  for (const int status : {429, 502, 503, 504}) {
    CHECK(code_of_http_status(status) == GrpcCode::unavailable);
  }
  for (const int status : {0, 200, 204, 301, 405, 500, 501, 505}) {
    CHECK(code_of_http_status(status) == GrpcCode::unknown);
  }
}

TEST_CASE("code_of_http2_error: as gRPC maps it") {
  CHECK(code_of_http2_error(0x7) == GrpcCode::unavailable);
  CHECK(code_of_http2_error(0x8) == GrpcCode::cancelled);
  CHECK(code_of_http2_error(0xb) == GrpcCode::resource_exhausted);
  CHECK(code_of_http2_error(0xc) == GrpcCode::permission_denied);
  for (const std::uint32_t error : {0U, 1U, 2U, 3U, 6U, 9U, 0xaU, 0xdU, 0xffffffffU}) {
    CHECK(code_of_http2_error(error) == GrpcCode::internal);
  }
}

TEST_CASE("grpc_timeout: at most eight digits, at least 1n, never rounded up") {
  struct Case {
    Duration left;
    std::string wanted;
  };
  for (const Case& c : {
           Case{-1s, "1n"},
           Case{0ns, "1n"},
           Case{1ns, "1n"},
           Case{99'999'999ns, "99999999n"},
           Case{100ms, "100000u"},
           Case{100'000'999ns, "100000u"},
           Case{99'999'999us, "99999999u"},
           Case{99'999'999us + 999ns, "99999999u"},
           Case{100s, "100000m"},
           Case{100s + 999us, "100000m"},
           Case{99'999'999ms, "99999999m"},
           Case{240h, "99999999m"},
       }) {
    CHECK(grpc_timeout(c.left) == c.wanted);
  }
}

TEST_CASE("grpc_frame: no compression, and the size as four bytes") {
  CHECK(grpc_frame("") == "\0\0\0\0\0"s);
  CHECK(grpc_frame("ab") == "\0\0\0\0\2ab"s);
  CHECK(grpc_frame(std::string(0x010203, 'x')).substr(0, 5) == "\0\0\1\2\3"s);
}

// Reads a reply in pieces of `size` bytes, to the end of a first message.
struct Read {
  Status status;
  bool is_complete = false;
  bool is_cut = false;
  std::string message = {};
  std::string left = {};
};

Read read(const std::string& reply, std::size_t size, std::size_t max = 100) {
  GrpcMessageReader reader(max);
  Read read;
  for (std::size_t at = 0; at < reply.size() && read.status; at += size) {
    std::string_view piece = std::string_view(reply).substr(at, size);
    read.status = reader.take_from(piece);
    read.left += piece;
  }
  read.is_complete = reader.is_complete();
  read.is_cut = reader.is_cut();
  read.message = reader.take().reveal();
  return read;
}

TEST_CASE("GrpcMessageReader: one message, from pieces of any size") {
  for (const std::string& message : {""s, "a"s, "a\0b"s, std::string(100, 'x')}) {
    for (std::size_t size = 1; size < 110; ++size) {
      CAPTURE(size);
      const Read whole = read(grpc_frame(message), size);
      REQUIRE(whole.status);
      CHECK(whole.is_complete);
      CHECK_FALSE(whole.is_cut);
      CHECK(whole.message == message);
      CHECK(whole.left.empty());
    }
  }
}

TEST_CASE("GrpcMessageReader: bytes after the message are not read") {
  const std::string reply = grpc_frame("first") + grpc_frame("second") + "x";
  for (std::size_t size = 1; size <= reply.size(); ++size) {
    CAPTURE(size);
    const Read first = read(reply, size);
    REQUIRE(first.status);
    CHECK(first.is_complete);
    CHECK(first.message == "first");
    CHECK(first.left == grpc_frame("second") + "x");
  }
  CHECK(read(grpc_frame("") + "x", 100).left == "x");
}

TEST_CASE("GrpcMessageReader: a message without its end is reported as cut") {
  const std::string reply = grpc_frame("message");
  for (std::size_t kept = 1; kept < reply.size(); ++kept) {
    CAPTURE(kept);
    const Read cut = read(reply.substr(0, kept), 3);
    REQUIRE(cut.status);
    CHECK(cut.is_cut);
    CHECK_FALSE(cut.is_complete);
  }
  const Read nothing = read("", 1);
  CHECK_FALSE(nothing.is_cut);
  CHECK_FALSE(nothing.is_complete);
}

TEST_CASE("GrpcMessageReader: a compressed or too large message and unknown flags are refused") {
  struct Case {
    std::string reply;
    std::string problem;
  };
  for (const Case& c : {
           Case{"\1\0\0\0\1a"s, "the reply is compressed"},
           Case{"\1\0\0\0\0"s, "the reply is compressed"},
           Case{"\2\0\0\0\1a"s, "unknown flags"},
           Case{"\x80\0\0\0\1a"s, "unknown flags"},
           Case{"<html"s, "unknown flags"},
           Case{"\0\0\0\0\x65"s, "announces a message of 101 bytes; at most 100 are accepted"},
           Case{"\0\xff\xff\xff\xff"s, "announces a message of 4294967295 bytes"},
           Case{"\0\x80\0\0\0"s, "announces a message of 2147483648 bytes"},
           Case{"\0\1\0\0\0"s, "announces a message of 16777216 bytes"},
           Case{"\0\0\1\0\0"s, "announces a message of 65536 bytes"},
       }) {
    for (const std::size_t size : {1U, 3U, 100U}) {
      const Read refused = read(c.reply, size);
      check_fails(refused.status, Error::Kind::no_credential, c.problem);
      CHECK(refused.message.empty());
    }
  }
  CHECK(read(grpc_frame(std::string(100, 'x')), 7).is_complete);
}

}  // namespace
}  // namespace execcred
