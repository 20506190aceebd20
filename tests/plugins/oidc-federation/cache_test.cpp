// SPDX-License-Identifier: Apache-2.0
// The cache through the program: a fleet of processes, one call.
#include "entry_file.hpp"
#include "federation.hpp"

#include <doctest/doctest.h>

#include <sys/file.h>

#include <fcntl.h>
#include <csignal>

namespace execcred::test {
namespace {

using namespace std::chrono_literals;

}  // namespace

TEST_CASE("cache: the second run makes no call, and prints the same output") {
  Federation fed;
  const Outcome first = fed.run({.by_issuer = true});
  CHECK_SUCCESS(first);
  const std::size_t connections = fed.idp.connections();
  const Outcome second = fed.run({.by_issuer = true});
  CHECK_SUCCESS(second);
  CHECK(second.output == first.output);
  CHECK(fed.idp.connections() == connections);
}

TEST_CASE("cache: a hit is served although the subject file has since expired") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  fed.set_subject(new_subject(-60));
  CHECK(token_of(fed.run({})) == token);
  CHECK(fed.idp.calls() == 1);
  // But an expired subject token is not sent.
  CHECK_FAILURE(fed.run_cold({}), 1, "the token has expired: it ended at");
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("cache: a hit does not run the command, nor fetch the URL, nor read the CA") {
  Federation fed;
  ScriptedServer source(ScriptedServer::Transport::plain);
  source.on("/t", reply(200, fed.subject));
  const std::string log = fed.sandbox.at("runs");
  const std::string script =
      fed.sandbox.script("get-token", "echo run >>" + log + "\necho " + fed.subject);
  for (const std::string& option : {"--subject-token-command=[\"" + script + "\"]",
                                    "--subject-token-url=" + source.url("/t")}) {
    CAPTURE(option);
    const Ask ask = {.arguments = {option}, .has_subject = false};
    const std::string token = token_of(fed.run_cold(ask));
    CHECK(token != "");
    CHECK(token_of(fed.run(ask)) == token);
  }
  CHECK(blackbox::read_text(log) == "run\n");
  CHECK(source.count("/t") == 1);
}

TEST_CASE("--no-cache: each run calls the server, and no cache directory is made") {
  Federation fed;
  const Ask ask = {.arguments = {"--no-cache"}};
  CHECK(token_of(fed.run(ask)) != token_of(fed.run(ask)));
  CHECK(fed.idp.calls() == 2);
  CHECK_FALSE(std::filesystem::exists(fed.cache_path));
  CHECK_SUCCESS(fed.run({.variables = {"EXECCRED_NO_CACHE=1"}}));
  CHECK_FALSE(std::filesystem::exists(fed.cache_path));
}

TEST_CASE("a permanent failure is remembered for ten seconds, and later runs report it") {
  Federation fed;
  fed.idp.answer(R"({"error":"invalid_grant","error_description":"no such user"})", 400);
  CHECK_REFUSAL(fed.run({}), 1, "no such user");
  const Outcome second = fed.run({});
  CHECK_REFUSAL(second, 1, "no such user");
  CHECK(fed.idp.calls() == 1);
  age_failure(fed.cache_path, 6s);
  CHECK_FAILURE(fed.run({}), 1, "answered 400 with the error 'invalid_grant': no such user");
  CHECK(fed.idp.calls() == 1);
  age_failure(fed.cache_path, 5s);
  fed.idp.answer(token_reply("mended"));
  CHECK(token_of(fed.run({})) == "mended");
  CHECK(fed.idp.calls() == 2);
}

TEST_CASE("Retry-After lengthens the time in which a failing provider is not called") {
  Federation fed;
  fed.idp.answer("{}", 503, "Retry-After: 600\r\n");
  CHECK_FAILURE(fed.run({}), 3, "answered 503");
  age_failure(fed.cache_path, 250s);
  const Outcome waiting = fed.run({});
  CHECK_FAILURE(waiting, 3, "answered 503");
  CHECK(waiting.elapsed < blackbox::kNoWait);
  CHECK(fed.idp.calls() == 1);
  age_failure(fed.cache_path, 51s);
  fed.idp.answer(token_reply("back"));
  CHECK(token_of(fed.run({})) == "back");
}

TEST_CASE("Retry-After with another status than 429 and 503 changes nothing") {
  for (const int status : {400, 401, 500, 502, 504}) {
    CAPTURE(status);
    Federation fed;
    fed.idp.answer("{}", status, "Retry-After: 600\r\n");
    CHECK(fed.run({}).exit_code != 0);
    age_failure(fed.cache_path, 11s);
    fed.idp.answer(token_reply("back"));
    CHECK(token_of(fed.run({})) == "back");
  }
}

TEST_CASE("a valid credential is given although its subject token has expired") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  fed.set_subject(new_subject(-60));
  CHECK(token_of(fed.run({})) == token);
  // The same client asks again, and the entry is in its refresh window.
  for (const milliseconds age : {milliseconds(60s), milliseconds(57min)}) {
    age_entry(fed.cache_path, age);
    CHECK(token_of(fed.run({})) == token);
    CHECK(token_of(fed.run({})) == token);
  }
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("a valid token survives an outage, and is refreshed in its refresh window" *
          doctest::description("promise 12")) {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  // In the refresh window, which is the last fifth of its hour.
  age_entry(fed.cache_path, 57min);
  fed.idp.answer("{}", 503);
  CHECK(token_of(fed.run({})) == token);
  CHECK(fed.idp.calls() == 2);
  CHECK(token_of(fed.run({})) == token);
  CHECK(fed.idp.calls() == 2);
  age_failure(fed.cache_path, 1min);
  fed.idp.answer(token_reply("renewed"));
  CHECK(token_of(fed.run({})) == "renewed");
}

TEST_CASE("an entry that has expired, or is from the future, is not used") {
  for (const Duration by :
       {Duration(61min), Duration(-10min), Duration(-10 * 365 * 24h), Duration(10 * 365 * 24h)}) {
    Federation fed;
    const std::string token = token_of(fed.run({}));
    age_entry(fed.cache_path, by);
    const std::string next = token_of(fed.run({}));
    CHECK(next != token);
    CHECK(next.starts_with("fr0mTheProvider"));
  }
}

TEST_CASE("--refresh-before moves the refresh window") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  age_entry(fed.cache_path, 15min);
  // Another cluster, so that the same client does not seem to ask again.
  const Ask elsewhere = {.server = "https://other.example.com"};
  CHECK(token_of(fed.run(elsewhere)) == token);
  Ask early = elsewhere;
  early.arguments = {"--refresh-before=50m"};
  CHECK(token_of(fed.run(early)) != token);
  CHECK(fed.idp.calls() == 2);
}

