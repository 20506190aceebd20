// SPDX-License-Identifier: Apache-2.0
// The cluster accepts the subject token itself: it is checked, without a request.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace execcred::test {
namespace {

Ask passing(Texts arguments = {}) {
  return {.flow = "pass-through", .arguments = std::move(arguments)};
}

}  // namespace

TEST_CASE("pass-through: the subject token is the credential, until its exp") {
  Federation fed;
  for (const std::int64_t seconds : {60, 600, 3600, 20 * 3600}) {
    CAPTURE(seconds);
    fed.set_subject(new_subject(seconds));
    const Outcome outcome = fed.run(passing());
    CHECK_SUCCESS(outcome);
    CHECK(token_of(outcome) + "" == blackbox::read_text(fed.subject_path));
    CHECK(std::abs(claimed_seconds(outcome) - claim_for(seconds)) <= 3);
  }
}

TEST_CASE("pass-through: a token that lives for a year is claimed for a day") {
  Federation fed;
  fed.set_subject(new_subject(365L * 24 * 3600));
  CHECK(std::abs(claimed_seconds(fed.run(passing())) - claim_for(24L * 3600)) <= 3);
}

TEST_CASE("pass-through: a token for another audience is refused") {
  Federation fed;
  CHECK_SUCCESS(fed.run(passing({"--audience=server"})));
  CHECK_SUCCESS(fed.run(passing({"--audience=other", "--audience=server"})));
  CHECK_REFUSAL(fed.run(passing({"--audience=other"})), 1, "'other'");
  CHECK_REFUSAL(fed.run(passing({"--audience=other"})), 1, "'server'");
  fed.set_subject(
      blackbox::make_jwt(R"({"iss":"a","sub":"b","aud":["one","two"],"exp":9999999999})"));
  CHECK_SUCCESS(fed.run(passing({"--audience=two"})));
  CHECK_FAILURE(fed.run(passing({"--audience=tw"})), 1,
                "the token is for 'one', 'two', not for 'tw'");
  fed.set_subject(blackbox::make_jwt(R"({"iss":"a","sub":"b","exp":9999999999})"));
  CHECK_FAILURE(fed.run(passing({"--audience=two"})), 1, "the token is for nobody, not for 'two'");
}

TEST_CASE("pass-through: a token that is no JWT, or is not valid now, is refused") {
  struct Case {
    std::string what, content;
  };
  const Identity identity = make_ca("somebody");
  const std::string soon = std::to_string(blackbox::seconds_since_epoch() + 3600);
  Federation fed;
  for (const Case& c :
       {Case{"opaque", new_secret()}, Case{"two dots", "a.b.c"}, Case{"one dot", "eyJhIjoxfQ.e30"},
        Case{"expired", new_subject(-10)}, Case{"not yet", new_subject(7200, ",\"nbf\":" + soon)},
        Case{"exp is a string", blackbox::make_jwt(R"({"iss":"a","exp":"9999999999"})")},
        Case{"exp twice", new_subject(3600, ",\"exp\":9999999999")},
        Case{"a certificate", identity.pem}, Case{"a key", identity.key_pem}, Case{"empty", ""}}) {
    CAPTURE(c.what);
    fed.set_subject(c.content);
    CHECK_FAILURE(fed.run(passing()), 1, "subject");
  }
}

TEST_CASE("pass-through: a token without an end is claimed for now + --max-age, no longer") {
  Federation fed;
  fed.set_subject(blackbox::make_jwt(R"({"iss":"a","sub":"b","aud":"server"})"));
  CHECK(std::abs(claimed_seconds(fed.run(passing({"--max-age=90s"}))) - 90) <= 2);
}

TEST_CASE(
    "pass-through: the file is read again each time, so that a renewed token is seen at once") {
  Federation fed;
  CHECK(token_of(fed.run(passing())) == fed.subject);
  const std::string renewed = new_subject(1800);
  fed.set_subject(renewed);
  CHECK(token_of(fed.run(passing())) == renewed);
}

TEST_CASE("pass-through: a fetched subject token is cached, and fetched once") {
  Federation fed;
  ScriptedServer source(ScriptedServer::Transport::plain);
  source.on("/t", [](Stream& stream, const Received&) { stream.write(reply(200, new_subject())); });
  Ask ask = passing({"--subject-token-url=" + source.url("/t")});
  ask.has_subject = false;
  const std::string first = token_of(fed.run(ask));
  CHECK(first != "");
  CHECK(token_of(fed.run(ask)) == first);
  CHECK(source.count("/t") == 1);
}

}  // namespace execcred::test
