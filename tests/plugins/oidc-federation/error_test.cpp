// SPDX-License-Identifier: Apache-2.0
// Errors of a provider, and the messages about them.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <execcred/base/encoding.hpp>
#include <execcred/base/form.hpp>

namespace execcred::test {
namespace {

// Shorter than the first retry delay of a provider that is down, so that no run waits for it.
const Texts kShort = {"--timeout=2s"};

std::string oauth_error(const std::string& code, const std::string& description = "") {
  return R"({"error":)" + blackbox::json_string(code) +
         (description.empty() ? ""
                              : ",\"error_description\":" + blackbox::json_string(description)) +
         "}";
}

}  // namespace

TEST_CASE("each error of RFC 6749 and 8693 is shown with its exit code, and is not retried" *
          doctest::description("promise 23")) {
  struct Case {
    std::string code;
    int status, exit_code;
  };
  for (const Case& c : {Case{"invalid_request", 400, 1},
                        Case{"invalid_client", 401, 1},
                        Case{"invalid_client", 400, 1},
                        Case{"invalid_grant", 400, 1},
                        Case{"unauthorized_client", 400, 1},
                        Case{"unauthorized_client", 401, 1},
                        Case{"unsupported_grant_type", 400, 1},
                        Case{"invalid_scope", 400, 1},
                        Case{"access_denied", 401, 1},
                        Case{"access_denied", 403, 1},
                        Case{"invalid_target", 400, 1},
                        Case{"unsupported_token_type", 400, 1},
                        Case{"request_not_supported", 400, 1},
                        Case{"invalid_token", 401, 1},
                        Case{"unsupported_response_type", 400, 1},
                        Case{"an_error_of_its_own", 400, 1},
                        Case{"invalid_grant", 500, 1},
                        Case{"server_error", 400, 3},
                        Case{"server_error", 500, 3},
                        Case{"temporarily_unavailable", 400, 3},
                        Case{"temporarily_unavailable", 503, 3},
                        Case{"slow_down", 400, 3},
                        Case{"invalid_request", 429, 3}}) {
    CAPTURE(c.code);
    CAPTURE(c.status);
    Federation fed;
    fed.idp.answer(oauth_error(c.code, "what the server says about it"), c.status);
    const Outcome outcome = fed.run({.arguments = kShort});
    CHECK_FAILURE(outcome, c.exit_code, "what the server says about it");
    CHECK(blackbox::says(outcome, "'" + c.code + "': what the server says about it"));
    CHECK(blackbox::says(outcome, std::to_string(c.status)));
    CHECK(blackbox::says(outcome, fed.idp.authority()));
    CHECK(fed.idp.calls() == 1);
  }
}

TEST_CASE("a status without an OAuth error: 4xx are final, 429 and 5xx are temporary") {
  struct Case {
    int status, exit_code;
  };
  for (const Case& c : {Case{400, 1}, Case{401, 1}, Case{403, 1}, Case{404, 1}, Case{405, 1},
                        Case{410, 1}, Case{418, 1}, Case{204, 1}, Case{206, 1}, Case{304, 1},
                        Case{429, 3}, Case{500, 3}, Case{502, 3}, Case{503, 3}, Case{504, 3}}) {
    for (const std::string body : {"<html>no</html>", "", "{\"message\":\"no\"}", "[1]"}) {
      CAPTURE(c.status);
      CAPTURE(body);
      Federation fed;
      fed.idp.answer(body, c.status);
      const Outcome outcome = fed.run({.arguments = kShort});
      CHECK_FAILURE(outcome, c.exit_code, "asking the token endpoint");
      CHECK(blackbox::says(outcome, std::to_string(c.status)));
    }
  }
}

TEST_CASE("error and error_description are shown on one line, without control characters, and cut" *
          doctest::description("promise 20")) {
  Federation fed;
  fed.idp.answer(oauth_error("invalid_grant\x1b[31m", "a\nb\r\nc\x07 d\x9b \xe2\x80\xae e\xff"),
                 400);
  CHECK_FAILURE(fed.run_cold({}), 1, "answered 400 with the error");
  fed.idp.answer(oauth_error(std::string(5000, 'e'), std::string(300'000, 'd')), 400);
  const Outcome outcome = fed.run_cold({});
  CHECK_FAILURE(outcome, 1, "answered 400 with the error");
  CHECK(outcome.error_output.size() < 1500);
}

TEST_CASE("no secret is shown if the server's error contains the request") {
  Federation fed;
  const std::string secret = "s3cr3t/+& of the client=";
  blackbox::remember_secret(secret);
  const std::string secret_path = fed.sandbox.write("secret", secret, 0600);
  const std::string parameter = new_secret();
  fed.idp.on(kToken, [](Stream& stream, const Received& request) {
    const std::string text = "you sent " + request.body + " and " + request.field("subject_token") +
                             " and " + request.header("Authorization") + " and " +
                             request.field("client_secret");
    stream.write(reply(400, oauth_error("invalid_grant " + request.field("subject_token"), text)));
  });
  for (const std::string method : {"client_secret_basic", "client_secret_post"}) {
    CAPTURE(method);
    const Outcome outcome =
        fed.run_cold({.arguments = {"--client-id=me", "--client-secret-file=" + secret_path,
                                    "--client-auth=" + method},
                      .is_traced = true});
    CHECK(outcome.exit_code == 1);
    CHECK(blackbox::says(outcome, "invalid_grant"));
    CHECK(blackbox::secret_in(outcome.error_output) == "");
    const std::string encoded(form_urlencode(secret).reveal());
    CHECK_FALSE(blackbox::says(outcome, encoded));
    CHECK_FALSE(blackbox::says(outcome, blackbox::base64("me:" + encoded)));
    CHECK(blackbox::says(outcome, "***"));
  }
  // A token of the server's own is not shown either, in an error or as a token type.
  // It has no text in common with the request.
  const std::string token = "eyJ0eXAiOiJhdCtqd3QifQ.eyJhIjoib3RoZXIifQ.b3RoZXItc2lnbmF0dXJl";
  blackbox::remember_secret(token);
  fed.idp.answer(oauth_error("invalid_grant", "the token " + token + " is bad"), 400);
  CHECK_FAILURE(fed.run_cold({}), 1, "answered 400 with the error 'invalid_grant': the token ***");
  fed.idp.answer(R"({"access_token":"a","expires_in":60,"token_type":")" + token + "\"}");
  CHECK_FAILURE(fed.run_cold({}), 1, "the reply");
}

TEST_CASE("an error names the variable or field that set the option, not a flag") {
  Federation fed;
  struct Case {
    Ask ask;
    int exit_code;
    std::string told;
  };
  const auto by_variable = [](const std::string& variable, const Texts& arguments = {}) {
    return Ask{.arguments = arguments, .variables = {variable}};
  };
  Ask subject = by_variable("EXECCRED_SUBJECT_TOKEN_FILE=/none");
  subject.has_subject = false;
  const Texts client = {"--client-id=me"};
  Ask field = {.flow = "pass-through", .config = R"({"audience":"other"})"};
  field.arguments = {"--allow-audience=other"};
  for (const Case& c : {Case{subject, 2, "while reading EXECCRED_SUBJECT_TOKEN_FILE '/none'"},
                        Case{by_variable("EXECCRED_CLIENT_SECRET_FILE=/none", client), 2,
                             "while reading EXECCRED_CLIENT_SECRET_FILE '/none'"},
                        Case{by_variable("EXECCRED_PRIVATE_KEY_FILE=/none", client), 2,
                             "while reading EXECCRED_PRIVATE_KEY_FILE '/none'"},
                        Case{by_variable("EXECCRED_ACTOR_TOKEN_FILE=/none"), 2,
                             "while reading EXECCRED_ACTOR_TOKEN_FILE '/none'"},
                        Case{by_variable("EXECCRED_CLIENT_AUTH=private_key_jwt", client), 2,
                             "EXECCRED_CLIENT_AUTH=private_key_jwt needs --private-key-file"},
                        Case{field, 1, "spec.cluster.config.audience demands it"}}) {
    CAPTURE(c.told);
    CHECK_FAILURE(fed.run_cold(c.ask), c.exit_code, c.told);
  }
}

TEST_CASE("invalid_grant, invalid_client and invalid_target come with a hint at the cause") {
  struct Case {
    std::string code, hint;
  };
  for (const Case& c :
       {Case{"invalid_grant", "trusts the issuer"}, Case{"invalid_client", "client authentication"},
        Case{"invalid_target", "audience"}}) {
    Federation fed;
    fed.idp.answer(oauth_error(c.code), 400);
    CHECK_REFUSAL(fed.run({}), 1, c.hint);
  }
}

TEST_CASE("a temporary failure is retried within the run, which then gets the token") {
  for (const int status : {429, 500, 502, 503, 504}) {
    CAPTURE(status);
    Federation fed;
    fed.idp.on(kToken, [&fed, status](Stream& stream, const Received&) {
      stream.write(fed.idp.calls() == 1 ? reply(status, "") : reply(200, token_reply("at-last")));
    });
    CHECK(token_of(fed.run({.arguments = {"--timeout=10s"}})) == "at-last");
    CHECK(fed.idp.calls() == 2);
  }
}

}  // namespace execcred::test
