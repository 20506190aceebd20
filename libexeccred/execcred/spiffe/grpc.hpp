// SPDX-License-Identifier: Apache-2.0
// Makes one gRPC call on a connection of its own, with nghttp2: HTTP/2 with prior knowledge,
// without TLS (RFC 9113 section 3.3).
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace execcred {

// gRPC's status codes ("grpc/statuscodes").
enum class GrpcCode {
  ok,
  cancelled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated,
};

struct GrpcRequest {
  std::string method = {};  // "/SpiffeWorkloadAPI/FetchJWTSVID"
  std::vector<std::pair<std::string, std::string>> metadata = {};  // names in lower case
  std::string message = {};
  // For a method that answers with a stream: its first message is the reply, and the rest is
  // cancelled.
  bool takes_first = false;
  std::size_t max_message = 4 * 1024 * 1024;
};

struct GrpcReply {
  // If ok, `message` is the reply. Failures of the connection have the codes that gRPC's libraries
  // use: unavailable if it was lost, deadline_exceeded at the deadline.
  GrpcCode code = GrpcCode::unknown;
  std::string text = {};  // of the status, printable, without secrets of ours
  // The reply cannot be parsed, or is not gRPC: a retry will not help.
  bool is_malformed = false;
  bool is_local = false;  // this machine's failure
  SecretString message = {};
};

// Makes one call. `socket` must be connected and non-blocking; it is not closed here.
GrpcReply call_grpc(int socket, const GrpcRequest& request,
                    std::chrono::steady_clock::time_point deadline);

// gRPC's mapping to HTTP/2 (gRPC over HTTP2, "PROTOCOL-HTTP2.md"): statuses, time-outs, messages.

// The code's name as gRPC's libraries print it: "PermissionDenied".
std::string_view name_of(GrpcCode code);

// The grpc-status of a reply: decimal digits alone, without leading zeros. A number that gRPC has
// not defined is unknown; nullopt for anything else.
std::optional<GrpcCode> parse_grpc_status(std::string_view text);

// The grpc-message of a reply: percent-decoded where that is possible, without control characters,
// at most 1 KiB.
std::string decode_grpc_message(std::string_view text);

// The code for a reply without grpc-status, by its HTTP status.
GrpcCode code_of_http_status(int status);
// The code for a stream that was reset, by its HTTP/2 error code (RFC 9113 section 7).
GrpcCode code_of_http2_error(std::uint32_t error);

// The value of grpc-timeout: at most eight digits and a unit, rounded down; "1n" if no time is
// left.
std::string grpc_timeout(Duration left);

// A message after gRPC's prefix of five bytes: no compression, and the message's size.
std::string grpc_frame(std::string_view message);

// Assembles one message from pieces of any size.
class GrpcMessageReader {
 public:
  explicit GrpcMessageReader(std::size_t max_size) : max_size_(max_size) {}

  // Removes the message's bytes from the front of the piece; remaining bytes would be a second
  // message. Fails (no_credential) if the message is compressed, has unknown flags, or is larger
  // than allowed; no memory is allocated for such a message.
  Status take_from(std::string_view& piece);

  bool is_complete() const { return header_size_ == kHeaderSize && message_.size() == size_; }
  // Whether only a part of a message was received.
  bool is_cut() const { return header_size_ > 0 && !is_complete(); }
  SecretString take() { return std::move(message_); }

 private:
  static constexpr std::size_t kHeaderSize = 5;

  Status read_header();

  std::size_t max_size_;
  std::array<unsigned char, kHeaderSize> header_ = {};
  std::size_t header_size_ = 0;
  std::size_t size_ = 0;
  SecretString message_;
};

// A reply as it arrives, frame by frame: the needed headers, and its message.
class GrpcReplyReader {
 public:
  explicit GrpcReplyReader(const GrpcRequest& request)
      : takes_first_(request.takes_first), message_(request.max_message) {}

  // Called for each header block. An informational one may precede the response, and trailers
  // follow it. The grpc-status of the last block is used.
  void begin_headers();
  void add_header(std::string_view name, std::string_view value);
  void end_headers(bool ends_stream);
  void add_data(std::string_view piece);
  // Called if a frame of the reply violates HTTP/2.
  void break_rules(std::string_view what);
  // Called when the stream is closed; `http2_error` is 0 if it was closed without an error.
  void end_stream(std::uint32_t http2_error);

  // Whether the reply is known, so that the stream is not needed any more.
  bool is_done() const { return reply_.has_value(); }
  // Whether the reply is known but the stream is still open, so that the other side should be asked
  // to stop.
  bool should_cancel() const { return is_done() && !is_closed_; }
  GrpcReply take();

 private:
  void fail(GrpcCode code, std::string_view text, bool is_malformed);
  void malformed(std::string_view text) { fail(GrpcCode::internal, text, true); }
  bool has_message() const;
  void finish();
  void finish_without_status();

  bool takes_first_;
  GrpcMessageReader message_;
  std::size_t header_bytes_ = 0;
  std::optional<int> http_status_ = {};
  std::string content_type_ = {};
  std::optional<std::string> grpc_status_ = {};
  std::string grpc_message_ = {};
  bool has_trailers_ = false;
  bool is_closed_ = false;
  std::optional<GrpcReply> reply_ = {};
};

}  // namespace execcred
