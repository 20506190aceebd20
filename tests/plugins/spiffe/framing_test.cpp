// SPDX-License-Identifier: Apache-2.0
// Valid answers in every form of frames that HTTP/2 allows; a real agent sends few of these.
#include "peer.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <algorithm>

namespace execcred::test {
namespace {

using h2::Type;

std::string padded(Type type, std::uint8_t flags, std::string_view content, std::size_t padding) {
  std::string payload(1, static_cast<char>(padding));
  payload.append(content).append(padding, '\0');
  return h2::frame(type, flags | h2::kPadded, 1, payload);
}

std::string begin_block() {
  return h2::header_block({{":status", "200"}, {"content-type", "application/grpc"}});
}

// The header block in HEADERS of `first` bytes and CONTINUATIONs of `rest` bytes each.
std::string in_pieces(const std::string& block, std::size_t first, std::size_t rest,
                      std::uint8_t flags) {
  first = std::min(first, block.size() - 1);
  std::string frames = h2::frame(Type::headers, flags, 1, block.substr(0, first));
  for (std::size_t at = first; at < block.size(); at += rest) {
    const bool is_last = at + rest >= block.size();
    frames +=
        h2::frame(Type::continuation, is_last ? h2::kEndHeaders : 0, 1, block.substr(at, rest));
  }
  return frames;
}

// Checks that these bytes are a valid answer to a JWT call.
void check_good(const std::string& bytes) {
  const Peer peer(bytes);
  const Outcome outcome = peer.run();
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) != "");
  CHECK(peer.server.connections() == 1);
}

}  // namespace

TEST_CASE("framing: an answer that comes byte by byte") {
  const Peer peer([](Connection& connection) {
    if (connection.read_call() && connection.write_bytewise(good_answer())) {
      connection.wait_for_close();
    }
  });
  CHECK_SUCCESS(peer.run({.timeout = milliseconds(8000)}));
  const Peer x509([](Connection& connection) {
    if (connection.read_call() && connection.write_bytewise(grpc::stream_answer(good_x509()))) {
      connection.wait_for_close();
    }
  });
  CHECK_SUCCESS(x509.run({.type = "x509", .timeout = milliseconds(8000)}));
  CHECK(x509.server.connections() == 1);
}

TEST_CASE("framing: a message in DATA frames of every size, its head split too") {
  const std::string message = h2::message(good_jwt());
  for (const std::size_t size : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 100U, 400U}) {
    CAPTURE(size);
    std::string frames = grpc::begin();
    for (std::size_t at = 0; at < message.size(); at += size) {
      frames += h2::data(1, message.substr(at, size));
    }
    check_good(frames + grpc::trailers("0"));
  }
}

TEST_CASE("framing: headers and trailers in CONTINUATIONs") {
  const std::string trailers = h2::header_block({{"grpc-status", "0"}});
  for (const std::size_t size : {7U, 20U, 40U}) {
    CAPTURE(size);
    check_good(grpc::greeting() + in_pieces(begin_block(), size, size, 0) +
               h2::data(1, h2::message(good_jwt())) +
               in_pieces(trailers, size, size, h2::kEndStream));
  }
  // HEADERS itself has no part of the block.
  check_good(grpc::greeting() + in_pieces(begin_block(), 0, 1000, 0) + good_rest());
}

TEST_CASE("framing: padding, also of empty DATA, and a priority in HEADERS") {
  for (const std::size_t padding : {0U, 1U, 200U}) {
    CAPTURE(padding);
    check_good(grpc::greeting() + padded(Type::headers, h2::kEndHeaders, begin_block(), padding) +
               padded(Type::data, 0, h2::message(good_jwt()), padding) +
               padded(Type::data, 0, "", padding) +
               padded(Type::headers, h2::kEndHeaders | h2::kEndStream,
                      h2::header_block({{"grpc-status", "0"}}), padding));
  }
  check_good(grpc::greeting() +
             h2::frame(Type::headers, h2::kEndHeaders | h2::kPriority, 1,
                       h2::number32(0) + '\x10' + begin_block()) +
             good_rest());
}

