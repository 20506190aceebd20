// SPDX-License-Identifier: Apache-2.0
// HTTP replies, line by line as libcurl delivers them: for any input, the accepted part is bounded
// and has no control characters.
#include "fuzz.hpp"

#include <execcred/base/text.hpp>
#include <execcred/http/reply.hpp>

#include <algorithm>

namespace execcred::fuzz {

void check(std::string_view input) {
  constexpr std::size_t kMaxBody = 100;
  HttpReply reply(kMaxBody);
  bool goes_on = true;
  while (goes_on && !input.empty() && !reply.has_head()) {
    const std::size_t end = std::min(input.find('\n'), input.size() - 1);
    goes_on = reply.take_header_line(input.substr(0, end + 1));
    input.remove_prefix(end + 1);
  }
  while (goes_on && !input.empty()) {
    const std::string_view piece = input.substr(0, 17);
    goes_on = reply.take_body(piece);
    input.remove_prefix(piece.size());
  }
  const HttpResponse& response = reply.response();
  require(response.body.size() <= kMaxBody, "the body is bounded");
  require(response.status >= 0 && response.status <= 999, "a status has three digits");
  std::size_t size = 0;
  for (const auto& [name, value] : response.headers) {
    size += name.size() + value.size();
    require(is_http_token(name) && name == ascii_lower(name), "names are tokens in lower case");
    require(std::none_of(value.begin(), value.end(),
                         [](char c) {
                           return c != '\t' && has_control_character({&c, 1});
                         }),
            "values have no control characters");
  }
  require(size <= HttpReply::kMaxHead + 64 * 1024, "headers are bounded");
}

}  // namespace execcred::fuzz
