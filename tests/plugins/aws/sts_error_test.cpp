// SPDX-License-Identifier: Apache-2.0
// Errors of STS, and the messages about them.
#include "rig.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

const Texts kRoleFlag = {std::string("--role-arn=") + kRole};
// Shorter than the first retry delay of a provider that is down, so that no run waits for it.
const Texts kShort = kRoleFlag + Texts{"--timeout=2s"};

}  // namespace

TEST_CASE("each STS error code has its exit code, in JSON and XML, and STS is called once" *
          doctest::description("promise 23")) {
  struct Case {
    std::string code;
    int status, exit_code;
  };
  for (const Case& c :
       {Case{"AccessDenied", 403, 1}, Case{"ExpiredTokenException", 400, 1},
        Case{"InvalidIdentityToken", 400, 1}, Case{"InvalidClientTokenId", 403, 1},
        Case{"SignatureDoesNotMatch", 403, 1}, Case{"RegionDisabledException", 403, 1},
        Case{"ValidationError", 400, 1}, Case{"MalformedPolicyDocument", 400, 1},
        Case{"AnErrorOfItsOwn", 400, 1}, Case{"AccessDenied", 500, 1}, Case{"Throttling", 400, 3},
        Case{"ThrottlingException", 400, 3}, Case{"RequestLimitExceeded", 503, 3},
        Case{"IDPCommunicationError", 400, 3}, Case{"InternalFailure", 500, 3},
        Case{"ServiceUnavailable", 503, 3}, Case{"AnErrorOfItsOwn", 500, 3},
        Case{"AnErrorOfItsOwn", 429, 3}}) {
    for (const bool is_xml : {false, true}) {
      CAPTURE(c.code);
      CAPTURE(c.status);
      CAPTURE(is_xml);
      Rig rig;
      const std::string message = "what STS <says> & means";
      rig.sts.answer(is_xml ? sts_error_xml(c.code, message) : sts_error(c.code, message),
                     c.status);
      const Outcome outcome = rig.run({.arguments = kShort});
      CHECK_FAILURE(outcome, c.exit_code, "answered with the error");
      CHECK(blackbox::says(outcome, "'" + c.code + "': " + message));
      CHECK(blackbox::says(outcome, rig.sts.authority()));
      CHECK(blackbox::says(outcome, kRole));
      CHECK(rig.sts.calls() == 1);
    }
  }
}

TEST_CASE("a throttling error, which STS sends with status 400, is retried within the run") {
  for (const std::string code : {"Throttling", "RequestLimitExceeded", "IDPCommunicationError"}) {
    for (const Texts& how : {Texts{}, Texts{"--no-cache"}}) {
      CAPTURE(code);
      Rig rig;
      rig.sts.on("/", [&rig, code](Stream& stream, const Received&) {
        stream.write(reply(400, sts_error_xml(code, "Rate exceeded")));
        rig.sts.work();
      });
      const Outcome outcome = rig.run({.arguments = kRoleFlag + how + Texts{"--timeout=20s"}});
      CHECK(rig.problem(outcome) == "");
      CHECK(rig.sts.calls() == 2);
    }
  }
}

TEST_CASE("a permanent error is not retried, and is remembered if there is a cache") {
  Rig rig;
  rig.sts.answer(sts_error("AccessDenied", "no"), 403);
  CHECK_FAILURE(rig.run({.arguments = kRoleFlag + Texts{"--no-cache"}}), 1,
                "answered with the error 'AccessDenied': no");
  CHECK(rig.sts.calls() == 1);
  CHECK_FAILURE(rig.run({.arguments = kRoleFlag}), 1, "answered with the error 'AccessDenied': no");
  CHECK_FAILURE(rig.run({.arguments = kRoleFlag}), 1, "answered with the error 'AccessDenied': no");
  CHECK(rig.sts.calls() == 2);
}

TEST_CASE("an expired signature is reported with a hint at the clock") {
  Rig rig;
  rig.sts.answer(sts_error("SignatureDoesNotMatch",
                           "Signature expired: 20150830T123600Z is now earlier than "
                           "20260701T120000Z (20260701T121500Z - 15 min.)"),
                 403);
  CHECK_REFUSAL(rig.run({.arguments = kRoleFlag}), 1, "Signature expired");
  const Outcome outcome = rig.run_cold({.arguments = kRoleFlag});
  CHECK(blackbox::says(outcome, "clock"));
}

TEST_CASE("a reply that is not a valid session is refused") {
  const std::string begin =
      R"({"AssumeRoleResponse":{"AssumeRoleResult":{"Credentials":{"AccessKeyId":"ASIA1",)";
  for (
      const std::string& body : Texts{
          "", "{}", "[]", "null", "<html>hello</html>", "<a/>", "not at all",
          "{\"a\":", R"({"AssumeRoleResponse":{}})",
          // A reply to another action.
          R"({"AssumeRoleWithWebIdentityResponse":{"AssumeRoleWithWebIdentityResult":{"Credentials":{"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t","Expiration":4102444800}}}})",
          begin + R"("SecretAccessKey":"s","SessionToken":"t"}}}})",
          begin + R"("SecretAccessKey":"s","Expiration":4102444800}}}})",
          begin + R"("SecretAccessKey":7,"SessionToken":"t","Expiration":4102444800}}}})",
          begin + R"("SecretAccessKey":"s","SessionToken":"t","Expiration":"soon"}}}})",
          begin + R"("SecretAccessKey":"s","SessionToken":"t","Expiration":[]}}}})",
          begin + R"("SecretAccessKey":"s","SessionToken":"a b","Expiration":4102444800}}}})",
          begin + R"("SecretAccessKey":"s\n","SessionToken":"t","Expiration":4102444800}}}})",
          begin +
              R"("AccessKeyId":"B","SecretAccessKey":"s","SessionToken":"t","Expiration":4102444800}}}})",
          // A session that has ended.
          begin + R"("SecretAccessKey":"s","SessionToken":"t","Expiration":1500000000}}}})",
          R"(<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>A</AccessKeyId><AccessKeyId>B</AccessKeyId></Credentials></AssumeRoleResult></AssumeRoleResponse>)",
          R"(<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>)"}) {
    CAPTURE(body);
    Rig rig;
    rig.sts.answer(body, 200);
    CHECK_FAILURE(rig.run({.arguments = kShort}), 1, "assuming the role arn:aws:iam");
    CHECK(rig.sts.calls() == 1);
  }
}