TEST_CASE("framing: unknown frame types, flags and settings are ignored") {
  const std::string unknown = h2::frame(static_cast<Type>(0x0b), 0xff, 1, "what is this?") +
                              h2::frame(static_cast<Type>(0xfa), 0, 0, std::string(16384, 'x')) +
                              h2::frame(static_cast<Type>(0x42), 0, 77, "");
  check_good(h2::settings({{0x99, 1}, {0xffff, 0xffffffff}}) + unknown + h2::settings_ack() +
             unknown + h2::frame(Type::headers, h2::kEndHeaders | 0x42, 1, begin_block()) +
             unknown + h2::data(1, h2::message(good_jwt())) + unknown + grpc::trailers("0"));
  check_good(grpc::begin() + h2::frame(Type::priority, 0, 1, h2::number32(0) + '\x05') +
             h2::window_update(0, 1000) + h2::window_update(1, 1000) + good_rest());
}

TEST_CASE("framing: an indexed header, and a header whose name is indexed") {
  // Static index 8 is ":status: 200"; 31 is the name "content-type".
  const std::string block = h2::hpack_number(8, 7, 0x80) + h2::hpack_number(31, 6, 0x40) +
                            h2::hpack_number(16, 7, 0) + "application/grpc";
  check_good(grpc::greeting() + h2::frame(Type::headers, h2::kEndHeaders, 1, block) + good_rest());
  // In the dynamic table, whose first entry is 62; after a change of its size.
  check_good(
      grpc::greeting() +
      h2::frame(
          Type::headers, h2::kEndHeaders, 1,
          h2::hpack_number(4096, 5, 0x20) + h2::indexed_block({{":status", "200"},
                                                               {"content-type", "application/grpc"},
                                                               {"grpc-status", "0"}})) +
      h2::data(1, h2::message(good_jwt())) +
      h2::frame(Type::headers, h2::kEndHeaders | h2::kEndStream, 1, h2::hpack_number(62, 7, 0x80)));
}

TEST_CASE("framing: empty DATA frames, before, in and after the message") {
  std::string empty;
  for (int i = 0; i < 500; ++i) empty += h2::data(1, "");
  const std::string message = h2::message(good_jwt());
  check_good(grpc::begin() + empty + h2::data(1, message.substr(0, 3)) + empty +
             h2::data(1, message.substr(3)) + empty + grpc::trailers("0"));
}

TEST_CASE("framing: informational answers before the real one") {
  const std::string early =
      h2::headers(1, {{":status", "103"}, {"link", "</a>"}}) + h2::headers(1, {{":status", "100"}});
  check_good(grpc::greeting() + early +
             h2::frame(Type::headers, h2::kEndHeaders, 1, begin_block()) + good_rest());
}

TEST_CASE("framing: a graceful GOAWAY before, in and after an answer does not discard it") {
  for (const std::uint32_t last : {1U, 3U, 0x7fffffffU}) {
    CAPTURE(last);
    const std::string goaway = h2::goaway(last, h2::kNoError, "max_age");
    const std::string data = h2::data(1, h2::message(good_jwt()));
    check_good(grpc::greeting() + goaway +
               h2::frame(Type::headers, h2::kEndHeaders, 1, begin_block()) + good_rest());
    check_good(grpc::begin() + goaway + good_rest());
    check_good(grpc::begin() + data + goaway + grpc::trailers("0"));
    check_good(good_answer() + goaway);
  }
}

TEST_CASE("framing: GOAWAY, the answer and the end of the connection at once") {
  const Peer peer([](Connection& connection) {
    if (!connection.read_call()) return;
    connection.write(h2::settings() + h2::goaway(1, h2::kNoError) + grpc::begin() + good_rest());
    connection.cut();
  });
  CHECK_SUCCESS(peer.run());
  CHECK(peer.server.connections() == 1);
}

