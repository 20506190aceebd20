// SPDX-License-Identifier: Apache-2.0
// The result of a reply, by its header blocks.
#include <execcred/spiffe/grpc.hpp>

#include "unit/expect.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr std::uint32_t kNoError = 0;
constexpr std::uint32_t kInternalError = 2;
constexpr std::uint32_t kRefusedStream = 7;

const Headers kHead = {{":status", "200"}, {"content-type", "application/grpc"}};

void add(GrpcReplyReader& reader, const Headers& headers, bool ends_stream = false) {
  reader.begin_headers();
  for (const auto& [name, value] : headers) reader.add_header(name, value);
  reader.end_headers(ends_stream);
}

Headers trailers(const std::string& status, const std::string& message = {}) {
  return {{"grpc-status", status}, {"grpc-message", message}};
}

Headers with_status(Headers headers, const std::string& status) {
  headers.emplace_back("grpc-status", status);
  return headers;
}

// A unary reply, or the first message of a stream, written by `say` and then closed.
GrpcReply read(const std::function<void(GrpcReplyReader&)>& say,
               std::uint32_t http2_error = kNoError, bool takes_first = false) {
  GrpcReplyReader reader({.takes_first = takes_first, .max_message = 100});
  say(reader);
  reader.end_stream(http2_error);
  REQUIRE(reader.is_done());
  CHECK_FALSE(reader.should_cancel());
  return reader.take();
}

void check_fails(const GrpcReply& reply, GrpcCode code, bool is_malformed, std::string_view part) {
  CAPTURE(part);
  CAPTURE(reply.text);
  CHECK(reply.code == code);
  CHECK(reply.is_malformed == is_malformed);
  CHECK(contains(reply.text, part));
  CHECK(reply.message.empty());
}

TEST_CASE("GrpcReplyReader: a message and its status are an answer") {
  const GrpcReply reply = read([](GrpcReplyReader& reader) {
    add(reader, kHead);
    reader.add_data(grpc_frame("mess").substr(0, 7));
    reader.add_data(grpc_frame("mess").substr(7));
    reader.add_data("");
    CHECK_FALSE(reader.is_done());
    add(reader, trailers("0"), true);
  });
  CHECK(reply.code == GrpcCode::ok);
  CHECK(reply.message.reveal() == "mess");
  CHECK_FALSE(reply.is_malformed);
}

TEST_CASE("GrpcReplyReader: a stream's first message is the answer, and the rest is ignored") {
  for (const std::string& more : {std::string(), grpc_frame("second"), std::string("\1junk")}) {
    GrpcReplyReader reader({.takes_first = true, .max_message = 100});
    add(reader, kHead);
    reader.add_data(grpc_frame("first").substr(0, 7));
    CHECK_FALSE(reader.is_done());
    reader.add_data(grpc_frame("first").substr(7) + more);
    REQUIRE(reader.is_done());
    CHECK(reader.should_cancel());
    reader.add_data(more);
    add(reader, with_status(trailers("13"), "13"), true);
    reader.end_stream(kInternalError);
    CHECK_FALSE(reader.should_cancel());
    const GrpcReply reply = reader.take();
    CHECK(reply.code == GrpcCode::ok);
    CHECK(reply.message.reveal() == "first");
  }
}

TEST_CASE("GrpcReplyReader: a failure needs no message, and its grpc-message is decoded") {
  for (const bool takes_first : {false, true}) {
    const GrpcReply reply = read(
        [](GrpcReplyReader& reader) {
          Headers headers = with_status(kHead, "7");
          headers.emplace_back("grpc-message", "no%20identity \x1b[2Jissued %E2%80%AE");
          add(reader, headers, true);
        },
        kNoError, takes_first);
    check_fails(reply, GrpcCode::permission_denied, false, "no identity [2Jissued \\x");
  }
  check_fails(read([](GrpcReplyReader& reader) {
                add(reader, kHead);
                reader.add_data(grpc_frame("message"));
                add(reader, trailers("14", "going away"), true);
              }),
              GrpcCode::unavailable, false, "going away");
}

TEST_CASE("GrpcReplyReader: a grpc-status counts only at the end, and may not be repeated") {
  // in an informational block, and in a response that goes on
  check_fails(read([](GrpcReplyReader& reader) {
                add(reader, {{":status", "103"}, {"grpc-status", "7"}});
                add(reader, with_status(kHead, "7"));
                reader.add_data(grpc_frame("message"));
              }),
              GrpcCode::internal, true, "the reply has no grpc-status");
  const GrpcReply good = read([](GrpcReplyReader& reader) {
    add(reader, with_status(kHead, "7"));
    reader.add_data(grpc_frame("message"));
    add(reader, trailers("0"), true);
  });
  CHECK(good.code == GrpcCode::ok);
  check_fails(read([](GrpcReplyReader& reader) {
                Headers twice = with_status(kHead, "0");
                add(reader, with_status(twice, "7"), true);
              }),
              GrpcCode::internal, true, "more than one grpc-status");
  for (const std::string status : {"banana", "", "00", "-1", " 0"}) {
    check_fails(read([&status](GrpcReplyReader& reader) {
                  add(reader, kHead);
                  reader.add_data(grpc_frame("message"));
                  add(reader, trailers(status), true);
                }),
                GrpcCode::internal, true, "the reply's grpc-status is '" + status + "'");
  }
}

