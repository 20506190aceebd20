// SPDX-License-Identifier: Apache-2.0
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/rfc3339.hpp>
#include <execcred/http/retry.hpp>

#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TimePoint time(std::string_view text) { return *parse_rfc3339(text); }

class FixedClock final : public Clock {
 public:
  TimePoint now() const override { return time("2026-07-01T12:00:00Z"); }
};

struct Step {
  int status = 0;  // 0: an error
  std::string retry_after = {};
  bool is_transient = false;
  bool is_local = false;
};

// Answers with what it was told, and repeats the last.
class ScriptedClient final : public HttpClient {
 public:
  ScriptedClient(std::initializer_list<Step> steps) : steps_(steps) {}

  Result<HttpResponse> send(const HttpRequest& /*request*/) override {
    sent_at.push_back(steady_clock::now());
    const Step step = steps_.front();
    if (steps_.size() > 1) steps_.pop_front();
    if (step.status == 0) {
      return Error{.kind = Error::Kind::unavailable,
                   .message = "failure " + std::to_string(sent_at.size()),
                   .is_transient = step.is_transient,
                   .is_local = step.is_local};
    }
    HttpResponse response = {.status = step.status};
    if (!step.retry_after.empty()) response.headers.emplace_back("retry-after", step.retry_after);
    response.headers.emplace_back("attempt", std::to_string(sent_at.size()));
    return response;
  }

  std::vector<steady_clock::time_point> sent_at = {};

 private:
  std::deque<Step> steps_;
};

RetryPolicy quick() { return {.first_pause = 1ms, .longest_pause = 4ms}; }

Result<HttpResponse> run(ScriptedClient& client, const RetryPolicy& policy = quick(),
                         bool is_spent = false) {
  return send_with_retries(
      client, {.url = "https://h.example/secret?secret", .is_spent_by_sending = is_spent}, policy,
      FixedClock());
}

TEST_CASE("send_with_retries: what cannot pass is the result at once") {
  for (const int status : {200, 204, 301, 400, 401, 403, 404, 408, 409, 501, 505}) {
    ScriptedClient client{{.status = status}};
    CHECK(run(client)->status == status);
    CHECK(client.sent_at.size() == 1);
  }
  ScriptedClient client{{.status = 0}};
  check_fails(run(client), Error::Kind::unavailable, "failure 1");
  CHECK(client.sent_at.size() == 1);
}

TEST_CASE("send_with_retries: what may pass is tried again until it has") {
  for (const Step& step :
       {Step{.status = 429}, Step{.status = 500}, Step{.status = 502}, Step{.status = 503},
        Step{.status = 504}, Step{.status = 0, .is_transient = true}}) {
    ScriptedClient client{step, step, {.status = 200}};
    const Result<HttpResponse> reply = run(client);
    REQUIRE(reply);
    CHECK(reply->status == 200);
    CHECK(client.sent_at.size() == 3);
  }
}

TEST_CASE("send_with_retries: what is spent by being sent is not sent after an answer") {
  for (const Step& answer :
       {Step{.status = 408}, Step{.status = 425}, Step{.status = 429}, Step{.status = 500},
        Step{.status = 502}, Step{.status = 503}, Step{.status = 504},
        Step{.status = 503, .retry_after = "0"}, Step{.status = 429, .retry_after = "1"}}) {
    CAPTURE(answer.status);
    ScriptedClient client{answer, {.status = 200}};
    const Result<HttpResponse> reply = run(client, quick(), true);
    REQUIRE(reply);
    CHECK(reply->status == answer.status);
    CHECK(client.sent_at.size() == 1);
  }
  // Nothing was sent yet.
  const Step unsent = {.status = 0, .is_transient = true};
  ScriptedClient later{unsent, unsent, {.status = 503}, {.status = 200}};
  CHECK(run(later, quick(), true)->status == 503);
  CHECK(later.sent_at.size() == 3);
}

TEST_CASE("send_with_retries: this machine's failures pass, also where one call is allowed") {
  RetryPolicy once = quick();
  once.attempts = 1;
  const Step lack = {.status = 0, .is_transient = true, .is_local = true};
  ScriptedClient passing{lack, lack, {.status = 503}, {.status = 200}};
  CHECK(run(passing, once)->status == 503);
  CHECK(passing.sent_at.size() == 3);
  ScriptedClient lasting{lack};
  check_fails(run(lasting, once), Error::Kind::unavailable, "failure 4");
  ScriptedClient final{{.status = 0, .is_local = true}};
  check_fails(run(final, once), Error::Kind::unavailable, "failure 1");
}

TEST_CASE("send_with_retries: the last attempt's result is the result") {
  ScriptedClient busy{{.status = 503}};
  const Result<HttpResponse> reply = run(busy);
  CHECK(busy.sent_at.size() == 4);
  CHECK(reply->header("attempt") == "4");

  ScriptedClient down{{.status = 503}, {.status = 0, .is_transient = true}};
  check_fails(run(down), Error::Kind::unavailable, "failure 4");

  ScriptedClient once{{.status = 503}};
  RetryPolicy policy = quick();
  policy.attempts = 1;
  CHECK(run(once, policy)->status == 503);
  CHECK(once.sent_at.size() == 1);
}

TEST_CASE("send_with_retries: pauses double up to the longest, and half of each is chance") {
  ScriptedClient client{{.status = 503}};
  const RetryPolicy policy = {.attempts = 6, .first_pause = 8ms, .longest_pause = 20ms};
  run(client, policy).value();
  const std::vector<Duration> wanted = {8ms, 16ms, 20ms, 20ms, 20ms};
  REQUIRE(client.sent_at.size() == wanted.size() + 1);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(client.sent_at[i + 1] - client.sent_at[i] >= wanted[i] / 2);
  }
}