TEST_CASE("a client that asks again after ten seconds gets a new token from the provider") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  age_entry(fed.cache_path, 6s);
  CHECK(token_of(fed.run({})) == token);
  CHECK(fed.idp.calls() == 1);
  age_entry(fed.cache_path, 5s);
  const std::string next = token_of(fed.run({}));
  CHECK(next != token);
  CHECK(fed.idp.calls() == 2);
  CHECK(token_of(fed.run({})) == next);
  CHECK(fed.idp.calls() == 2);
}

TEST_CASE("a revoked identity: the provider's refusal is reported, and the entry is removed" *
          doctest::description("promise 10")) {
  Federation fed;
  CHECK_SUCCESS(fed.run({}));
  age_entry(fed.cache_path, 11s);
  fed.idp.answer(R"({"error":"invalid_grant"})", 400);
  CHECK_REFUSAL(fed.run({}), 1, "invalid_grant");
  CHECK(cache_files(fed.cache_path, ".credential").empty());
}

TEST_CASE("a client that asks again while the provider is down gets the cached token") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  age_entry(fed.cache_path, 11s);
  fed.idp.answer("{}", 503);
  CHECK(token_of(fed.run({})) == token);
  CHECK(fed.idp.calls() == 2);
}

TEST_CASE("another cluster of the same client does not count as asking again") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  age_entry(fed.cache_path, 1min);
  for (int i = 0; i < 5; ++i) {
    CHECK(token_of(fed.run({.server = "https://other-" + std::to_string(i) + ".example.com"})) ==
          token);
  }
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("a lock that another process holds only delays the credential, SIGTERM ends the wait") {
  Federation fed;
  CHECK_SUCCESS(fed.run({}));
  const auto locks = cache_files(fed.cache_path, ".lock");
  REQUIRE(locks.size() == 1);
  const int held = open(locks[0].c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
  // A hit needs no lock.
  const Outcome hit = fed.run({});
  CHECK_SUCCESS(hit);
  CHECK(hit.elapsed < blackbox::kNoWait);
  std::filesystem::remove(cache_files(fed.cache_path, ".credential").at(0));
  const Outcome miss = fed.run({.arguments = {"--timeout=2s"}});
  CHECK_SUCCESS(miss);
  CHECK(miss.elapsed < blackbox::kNoWait);
  CHECK(fed.idp.calls() == 2);
  std::filesystem::remove(cache_files(fed.cache_path, ".credential").at(0));
  blackbox::Child waiting(fed.command({.arguments = {"--timeout=8s"}}));
  // Once it sleeps, it waits for the lock.
  CHECK(blackbox::wait_until(
      [&] { return blackbox::process_status(waiting.pid(), "State").starts_with("S"); }));
  waiting.send(SIGTERM);
  const Outcome ended = waiting.wait();
  CHECK(ended.elapsed < blackbox::kNoWait);
  CHECK_FALSE(ended.was_hanging);
  CHECK(ended.output == "");
  CHECK(ended.signal == SIGTERM);
  close(held);
}

}  // namespace execcred::test
