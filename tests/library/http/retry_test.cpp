// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/http/retry.hpp>

#include <array>
#include <ctime>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

struct Step {
  int status = 0;  // 0: an error
  std::chrono::seconds retry_after = {};
  bool is_transient = false;
  bool is_local = false;
};

// Gives the scripted answers, and repeats the last one.
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
    HttpResponse response = {.status = step.status, .retry_after = step.retry_after};
    response.headers.emplace_back("attempt", std::to_string(sent_at.size()));
    return response;
  }

  std::vector<steady_clock::time_point> sent_at = {};

 private:
  std::deque<Step> steps_;
};

RetryPolicy quick() { return {.first_pause = 1ms, .longest_pause = 4ms}; }

Result<HttpResponse> run(ScriptedClient& client, const RetryPolicy& policy = quick(),
                         bool is_spent = false, CallContext call = {}) {
  return send_with_retries(
      client, {.url = "https://h.example/secret?secret", .is_spent_by_sending = is_spent}, call,
      policy);
}

Result<HttpResponse> run(ScriptedClient& client, const CallContext& call,
                         const RetryPolicy& policy = quick()) {
  return run(client, policy, false, call);
}

TEST_CASE("send_with_retries: a result that is not temporary is returned at once") {
  for (const int status : {200, 204, 301, 400, 401, 403, 404, 409, 501, 505}) {
    ScriptedClient client{{.status = status}};
    CHECK(run(client)->status == status);
    CHECK(client.sent_at.size() == 1);
  }
  ScriptedClient client{{.status = 0}};
  check_fails(run(client), Error::Kind::unavailable, "failure 1");
  CHECK(client.sent_at.size() == 1);
}

TEST_CASE("send_with_retries: temporary errors are retried until an attempt succeeds") {
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

TEST_CASE("send_with_retries: what is spent by being sent is not sent again after a reply" *
          doctest::description("promise 31")) {
  for (const Step& answer :
       {Step{.status = 408}, Step{.status = 425}, Step{.status = 429}, Step{.status = 500},
        Step{.status = 502}, Step{.status = 503}, Step{.status = 504}, Step{.status = 503},
        Step{.status = 429, .retry_after = 1s}}) {
    CAPTURE(answer.status);
    ScriptedClient client{answer, {.status = 200}};
    const Result<HttpResponse> reply = run(client, quick(), true);
    REQUIRE(reply);
    CHECK(reply->status == answer.status);
    CHECK(client.sent_at.size() == 1);
  }
  // These errors mean that nothing was sent.
  const Step unsent = {.status = 0, .is_transient = true};
  ScriptedClient later{unsent, unsent, {.status = 503}, {.status = 200}};
  CHECK(run(later, quick(), true)->status == 503);
  CHECK(later.sent_at.size() == 3);
}

TEST_CASE("send_with_retries: temporary local errors are retried, even if one call is allowed") {
  const CallContext once = {.may_retry = false};
  const Step lack = {.status = 0, .is_transient = true, .is_local = true};
  ScriptedClient passing{lack, lack, {.status = 503}, {.status = 200}};
  CHECK(run(passing, once)->status == 503);
  CHECK(passing.sent_at.size() == 3);
  ScriptedClient lasting{lack};
  check_fails(run(lasting, once), Error::Kind::unavailable, "failure 4");
  ScriptedClient final{{.status = 0, .is_local = true}};
  check_fails(run(final, once), Error::Kind::unavailable, "failure 1");
}

TEST_CASE("send_with_retries: the result is that of the last attempt") {
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

TEST_CASE("send_with_retries: pauses double up to the longest, and may be halved at random") {
  ScriptedClient client{{.status = 503}};
  const RetryPolicy policy = {.attempts = 6, .first_pause = 8ms, .longest_pause = 20ms};
  run(client, policy).value();
  const std::vector<Duration> wanted = {8ms, 16ms, 20ms, 20ms, 20ms};
  REQUIRE(client.sent_at.size() == wanted.size() + 1);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(client.sent_at[i + 1] - client.sent_at[i] >= wanted[i] / 2);
  }
}

TEST_CASE("send_with_retries: a Retry-After within the deadline replaces the pause") {
  ScriptedClient sooner{{.status = 429, .retry_after = 1s}, {.status = 200}};
  const CallContext call = {.deadline = steady_clock::now() + 30s};
  CHECK(run(sooner, call, {.first_pause = 1h})->status == 200);
  CHECK(sooner.sent_at[1] - sooner.sent_at[0] >= 1s);

  ScriptedClient later{{.status = 429, .retry_after = 1s}, {.status = 200}};
  CHECK(run(later)->status == 200);
  CHECK(later.sent_at[1] - later.sent_at[0] >= 1s);
}

TEST_CASE("send_with_retries: no attempt starts after the deadline") {
  ScriptedClient asking{{.status = 429, .retry_after = 5s}, {.status = 200}};
  CallContext call = {.deadline = steady_clock::now() + 2s};
  const auto start = steady_clock::now();
  CHECK(run(asking, call)->status == 429);
  CHECK(asking.sent_at.size() == 1);
  CHECK(steady_clock::now() - start < 1s);

  ScriptedClient client{{.status = 0, .is_transient = true}};
  RetryPolicy policy = quick();
  policy.attempts = 1'000'000;
  call.deadline = steady_clock::now() + 50ms;
  check_fails(run(client, call, policy), Error::Kind::unavailable, "failure");
  CHECK(client.sent_at.back() < call.deadline);
  CHECK(client.sent_at.size() < 1000);
}

TEST_CASE("send_with_retries: the log has each attempt, and no path") {
  std::vector<std::string> told;
  CallContext call;
  call.debug = [&told](std::string_view line) { told.emplace_back(line); };
  ScriptedClient client{{.status = 503}, {.status = 0, .is_transient = true}, {.status = 200}};
  CHECK(run(client, call));
  REQUIRE(told.size() == 3);
  CHECK(told[0].starts_with("GET https://h.example:443, attempt 1 of 4: answered 503; again in "));
  CHECK(told[1].starts_with("GET https://h.example:443, attempt 2 of 4: failure 2; again in "));
  CHECK(told[2] == "GET https://h.example:443, attempt 3 of 4: answered 200");
}

// The client's result for a reply with this header, which is left out if it is empty.
std::chrono::seconds retry_after(const std::string& value, const std::string& status = "503 Busy") {
  const std::string header = value.empty() ? "" : "Retry-After: " + value + "\r\n";
  const StreamServer server(
      answers("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n" + header + "\r\n"));
  const Result<HttpResponse> reply = ask(server);
  REQUIRE(reply);
  return reply->retry_after;
}

// An IMF-fixdate (RFC 9110, section 5.6.7), so many seconds from now.
std::string date_in(std::time_t seconds) {
  const std::time_t time = std::time(nullptr) + seconds;
  std::tm broken = {};
  gmtime_r(&time, &broken);
  std::array<char, 64> text = {};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &broken);
  return text.data();
}

