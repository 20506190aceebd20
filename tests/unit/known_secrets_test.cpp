// SPDX-License-Identifier: Apache-2.0
#include "growth.hpp"

#include <execcred/base/known_secrets.hpp>
#include <execcred/base/text.hpp>

#include <doctest/doctest.h>

#include <string>

namespace execcred::test {
namespace {

KnownSecrets secrets_of(std::initializer_list<std::string_view> texts) {
  KnownSecrets secrets;
  for (const std::string_view text : texts) secrets.add(SecretString(text));
  return secrets;
}

TEST_CASE("known secrets: each part of 12 characters is hidden, and a short secret as a whole") {
  const KnownSecrets secrets = secrets_of({"opaque-subject-token-0123456789", "hunter2", "it", ""});
  CHECK(secrets.redacted("[opaque-subject-token-0123456789]") == "[***]");
  CHECK(secrets.redacted("ends in ken-0123456789!") == "ends in ***!");
  CHECK(secrets.redacted("ends in -0123456789!") == "ends in -0123456789!");
  CHECK(secrets.redacted("the secret hunter2 with it") == "the secret *** with it");
  CHECK(secrets.redacted("a short subject") == "a short subject");
  CHECK(secrets.redacted("myhunter22") == "my***2");
  CHECK(secrets.redacted("") == "");
}

TEST_CASE("known secrets: a secret is hidden too as a form and a message write it") {
  const KnownSecrets secrets = secrets_of({"a+secret/with=signs", "line\nwith \x1b bytes"});
  CHECK(secrets.redacted("a+secret/with=signs a%2Bsecret%2Fwith%3Dsigns") == "*** ***");
  CHECK(secrets.redacted(printable("got 'line\nwith \x1b bytes'")) == "got '***'");
}

TEST_CASE("known secrets: a secret is hidden although the text was cut within it") {
  const std::string secret = "opaque-subject-token-0123456789";
  const KnownSecrets secrets = secrets_of({secret});
  for (std::size_t before = 0; before < 1100; ++before) {
    CAPTURE(before);
    const std::string text = std::string(before, ' ') + secret;
    for (const std::string& cut : {in_quotes(text), shown_text(text, 60), shown_text(text, 2000)}) {
      CHECK(secrets.redacted(cut).find("opaq") == std::string::npos);
    }
  }
}

TEST_CASE("known secrets: the rest of a secret beside a hidden part is hidden") {
  const KnownSecrets secrets = secrets_of({"JSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxl"});
  CHECK(secrets.redacted("bad " + shown_text("JSUzI1NiJ9.eyJpc3MiOiJodHRwczovL", 400)) ==
        "bad ***");
  CHECK(secrets.redacted("***c3Vlci5l and c3Vlci5l") == "*** and c3Vlci5l");
}

// Such a text is often one of ours.
TEST_CASE("known secrets: an ordinary short word stays") {
  const KnownSecrets secrets = secrets_of({"refresh", "token", "hub-token"});
  const std::string hint = "check the token, the refresh_token and --allow-hub-token";
  CHECK(secrets.redacted(hint) == hint);
  CHECK(secrets.redacted("got hub-token") == "got ***");
}

TEST_CASE("known secrets: all parts of an error are cleaned, and its other members stay") {
  const KnownSecrets secrets = secrets_of({"opaque-subject-token"});
  Error error = Error::unavailable("m opaque-subject-token", "h opaque-subject-token");
  error.context = {"c opaque-subject-token", "d"};
  error.is_transient = true;
  const Result<int> cleaned = secrets.redacted(Result<int>(error));
  REQUIRE_FALSE(cleaned);
  CHECK(cleaned.error().message == "m ***");
  CHECK(cleaned.error().hint == "h ***");
  CHECK(cleaned.error().context == std::vector<std::string>{"c ***", "d"});
  CHECK(cleaned.error().kind == Error::Kind::unavailable);
  CHECK(cleaned.error().is_transient);
  CHECK(*secrets.redacted(Result<int>(7)) == 7);
}

// A part that is at many places of the secret and of the text is looked at once.
TEST_CASE("known secrets: the time is linear in the text and the secret") {
  for (const bool is_same : {true, false}) {
    const auto make = [is_same](std::size_t size) {
      std::string text;
      while (text.size() < size) text += is_same ? "a" : std::to_string(text.size()) + ".";
      return text;
    };
    check_linear(64 * 1024, make, [](const std::string& text) {
      CHECK(secrets_of({text}).redacted(text) == "***");
    });
  }
}

TEST_CASE("known secrets: a secret counts once, until all are cleared") {
  KnownSecrets secrets = secrets_of({"hunter2", "hunter2"});
  CHECK(secrets.redacted("hunter2") == "***");
  secrets.clear();
  CHECK(secrets.redacted("hunter2") == "hunter2");
}

}  // namespace
}  // namespace execcred::test
