// SPDX-License-Identifier: Apache-2.0
// A reply, checked and bounded while it arrives from libcurl.
#pragma once

#include <execcred/http/http.hpp>

#include <cstddef>
#include <string_view>

namespace execcred {

class HttpReply {
 public:
  enum class Refusal { none, not_http, head_too_large, body_too_large };

  static constexpr std::size_t kMaxHead = 64 * 1024;  // of all header lines of one reply

  explicit HttpReply(std::size_t max_body) : max_body_(max_body) {}

  // For CURLOPT_HEADERFUNCTION: takes one line. False ends the transfer: refusal() is the reason,
  // or the line was cut if refusal() is none.
  bool take_header_line(std::string_view line);
  // For CURLOPT_WRITEFUNCTION: takes a part of the body. False ends the transfer; refusal() is the
  // reason.
  bool take_body(std::string_view bytes);

  Refusal refusal() const { return refusal_; }
  bool has_begun() const { return head_size_ > 0; }
  // Whether the headers of the final reply are complete. An interim reply (1xx) does not count.
  bool has_head() const { return is_head_complete_ && response_.status >= 200; }
  // Whether the end of the connection is the end of the body (RFC 9112, section 6.3).
  bool ends_with_connection(std::string_view method) const;
  HttpResponse& response() { return response_; }

 private:
  bool refuse(Refusal why);
  bool take_status_line(std::string_view line);
  bool take_field(std::string_view line);

  std::size_t max_body_;
  std::size_t head_size_ = 0;
  bool is_head_complete_ = false;
  Refusal refusal_ = Refusal::none;
  HttpResponse response_;
};

// Whether the text is a token (RFC 9110, section 5.6.2), as methods and header names must be.
bool is_http_token(std::string_view text);

}  // namespace execcred
