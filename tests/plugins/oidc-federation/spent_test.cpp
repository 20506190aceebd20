// SPDX-License-Identifier: Apache-2.0
// Credentials that a server accepts only once are sent once in a run, also if the answer is an
// error: a second use of a refresh token may revoke all tokens of its family.
#include "entry_file.hpp"
#include "federation.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <utility>

namespace execcred::test {
namespace {

constexpr const char* kHint = "so it is not sent twice in one run";

// How the request ends once its body has arrived.
struct Ending {
  std::string what;
  ScriptedServer::Answer answer;
};

Ending status(int status, const std::string& headers = {}) {
  return {.what = std::to_string(status) + " " + headers,
          .answer = [bytes = reply(status, "", headers)](Stream& stream, const Received&) {
            stream.write(bytes);
          }};
}

Ending told(int status, const std::string& code) {
  return {.what = std::to_string(status) + " " + code,
          .answer = [bytes = reply(status, R"({"error":")" + code + "\"}")](
                        Stream& stream, const Received&) { stream.write(bytes); }};
}

std::vector<Ending> endings() {
  return {status(408),
          status(425),
          status(429),
          status(429, "Retry-After: 0\r\n"),
          status(500),
          status(502),
          status(503),
          status(503, "Retry-After: 1\r\n"),
          status(504),
          told(400, "slow_down"),
          told(200, "server_error"),
          told(503, "temporarily_unavailable"),
          {.what = "no reply", .answer = [](Stream& stream, const Received&) { stream.cut(); }},
          {.what = "a reset", .answer = [](Stream& stream, const Received&) { stream.reset(); }},
          {.what = "half a reply",
           .answer =
               [](Stream& stream, const Received&) {
                 stream.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
                 stream.cut();
               }},
          {.what = "silence",
           .answer = [](Stream& stream, const Received&) { stream.wait_for_close(); }}};
}

struct Grant {
  std::string what;
  Ask ask;
};

std::vector<Grant> spent_grants(Federation& fed) {
  const std::string refresh = fed.sandbox.write("refresh", new_secret(), 0600);
  const Ask federated = {.flow = "client-credentials",
                         .arguments = {"--client-id=me", "--client-auth=federated",
                                       "--subject-token-file=" + fed.subject_path},
                         .has_subject = false};
  Ask federated_alone = federated;
  federated_alone.arguments.emplace_back("--no-cache");
  federated_alone.has_cache = false;
  return {{"a refresh token",
           {.flow = "refresh-token",
            .arguments = {"--client-id=me", "--subject-token-file=" + refresh},
            .has_subject = false}},
          {"an assertion", {.flow = "jwt-bearer"}},
          {"an assertion, without the cache",
           {.flow = "jwt-bearer", .arguments = {"--no-cache"}, .has_cache = false}},
          {"a refresh token that is exchanged",
           {.arguments = {"--subject-token-type=refresh_token", "--subject-token-file=" + refresh},
            .has_subject = false}},
          {"an actor's refresh token",
           {.arguments = {"--actor-token-file=" + refresh, "--actor-token-type=refresh_token"}}},
          {"a client's assertion", federated},
          {"a client's assertion, without the cache", federated_alone}};
}

}  // namespace

TEST_CASE("spent: one run sends it once, however the request ends" *
          doctest::description("promise 31")) {
  int runs = 0;
  int repeated = 0;
  for (const Ending& ending : endings()) {
    Federation fed;
    fed.idp.on(kToken, ending.answer);
    for (const Grant& grant : spent_grants(fed)) {
      CAPTURE(ending.what);
      CAPTURE(grant.what);
      fed.idp.forget();
      Ask ask = grant.ask;
      ask.arguments.emplace_back(ending.what == "silence" ? "--timeout=1s" : "--timeout=8s");
      const Outcome outcome = fed.run_cold(ask);
      CHECK_FAILURE(outcome, 3, "asking the token endpoint");
      CHECK(fed.idp.calls() == 1);
      ++runs;
      repeated += fed.idp.calls() > 1 ? 1 : 0;
      // The deadline of the whole run has its own hint.
      if (ending.what != "silence") CHECK(blackbox::says(outcome, kHint));
    }
  }
  MESSAGE("runs that sent what was spent again: " << repeated << " of " << runs);
}

