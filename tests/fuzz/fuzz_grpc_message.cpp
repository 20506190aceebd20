// SPDX-License-Identifier: Apache-2.0
// gRPC messages that arrive in pieces, compared with a reader of the whole message; and statuses.
//
// The input's first two bytes are the size of the pieces and the size limit of a message.
#include <execcred/spiffe/grpc.hpp>
#include "fuzz.hpp"

#include <algorithm>
#include <string>

namespace execcred::fuzz {
namespace {

std::size_t byte_of(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

struct Wanted {
  bool is_refused = false;
  bool is_complete = false;
  std::string_view message = {};
  std::string_view left = {};
};

// The expected result, from all bytes at once.
Wanted whole(std::string_view reply, std::size_t max) {
  if (reply.size() < 5) return {};
  const std::size_t size = byte_of(reply, 1) << 24U | byte_of(reply, 2) << 16U |
                           byte_of(reply, 3) << 8U | byte_of(reply, 4);
  if (reply.front() != 0 || size > max) return {.is_refused = true};
  const std::string_view body = reply.substr(5);
  if (body.size() < size) return {};
  return {.is_complete = true, .message = body.substr(0, size), .left = body.substr(size)};
}

void check_reader(std::string_view reply, std::size_t step, std::size_t max) {
  const Wanted wanted = whole(reply, max);
  GrpcMessageReader reader(max);
  std::string left;
  bool is_good = true;
  for (std::size_t at = 0; at < reply.size() && is_good; at += step) {
    std::string_view piece = reply.substr(at, step);
    const Status taken = reader.take_from(piece);
    is_good = taken.has_value();
    require(is_good || taken.error().kind == Error::Kind::no_credential, "a kind of failure");
    left += piece;
  }
  require(is_good == !wanted.is_refused, "what may not be is refused, and no more");
  if (!is_good) return;
  require(reader.is_complete() == wanted.is_complete, "whole when it is whole");
  require(reader.is_cut() == (!wanted.is_complete && !reply.empty()), "else cut");
  if (!wanted.is_complete) return;
  require(reader.take().reveal() == wanted.message, "the message");
  require(left == wanted.left, "what is left");
}

void check_status(std::string_view text) {
  const std::optional<GrpcCode> code = parse_grpc_status(text);
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos &&
                         (text.size() == 1 || text.front() != '0');
  require(is_number || !code, "a status is a number");
  if (is_number && text.size() < 9) {
    const unsigned long number = std::stoul(std::string(text));
    require(code == (number < 17 ? static_cast<GrpcCode>(number) : GrpcCode::unknown), "this one");
  }
  const std::string message = decode_grpc_message(text);
  require(message.size() <= 1024 && message.size() <= text.size(), "a message is bounded");
  require(std::none_of(message.begin(), message.end(),
                       [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
          "without control characters");
}

// Any reply ends with a result, which is a success only with a message and status 0.
void check_reply(std::string_view input, bool takes_first) {
  const std::vector<std::string_view> given = parts(input, "%", 4);
  GrpcReplyReader reader({.takes_first = takes_first, .max_message = 100});
  reader.begin_headers();
  reader.add_header(":status", given[0]);
  reader.add_header("content-type", "application/grpc");
  reader.end_headers(false);
  reader.add_data(given[3]);
  reader.begin_headers();
  reader.add_header("grpc-status", given[1]);
  reader.add_header("grpc-message", given[2]);
  reader.end_headers(true);
  reader.end_stream(0);
  require(reader.is_done() && !reader.should_cancel(), "an end is an end");
  const GrpcReply reply = reader.take();
  const Wanted wanted = whole(given[3], 100);
  if (reply.code != GrpcCode::ok) return require(reply.message.empty(), "no message of a failure");
  require(wanted.is_complete && reply.message.reveal() == wanted.message, "the message that came");
  require(takes_first || (given[1] == "0" && wanted.left.empty()), "said to be good");
}

}  // namespace

void check(std::string_view input) {
  check_status(input);
  for (const bool takes_first : {false, true}) check_reply(input, takes_first);
  if (input.size() < 2) return;
  check_reader(input.substr(2), byte_of(input, 0) + 1, byte_of(input, 1) * 4);
  const std::string frame = grpc_frame(input);
  check_reader(frame, byte_of(input, 0) + 1, input.size());
}

}  // namespace execcred::fuzz
