// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/grpc_message.hpp>

#include <execcred/base/text.hpp>
#include <execcred/base/try.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace execcred {
namespace {

constexpr std::size_t kMaxGrpcMessage = 1024;

constexpr std::array<std::string_view, 17> kNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

Error unfit(std::string message) {
  return Error{.kind = Error::Kind::no_credential, .message = std::move(message)};
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that an escape at `at` stands for, or -1 where there is none.
int escaped_byte(std::string_view text, std::size_t at) {
  if (text[at] != '%' || text.size() - at < 3) return -1;
  const int high = hex_value(text[at + 1]);
  const int low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

std::string_view name_of(GrpcCode code) { return kNames.at(static_cast<std::size_t>(code)); }

std::optional<GrpcCode> parse_grpc_status(std::string_view text) {
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool has_leading_zero = text.size() > 1 && text.front() == '0';
  if (problem != std::errc() || end != text.data() + text.size() || has_leading_zero) {
    return std::nullopt;
  }
  return number < kNames.size() ? static_cast<GrpcCode>(number) : GrpcCode::unknown;
}

std::string decode_grpc_message(std::string_view text) {
  std::string message;
  for (std::size_t i = 0; i < text.size() && message.size() < kMaxGrpcMessage; ++i) {
    const int escaped = escaped_byte(text, i);
    const char c = escaped < 0 ? text[i] : static_cast<char>(escaped);
    if (escaped >= 0) i += 2;
    if (!has_control_character(std::string_view(&c, 1))) message += c;
  }
  return message;
}

GrpcCode code_of_http_status(int status) {
  switch (status) {
    case 400:
      return GrpcCode::internal;
    case 401:
      return GrpcCode::unauthenticated;
    case 403:
      return GrpcCode::permission_denied;
    case 404:
      return GrpcCode::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return GrpcCode::unavailable;
    default:
      return GrpcCode::unknown;
  }
}

GrpcCode code_of_http2_error(std::uint32_t error) {
  constexpr std::uint32_t kRefusedStream = 0x7;
  constexpr std::uint32_t kCancel = 0x8;
  constexpr std::uint32_t kEnhanceYourCalm = 0xb;
  constexpr std::uint32_t kInadequateSecurity = 0xc;
  switch (error) {
    case kRefusedStream:
      return GrpcCode::unavailable;
    case kCancel:
      return GrpcCode::cancelled;
    case kEnhanceYourCalm:
      return GrpcCode::resource_exhausted;
    case kInadequateSecurity:
      return GrpcCode::permission_denied;
    default:
      return GrpcCode::internal;
  }
}

std::string grpc_timeout(Duration left) {
  using std::chrono::duration_cast;
  constexpr std::int64_t kMaxValue = 99'999'999;
  const std::int64_t nanoseconds = duration_cast<std::chrono::nanoseconds>(left).count();
  if (nanoseconds <= 0) return "1n";
  if (nanoseconds <= kMaxValue) return std::to_string(nanoseconds) + "n";
  const std::int64_t microseconds = nanoseconds / 1000;
  if (microseconds <= kMaxValue) return std::to_string(microseconds) + "u";
  return std::to_string(std::min(microseconds / 1000, kMaxValue)) + "m";
}

std::string grpc_frame(std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string frame(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    frame += static_cast<char>(size >> shift & 0xffU);
  }
  return frame.append(message);
}

Status GrpcMessageReader::take_from(std::string_view& piece) {
  while (!piece.empty() && header_size_ < kHeaderSize) {
    header_.at(header_size_++) = static_cast<unsigned char>(piece.front());
    piece.remove_prefix(1);
    if (header_size_ == kHeaderSize) TRY(read_header());
  }
  const std::string_view mine = piece.substr(0, size_ - message_.size());
  message_.append(mine);
  piece.remove_prefix(mine.size());
  return {};
}

Status GrpcMessageReader::read_header() {
  if (header_[0] == 1) return unfit("the reply is compressed, which nobody asked for");
  if (header_[0] != 0) return unfit("the reply's message has unknown flags");
  for (std::size_t i = 1; i < kHeaderSize; ++i) size_ = size_ << 8 | header_.at(i);
  if (size_ <= max_size_) return {};
  return unfit("the reply announces a message of " + std::to_string(size_) + " bytes; at most " +
               std::to_string(max_size_) + " are accepted");
}

}  // namespace execcred
