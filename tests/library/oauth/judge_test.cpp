// SPDX-License-Identifier: Apache-2.0
// Which failures of a token endpoint are temporary.
#include <doctest/doctest.h>
#include <execcred/oauth/token_post.hpp>

#include <string>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Next = Verdict::Next;

TEST_CASE("judge_oauth_reply: the OAuth error and the status decide whether to retry") {
  struct Case {
    int status;
    std::string body;
    Next next;
    Duration after;
  };
  const std::string token = R"({"access_token":"t"})";
  const auto error = [](const std::string& code) { return R"({"error":")" + code + "\"}"; };
  for (const Case& c :
       {Case{200, token, Next::accept, 0s}, Case{200, error("invalid_grant"), Next::fail, 0s},
        Case{200, error("server_error"), Next::retry, 0s}, Case{200, "no JSON", Next::fail, 0s},
        Case{302, "", Next::fail, 0s}, Case{400, error("invalid_grant"), Next::fail, 0s},
        Case{400, error("slow_down"), Next::retry, 0s},
        Case{400, error("temporarily_unavailable"), Next::retry, 0s}, Case{401, "", Next::fail, 0s},
        Case{429, error("invalid_client"), Next::retry, 7s}, Case{429, "", Next::retry, 7s},
        Case{500, error("invalid_client"), Next::fail, 0s}, Case{500, "<html>", Next::retry, 7s},
        Case{501, "", Next::fail, 0s}, Case{501, error("server_error"), Next::fail, 0s},
        Case{503, error("access_denied"), Next::fail, 0s},
        Case{503, error("temporarily_unavailable"), Next::retry, 7s},
        Case{504, "", Next::retry, 7s}}) {
    CAPTURE(c.status);
    CAPTURE(c.body);
    const HttpResponse reply = {
        .status = c.status, .body = SecretString(c.body), .retry_after = 7s};
    const Verdict verdict = judge_oauth_reply(reply, "https://idp.example:443");
    CHECK(verdict.next == c.next);
    if (c.next == Next::retry) CHECK(verdict.after == c.after);
    CHECK(verdict.error.has_value() == (c.next != Next::accept));
  }
}

}  // namespace
}  // namespace execcred::test