TEST_CASE("send_with_retries: a Retry-After that fits is waited for, in place of the pause") {
  ScriptedClient at_once{{.status = 429, .retry_after = "0"}, {.status = 200}};
  const RetryPolicy slow = {.first_pause = 1h, .deadline = steady_clock::now() + 30s};
  CHECK(run(at_once, slow)->status == 200);

  ScriptedClient past{{.status = 503, .retry_after = "Wed, 01 Jul 2026 11:00:00 GMT"},
                      {.status = 200}};
  CHECK(run(past, slow)->status == 200);

  ScriptedClient second{{.status = 429, .retry_after = "1"}, {.status = 200}};
  CHECK(run(second)->status == 200);
  CHECK(second.sent_at[1] - second.sent_at[0] >= 1s);

  ScriptedClient nonsense{{.status = 429, .retry_after = "soon"}, {.status = 200}};
  CHECK(run(nonsense)->status == 200);
}

TEST_CASE("send_with_retries: no attempt starts after the deadline") {
  for (const char* retry_after : {"5", "Wed, 01 Jul 2026 12:01:00 GMT"}) {
    ScriptedClient client{{.status = 429, .retry_after = retry_after}, {.status = 200}};
    RetryPolicy policy = quick();
    policy.deadline = steady_clock::now() + 2s;
    const auto start = steady_clock::now();
    CHECK(run(client, policy)->status == 429);
    CHECK(client.sent_at.size() == 1);
    CHECK(steady_clock::now() - start < 1s);
  }
  ScriptedClient client{{.status = 0, .is_transient = true}};
  RetryPolicy policy = quick();
  policy.attempts = 1'000'000;
  policy.deadline = steady_clock::now() + 50ms;
  check_fails(run(client, policy), Error::Kind::unavailable, "failure");
  CHECK(client.sent_at.back() < policy.deadline);
  CHECK(client.sent_at.size() < 1000);
}

TEST_CASE("send_with_retries: tells each attempt, and nothing of the path") {
  std::vector<std::string> told;
  RetryPolicy policy = quick();
  policy.debug = [&told](std::string_view line) { told.emplace_back(line); };
  ScriptedClient client{{.status = 503}, {.status = 0, .is_transient = true}, {.status = 200}};
  CHECK(run(client, policy));
  REQUIRE(told.size() == 3);
  CHECK(told[0].starts_with("GET https://h.example:443, attempt 1 of 4: answered 503; again in "));
  CHECK(told[1].starts_with("GET https://h.example:443, attempt 2 of 4: failure 2; again in "));
  CHECK(told[2] == "GET https://h.example:443, attempt 3 of 4: answered 200");
}

TEST_CASE("parse_retry_after: seconds") {
  const TimePoint now = FixedClock().now();
  CHECK(parse_retry_after("0", now) == 0s);
  CHECK(parse_retry_after("120", now) == 120s);
  CHECK(parse_retry_after(" 7 ", now) == 7s);
  CHECK(parse_retry_after("007", now) == 7s);
  CHECK(parse_retry_after("86401", now) == 24h);
  CHECK(parse_retry_after("9223372036854775807", now) == 24h);
  CHECK(parse_retry_after("99999999999999999999999999", now) == 24h);
  for (const char* text : {"", " ", "-1", "+1", "1.5", "1s", "0x10", "1 2", "soon"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_retry_after(text, now));
  }
}

TEST_CASE("parse_retry_after: dates in the three forms of HTTP") {
  const TimePoint now = time("1994-11-06T08:49:00Z");
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    CAPTURE(text);
    CHECK(parse_retry_after(text, now) == 37s);
    CHECK(parse_retry_after(text, now + 37s) == 0s);
    CHECK(parse_retry_after(text, now + 24h * 365 * 40) == 0s);
    CHECK(parse_retry_after(text, now - 24h * 365) == 24h);
  }
  CHECK(parse_retry_after("Sun Nov 13 08:49:00 1994", now) == 24h);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:60 GMT", now) == 60s);
}

TEST_CASE("parse_retry_after: two digits of a year are those nearest, at most 50 years ahead") {
  const TimePoint now = time("2026-07-01T12:00:00Z");
  CHECK(parse_retry_after("Wednesday, 01-Jul-26 12:00:05 GMT", now) == 5s);
  CHECK(parse_retry_after("Wednesday, 01-Jul-76 12:00:00 GMT", now) == 24h);  // 2076
  CHECK(parse_retry_after("Friday, 01-Jul-77 12:00:00 GMT", now) == 0s);      // 1977
  CHECK_FALSE(parse_retry_after("Thursday, 01-Jul-77 12:00:00 GMT", now));    // 2077
}

TEST_CASE("parse_retry_after: what is no date") {
  const TimePoint now = time("1994-11-06T08:49:00Z");
  for (const char* text : {"Mon, 06 Nov 1994 08:49:37 GMT",
                           "sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 06 nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:00 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 GMT x",
                           "Sun,06 Nov 1994 08:49:37 GMT",
                           "Sunday, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov 06 08:49:37 1994 GMT",
                           "Sun Nov  6 08:49:37 94",
                           "Sat, 06 Nov 0001 08:49:37 GMT",
                           "Sunday",
                           "Sun, ",
                           "1994-11-06T08:49:37Z"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_retry_after(text, now));
  }
  CHECK_FALSE(parse_retry_after(std::string_view("Sun, 06 Nov 1994 08:49:37 GMT\0", 30), now));
}

}  // namespace
}  // namespace execcred::test