TEST_CASE("a status without an STS error: 4xx and redirects are final, 429 and 5xx temporary" *
          doctest::description("promise 14")) {
  struct Case {
    int status, exit_code;
  };
  for (const Case& c : {Case{400, 1}, Case{403, 1}, Case{404, 1}, Case{204, 1}, Case{302, 1},
                        Case{429, 3}, Case{500, 3}, Case{502, 3}, Case{503, 3}}) {
    for (const std::string body : {"<html>no</html>", "", "[1]", "{\"Error\":\"x\"}"}) {
      CAPTURE(c.status);
      CAPTURE(body);
      Rig rig;
      rig.sts.answer(body, c.status);
      const Outcome outcome = rig.run({.arguments = kShort});
      CHECK_FAILURE(outcome, c.exit_code, "assuming the role arn:aws:iam");
      CHECK(blackbox::says(outcome, std::to_string(c.status)));
    }
  }
}

TEST_CASE("a redirect is not followed: the request holds credentials of a role" *
          doctest::description("promises 5, 14")) {
  const Sts thief;
  for (const int status : {301, 302, 303, 307, 308}) {
    CAPTURE(status);
    Rig rig;
    rig.sts.on("/", redirect(status, thief.url("/")));
    CHECK_FAILURE(rig.run({.variables = web_identity_of(rig), .has_keys = false}), 1,
                  "a redirect, which is never followed");
    CHECK_FAILURE(rig.run({.arguments = kRoleFlag}), 1, "a redirect, which is never followed");
  }
  CHECK(thief.connections() == 0);
}

TEST_CASE("an STS error that contains the request shows no secret") {
  Rig rig;
  rig.sts.on("/", [](Stream& stream, const Received& request) {
    const std::string text = "you sent " + request.field("WebIdentityToken") + " and " +
                             request.field("ExternalId") + " and " + request.body + " and " +
                             request.header("X-Amz-Security-Token");
    stream.write(reply(400, sts_error("InvalidIdentityToken", text)));
  });
  const Outcome with_token =
      rig.run({.variables = web_identity_of(rig), .has_keys = false, .is_traced = true});
  CHECK(with_token.exit_code == 1);
  CHECK(blackbox::says(with_token, "InvalidIdentityToken"));
  CHECK(blackbox::secret_in(with_token.error_output) == "");
  CHECK(blackbox::says(with_token, "***"));
  const std::string external = "external-s3cret/" + std::string("of-the-owner");
  blackbox::remember_secret(external);
  const Outcome with_role =
      rig.run({.arguments = kRoleFlag + Texts{"--external-id=" + external}, .is_traced = true});
  CHECK(with_role.exit_code == 1);
  CHECK(blackbox::says(with_role, "InvalidIdentityToken"));
  CHECK(blackbox::secret_in(with_role.error_output) == "");
}

TEST_CASE("a secret that an STS reply repeats as a duplicate key is not shown") {
  Rig rig;
  const std::string key = blackbox::json_string(rig.web_identity);
  rig.sts.answer("{" + key + ":1," + key + ":2}", 200);
  const Outcome outcome =
      rig.run({.variables = web_identity_of(rig), .has_keys = false, .is_traced = true});
  CHECK(outcome.exit_code == 1);
  CHECK(blackbox::says(outcome, "has a key more than once"));
  CHECK(blackbox::secret_in(outcome.error_output) == "");
}

TEST_CASE("a code and a message are shown on one line, without control characters, and cut" *
          doctest::description("promise 20")) {
  Rig rig;
  rig.sts.answer(sts_error("Bad\x1b[31m", "a\nb\r\nc\x07 d\x9b \xe2\x80\xae e"), 400);
  CHECK_FAILURE(rig.run_cold({.arguments = kShort}), 1, "answered with the error");
  rig.sts.answer(sts_error(std::string(5000, 'e'), std::string(90'000, 'd')), 400);
  const Outcome outcome = rig.run_cold({.arguments = kShort});
  CHECK_FAILURE(outcome, 1, "answered with the error");
  CHECK(outcome.error_output.size() < 1500);
}

TEST_CASE("an endless reply is refused, and a silent STS ends the run at its timeout") {
  Rig rig;
  rig.sts.on("/", [](Stream& stream, const Received&) {
    stream.write("HTTP/1.1 200 OK\r\n\r\n");
    while (stream.write(std::string(65536, ' '))) {
    }
  });
  CHECK_FAILURE(rig.run({.arguments = kShort}), 1, "the reply of https://");
  rig.sts.on("/", [](Stream& stream, const Received&) { stream.wait_for_close(); });
  const Outcome silent = rig.run_cold({.arguments = kRoleFlag + Texts{"--timeout=1s"}});
  CHECK_FAILURE(silent, 3, "did not reply within");
  CHECK(silent.elapsed < blackbox::kNoWait);
}

}  // namespace execcred::test
