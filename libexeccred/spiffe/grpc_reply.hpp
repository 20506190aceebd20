// SPDX-License-Identifier: Apache-2.0
// A reply while it comes in, frame by frame: what counts of its headers, and its message.
#pragma once

#include <execcred/spiffe/grpc_call.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace execcred {

class GrpcReplyReader {
 public:
  explicit GrpcReplyReader(const GrpcRequest& request)
      : takes_first_(request.takes_first), message_(request.max_message) {}

  // Header blocks: an informational one may precede the response, trailers follow it. What a block
  // says of grpc-status counts where it is the last one.
  void begin_headers();
  void add_header(std::string_view name, std::string_view value);
  void end_headers(bool ends_stream);
  void add_data(std::string_view piece);
  // A frame of the reply breaks the rules of HTTP/2.
  void break_rules(std::string_view what);
  // The stream is closed, in the right way where `http2_error` is 0.
  void end_stream(std::uint32_t http2_error);

  // Nothing more is wanted of the stream.
  bool is_done() const { return reply_.has_value(); }
  // The stream is still open, and the other side should be told to stop.
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
