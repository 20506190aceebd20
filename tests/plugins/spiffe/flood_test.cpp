// SPDX-License-Identifier: Apache-2.0
// Servers that send more than an answer needs: each run ends in time and stays small.
#include "build_kind.hpp"
#include "peer.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>

namespace execcred::test {
namespace {

using h2::Type;

// Limit of address space; a usual run needs a third of it, mostly for shared libraries.
constexpr rlim_t kMemory = 32UL * 1024 * 1024;

// A program that needs more memory than the limit ends with another exit code than the expected
// ones.
void limit_memory() {
  const rlimit limit = {.rlim_cur = kMemory, .rlim_max = kMemory};
  if (!blackbox::kIsSanitized && setrlimit(RLIMIT_AS, &limit) != 0) _exit(125);
}

const Ask kAsk = {.timeout = milliseconds(1500), .before_exec = limit_memory};

Outcome run_small(const Peer& peer) {
  Outcome outcome = peer.run(kAsk);
  check_in_time(outcome, kAsk);
  return outcome;
}

std::string repeated(const std::string& frame, int count) {
  std::string frames;
  for (int i = 0; i < count; ++i) frames += frame;
  return frames;
}

// Sends the frame again and again, until the client closes the connection.
Handler floods(std::string head, std::string frame) {
  return [head = std::move(head), many = repeated(frame, 500)](Connection& connection) {
    if (!connection.read_call() || !connection.write(head)) return;
    while (connection.write(many)) continue;
  };
}

}  // namespace

TEST_CASE("floods: a hundred SETTINGS and PINGs before the answer are accepted") {
  for (const std::string& frame : {h2::settings({{3, 7}}), h2::ping("12345678")}) {
    const Peer peer(grpc::greeting() + repeated(frame, 100) + grpc::head() + good_rest());
    CHECK_SUCCESS(run_small(peer));
  }
}

TEST_CASE("floods: a run with endless frames ends, at the latest at the deadline") {
  struct Case {
    const char* what;
    std::string head, frame;
  };
  const std::string begin = grpc::begin();
  for (const Case& c :
       {Case{"SETTINGS", "", h2::settings({{3, 7}})},
        Case{"SETTINGS of 2000 entries", "",
             h2::settings(std::vector<std::pair<std::uint16_t, std::uint32_t>>(2000, {3, 7}))},
        Case{"PING", grpc::greeting(), h2::ping("12345678")},
        Case{"acknowledged PING", grpc::greeting(), h2::ping("12345678", h2::kAck)},
        Case{"PRIORITY", grpc::greeting(),
             h2::frame(Type::priority, 0, 1, h2::number32(0) + '\x05')},
        Case{"empty DATA", begin, h2::data(1, "")},
        Case{"informational HEADERS", grpc::greeting(), h2::headers(1, {{":status", "103"}})},
        Case{"unknown frames", grpc::greeting(), h2::frame(static_cast<Type>(0xee), 0, 0, "")},
        Case{"large unknown frames", grpc::greeting(),
             h2::frame(static_cast<Type>(0xee), 0, 0, std::string(16384, 'x'))},
        Case{"GOAWAY", grpc::greeting(), h2::goaway(1, h2::kNoError, std::string(8000, 'x'))},
        Case{"WINDOW_UPDATE of a stream", grpc::greeting(), h2::window_update(1, 1)},
        Case{"RST_STREAM of others", grpc::greeting(), h2::rst_stream(3, 0)}}) {
    CAPTURE(c.what);
    const Peer peer(floods(c.head, c.frame));
    const Outcome outcome = run_small(peer);
    CHECK_FAILURE(outcome, outcome.exit_code == 1 ? 1 : 3, "the SPIFFE Workload API at");
  }
}

TEST_CASE("floods: more bytes than any valid answer has are refused long before the deadline") {
  const std::string frame = h2::frame(static_cast<Type>(0xee), 0, 0, std::string(16384, 'x'));
  const Peer peer(floods(grpc::greeting(), frame));
  Ask ask = kAsk;
  ask.timeout = milliseconds(15000);
  const Outcome outcome = peer.run(ask);
  CHECK_FAILURE(outcome, 1,
                "did not answer: the reply is no valid HTTP/2: it is larger than any valid reply");
  CHECK(outcome.elapsed < blackbox::kEventually);
}

TEST_CASE("floods: endless CONTINUATION frames are refused") {
  for (const std::string& piece : {std::string(), std::string("\0\1a\1b", 5),
                                   h2::header_block({{"x", std::string(8000, 'x')}})}) {
    const Peer peer(floods(
        grpc::greeting() + h2::frame(Type::headers, 0, 1, h2::header_block({{":status", "200"}})),
        h2::frame(Type::continuation, 0, 1, piece)));
    CHECK_FAILURE(run_small(peer), 1, "did not answer: the reply is no valid HTTP/2: Too many");
  }
}

TEST_CASE("header bombs: a large list, many headers and a large header are refused") {
  h2::Fields many = {{":status", "200"}, {"content-type", "application/grpc"}};
  for (int i = 0; i < 5000; ++i) many.emplace_back("x-" + std::to_string(i), "");
  const auto in_frames = [](const std::string& block) {
    std::string frames = h2::frame(Type::headers, 0, 1, block.substr(0, 16000));
    for (std::size_t at = 16000; at < block.size(); at += 16000) {
      const bool is_last = at + 16000 >= block.size();
      frames +=
          h2::frame(Type::continuation, is_last ? h2::kEndHeaders : 0, 1, block.substr(at, 16000));
    }
    return frames;
  };
  for (const std::string& block :
       {h2::header_block(many),
        h2::header_block({{":status", "200"}, {"x", std::string(200'000, 'x')}}),
        h2::header_block({{":status", "200"}, {std::string(100'000, 'n'), "v"}})}) {
    const Peer peer(grpc::greeting() + in_frames(block) + good_rest());
    CHECK_FAILURE(run_small(peer), 1, "the SPIFFE Workload API at");
  }
}

TEST_CASE("header bombs: one entry of the dynamic table, referenced thousands of times") {
  const std::string large = h2::indexed_block({{":status", "200"}, {"x", std::string(4000, 'x')}});
  const std::string again = repeated(h2::hpack_number(62, 7, 0x80), 12'000);
  const Peer peer(grpc::greeting() + h2::frame(Type::headers, h2::kEndHeaders, 1, large + again) +
                  good_rest());
  CHECK_FAILURE(run_small(peer), 1, "' did not answer: the reply's headers are larger than 64 KiB");
}

TEST_CASE("header bombs: in the trailers, after a valid message") {
  h2::Fields many = {{"grpc-status", "0"}};
  for (int i = 0; i < 500; ++i) many.emplace_back("x-" + std::to_string(i), std::string(200, 'x'));
  const std::string block = h2::header_block(many);
  std::string trailers = h2::frame(Type::headers, h2::kEndStream, 1, block.substr(0, 16000));
  for (std::size_t at = 16000; at < block.size(); at += 16000) {
    trailers += h2::frame(Type::continuation, at + 16000 >= block.size() ? h2::kEndHeaders : 0, 1,
                          block.substr(at, 16000));
  }
  const Peer peer(grpc::begin() + h2::data(1, h2::message(good_jwt())) + trailers);
  CHECK_FAILURE(run_small(peer), 1, "' did not answer: the reply's headers are larger than 64 KiB");
}

TEST_CASE(
    "invalid HPACK is refused: an unknown index, a size above the limit, an incomplete integer") {
  for (const std::string& block :
       {h2::hpack_number(999, 7, 0x80), h2::hpack_number(0, 7, 0x80),
        h2::hpack_number(1'000'000, 5, 0x20), std::string("\xff\xff\xff\xff\xff\xff\xff", 7),
        std::string("\0\x7f\xff\xff\xff\x7f", 6), std::string("\0\5ab", 4),
        // A Huffman code without an end.
        std::string("\0\x84\xff\xff\xff\xff\1b", 8)}) {
    const Peer peer(grpc::greeting() + h2::frame(Type::headers, h2::kEndHeaders, 1, block) +
                    good_rest());
    CHECK_FAILURE(run_small(peer), 1, "did not answer: the reply is no valid HTTP/2: it broke the");
  }
}

TEST_CASE("a message of 0xffffffff bytes, or one above 4 MiB, is refused before memory is spent" *
          doctest::description("promise 21")) {
  for (const std::uint32_t length : {0xffffffffU, 0x80000000U, 0x7fffffffU, 4194305U}) {
    for (const std::string type : {"jwt", "x509"}) {
      CAPTURE(length);
      const Peer peer(grpc::begin() + h2::data(1, h2::message_head(length) + "x"));
      Ask ask = kAsk;
      ask.type = type;
      const Outcome outcome = peer.run(ask);
      CHECK_FAILURE(outcome, 1, "did not answer: the reply announces a message of");
      check_at_once(outcome);
      CHECK(blackbox::says(outcome, std::to_string(length)));
    }
  }
}

TEST_CASE("a message that is announced and never comes spends no memory" *
          doctest::description("promise 21")) {
  const Peer peer(grpc::begin() + h2::data(1, h2::message_head(4'000'000) + "x"));
  CHECK_FAILURE(run_small(peer), 3, "timed out while waiting for the answer of the SPIFFE");
}

TEST_CASE("more DATA than the flow control's window allows is refused") {
  const Peer peer(grpc::begin() +
                  h2::data(1, h2::message_head(3'000'000) + std::string(2'000'000, 'x')));
  const Outcome outcome = run_small(peer);
  CHECK_FAILURE(outcome, outcome.exit_code == 1 ? 1 : 3, "the SPIFFE Workload API at");
}

}  // namespace execcred::test
