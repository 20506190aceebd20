// SPDX-License-Identifier: Apache-2.0
// Errors of Entra, and the messages about them.
#include "cloud.hpp"

#include <doctest/doctest.h>

#include <azure/entra_failure.hpp>

namespace execcred::test {
namespace {

// Shorter than the first retry delay of a provider that is down, so that no run waits for it.
const Texts kShort = {"--timeout=2s"};

}  // namespace

TEST_CASE("an AADSTS code is shown with its exit code and its hint, and Entra is called once" *
          doctest::description("promise 23")) {
  struct Case {
    std::string code, error;
    int status, exit_code;
    std::string hint;
  };
  for (const Case& c : {Case{"70021", "invalid_client", 400, 1, "federated credential"},
                        Case{"700211", "invalid_client", 401, 1, "some minutes"},
                        Case{"700212", "invalid_client", 400, 1, "audience"},
                        Case{"700213", "invalid_client", 400, 1, "subject"},
                        Case{"700222", "invalid_request", 400, 1, "projected token"},
                        Case{"700016", "unauthorized_client", 400, 1, "--client-id"},
                        Case{"7000112", "unauthorized_client", 400, 1, "disabled"},
                        Case{"700024", "invalid_client", 401, 1, "clock"},
                        Case{"700027", "invalid_client", 401, 1, "issuer"},
                        Case{"500011", "invalid_resource", 400, 1, "--server-id"},
                        Case{"90002", "invalid_request", 400, 1, "--tenant-id"},
                        Case{"900023", "invalid_request", 400, 1, "--tenant-id"},
                        Case{"53003", "access_denied", 400, 1, "Conditional Access"},
                        Case{"501051", "invalid_grant", 400, 1, "assigned"},
                        Case{"70021", "server_error", 500, 1, "federated credential"},
                        Case{"999999", "invalid_client", 401, 1, ""},
                        Case{"999999", "temporarily_unavailable", 503, 3, ""},
                        Case{"90033", "temporarily_unavailable", 503, 3, ""},
                        Case{"90033", "invalid_grant", 400, 3, ""},
                        Case{"50196", "invalid_grant", 400, 3, ""},
                        Case{"90055", "invalid_request", 429, 3, ""},
                        Case{"700016", "unauthorized_client", 429, 3, ""}}) {
    CAPTURE(c.code);
    CAPTURE(c.error);
    CAPTURE(c.status);
    Cloud cloud;
    cloud.entra_answers(entra_error(c.code, c.error, "what Entra says."), c.status);
    const Outcome outcome = cloud.workload(kShort);
    CHECK_FAILURE(outcome, c.exit_code, "what Entra says. Trace ID: 0f1e Correlation ID: 2d3c");
    CHECK(blackbox::says(outcome, "AADSTS" + c.code + ": what Entra says."));
    CHECK(blackbox::says(outcome, "'" + c.error + "'"));
    CHECK(blackbox::says(outcome, std::to_string(c.status)));
    CHECK(blackbox::says(outcome, c.hint));
    CHECK(cloud.calls() == 1);
  }
}

TEST_CASE("a description is shown on one line, without control characters, and is shortened" *
          doctest::description("promise 20")) {
  Cloud cloud;
  cloud.entra_answers(entra_error("700016", "unauthorized_client", "a\x1b[31m b\r\n\tc"), 400);
  const Outcome outcome = cloud.workload();
  CHECK_FAILURE(outcome, 1, "answered 400 with the error 'unauthorized_client'");
  CHECK(blackbox::says(outcome, "c Trace ID: 0f1e Correlation ID: 2d3c"));
  cloud.entra_answers(entra_error("700016", std::string(5'000, 'e'), std::string(300'000, 'd')),
                      400);
  const Outcome cut = cloud.workload();
  CHECK_FAILURE(cut, 1, "answered 400 with the error");
  CHECK(cut.error_output.size() < 1'500);
}

TEST_CASE("no message shows the assertion if Entra's error contains it") {
  Cloud cloud;
  cloud.entra.on(token_path(kTenant), [](Stream& stream, const Received& request) {
    const std::string text = request.field("client_assertion") + " and " + request.body;
    stream.write(reply(400, entra_error("700027", request.field("client_assertion"), text)));
  });
  const Outcome outcome = cloud.workload({"--debug"});
  CHECK(outcome.exit_code == 1);
  CHECK(blackbox::says(outcome, "AADSTS700027"));
  CHECK(blackbox::secret_in(outcome.error_output) == "");
  CHECK(blackbox::says(outcome, "***"));
}

TEST_CASE("no message shows a part of the assertion if Entra's error contains it") {
  Cloud cloud;
  const std::string part = cloud.federated.substr(cloud.federated.size() / 2, 30);
  cloud.entra_answers(entra_error("700027", "invalid_client", "the part " + part + " is bad"), 400);
  const Outcome outcome = cloud.workload();
  CHECK_FAILURE(outcome, 1, "answered 400 with the error 'invalid_client': AADSTS700027");
  CHECK(blackbox::says(outcome, "the part *** is bad"));
  CHECK_FALSE(blackbox::says(outcome, part));
}

TEST_CASE("a temporary failure is retried within the run, by its code or by its status") {
  struct Case {
    int status;
    std::string body;
  };
  for (const Case& c :
       {Case{400, entra_error("90033", "invalid_grant", "later")},
        Case{503, entra_error("90033", "temporarily_unavailable", "later")}, Case{429, ""},
        Case{500, ""}, Case{502, "<html>"}, Case{503, ""}, Case{504, ""}}) {
    for (const bool has_cache : {true, false}) {
      CAPTURE(c.status);
      CAPTURE(has_cache);
      Cloud cloud;
      cloud.entra.on(token_path(kTenant), [&](Stream& stream, const Received&) {
        stream.write(cloud.calls() == 1 ? reply(c.status, c.body)
                                        : reply(200, token_reply("at-last")));
      });
      Texts options = cloud.workload_options() + Texts{"--timeout=10s"};
      if (!has_cache) options.emplace_back("--no-cache");
      CHECK(token_of(cloud.run_cold({.arguments = options})) == "at-last");
      CHECK(cloud.calls() == 2);
    }
  }
}

TEST_CASE("a permanent failure is not retried without the cache") {
  for (const std::string code : {"70021", "700016", "500011"}) {
    Cloud cloud;
    cloud.entra_answers(entra_error(code, "invalid_client", "no"), 401);
    CHECK_FAILURE(cloud.workload({"--no-cache"}), 1,
                  "no Trace ID: 0f1e Correlation ID: 2d3c Timestamp");
    CHECK(cloud.calls() == 1);
  }
}

TEST_CASE("a Retry-After is honoured: no second call before it, in this run or another") {
  Cloud cloud;
  cloud.entra_answers(entra_error("90055", "temporarily_unavailable", "slow down"), 429,
                      "Retry-After: 120\r\n");
  CHECK_FAILURE(cloud.workload(kShort), 3, "answered 429 with the error 'temporarily_unavailable'");
  CHECK_FAILURE(cloud.run({.arguments = cloud.workload_options() + kShort}), 3,
                "answered 429 with the error 'temporarily_unavailable'");
  CHECK(cloud.calls() == 1);
  CHECK_FAILURE(cloud.workload(Texts{"--no-cache"} + kShort), 3,
                "answered 429 with the error 'temporarily_unavailable'");
  CHECK(cloud.calls() == 2);
}

TEST_CASE("replies without a token are refused: HTML, other types, duplicate keys, an error" *
          doctest::description("promise 20")) {
  struct Case {
    std::string body;
    int exit_code;
  };
  for (const Case& c :
       {Case{"<html>sign in</html>", 1}, Case{"", 1}, Case{"[]", 1}, Case{"{}", 1},
        Case{R"({"access_token":7})", 1}, Case{R"({"access_token":null})", 1},
        Case{R"({"access_token":"a","access_token":"b"})", 1}, Case{R"({"access_token":"a b"})", 1},
        Case{R"({"access_token":"a\nb"})", 1},
        Case{R"({"access_token":"a","token_type":"pop"})", 1},
        Case{R"({"access_token":"a","expires_in":"soon"})", 1},
        Case{R"({"access_token":"a","expires_in":-1})", 1},
        Case{R"({"access_token":"a","expires_in":[]})", 1},
        Case{R"({"error":"invalid_client","error_description":"AADSTS700016: no"})", 1}}) {
    CAPTURE(c.body);
    Cloud cloud;
    cloud.entra_answers(c.body);
    CHECK_FAILURE(cloud.workload(kShort), c.exit_code, "asking for a token of the tenant");
    CHECK(cloud.calls() == 1);
  }
}

TEST_CASE("the code of a description is the first AADSTS that is followed by digits") {
  struct Case {
    std::string_view description, code;
  };
  for (const Case& c : {Case{"AADSTS70021: No matching", "70021"}, Case{"AADSTS", ""},
                        Case{"AADSTS: AADSTS7: x", "7"}, Case{"x AADSTS700016", "700016"},
                        Case{"aadsts70021", ""}, Case{"", ""}, Case{"AADSTSx1", ""}}) {
    CAPTURE(c.description);
    CHECK(azure::aadsts_code(c.description) == c.code);
  }
}

}  // namespace execcred::test
