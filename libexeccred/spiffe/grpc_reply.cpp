// SPDX-License-Identifier: Apache-2.0
#include <execcred/spiffe/grpc_reply.hpp>

#include <execcred/base/text.hpp>

#include <charconv>
#include <utility>

namespace execcred {
namespace {

// Of all header blocks together: what gRPC sends is below 1 KiB.
constexpr std::size_t kMaxHeaders = 64 * 1024;
constexpr std::size_t kHeaderOverhead = 32;  // RFC 9113 section 6.5.2

// "application/grpc", "application/grpc+proto", "application/grpc;…".
bool is_grpc(std::string_view content_type) {
  constexpr std::string_view kType = "application/grpc";
  if (!content_type.starts_with(kType)) return false;
  const std::string_view rest = content_type.substr(kType.size());
  return rest.empty() || rest.front() == '+' || rest.front() == ';';
}

}  // namespace

void GrpcReplyReader::begin_headers() {
  grpc_status_.reset();
  grpc_message_.clear();
}

void GrpcReplyReader::add_header(std::string_view name, std::string_view value) {
  header_bytes_ += name.size() + value.size() + kHeaderOverhead;
  if (header_bytes_ > kMaxHeaders) {
    return malformed("the reply's headers are larger than 64 KiB");
  }
  if (name == ":status") {
    int status = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), status);
    if (problem == std::errc() && end == value.data() + value.size()) http_status_ = status;
  } else if (name == "content-type") {
    content_type_ = value;
  } else if (name == "grpc-status") {
    if (grpc_status_) return malformed("the reply has more than one grpc-status");
    grpc_status_ = value;
  } else if (name == "grpc-message") {
    grpc_message_ = decode_grpc_message(value);
  }
}

void GrpcReplyReader::end_headers(bool ends_stream) { has_trailers_ = ends_stream; }

void GrpcReplyReader::add_data(std::string_view piece) {
  if (is_done() || !has_message()) return;
  if (Status taken = message_.take_from(piece); !taken) {
    return malformed(taken.error().message);
  }
  if (takes_first_ && message_.is_complete()) {
    reply_ = GrpcReply{.code = GrpcCode::ok, .message = message_.take()};
  } else if (!piece.empty()) {
    malformed("the reply holds more than one message");
  }
}

// Else the body is an error page.
bool GrpcReplyReader::has_message() const { return http_status_ == 200 && is_grpc(content_type_); }

void GrpcReplyReader::break_rules(std::string_view what) {
  malformed("the reply is no valid HTTP/2: " + std::string(what));
}

void GrpcReplyReader::end_stream(std::uint32_t http2_error) {
  is_closed_ = true;
  if (is_done()) return;
  if (has_trailers_) return finish();  // a reset behind them changes nothing
  if (http2_error != 0) {
    const GrpcCode code = code_of_http2_error(http2_error);
    return fail(code, "the stream was reset with HTTP/2 error " + std::to_string(http2_error),
                false);
  }
  finish_without_status();
}

GrpcReply GrpcReplyReader::take() { return std::move(*reply_); }

void GrpcReplyReader::fail(GrpcCode code, std::string_view text, bool is_malformed) {
  if (is_done()) return;
  reply_ = GrpcReply{.code = code, .text = printable(text), .is_malformed = is_malformed};
}

void GrpcReplyReader::finish() {
  if (!grpc_status_) return finish_without_status();
  const std::optional<GrpcCode> code = parse_grpc_status(*grpc_status_);
  if (!code) return malformed("the reply's grpc-status is " + in_quotes(*grpc_status_));
  if (*code != GrpcCode::ok) return fail(*code, grpc_message_, false);
  if (message_.is_cut()) return fail(GrpcCode::unavailable, "the reply was cut", false);
  if (!message_.is_complete()) return malformed("the reply says OK, but has no message");
  reply_ = GrpcReply{.code = GrpcCode::ok, .message = message_.take()};
}

void GrpcReplyReader::finish_without_status() {
  if (!http_status_) return malformed("the reply has no HTTP status");
  const int status = *http_status_;
  if (status != 200) {
    const GrpcCode code = code_of_http_status(status);
    const bool may_pass = status == 429 || status >= 500;
    return fail(code, "the reply has HTTP status " + std::to_string(status), !may_pass);
  }
  if (!is_grpc(content_type_)) {
    return malformed("the reply is " + in_quotes(content_type_) + ", not application/grpc");
  }
  if (message_.is_cut()) return fail(GrpcCode::unavailable, "the reply was cut", false);
  malformed("the reply has no grpc-status");
}

}  // namespace execcred
