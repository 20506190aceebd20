// SPDX-License-Identifier: Apache-2.0
#include <execcred/http/reply.hpp>

#include <execcred/base/text.hpp>

#include <algorithm>

namespace execcred {
namespace {

// Whether the byte may be in a field's value (RFC 9110, section 5.5).
bool is_field_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

}  // namespace

bool is_http_token(std::string_view text) {
  return !text.empty() && is_alphanumeric_or(text, "!#$%&'*+-.^_`|~");
}

bool HttpReply::refuse(Refusal why) {
  refusal_ = why;
  return false;
}

bool HttpReply::take_header_line(std::string_view line) {
  head_size_ += line.size();
  if (head_size_ > kMaxHead) return refuse(Refusal::head_too_large);
  if (!line.ends_with('\n')) return false;  // the connection ended here
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  // If this is a further status line, the lines before it were an interim reply (100 to 199).
  const bool is_interim = response_.status >= 100 && response_.status < 200;
  if (response_.status == 0 || (is_head_complete_ && is_interim)) return take_status_line(line);
  if (is_head_complete_) return true;  // trailers, which nothing here asks for
  if (line.empty()) {
    is_head_complete_ = true;
    return true;
  }
  return take_field(line);
}

// Takes a line like "HTTP/1.1 200 OK".
bool HttpReply::take_status_line(std::string_view line) {
  response_ = {};
  is_head_complete_ = false;
  const bool is_http1 = (line.starts_with("HTTP/1.0 ") || line.starts_with("HTTP/1.1 ")) &&
                        line.size() >= 12 &&
                        std::all_of(line.begin() + 9, line.begin() + 12, is_digit) &&
                        (line.size() == 12 || line[12] == ' ');
  if (!is_http1 || line[9] == '0') return refuse(Refusal::not_http);
  response_.status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  return true;
}

bool HttpReply::take_field(std::string_view line) {
  if (!std::all_of(line.begin(), line.end(), is_field_byte)) return refuse(Refusal::not_http);
  if (line.front() == ' ' || line.front() == '\t') {  // RFC 9112, section 5.2: a folded line
    if (response_.headers.empty()) return refuse(Refusal::not_http);
    response_.headers.back().second.append(" ").append(trim(line));
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_http_token(line.substr(0, colon))) {
    return refuse(Refusal::not_http);
  }
  response_.headers.emplace_back(ascii_lower(line.substr(0, colon)), trim(line.substr(colon + 1)));
  return true;
}

bool HttpReply::ends_with_connection(std::string_view method) const {
  if (method == "HEAD" || response_.status == 204 || response_.status == 304) return false;
  const std::optional<std::string_view> coding = response_.header("transfer-encoding");
  if (coding) return !ascii_lower(*coding).ends_with("chunked");
  return !response_.header("content-length");
}

bool HttpReply::take_body(std::string_view bytes) {
  if (bytes.size() > max_body_ - response_.body.size()) return refuse(Refusal::body_too_large);
  response_.body.append(bytes);
  return true;
}

}  // namespace execcred
