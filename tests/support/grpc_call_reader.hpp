// SPDX-License-Identifier: Apache-2.0
// The frames that a gRPC client sends on one connection.
#pragma once

#include "http2_frame.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace execcred::test {

struct GrpcCall {
  std::uint32_t stream = 0;
  h2::Fields fields = {};  // in the received order
  std::string body = {};
  std::size_t header_frames = 0;  // a second request would be one more
  std::size_t data_frames = 0;
  bool is_complete = false;  // its last frame ended the stream

  std::string path() const { return h2::field(fields, ":path"); }
  // The bytes of the only message; "(malformed)" if the gRPC header does not fit them.
  std::string message() const;
};

class GrpcCallReader {
 public:
  GrpcCallReader();
  ~GrpcCallReader();
  GrpcCallReader(const GrpcCallReader&) = delete;
  GrpcCallReader& operator=(const GrpcCallReader&) = delete;

  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next complete frame. Throws std::runtime_error if the bytes are not HTTP/2.
  std::optional<h2::Frame> next();

  bool has_preface() const { return has_preface_; }
  const GrpcCall& call() const { return call_; }

 private:
  struct Inflater;

  void note(const h2::Frame& frame);
  void read_headers(const h2::Frame& frame);

  std::string buffer_;
  bool has_preface_ = false;
  std::string block_;  // of HEADERS and the CONTINUATIONs so far
  std::unique_ptr<Inflater> inflater_;
  GrpcCall call_;
};

}  // namespace execcred::test
