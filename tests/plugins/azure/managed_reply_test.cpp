// SPDX-License-Identifier: Apache-2.0
// Managed identity: what the endpoints answer.
#include "cloud.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <ctime>

namespace execcred::test {
namespace {

constexpr std::int64_t kDay = 24 * 3600;
const Texts kShort = {"--timeout=2s"};

std::string reply_with(const std::string& members, const std::string& token = "opaque-token") {
  return R"({"access_token":")" + token + R"(","token_type":"Bearer")" + members + "}";
}

std::string in_seconds(std::int64_t seconds) {
  return std::to_string(blackbox::seconds_since_epoch() + seconds);
}

// A time like "2026-07-01T12:00:00Z".
std::string as_date(std::int64_t seconds) {
  const std::time_t time = blackbox::seconds_since_epoch() + seconds;
  std::tm parts = {};
  gmtime_r(&time, &parts);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
  return text;
}

Outcome app_service(const Cloud& cloud, const Texts& arguments = {}) {
  return cloud.run_cold({.arguments = Texts{"--identity=managed"} + arguments,
                         .variables = cloud.app_service_variables()});
}

}  // namespace

TEST_CASE("the token ends at the earliest of expires_on, expires_in and its own exp") {
  struct Case {
    std::string members;
    std::int64_t seconds;
  };
  Cloud cloud;
  for (const Case& c :
       {Case{",\"expires_in\":\"3600\"", 3600}, Case{",\"expires_in\":3600", 3600},
        Case{",\"expires_on\":\"" + in_seconds(1200) + "\"", 1200},
        Case{",\"expires_on\":" + in_seconds(1200), 1200},
        Case{",\"expires_on\":" + in_seconds(1200) + ".5", 1200},
        // A token that the endpoint has cached: expires_in counts from when it was issued.
        Case{R"(,"expires_in":"86399","expires_on":")" + in_seconds(700) + "\"", 700},
        Case{R"(,"expires_in":"300","expires_on":")" + in_seconds(7000) + "\"", 300},
        Case{",\"expires_on\":\"" + as_date(900) + "\"", 900},
        Case{",\"expires_on\":\"" + in_seconds(900) + "\",\"expires_in\":null", 900},
        Case{",\"expires_on\":null,\"expires_in\":\"900\"", 900},
        Case{",\"expires_in\":\"1000000\"", kDay}, Case{"", 600}}) {
    CAPTURE(c.members);
    cloud.imds_answers(reply_with(c.members));
    const Outcome outcome = cloud.managed();
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) == "opaque-token");
    const bool is_endless = c.members.empty();
    CHECK(is_about(claimed_seconds(outcome), is_endless ? c.seconds : claim_for(c.seconds)));
  }
  cloud.imds_answers(reply_with(R"(,"expires_in":"3600","expires_on":")" + in_seconds(3600) + "\"",
                                blackbox::jwt_for(240)));
  CHECK(is_about(claimed_seconds(cloud.managed()), claim_for(240)));
}

TEST_CASE("an expires_on far in the future is limited to one day") {
  Cloud cloud;
  for (const std::string& end : Texts{in_seconds(40 * kDay), std::string("99999999999999999999"),
                                      std::string("1e300"), as_date(40 * kDay)}) {
    CAPTURE(end);
    cloud.imds_answers(reply_with(",\"expires_on\":\"" + end + "\""));
    CHECK(is_about(claimed_seconds(cloud.managed()), claim_for(kDay)));
  }
}