TEST_CASE("GrpcReplyReader: messages that are missing, too many, cut or malformed") {
  const auto ends_ok = [](const std::string& data) {
    return read([&data](GrpcReplyReader& reader) {
      add(reader, kHead);
      reader.add_data(data);
      add(reader, trailers("0"), true);
    });
  };
  check_fails(ends_ok(""), GrpcCode::internal, true, "the reply says OK, but has no message");
  check_fails(ends_ok(grpc_frame("message").substr(0, 8)), GrpcCode::unavailable, false,
              "the reply was cut");
  check_fails(ends_ok(grpc_frame("a") + grpc_frame("b")), GrpcCode::internal, true,
              "more than one message");
  check_fails(ends_ok(grpc_frame("a") + "x"), GrpcCode::internal, true, "more than one message");
  check_fails(ends_ok("\1" + grpc_frame("a").substr(1)), GrpcCode::internal, true, "compressed");
  check_fails(ends_ok(std::string("\0\xff\xff\xff\xff", 5)), GrpcCode::internal, true,
              "announces a message of 4294967295 bytes");
  const GrpcReply empty = ends_ok(grpc_frame(""));
  CHECK(empty.code == GrpcCode::ok);
  CHECK(empty.message.empty());
}

TEST_CASE("GrpcReplyReader: a stream that was reset, or ended without a status") {
  const auto cut = [](std::string_view data, std::uint32_t error) {
    return read(
        [data](GrpcReplyReader& reader) {
          add(reader, kHead);
          reader.add_data(data);
        },
        error);
  };
  const std::string whole = grpc_frame("message");
  check_fails(cut(whole, kRefusedStream), GrpcCode::unavailable, false, "HTTP/2 error 7");
  check_fails(cut(whole, kInternalError), GrpcCode::internal, false, "HTTP/2 error 2");
  check_fails(cut(whole, kNoError), GrpcCode::internal, true, "the reply has no grpc-status");
  check_fails(cut(whole.substr(0, 3), kNoError), GrpcCode::unavailable, false, "was cut");
  check_fails(read([](GrpcReplyReader&) {}), GrpcCode::internal, true, "has no HTTP status");
  check_fails(read([](GrpcReplyReader&) {}, kRefusedStream), GrpcCode::unavailable, false, "7");
  // a reset after the trailers changes nothing
  const GrpcReply good = read(
      [&whole](GrpcReplyReader& reader) {
        add(reader, kHead);
        reader.add_data(whole);
        add(reader, trailers("0"), true);
      },
      kInternalError);
  CHECK(good.code == GrpcCode::ok);
}

TEST_CASE("GrpcReplyReader: a reply that is not gRPC, by its HTTP status or type") {
  struct Case {
    std::string status;
    GrpcCode code;
    bool is_malformed;
  };
  for (const Case& c :
       {Case{"404", GrpcCode::unimplemented, true}, Case{"403", GrpcCode::permission_denied, true},
        Case{"301", GrpcCode::unknown, true}, Case{"429", GrpcCode::unavailable, false},
        Case{"503", GrpcCode::unavailable, false}, Case{"500", GrpcCode::unknown, false}}) {
    check_fails(read([&c](GrpcReplyReader& reader) {
                  add(reader, {{":status", c.status}, {"content-type", "text/html"}});
                  reader.add_data("<html>");
                }),
                c.code, c.is_malformed, "HTTP status " + c.status);
  }
  check_fails(read([](GrpcReplyReader& reader) {
                add(reader, {{":status", "200"}, {"content-type", "text/html"}}, true);
              }),
              GrpcCode::internal, true, "the reply is 'text/html', not application/grpc");
  check_fails(read([](GrpcReplyReader& reader) { reader.break_rules("a bad frame"); }),
              GrpcCode::internal, true, "the reply is no valid HTTP/2: a bad frame");
}

TEST_CASE("GrpcReplyReader: endless headers are refused") {
  check_fails(read([](GrpcReplyReader& reader) {
                add(reader, kHead);
                reader.begin_headers();
                for (int i = 0; i < 70; ++i) reader.add_header("x", std::string(1000, 'x'));
              }),
              GrpcCode::internal, true, "the reply's headers are larger than 64 KiB");
  check_fails(read([](GrpcReplyReader& reader) {
                add(reader, kHead);
                reader.begin_headers();
                for (int i = 0; i < 3000; ++i) reader.add_header("", "");
              }),
              GrpcCode::internal, true, "larger than 64 KiB");
}

}  // namespace
}  // namespace execcred
