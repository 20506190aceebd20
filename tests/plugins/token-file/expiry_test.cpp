// SPDX-License-Identifier: Apache-2.0
// expirationTimestamp: the JWT's own end less a margin, bounded by --max-age.
#include "support/token_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace blackbox;

namespace {

using Seconds = std::int64_t;

struct Measured {
  Outcome outcome;
  Seconds before;
  Seconds after;
  Seconds expiration;
};

Measured measure(const TokenFile& file, std::vector<std::string> arguments = {},
                 std::vector<std::string> environment = {}) {
  Measured measured;
  measured.before = seconds_since_epoch();
  measured.outcome = file.run(std::move(arguments), std::move(environment));
  measured.after = seconds_since_epoch();
  measured.expiration = read_answer(measured.outcome.output).expiration;
  return measured;
}

// Checks that the end is now plus so many seconds, at any second of the run.
void check_is_age(const Measured& measured, Seconds age) {
  CHECK_SUCCESS(measured.outcome);
  CHECK(measured.expiration >= measured.before + age);
  CHECK(measured.expiration <= measured.after + age);
}

std::string expiring(const std::string& exp) { return make_jwt("{\"exp\":" + exp + "}"); }
std::string expiring_in(Seconds seconds) {
  return expiring(std::to_string(seconds_since_epoch() + seconds));
}

}  // namespace

TEST_SUITE_BEGIN("token_file");

TEST_CASE("a JWT is claimed until its end less min(30 s, a tenth of what remains)") {
  for (const Seconds lifetime : {400, 301, 300, 299, 100, 60, 20}) {
    CAPTURE(lifetime);
    const Seconds end = seconds_since_epoch() + lifetime;
    const TokenFile file(expiring(std::to_string(end)));
    const Measured measured = measure(file);
    CHECK_SUCCESS(measured.outcome);
    const auto margin = [end](Seconds now) {
      return std::min<double>(30, static_cast<double>(end - now) / 10);
    };
    const auto floor = [](double seconds) { return static_cast<Seconds>(std::floor(seconds)); };
    const auto exact = static_cast<double>(end);
    CHECK(measured.expiration >= floor(exact - margin(measured.before)));
    CHECK(measured.expiration <= floor(exact - margin(measured.after + 1)));
  }
}

TEST_CASE("a JWT that lives for longer than --max-age is claimed for --max-age") {
  const TokenFile file(expiring_in(365L * 24 * 3600));
  check_is_age(measure(file), 600);
  check_is_age(measure(file, {"--max-age=90s"}), 90);
  check_is_age(measure(file, {"--max-age=1h30m"}), 5400);
  check_is_age(measure(file, {}, {"EXECCRED_MAX_AGE=5m"}), 300);
  check_is_age(measure(file, {"--max-age=1m"}, {"EXECCRED_MAX_AGE=5m"}), 60);
  check_is_age(measure(file, {}, {"EXECCRED_MAX_AGE="}), 600);
}

TEST_CASE("a token without an end is claimed for exactly --max-age") {
  for (const std::string& token :
       {std::string("opaque"), std::string("a.b.c"), make_jwt("{}"), make_jwt(R"({"sub":"x"})"),
        make_jwt(R"({"iat":1,"aud":["a"]})")}) {
    CAPTURE(token);
    const TokenFile file(token);
    check_is_age(measure(file), 600);
    check_is_age(measure(file, {"--max-age=1s"}), 1);
    check_is_age(measure(file, {"--max-age=240h"}), 240L * 3600);
  }
}

TEST_CASE("the claimed end is never in the past while the token is valid") {
  for (const Seconds lifetime : {1, 2, 3, 5}) {
    CAPTURE(lifetime);
    // On a slow machine the token may have expired meanwhile: then it is an error.
    bool was_given = false;
    wait_until([&] {
      const Seconds end = seconds_since_epoch() + lifetime;
      const Measured measured = measure(TokenFile(expiring(std::to_string(end))));
      was_given = measured.outcome.exit_code == 0;
      if (!was_given) {
        CHECK_FAILURE(measured.outcome, 1, "the token has expired");
      } else {
        CHECK_SUCCESS(measured.outcome);
        CHECK(measured.expiration >= measured.before);
        CHECK(measured.expiration <= end);
      }
      return was_given;
    });
    CHECK(was_given);
  }
}

