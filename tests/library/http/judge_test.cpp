// SPDX-License-Identifier: Apache-2.0
// A judge's verdicts on replies, and their effect on the retries.
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/http/retry.hpp>

#include <string>
#include <vector>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;
using Next = Verdict::Next;

TEST_CASE("judge_status: statuses that may pass soon are retried, after their Retry-After") {
  struct Case {
    int status;
    Next next;
  };
  for (const Case& c : {Case{200, Next::accept}, Case{204, Next::accept}, Case{301, Next::accept},
                        Case{400, Next::accept}, Case{401, Next::accept}, Case{404, Next::accept},
                        Case{408, Next::retry}, Case{425, Next::retry}, Case{429, Next::retry},
                        Case{500, Next::retry}, Case{501, Next::accept}, Case{502, Next::retry},
                        Case{503, Next::retry}, Case{504, Next::retry}, Case{505, Next::accept}}) {
    CAPTURE(c.status);
    const Verdict verdict = judge_status({}, {.status = c.status, .retry_after = 7s});
    CHECK(verdict.next == c.next);
    CHECK(verdict.after == (c.next == Next::retry ? Duration(7s) : Duration()));
    CHECK_FALSE(verdict.error);
  }
}

TEST_CASE("judge_failure: any transient failure is retried, some statuses have a pause") {
  struct Case {
    int status;
    bool is_transient;
    Next next;
    Duration after;
  };
  for (const Case& c : {Case{400, false, Next::fail, 0s}, Case{503, false, Next::fail, 0s},
                        Case{200, true, Next::retry, 0s}, Case{400, true, Next::retry, 0s},
                        Case{404, true, Next::retry, 0s}, Case{408, true, Next::retry, 7s},
                        Case{501, true, Next::retry, 0s}, Case{429, true, Next::retry, 7s},
                        Case{500, true, Next::retry, 7s}, Case{502, true, Next::retry, 7s},
                        Case{503, true, Next::retry, 7s}, Case{504, true, Next::retry, 7s}}) {
    CAPTURE(c.status);
    CAPTURE(c.is_transient);
    const Error failure = {.message = "a failure", .is_transient = c.is_transient};
    const Verdict verdict = judge_failure(failure, {.status = c.status, .retry_after = 7s});
    CHECK(verdict.next == c.next);
    CHECK(verdict.after == c.after);
    REQUIRE(verdict.error);
    CHECK(verdict.error->message == "a failure");
  }
}

// Returns the same reply each time, or an error.
class CountingClient final : public HttpClient {
 public:
  explicit CountingClient(int status = 400, std::chrono::seconds retry_after = {})
      : status_(status), retry_after_(retry_after) {}
  explicit CountingClient(Error error) : error_(std::move(error)) {}

  Result<HttpResponse> send(const HttpRequest& request) override {
    bodies.emplace_back(request.body.reveal());
    if (error_) return *error_;
    return HttpResponse{.status = status_, .retry_after = retry_after_};
  }

  std::vector<std::string> bodies = {};

 private:
  int status_ = 0;
  std::chrono::seconds retry_after_ = {};
  std::optional<Error> error_ = std::nullopt;
};

const Error kBusy = {
    .kind = Error::Kind::unavailable, .message = "it is busy", .is_transient = true};
const Error kRefused = {.kind = Error::Kind::no_credential, .message = "it is refused"};

struct Sent {
  Result<HttpResponse> result;
  std::size_t count;
  CallContext call;
};

Sent send(const Verdict& verdict, bool is_spent = false, CallContext call = {}) {
  CountingClient client;
  Result<HttpResponse> result = send_with_retries(
      client, {.url = "https://h.example/", .is_spent_by_sending = is_spent}, call,
      {.attempts = 3,
       .first_pause = 1ms,
       .judge = [&](const HttpRequest& request, const HttpResponse& reply) {
         CHECK(request.url == "https://h.example/");
         CHECK(reply.status == 400);
         return verdict;
       }});
  return {.result = std::move(result), .count = client.bodies.size(), .call = call};
}

TEST_CASE("send_with_retries: each verdict, for requests that may be sent again and for others") {
  struct Case {
    const char* name;
    Verdict verdict;
    bool is_spent, may_retry;
    std::size_t count;
    std::string error;  // empty: the reply is the result
  };
  for (const Case& c : {
           Case{"accept", Verdict::accept(), false, true, 1, ""},
           Case{"accept, spent", Verdict::accept(), true, true, 1, ""},
           Case{"fail", Verdict::fail(kRefused), false, true, 1, "it is refused"},
           Case{"fail, spent", Verdict::fail(kRefused), true, true, 1, "it is refused"},
           Case{"retry", Verdict::retry(), false, true, 3, ""},
           Case{"retry, error", Verdict::retry({}, kBusy), false, true, 3, "it is busy"},
           Case{"retry, once", Verdict::retry({}, kBusy), false, false, 1, "it is busy"},
           Case{"retry, spent", Verdict::retry(), true, true, 1, ""},
           Case{"retry, error, spent", Verdict::retry({}, kBusy), true, true, 1, "it is busy"},
       }) {
    CAPTURE(c.name);
    const Sent sent = send(c.verdict, c.is_spent, {.may_retry = c.may_retry});
    CHECK(sent.count == c.count);
    CHECK(sent.call.outcome->is_spent == c.is_spent);
    CHECK(sent.call.outcome->last_status == 400);
    if (c.error.empty()) {
      REQUIRE(sent.result);
      CHECK(sent.result->status == 400);
      continue;
    }
    REQUIRE_FALSE(sent.result);
    CHECK(sent.result.error().message == c.error);
    const bool is_final = c.is_spent || c.error == kRefused.message;
    CHECK(sent.result.error().is_transient == !is_final);
    CHECK(contains(sent.result.error().hint, "it is not sent twice in one run") ==
          (c.is_spent && c.error == kBusy.message));
  }
}

