// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <execcred/cache/entry.hpp>

namespace execcred {
namespace {

using namespace std::chrono_literals;

CachedCredential sample_credential() {
  CachedCredential entry{.key = test::sample_key().text(),
                         .created = TimePoint(1'782'907'200s),
                         .expires = TimePoint(1'782'910'800s),
                         .reask_after = 20s,
                         .identity = "controller",
                         .target = "https://spoke-1.example.com"};
  entry.credential.token = SecretString("eyJ.eyJ.sig");
  entry.credential.expires_at = entry.expires;
  return entry;
}

CachedFailure sample_failure() {
  return {.key = test::sample_key().text(),
          .created = TimePoint(1'782'907'200s),
          .until = TimePoint(1'782'907'204s),
          .count = 2,
          .error = {.kind = Error::Kind::unavailable,
                    .message = "no\nanswer",
                    .context = {"asking", "getting"},
                    .hint = "wait",
                    .is_transient = true}};
}

TEST_CASE("a credential is read as it was written") {
  CachedCredential entry = sample_credential();
  const SecretString text = write_cached_credential(entry);
  const std::optional<CachedCredential> read = parse_cached_credential(text.reveal());
  REQUIRE(read);
  CHECK(read->key == entry.key);
  CHECK(read->created == entry.created);
  CHECK(read->expires == entry.expires);
  CHECK(read->reask_after == 20s);
  CHECK(read->identity == "controller");
  CHECK(read->target == "https://spoke-1.example.com");
  CHECK(read->credential.token.reveal() == "eyJ.eyJ.sig");
  CHECK(read->credential.expires_at == entry.expires);
  CHECK(read->id == checksum_of(text.reveal()));
  CHECK(read->id != 0);
  CHECK(write_cached_credential(*read).reveal() == text.reveal());
}

TEST_CASE("a credential without an expiry is read without one, though its entry has one") {
  CachedCredential entry = sample_credential();
  entry.credential.expires_at.reset();
  const auto read = parse_cached_credential(write_cached_credential(entry).reveal());
  REQUIRE(read);
  CHECK_FALSE(read->credential.expires_at);
  CHECK(read->expires == entry.expires);
}

TEST_CASE("a certificate with its key is kept, and half of a pair is refused") {
  CachedCredential entry = sample_credential();
  entry.credential.client_certificate = "-----BEGIN\nend 0\n";
  CHECK_FALSE(parse_cached_credential(write_cached_credential(entry).reveal()));
  entry.credential.client_key = SecretString("key");
  entry.credential.token = SecretString();
  const auto read = parse_cached_credential(write_cached_credential(entry).reveal());
  REQUIRE(read);
  CHECK(read->credential.client_certificate == entry.credential.client_certificate);
  CHECK(read->credential.client_key.reveal() == "key");
  CHECK(read->credential.token.empty());
  entry.credential.client_certificate = "";
  CHECK_FALSE(parse_cached_credential(write_cached_credential(entry).reveal()));
  entry.credential = {.token = SecretString("a\nb")};
  CHECK_FALSE(parse_cached_credential(write_cached_credential(entry).reveal()));
}

TEST_CASE("a failure is read as it was written") {
  const CachedFailure failure = sample_failure();
  const std::string text = write_cached_failure(failure);
  const std::optional<CachedFailure> read = parse_cached_failure(text);
  REQUIRE(read);
  CHECK(read->created == failure.created);
  CHECK(read->until == failure.until);
  CHECK(read->count == 2);
  CHECK(read->error.kind == Error::Kind::unavailable);
  CHECK(read->error.message == "no\nanswer");
  CHECK(read->error.context == failure.error.context);
  CHECK(read->error.hint == "wait");
  CHECK(read->error.is_transient);
  CHECK(write_cached_failure(*read) == text);
  CachedFailure internal = failure;
  internal.error.kind = Error::Kind::internal;
  CHECK_FALSE(parse_cached_failure(write_cached_failure(internal)));
}

TEST_CASE("an entry with a changed, missing or additional byte is rejected") {
  const SecretString credential = write_cached_credential(sample_credential());
  const std::string failure = write_cached_failure(sample_failure());
  const auto is_read = [](const std::string& text) {
    return parse_cached_credential(text).has_value() || parse_cached_failure(text).has_value();
  };
  for (const std::string& text : {std::string(credential.reveal()), failure}) {
    REQUIRE(is_read(text));
    int taken = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (const unsigned flip : {0x01U, 0x20U, 0x80U}) {
        std::string changed = text;
        changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ flip);
        taken += is_read(changed) ? 1 : 0;
      }
      taken += is_read(text.substr(0, i)) ? 1 : 0;
      taken += is_read(text.substr(i + 1)) ? 1 : 0;
      taken += is_read(std::string(text).insert(i, 1, '\0')) ? 1 : 0;
    }
    CHECK(taken == 0);
    CHECK_FALSE(is_read(text + "\n"));
    CHECK_FALSE(is_read(text + text));
  }
}

}  // namespace
}  // namespace execcred