TEST_CASE("a reply with an invalid time or token is refused") {
  Cloud cloud;
  const std::string ended = "has ended already, by its 'expires_on'";
  const std::string no_time = "'expires_on' is no time";
  struct Bad {
    std::string body;
    std::string said;
  };
  for (const Bad& bad :
       {Bad{reply_with(R"(,"expires_on":"0")"), ended},
        Bad{reply_with(R"(,"expires_on":-1)"), ended},
        Bad{reply_with(",\"expires_on\":\"" + in_seconds(-10) + "\""), ended},
        Bad{reply_with(",\"expires_on\":\"" + as_date(-10) + "\""), ended},
        Bad{reply_with(R"(,"expires_on":"tomorrow")"), no_time},
        Bad{reply_with(R"(,"expires_on":"")"), no_time},
        Bad{reply_with(R"(,"expires_on":true)"), no_time},
        Bad{reply_with(R"(,"expires_on":[1])"), no_time},
        Bad{reply_with(R"(,"expires_on":{})"), no_time},
        Bad{reply_with(R"(,"expires_on":"06/20/2019 02:57:58")"), no_time},
        Bad{reply_with(R"(,"expires_in":"0")"), "'expires_in' is not above 0"},
        Bad{reply_with(R"(,"expires_in":"x")"), "'expires_in' is no number of seconds"},
        Bad{reply_with(R"(,"expires_on":"9999999999","expires_on":"1")"), "more than once"},
        Bad{reply_with("", "two words"), "a byte that no token may hold"},
        Bad{reply_with("", ""), "has no 'access_token'"},
        Bad{reply_with("", blackbox::jwt_for(-30)), "the token has expired"},
        Bad{"{}", "has no 'access_token'"},
        Bad{"[]", "is an array"},
        Bad{"7", "is a number"},
        Bad{"null", "is null"},
        Bad{"", "is empty"},
        Bad{"<html>", "no valid JSON"},
        Bad{R"({"access_token":7})", "'access_token' is a number"},
        Bad{R"({"access_token":{"a":"b"}})", "'access_token' is an object"},
        Bad{R"({"access_token":"a","token_type":7})", "token_type must be a string"},
        Bad{R"({"access_token":"a","token_type":"PoP"})", "of the type 'PoP'"},
        Bad{R"({"error":"invalid_request","error_description":"no"})", "'invalid_request': no"}}) {
    CAPTURE(bad.body);
    cloud.imds_answers(bad.body);
    CHECK_FAILURE(cloud.managed(kShort), 1, bad.said);
  }
}

TEST_CASE("a reply that names another identity than the requested one is refused") {
  Cloud cloud;
  const std::string asked = std::string("--client-id=") + kClient;
  const auto of_client = [](const std::string& client) {
    return token_reply("somebody's", ",\"client_id\":" + blackbox::json_string(client));
  };
  cloud.imds_answers(of_client(kOtherClient));
  CHECK_REFUSAL(cloud.managed({asked}), 1, kOtherClient);
  CHECK_SUCCESS(cloud.managed());  // any identity may be the default
  cloud.imds_answers(of_client(""));
  CHECK_SUCCESS(cloud.managed({asked}));
  cloud.imds_answers(token_reply("somebody's", R"(,"client_id":5)"));
  CHECK_FAILURE(cloud.managed({asked}), 1, "the reply's 'client_id' is a number, not a string");
  std::string upper = kClient;
  cloud.imds_answers(of_client(kClient));
  CHECK_SUCCESS(cloud.managed({asked}));
  const std::string lower = "abcdefab-0000-0000-0000-000000000000";
  cloud.imds_answers(of_client("ABCDEFAB-0000-0000-0000-000000000000"));
  CHECK_SUCCESS(cloud.managed({"--client-id=" + lower}));
}

TEST_CASE("each status has its exit code, and statuses of IMDS during its updates are temporary" *
          doctest::description("promise 23")) {
  struct Case {
    int status, imds, app_service;
  };
  for (const Case& c :
       {Case{400, 1, 1}, Case{401, 1, 1}, Case{403, 1, 1}, Case{404, 3, 1}, Case{405, 1, 1},
        Case{408, 3, 3}, Case{410, 3, 1}, Case{429, 3, 3}, Case{500, 3, 3}, Case{501, 3, 3},
        Case{503, 3, 3}, Case{599, 3, 3}, Case{204, 1, 1}, Case{206, 1, 1}}) {
    CAPTURE(c.status);
    Cloud cloud;
    cloud.imds_answers("", c.status);
    cloud.metadata.on(kAppService, reply(c.status, ""));
    CHECK_FAILURE(cloud.managed(kShort), c.imds, "asking the endpoint of managed identities");
    CHECK_FAILURE(app_service(cloud, kShort), c.app_service,
                  "asking the endpoint of managed identities");
    CHECK(cloud.metadata.requests().size() == 2);
  }
}

