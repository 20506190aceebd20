// SPDX-License-Identifier: Apache-2.0
// Answers that end too soon, violate HTTP/2, or have content that no agent sends.
#include "peer.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

using h2::Type;

}  // namespace

TEST_CASE("reply: RST_STREAM with each code") {
  for (std::uint32_t code = 0; code <= 14; ++code) {
    if (code == h2::kRefusedStream) continue;
    CAPTURE(code);
    for (const std::string& begin :
         {grpc::greeting(), grpc::begin(), grpc::begin() + h2::data(1, h2::message(good_jwt()))}) {
      const Peer peer(begin + h2::rst_stream(1, code));
      const Outcome outcome = peer.run({.timeout = milliseconds(500)});
      CHECK_FAILURE(outcome, outcome.exit_code == 1 ? 1 : 3, "the SPIFFE Workload API at");
      CHECK(outcome.elapsed < blackbox::kNoWait);
    }
  }
  check_refused(h2::settings() + h2::rst_stream(1, h2::kCancel), 3, "Cancel");
  check_refused(h2::settings() + h2::rst_stream(1, 2), 3, "Internal");
}

TEST_CASE("reply: frames that violate HTTP/2 end the call") {
  const std::string start = grpc::greeting();
  for (const std::string& bytes :
       {start + h2::data(1, "before the headers"),
        start + h2::headers(3, {{":status", "200"}}),
        start + h2::headers(2, {{":status", "200"}}),
        start + h2::headers(0, {{":status", "200"}}),
        start + h2::data(0, "x"),
        start + h2::frame(Type::ping, 0, 0, "short"),
        start + h2::frame(Type::settings, 0, 0, "short"),
        start + h2::frame(Type::settings, 0, 1, ""),
        start + h2::settings({{4, 0xffffffff}}),
        start + h2::settings({{5, 1}}),
        start + h2::window_update(0, 0),
        start + h2::window_update(0, 0x7fffffff),
        start + h2::frame(Type::rst_stream, 0, 1, "abc"),
        start + h2::frame(Type::continuation, h2::kEndHeaders, 1, ""),
        start + h2::frame_head(16385, Type::data, 0, 1) + std::string(16385, 'x'),
        start + h2::frame_head(0xffffff, Type::data, 0, 1) + std::string(20000, 'x'),
        start + h2::frame(Type::data, h2::kPadded, 1, "\xff"),
        start + h2::frame(Type::headers, h2::kPadded | h2::kEndHeaders, 1, "\xff"),
        start + h2::frame(Type::push_promise, h2::kEndHeaders, 1,
                          h2::number32(2) + h2::header_block({{":method", "GET"},
                                                              {":scheme", "http"},
                                                              {":path", "/"},
                                                              {":authority", "x"}})),
        grpc::begin() + h2::frame(Type::headers, 0, 1, "") + h2::data(1, "in a header block")}) {
    CAPTURE(blackbox::base64(bytes.substr(0, 60)));
    const Peer peer(bytes + good_rest());
    const Outcome outcome = peer.run({.timeout = milliseconds(700)});
    CHECK_FAILURE(outcome, 1, "did not answer: the reply is no valid HTTP/2");
    check_at_once(outcome);
  }
}

TEST_CASE("reply: a connection that ends at any byte of a valid answer is retried") {
  const std::string whole = good_answer();
  for (std::size_t size = 0; size < whole.size(); size += size < 90 ? 5 : 61) {
    CAPTURE(size);
    const Peer peer(grpc::first(
        1,
        [&](Connection& connection) {
          if (connection.read_call()) {
            connection.write(std::string_view(whole).substr(0, size));
          }
        },
        grpc::says(whole)));
    CHECK_SUCCESS(peer.run());
    CHECK(peer.server.connections() == 2);
  }
}

TEST_CASE("reply: a malformed message, or one with an empty mandatory field, is refused") {
  const std::string token = good_jwt();
  const JwtSvidWire svid = {.spiffe_id = kWorkload, .svid = "a.b.c"};
  for (const std::string& response :
       {jwt_svid_response({}), jwt_svid_response({{.svid = svid.svid}}),
        jwt_svid_response({{.spiffe_id = kWorkload}}), jwt_svid_response({JwtSvidWire{}}),
        std::string("\xff\xff\xff\xff"), std::string("\x0a\x7f", 2), wire_number(1, 7),
        token + "\x0a", jwt_svid_response({svid, JwtSvidWire{}})}) {
    check_refused(grpc::answer(response), 1, "agent's answer");
  }
  check_refused(grpc::answer(jwt_svid_response({{.svid = svid.svid}})), 1, "spiffe_id");
  check_refused(grpc::answer(jwt_svid_response({{.spiffe_id = kWorkload}})), 1, "svid");
  for (const X509SvidWire& wire :
       {X509SvidWire{}, X509SvidWire{.spiffe_id = kWorkload},
        X509SvidWire{.spiffe_id = kWorkload, .certificates = "x", .private_key = "y"},
        X509SvidWire{.certificates = "x", .private_key = "y", .bundle = "z"}}) {
    const Peer peer(grpc::stream_answer(x509_svid_response({wire})));
    const Outcome outcome = peer.run({.type = "x509"});
    CHECK_FAILURE(outcome, 1, "an SVID in the agent's answer has no '");
    check_at_once(outcome);
  }
}

TEST_CASE("reply: fields that later versions may add are ignored") {
  const std::string later =
      wire_number(9, 12345) + wire_field_always(10, "x") + wire_field(200, "y");
  const Peer peer(grpc::answer(later + good_jwt() + later));
  CHECK_SUCCESS(peer.run());
}

TEST_CASE("reply: a peer with another protocol is an error") {
  for (const std::string& bytes :
       {std::string("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"),
        // An alert of TLS, and a server's hello.
        std::string("\x15\x03\x01\x00\x02\x02\x46", 7),
        std::string("\x16\x03\x03\x00\x31\x02\x00\x00\x2d\x03\x03", 11) + std::string(64, 'r'),
        std::string("SSH-2.0-OpenSSH_9.2p1\r\n"), std::string(100, '\0')}) {
    const Peer peer([&](Connection& connection) {
      connection.write(bytes);
      connection.wait_for_close();
    });
    const Outcome outcome = peer.run({.timeout = milliseconds(700)});
    // Data that is shorter than a frame's header may be an incomplete frame.
    CHECK_FAILURE(outcome, bytes.size() < 9 ? 3 : 1, "the SPIFFE Workload API at");
    check_at_once(outcome);
    const Peer closing([&](Connection& connection) { connection.write(bytes); });
    const Outcome closed = closing.run({.timeout = milliseconds(700)});
    CHECK_FAILURE(closed, closed.exit_code == 1 ? 1 : 3, "the SPIFFE Workload API at");
  }
}

}  // namespace execcred::test
