// SPDX-License-Identifier: Apache-2.0
// Which failures of STS are temporary.
#include <doctest/doctest.h>
#include <aws/sts_reply.hpp>

#include <string>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Next = Verdict::Next;

}  // namespace

TEST_CASE("judge_sts_reply: the status decides, except for a 400 with a temporary error code") {
  struct Case {
    int status;
    std::string code;
    Next next;
  };
  for (const Case& c :
       {Case{400, "Throttling", Next::retry}, Case{400, "RequestLimitExceeded", Next::retry},
        Case{400, "IDPCommunicationError", Next::retry},
        Case{400, "ExpiredTokenException", Next::accept}, Case{400, "AnotherOne", Next::accept},
        Case{403, "Throttling", Next::accept}, Case{403, "AccessDenied", Next::accept},
        Case{429, "AccessDenied", Next::retry}, Case{500, "InternalFailure", Next::retry},
        Case{503, "AccessDenied", Next::retry}}) {
    for (const std::string& body :
         {R"({"Error":{"Code":")" + c.code + R"(","Message":"m"}})",
          "<ErrorResponse><Error><Code>" + c.code + "</Code></Error></ErrorResponse>"}) {
      CAPTURE(c.status);
      CAPTURE(body);
      const Verdict verdict = aws::judge_sts_reply(
          {}, {.status = c.status, .body = SecretString(body), .retry_after = 7s});
      CHECK(verdict.next == c.next);
      CHECK(verdict.after == (c.next == Next::retry ? Duration(7s) : Duration()));
      CHECK_FALSE(verdict.error);
    }
  }
  CHECK(aws::judge_sts_reply({}, {.status = 400, .body = SecretString("neither")}).next ==
        Next::accept);
}

}  // namespace execcred::test
