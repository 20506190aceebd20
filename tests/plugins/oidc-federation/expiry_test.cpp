// SPDX-License-Identifier: Apache-2.0
// When the credential ends, and which token of the reply is used.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace execcred::test {
namespace {

constexpr std::int64_t kDay = 24 * 3600;

// Not registered as secrets: other cases check the messages.
std::string jwt_until(std::int64_t seconds) { return blackbox::jwt_for(seconds); }

std::string reply_with(const std::string& token, const std::string& members) {
  return R"({"access_token":")" + token + "\"" + members + "}";
}

}  // namespace

TEST_CASE("expires_in: a number or a string, limited to one day, and reduced by a margin") {
  struct Case {
    std::string member;
    std::int64_t seconds;
  };
  Federation fed;
  for (const Case& c :
       {Case{"3600", 3600}, Case{"\"3600\"", 3600}, Case{"3600.9", 3600}, Case{"3.6e3", 3600},
        Case{"100", 100}, Case{"1000000000000", kDay}, Case{"1e300", kDay},
        Case{"99999999999999999999999999", kDay}, Case{"86400", kDay}, Case{"\"900.5\"", 900}}) {
    CAPTURE(c.member);
    fed.idp.answer(reply_with("opaque-token", ",\"expires_in\":" + c.member));
    const Outcome outcome = fed.run_cold({});
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) == "opaque-token");
    CHECK(is_about(claimed_seconds(outcome), claim_for(c.seconds)));
  }
}

TEST_CASE("expires_in: a value that is no positive time is refused") {
  Federation fed;
  for (const std::string member : {"0", "-1", "-3600", "\"0\"", "\"-5\"", "\"soon\"", "true",
                                   "[60]", "{}", "\"\"", "0.4", "\"0x10\"", "\"60 \\u0000\""}) {
    CAPTURE(member);
    fed.idp.answer(reply_with("opaque-token", ",\"expires_in\":" + member));
    CHECK_FAILURE(fed.run_cold({}), 1, "'expires_in' is");
  }
}

TEST_CASE("a token without an end is claimed for exactly now + --max-age") {
  Federation fed;
  for (const std::string members : {"", ",\"expires_in\":null", ",\"token_type\":\"bearer\""}) {
    CAPTURE(members);
    fed.idp.answer(reply_with("opaque-token", members));
    CHECK(is_about(claimed_seconds(fed.run_cold({})), 600));
    CHECK(is_about(claimed_seconds(fed.run_cold({.arguments = {"--max-age=3m"}})), 180));
    CHECK(
        is_about(claimed_seconds(fed.run({.arguments = {"--no-cache"}, .has_cache = false})), 600));
  }
}

TEST_CASE("a cached token without an end is claimed for the --max-age of each run") {
  Federation fed;
  fed.idp.answer(reply_with("opaque-token", ""));
  CHECK(is_about(claimed_seconds(fed.run({.arguments = {"--max-age=1h"}})), 3600));
  CHECK(is_about(claimed_seconds(fed.run({.arguments = {"--max-age=3m"}})), 180));
  CHECK(is_about(claimed_seconds(fed.run({})), 600));
  CHECK(fed.idp.requests().size() == 1);
}

TEST_CASE("--max-age does not limit a token that has its own end") {
  Federation fed;
  CHECK(is_about(claimed_seconds(fed.run({.arguments = {"--max-age=1m"}})), claim_for(3600)));
}

TEST_CASE("an access token that is a JWT ends at the earlier of expires_in and its exp") {
  struct Case {
    std::int64_t exp;
    std::string members;
    std::int64_t seconds;
  };
  Federation fed;
  for (const Case& c :
       {Case{900, ",\"expires_in\":3600", 900}, Case{7200, ",\"expires_in\":3600", 3600},
        Case{1800, "", 1800}, Case{10 * kDay, "", kDay}, Case{10 * 365 * kDay, "", kDay}}) {
    CAPTURE(c.exp);
    CAPTURE(c.members);
    fed.idp.answer(reply_with(jwt_until(c.exp), c.members));
    CHECK(is_about(claimed_seconds(fed.run_cold({})), claim_for(c.seconds)));
  }
  fed.idp.answer(reply_with(jwt_until(-60), ",\"expires_in\":3600"));
  CHECK_FAILURE(fed.run_cold({}), 1, "the token has expired: it ended at");
}

TEST_CASE("--token=id_token: the ID token is used, and only its own exp counts") {
  Federation fed;
  const Ask ask = {.arguments = {"--token=id_token"}};
  const std::string id_token = jwt_until(1800);
  fed.idp.answer(R"({"access_token":"opaque","token_type":"DPoP","expires_in":60,"id_token":")" +
                 id_token + "\"}");
  const Outcome outcome = fed.run_cold(ask);
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == id_token);
  CHECK(is_about(claimed_seconds(outcome), claim_for(1800)));
  fed.idp.answer(token_reply("opaque-token"));
  CHECK_REFUSAL(fed.run_cold(ask), 1, "id_token");
  const std::string endless = blackbox::make_jwt(R"({"iss":"a","sub":"b"})");
  for (const std::string& invalid : {std::string("opaque"), endless, jwt_until(-60)}) {
    CAPTURE(invalid);
    fed.idp.answer(R"({"access_token":"a","expires_in":60,"id_token":")" + invalid + "\"}");
    CHECK_FAILURE(fed.run_cold(ask), 1, "reading the reply of https://");
  }
  fed.idp.answer(R"({"id_token":")" + id_token + "\"}");
  CHECK_FAILURE(fed.run_cold({}), 1, "the reply has no 'access_token'");
}

TEST_CASE("token_type: missing, Bearer or N_A in any letter case, other types are refused") {
  Federation fed;
  for (const std::string type : {"Bearer", "bearer", "BEARER", "N_A", "n_a"}) {
    CAPTURE(type);
    fed.idp.answer(
        reply_with("opaque-token", ",\"expires_in\":600,\"token_type\":\"" + type + "\""));
    CHECK_SUCCESS(fed.run_cold({}));
  }
  for (const std::string type : {"\"DPoP\"", "\"mac\"", "\"pop\"", "\"Bearer \"", "7", "[]"}) {
    CAPTURE(type);
    fed.idp.answer(reply_with("opaque-token", ",\"expires_in\":600,\"token_type\":" + type));
    CHECK_FAILURE(fed.run_cold({}), 1, "the reply");
  }
}

TEST_CASE("--expect-audience: a token for another audience, or an opaque one, is refused") {
  Federation fed;
  const auto expecting = [](const std::string& audience) {
    return Ask{.arguments = {"--expect-audience=" + audience}};
  };
  fed.idp.answer(reply_with(jwt_until(600), ""));
  CHECK_SUCCESS(fed.run_cold(expecting("server")));
  CHECK_FAILURE(fed.run_cold(expecting("serve")), 1, "the token is for 'server', not for 'serve'");
  CHECK_FAILURE(fed.run_cold(expecting("server2")), 1,
                "the token is for 'server', not for 'server2'");
  fed.idp.answer(reply_with("opaque-token", ",\"expires_in\":600"));
  CHECK_FAILURE(fed.run_cold(expecting("server")), 1,
                "--expect-audience cannot be checked: the token is no JWT");
}

}  // namespace execcred::test
