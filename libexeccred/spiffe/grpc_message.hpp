// SPDX-License-Identifier: Apache-2.0
// What gRPC puts into HTTP/2 (gRPC over HTTP2, "PROTOCOL-HTTP2.md"): statuses, time-outs, messages.
#pragma once

#include <execcred/base/duration.hpp>
#include <execcred/base/result.hpp>
#include <execcred/base/secret.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

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

// As gRPC's libraries print it: "PermissionDenied".
std::string_view name_of(GrpcCode code);

// The grpc-status of a reply: decimal digits alone, without leading zeros. A number that gRPC has
// not defined is unknown; nullopt for anything else.
std::optional<GrpcCode> parse_grpc_status(std::string_view text);

// The grpc-message of a reply: percent-decoded where that is possible, without control characters,
// at most 1 KiB.
std::string decode_grpc_message(std::string_view text);

// For a reply without grpc-status, by its HTTP status.
GrpcCode code_of_http_status(int status);
// For a stream that was reset, by its HTTP/2 error code (RFC 9113 section 7).
GrpcCode code_of_http2_error(std::uint32_t error);

// The value of grpc-timeout: at most eight digits and a unit, rounded down but for "1n".
std::string grpc_timeout(Duration left);

// A message behind its five bytes: no compression, and its size.
std::string grpc_frame(std::string_view message);

// Puts one message together from pieces of any size.
class GrpcMessageReader {
 public:
  explicit GrpcMessageReader(std::size_t max_size) : max_size_(max_size) {}

  // Takes what belongs to the message off the front of the piece; what is left would be a second
  // one. Fails (no_credential): a message that is compressed, or larger than allowed, for which no
  // memory is taken.
  Status take_from(std::string_view& piece);

  bool is_complete() const { return header_size_ == kHeaderSize && message_.size() == size_; }
  // Bytes came, but not a whole message.
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

}  // namespace execcred