TEST_CASE("send_with_retries: the judge's pause is used, or ends the attempts if it is too long") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(send(Verdict::retry(20ms)).count == 3);
  CHECK(std::chrono::steady_clock::now() - start >= 40ms);
  const CallContext call = {.deadline = std::chrono::steady_clock::now() + 30s};
  const Sent sent = send(Verdict::retry(1h, kBusy), false, call);
  CHECK(sent.count == 1);
  check_fails(sent.result, Error::Kind::unavailable, "it is busy");
}

TEST_CASE("send_with_retries: the log has the status, or the judge's error for a retry") {
  struct Case {
    Verdict verdict;
    std::string outcome;
  };
  for (const Case& c :
       {Case{Verdict::accept(), "answered 400"}, Case{Verdict::fail(kRefused), "answered 400"},
        Case{Verdict::retry(), "answered 400"}, Case{Verdict::retry({}, kBusy), "it is busy"}}) {
    std::string told;
    CallContext call;
    call.debug = [&told](std::string_view step) { told = step; };
    send(c.verdict, false, call);
    CAPTURE(told);
    CHECK(told.ends_with(": " + c.outcome));
  }
}

TEST_CASE("send_with_retries: a single-use request is renewed for each attempt") {
  CountingClient client;
  int made = 0;
  CallContext call;
  const RetryPolicy policy = {
      .attempts = 3,
      .first_pause = 1ms,
      .judge = [](const HttpRequest&, const HttpResponse&) { return Verdict::retry(); },
      .renew = [&made](HttpRequest& request) -> Status {
        request.body = SecretString(std::to_string(++made));
        return {};
      }};
  CHECK(send_with_retries(client, {.url = "https://h.example/"}, call, policy));
  CHECK(client.bodies == std::vector<std::string>{"1", "2", "3"});
}

TEST_CASE("send_with_retries: if a request cannot be made, the error is local, and none is sent") {
  CountingClient client;
  CallContext call;
  const Result<HttpResponse> result =
      send_with_retries(client, {.url = "https://h.example/"}, call,
                        {.renew = [](HttpRequest&) -> Status { return kRefused; }});
  check_fails(result, Error::Kind::no_credential, "it is refused");
  CHECK(result.error().is_local);
  CHECK(client.bodies.empty());
  CHECK_FALSE(call.outcome->last_status);
}

TEST_CASE("send_with_retries: the last status and Retry-After are stored in the call") {
  struct Case {
    int status;
    std::chrono::seconds retry_after;
    std::optional<Duration> noted;
  };
  for (const Case& c :
       {Case{200, 5s, std::nullopt}, Case{299, 5s, std::nullopt}, Case{300, 5s, Duration(5s)},
        Case{400, 5s, Duration(5s)}, Case{400, 0s, std::nullopt}, Case{503, 9s, Duration(9s)}}) {
    CAPTURE(c.status);
    CountingClient client(c.status, c.retry_after);
    CallContext call = {.may_retry = false};
    CHECK(send_with_retries(client, {.url = "https://h.example/"}, call));
    CHECK(call.outcome->retry_after == c.noted);
    CHECK(call.outcome->last_status == c.status);
    CHECK_FALSE(call.outcome->is_spent);
  }
  CountingClient failing(kRefused);
  CallContext call;
  CHECK_FALSE(
      send_with_retries(failing, {.url = "https://h.example/", .is_spent_by_sending = true}, call));
  CHECK(call.outcome->last_status == 0);
  CHECK_FALSE(call.outcome->is_spent);
}

TEST_CASE("send_with_retries: what was spent is noted for the run, also if the request failed") {
  struct Case {
    const char* name;
    CountingClient client;
    bool is_spent_by_sending, is_noted;
  };
  for (Case& c :
       std::vector<Case>{{"a reply", CountingClient(200, 0s), true, true},
                         {"an error reply", CountingClient(503, 0s), true, true},
                         {"a failure after the body", CountingClient(kRefused), true, true},
                         {"nothing was sent", CountingClient(kBusy), true, false},
                         {"not spent", CountingClient(200, 0s), false, false}}) {
    CAPTURE(c.name);
    RunNotes notes;
    CallContext call = {.may_retry = false, .notes = &notes};
    static_cast<void>(send_with_retries(
        c.client, {.url = "https://h.example/", .is_spent_by_sending = c.is_spent_by_sending},
        call));
    CHECK(notes.is_spent == c.is_noted);
  }
}

}  // namespace
}  // namespace execcred::test