TEST_CASE("framing: data after a complete answer does not invalidate it") {
  for (const std::string& more :
       {h2::rst_stream(1, h2::kNoError), h2::rst_stream(1, h2::kCancel), h2::goaway(0, 1),
        std::string("garbage that is no frame at all, in as many bytes as it takes"),
        h2::ping("12345678")}) {
    check_good(good_answer() + more);
    const Peer x509(grpc::stream_answer(good_x509()) + more);
    CHECK_SUCCESS(x509.run({.type = "x509"}));
  }
}

TEST_CASE("framing: an answer before the server's SETTINGS is refused") {
  const std::string answer =
      h2::frame(Type::headers, h2::kEndHeaders, 1, begin_block()) + good_rest();
  const Peer peer(answer + grpc::greeting());
  const Outcome outcome = peer.run();
  CHECK_FALSE(outcome.was_hanging);
  CHECK_FAILURE(outcome, 1, "did not answer: the reply is no valid HTTP/2: it broke the");
}

TEST_CASE("framing: a message of one megabyte arrives within the flow control's windows") {
  const std::string extra = wire_field_always(15, std::string(1'000'000, 'x'));
  for (const bool is_jwt : {true, false}) {
    const std::string message = h2::message((is_jwt ? good_jwt() : good_x509()) + extra);
    const Peer peer([&](Connection& connection) {
      if (!connection.read_call() || !connection.write(grpc::begin()) ||
          !connection.write_within_windows(message)) {
        return;
      }
      if (is_jwt) connection.write(grpc::trailers("0"));
      connection.wait_for_close();
    });
    CHECK_SUCCESS(peer.run({.type = is_jwt ? "jwt" : "x509", .timeout = milliseconds(8000)}));
  }
}

TEST_CASE("framing: the first message of an X.509 stream is used, and later data is ignored") {
  const std::string second = h2::data(1, h2::message("\xff\xff\xff"));
  for (const std::string& more :
       {std::string(), second, grpc::trailers("0"), grpc::trailers("13", "later"),
        h2::data(1, "\x01"), h2::data(1, h2::message_head(0xffffffff))}) {
    const Peer peer(grpc::stream_answer(good_x509()) + more);
    const Outcome outcome = peer.run({.type = "x509"});
    CHECK_SUCCESS(outcome);
    CHECK(outcome.elapsed < blackbox::kNoWait);
  }
  const std::string both = h2::message(good_x509()) + h2::message("\xff\xff\xff");
  const Peer peer(grpc::begin() + h2::data(1, both));
  CHECK_SUCCESS(peer.run({.type = "x509"}));
}

TEST_CASE("framing: an error that arrives before the whole request is sent is reported") {
  const Peer peer([](Connection& connection) {
    // The three audiences do not fit into the first window.
    while (connection.call().data_frames == 0 && connection.read()) continue;
    connection.write(grpc::failure(grpc::kInvalidArgument, "too long") +
                     h2::rst_stream(1, h2::kCancel));
    connection.wait_for_close();
  });
  Ask ask;
  for (const char c : {'a', 'b', 'c'})
    ask.arguments.push_back("--audience=" + std::string(60'000, c));
  const Outcome outcome = peer.run(ask);
  CHECK_FAILURE(outcome, 1, "did not answer: InvalidArgument: too long");
  CHECK(blackbox::says(outcome, "too long"));
}

TEST_CASE("framing: the answer of an agent that no longer reads is used") {
  const Peer peer([](Connection& connection) {
    if (!connection.read_call()) return;
    connection.stop_reading();
    // The plugin cannot acknowledge these.
    connection.write(h2::settings({{3, 7}}) + h2::settings_ack() + h2::ping("12345678"));
    poll(nullptr, 0, 100);
    connection.write(grpc::head() + good_rest());
    connection.wait_unread();
  });
  CHECK_SUCCESS(peer.run());
  CHECK(peer.server.connections() == 1);
}

TEST_CASE("framing: a half-closed connection still carries the answer") {
  const Peer peer([](Connection& connection) {
    if (connection.read_call()) connection.write(good_answer());
    connection.cut();
  });
  CHECK_SUCCESS(peer.run());
}

}  // namespace execcred::test