TEST_CASE("Retry-After: seconds, or a date") {
  CHECK(retry_after("1") == 1s);
  CHECK(retry_after("120") == 120s);
  CHECK(retry_after(" 7 ") == 7s);
  CHECK(retry_after("007") == 7s);
  const std::chrono::seconds until_date = retry_after(date_in(200));
  CHECK(until_date > 190s);
  CHECK(until_date <= 200s);
}

TEST_CASE("Retry-After: it is limited to 5 minutes") {
  for (const std::string& value :
       {std::string("300"), std::string("301"), std::string("86401"),
        std::string("9223372036854775807"), date_in(600), date_in(30L * 24 * 60 * 60),
        std::string("Fri, 31 Dec 9999 23:59:59 GMT")}) {
    CAPTURE(value);
    CHECK(retry_after(value) == 300s);
  }
}

TEST_CASE("Retry-After: it counts with 429 and 503 alone") {
  for (const std::string status : {"429 Slow", "503 Busy"}) CHECK(retry_after("7", status) == 7s);
  for (const std::string status :
       {"200 OK", "201 Created", "301 Moved", "302 Found", "400 Bad", "401 No", "403 Forbidden",
        "404 Absent", "408 Late", "409 Conflict", "413 Large", "425 Early", "500 Broken",
        "501 Unknown", "502 Bad", "504 Late"}) {
    CAPTURE(status);
    CHECK(retry_after("7", status) == 0s);
  }
}

TEST_CASE("Retry-After: 0, a past date and a malformed value count as none") {
  for (const std::string& value :
       {std::string(), std::string("0"), std::string("-1"), std::string("soon"),
        std::string("Sun, 32 Nov 1994 08:49:37 GMT"), date_in(-600),
        std::string("Sun, 06 Nov 1994 08:49:37 GMT"), std::string("Sun, ")}) {
    CAPTURE(value);
    CHECK(retry_after(value) == 0s);
  }
}

TEST_CASE("Retry-After: the value of one reply does not hold for the next") {
  const auto client = make_http_client({});
  int replies = 0;
  const StreamServer server([&replies](Stream& stream) {
    while (!stream.read_request().empty()) {
      stream.write(std::string("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n") +
                   (++replies == 1 ? "Retry-After: 5\r\n\r\n" : "\r\n"));
    }
  });
  CHECK(client->send(get(server.url()))->retry_after == 5s);
  CHECK(client->send(get(server.url()))->retry_after == 0s);
}

}  // namespace
}  // namespace execcred::test
