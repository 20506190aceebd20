// SPDX-License-Identifier: Apache-2.0
// Which failures of Entra and of the endpoints of managed identities are temporary.
#include <doctest/doctest.h>

#include <azure/entra_failure.hpp>
#include <azure/managed_reply.hpp>

#include <string>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Next = Verdict::Next;
using Kind = azure::ManagedEndpoint::Kind;

}  // namespace

TEST_CASE("judge_entra_reply: a 429 decides first, then the AADSTS code, then the status") {
  struct Case {
    int status;
    std::string error, code;
    Next next;
    Duration after;
  };
  for (const Case& c : {Case{400, "invalid_client", "700016", Next::fail, 0s},
                        Case{500, "server_error", "70021", Next::fail, 0s},
                        Case{400, "invalid_grant", "50196", Next::retry, 0s},
                        Case{400, "invalid_grant", "90033", Next::retry, 0s},
                        Case{503, "temporarily_unavailable", "90033", Next::retry, 7s},
                        Case{429, "unauthorized_client", "700016", Next::retry, 7s},
                        Case{401, "invalid_client", "999999", Next::fail, 0s},
                        Case{503, "temporarily_unavailable", "999999", Next::retry, 7s},
                        Case{501, "a_new_one", "999999", Next::retry, 0s}}) {
    CAPTURE(c.status);
    CAPTURE(c.code);
    const HttpResponse reply = {
        .status = c.status,
        .body = SecretString(R"({"error":")" + c.error + R"(","error_description":"AADSTS)" +
                             c.code + R"(: what Entra says."})"),
        .retry_after = 7s};
    const Verdict verdict = azure::judge_entra_reply(reply, "https://login.example");
    CHECK(verdict.next == c.next);
    CHECK(verdict.after == c.after);
    REQUIRE(verdict.error);
    CHECK(verdict.error->message.find("AADSTS" + c.code) != std::string::npos);
  }
  const HttpResponse good = {.status = 200, .body = SecretString(R"({"access_token":"t"})")};
  CHECK(azure::judge_entra_reply(good, "https://login.example").next == Next::accept);
}

TEST_CASE("judge_managed_reply: IMDS and App Service have different temporary statuses") {
  struct Case {
    Kind kind;
    int status;
    Next next;
    Duration after;
  };
  for (const Case& c :
       {Case{Kind::imds, 200, Next::accept, 0s}, Case{Kind::imds, 400, Next::fail, 0s},
        Case{Kind::imds, 404, Next::retry, 0s}, Case{Kind::imds, 408, Next::retry, 7s},
        Case{Kind::imds, 410, Next::retry, 0s}, Case{Kind::imds, 429, Next::retry, 7s},
        Case{Kind::imds, 500, Next::retry, 7s}, Case{Kind::imds, 501, Next::retry, 0s},
        Case{Kind::imds, 503, Next::retry, 7s}, Case{Kind::app_service, 404, Next::fail, 0s},
        Case{Kind::app_service, 408, Next::retry, 7s}, Case{Kind::app_service, 410, Next::fail, 0s},
        Case{Kind::app_service, 503, Next::retry, 7s}}) {
    CAPTURE(c.status);
    const Verdict verdict = azure::judge_managed_reply(
        {.status = c.status, .retry_after = 7s}, {.kind = c.kind, .server = "http://imds.example"});
    CHECK(verdict.next == c.next);
    CHECK(verdict.after == c.after);
    CHECK(verdict.error.has_value() == (c.next != Next::accept));
  }
}

}  // namespace execcred::test