TEST_CASE("a temporary failure is retried within the run, which then gets the token") {
  for (const int status : {404, 410, 429, 500, 501, 503, 599}) {
    for (const bool has_cache : {true, false}) {
      CAPTURE(status);
      CAPTURE(has_cache);
      Cloud cloud;
      cloud.metadata.on(kImds, [&](Stream& stream, const Received&) {
        stream.write(cloud.calls() == 1 ? reply(status, "") : reply(200, token_reply("at-last")));
      });
      Texts options = {"--timeout=10s"};
      if (!has_cache) options.emplace_back("--no-cache");
      CHECK(token_of(cloud.managed(options)) == "at-last");
      CHECK(cloud.calls() == 2);
    }
  }
}

TEST_CASE("an endpoint that stays down gets six calls without the cache, at most three with it") {
  Cloud cloud;
  cloud.imds_answers("", 410);
  const Outcome outcome = cloud.managed({"--no-cache", "--timeout=20s"});
  CHECK_FAILURE(outcome, 3, "answered 410");
  CHECK(cloud.calls() == 6);
  CHECK(outcome.elapsed < blackbox::kEventually);
  cloud.metadata.forget();
  cloud.clear_cache();
  for (int i = 0; i < 5; ++i) {
    CHECK_FAILURE(cloud.run({.arguments = Texts{"--identity=managed"} + Texts{"--timeout=1s"},
                             .variables = cloud.imds_variables()}),
                  3, "answered 410");
  }
  // The window after the first failure is two seconds long.
  CHECK(cloud.calls() <= 3);
}

TEST_CASE("the endpoint's message is shown: from IMDS, from App Service, and from other JSON") {
  struct Case {
    std::string body, shown;
  };
  Cloud cloud;
  for (const Case& c :
       {Case{R"({"error":"invalid_request","error_description":"Identity not found"})",
             "invalid_request: Identity not found"},
        Case{R"({"statusCode":400,"message":"No Managed Identity found"})",
             "No Managed Identity found"},
        Case{R"({"error":{"code":"ManagedIdentityNotFound","message":"gone"}})",
             "ManagedIdentityNotFound: gone"}}) {
    CAPTURE(c.body);
    cloud.imds_answers(c.body, 400);
    const Outcome outcome = cloud.managed();
    CHECK_FAILURE(outcome, 1, "answered 400");
    CHECK(blackbox::says(outcome, c.shown));
    CHECK(blackbox::says(outcome, "--client-id"));
  }
  cloud.imds_answers(R"({"error":")" + std::string(100'000, 'e') + "\"}", 400);
  CHECK(cloud.managed().error_output.size() < 1'500);
  cloud.imds_answers("{\"error\":\"a\\u001b[31m\\nb\"}", 400);
  CHECK_FAILURE(cloud.managed(), 1, "answered 400: a\\x1b[");
}

TEST_CASE("a silent endpoint ends the run at its timeout, and a too long reply is refused") {
  Cloud cloud;
  cloud.metadata.on(kImds, [](Stream& stream, const Received&) { stream.wait_for_close(); });
  const Outcome silent = cloud.managed({"--timeout=1s"});
  CHECK_FAILURE(silent, 3, "did not reply within");
  CHECK(silent.elapsed < blackbox::kNoWait);
  cloud.metadata.on(kImds, [](Stream& stream, const Received&) {
    stream.write("HTTP/1.1 200 OK\r\nContent-Length: 314572800\r\n\r\n");
    const std::string block(64 * 1024, ' ');
    for (int i = 0; i < 4'800 && stream.write(block); ++i) {
    }
  });
  CHECK_FAILURE(cloud.managed(kShort), 1, "the reply of http://");
}

}  // namespace execcred::test