TEST_CASE("--max-age is at least one second, and has the syntax of Go's durations") {
  const TokenFile file("opaque");
  for (const std::string age : {"1s", "1000ms", "1.5s", "10m", "1h1m1s1ms", "+5m", "87600h"}) {
    CAPTURE(age);
    CHECK_SUCCESS(file.run({"--max-age=" + age}));
  }
  for (const std::string age :
       {"999ms", "0", "0s", "-1s", "-10m", "1", "60", "1d", "10", "m", "1 m", "10min", "1e3s",
        "9999999h", "99999999999999999999s", "inf"}) {
    CAPTURE(age);
    CHECK_REFUSAL(file.run({"--max-age=" + age}), 2, "--max-age");
    CHECK_REFUSAL(file.run({}, {"EXECCRED_MAX_AGE=" + age}), 2, "EXECCRED_MAX_AGE");
  }
}

TEST_CASE("an expired JWT is an error that says when it ended") {
  for (const std::string& exp :
       {std::string("0"), std::string("1"), std::string("-1"), std::string("1700000000"),
        std::string("1700000000.9"), std::string("-1e300"),
        std::to_string(seconds_since_epoch() - 1), std::to_string(seconds_since_epoch())}) {
    CAPTURE(exp);
    CHECK_REFUSAL(TokenFile(expiring(exp)).run(), 1, "expired");
  }
  const TokenFile file(expiring("1700000000"));
  const Outcome outcome = file.run();
  CHECK(says(outcome, "2023-11-14T22:13:20Z"));
  CHECK(says(outcome, file.path()));
  CHECK_REFUSAL(file.run({"--max-age=1h"}), 1, "expired");
}

TEST_CASE("a fractional or huge exp is accepted") {
  const Seconds end = seconds_since_epoch() + 100;
  const Measured fraction = measure(TokenFile(expiring(std::to_string(end) + ".5")));
  CHECK_SUCCESS(fraction.outcome);
  CHECK(fraction.expiration >= end - 11);
  CHECK(fraction.expiration < end);
  for (const std::string exp :
       {"9999999999", "9223372036", "9223372037", "253402300800", "9223372036854775807",
        "18446744073709551616", "1e18", "1e300", "4102444800.0", "4.1024448e9"}) {
    CAPTURE(exp);
    check_is_age(measure(TokenFile(expiring(exp))), 600);
  }
}

TEST_CASE("an exp that is no number is an error") {
  for (const std::string exp : {R"("4102444800")", R"("")", "null", "true", "[]", "[4102444800]",
                                "{}", R"("2100-01-01T00:00:00Z")"}) {
    CAPTURE(exp);
    const Outcome outcome = TokenFile(expiring(exp)).run();
    CHECK_FAILURE(outcome, 1, "not a number");
    CHECK(says(outcome, "'exp'"));
  }
}

TEST_CASE("duplicate claims are an error, also if they are nested, escaped or equal") {
  const std::string later = std::to_string(seconds_since_epoch() + 3600);
  for (const std::string& claims :
       {"{\"exp\":" + later + ",\"exp\":" + later + "}", "{\"exp\":1,\"exp\":" + later + "}",
        "{\"exp\":" + later + R"(,"aud":"a","aud":"b"})",
        "{\"exp\":" + later + R"(,"x":{"a":1,"a":2}})", "{\"exp\":" + later + R"(,"e\u0078p":1})",
        "{\"exp\":" + later + R"(,"sub":"a","sub":"a"})"}) {
    CAPTURE(claims);
    CHECK_FAILURE(TokenFile(make_jwt(claims)).run(), 1,
                  "more than once in the object that ends at line 1, column");
  }
}

TEST_CASE("nbf may be up to one minute ahead, because clocks differ") {
  const auto beginning_in = [](Seconds seconds) {
    return TokenFile(jwt_for(3600, ",\"nbf\":" + std::to_string(seconds_since_epoch() + seconds)));
  };
  CHECK_SUCCESS(beginning_in(-3600).run());
  CHECK_SUCCESS(beginning_in(0).run());
  CHECK_SUCCESS(beginning_in(50).run());
  const Outcome outcome = beginning_in(90).run();
  CHECK_REFUSAL(outcome, 1, "not valid yet");
  CHECK_REFUSAL(TokenFile(jwt_for(3600, ",\"nbf\":1e300")).run(), 1, "not valid yet");
}

TEST_SUITE_END();
