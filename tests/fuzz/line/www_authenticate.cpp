// SPDX-License-Identifier: Apache-2.0
// WWW-Authenticate: the result is bounded for any text, and quoted values are read back. A server's
// text is one line of a message.
#include "fuzz.hpp"
#include "line.hpp"

#include <execcred/base/text.hpp>
#include <execcred/oauth/failure.hpp>

#include <algorithm>
#include <string>

namespace execcred::fuzz {
namespace {

std::string quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

void check_any(std::string_view header) {
  const std::optional<ChallengeError> found = challenge_error(header);
  if (!found) return;
  require(!found->error.empty(), "an error has a name");
  require(found->error.size() + found->description.size() < header.size(), "parts of the header");
  require(ascii_lower(header).find("error") != std::string::npos, "the parameter is there");
  // Text after a complete header is another challenge, and the first error is used.
  const std::string more = std::string(header) + R"(, Bearer error="other", error_description="x")";
  const std::optional<ChallengeError> same = challenge_error(more);
  if (more.size() > 8 * 1024) return;
  require(same && same->error == found->error && same->description == found->description,
          "the first error of a list");
}

void check_written(std::string_view error, std::string_view description) {
  const std::string parameters =
      "error=" + quoted(error) + " , ERROR_DESCRIPTION\t= " + quoted(description);
  if (parameters.size() > 4096) return;
  for (const std::string& header :
       {"Bearer " + parameters, "Basic YWJj==, Bearer realm=\"a, b\", " + parameters,
        "Negotiate,,DPoP algs=ES256, " + parameters + ", Basic realm=x"}) {
    const std::optional<ChallengeError> found = challenge_error(header);
    require(found.has_value() == !error.empty(), "an error that has a name");
    require(!found || (found->error == error && found->description == description),
            "what was quoted");
  }
}

void check_message(std::string_view header) {
  const HttpResponse reply = {.status = 401,
                              .headers = {{"www-authenticate", std::string(header)}}};
  const Error error = challenge_failure(reply, "https://idp.example:443");
  require(error.message.starts_with("https://idp.example:443 answered 401"), "the status");
  require(!has_control_character(error.message), "one line");
  require(error.message.size() < 4096, "of bounded length");
}

}  // namespace

void check_www_authenticate(std::string_view input) {
  check_any(input);
  const std::vector<std::string_view> halves = parts(input, "\n", 2);
  check_written(halves[0], halves[1]);
  check_message(input);
}

}  // namespace execcred::fuzz