TEST_CASE("spent: the failure is remembered, and the next run sends the kept token again" *
          doctest::description("promise 31")) {
  Federation fed;
  const Ask ask = spent_grants(fed).front().ask;
  fed.idp.answer("", 503, "Retry-After: 600\r\n");
  CHECK_FAILURE(fed.run(ask), 3, "answered 503");
  const Outcome again = fed.run(ask);
  CHECK_FAILURE(again, 3, "answered 503");
  CHECK(blackbox::says(again, "remembering this from another run"));
  CHECK(fed.idp.calls() == 1);
  const std::string sent = fed.idp.last(kToken).field("refresh_token");

  for (const auto& file : cache_files(fed.cache_path, ".failure")) std::filesystem::remove(file);
  fed.idp.answer(token_reply("at-last"));
  CHECK(token_of(fed.run(ask)) == "at-last");
  CHECK(fed.idp.calls() == 2);
  CHECK(fed.idp.last(kToken).field("refresh_token") == sent);
}

TEST_CASE("spent: processes that wait for the one that sent it do not send it" *
          doctest::description("promise 31")) {
  Federation fed;
  Ask ask = spent_grants(fed).front().ask;
  ask.arguments.emplace_back("--timeout=20s");
  fed.idp.answer("", 503, "Retry-After: 600\r\n");
  std::vector<std::unique_ptr<blackbox::Child>> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(std::make_unique<blackbox::Child>(fed.command(ask)));
  for (const auto& child : children) CHECK_FAILURE(child->wait(), 3, "answered 503");
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("spent: an assertion without a jti may be sent again" *
          doctest::description("promise 31")) {
  Federation fed;
  const std::string assertion = blackbox::jwt_for(3600);
  blackbox::remember_secret(assertion);
  fed.set_subject(assertion);
  fed.idp.on(kToken, [&fed](Stream& stream, const Received&) {
    stream.write(fed.idp.calls() == 1 ? reply(503, "") : reply(200, token_reply("second")));
  });
  for (const char* flow : {"jwt-bearer", "client-credentials"}) {
    CAPTURE(flow);
    fed.idp.forget();
    Ask ask = {.flow = flow, .arguments = {"--no-cache", "--client-id=me"}, .has_cache = false};
    if (ask.flow == "client-credentials") {
      ask.arguments = ask.arguments +
                      Texts{"--client-auth=federated", "--subject-token-file=" + fed.subject_path};
    }
    CHECK(token_of(fed.run(ask)) == "second");
    CHECK(fed.idp.calls() == 2);
  }
}

TEST_CASE("spent: if the server could not be reached, the request is retried" *
          doctest::description("promise 31")) {
  // Its connections end before TLS is spoken.
  const StreamServer closing([](Stream& stream) { stream.cut(); });
  Federation fed;
  const Outcome outcome = blackbox::run(
      plugin_of({"--flow=jwt-bearer", "--no-cache", "--timeout=8s",
                 "--token-url=https://127.0.0.1:" + std::to_string(closing.port()) + "/token",
                 "--subject-token-file=" + fed.subject_path}));
  CHECK_FAILURE(outcome, 3, "closed the connection during the TLS handshake");
  CHECK(blackbox::says(outcome, "closed the connection during the TLS handshake"));
  CHECK_FALSE(blackbox::says(outcome, kHint));
  CHECK(closing.connections() == 4);
}

TEST_CASE("spent: a token that has ended when its reply arrives is not requested a second time" *
          doctest::description("promise 31")) {
  Federation fed;
  fed.idp.on(kToken, [](Stream& stream, const Received&) {
    // The token's second begins when the request is sent.
    const auto end = std::chrono::steady_clock::now() + milliseconds(1100);
    blackbox::wait_until([end] { return std::chrono::steady_clock::now() > end; });
    stream.write(reply(200, R"({"access_token":"x","expires_in":1})"));
  });
  for (const Grant& grant : spent_grants(fed)) {
    CAPTURE(grant.what);
    fed.idp.forget();
    CHECK_FAILURE(fed.run_cold(grant.ask), 1, "the credential has expired: it ended at");
    CHECK(fed.idp.calls() == 1);
  }
}

}  // namespace execcred::test
