// SPDX-License-Identifier: Apache-2.0
#include "fixture.hpp"

#include <set>
#include <utility>
#include <vector>

namespace execcred {
namespace {

using test::CacheFixture;
using test::sample_key;

TEST_CASE("hash_key: is FNV-1a of 128 bits") {
  CHECK(hash_key("").hex() == "6c62272e07bb014262b821756295c58d");
  CHECK(hash_key("a").hex() == "d228cb696f1a8caf78912b704e4a8964");
  CHECK(hash_key("foobar").hex() == "343e1662793c64bf6f0d3597ba446f18");
}

TEST_CASE("a key's text is sorted by name, and begins with the format's version") {
  CHECK(CacheKey().text() == "execcred-cache=1");
  CHECK(CacheKey().add("b", "2").add("a", "1").text() == "execcred-cache=1\na=1\nb=2");
  CHECK(CacheKey().add("b", "2").add("a", "1").text() ==
        CacheKey().add("a", "1").add("b", "2").text());
}

TEST_CASE("a repeated name keeps the order of its values") {
  CHECK(CacheKey().add("p", "2").add("o", "0").add("p", "1").text() ==
        "execcred-cache=1\no=0\np=2\np=1");
}

TEST_CASE("no value can look like another field") {
  const std::vector<CacheKey> keys = {CacheKey().add("a", "1").add("b", "2"),
                                      CacheKey().add("a", "1\nb=2"),
                                      CacheKey().add("a", "1%0ab=2"),
                                      CacheKey().add("a=1\nb", "2"),
                                      CacheKey().add("a", "=1").add("b", "2"),
                                      CacheKey().add("a=", "1").add("b", "2"),
                                      CacheKey().add("a", "").add("b", "2"),
                                      CacheKey().add("b", "2"),
                                      CacheKey()};
  std::set<std::string> texts;
  for (const CacheKey& key : keys) texts.insert(key.text());
  CHECK(texts.size() == keys.size());
  CHECK(CacheKey().add("a", std::string_view("1\n%\0\x7f", 5)).text() ==
        "execcred-cache=1\na=1%0a%25%00%7f");
}

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields exchange_fields() {
  return {{"plugin", "execcred-oidc-federation"},
          {"flow", "token-exchange"},
          {"issuer", "https://idp.example.com"},
          {"token-url", "https://idp.example.com/token"},
          {"ca", "9f86d081884c7d65"},
          {"proxy", ""},
          {"client-id", "hub"},
          {"client-auth", "private-key-jwt"},
          {"subject-file", "/var/run/secrets/token"},
          {"subject-iss", "https://hub.example.com"},
          {"subject-sub", "system:serviceaccount:a:b"},
          {"subject-type", "jwt"},
          {"actor", ""},
          {"audience", "spoke-1"},
          {"resource", "https://spoke-1.example.com"},
          {"scope", "openid"},
          {"param", "a=b"},
          {"server", "https://spoke-1.example.com"}};
}

CacheKey key_of(const Fields& fields) {
  CacheKey key;
  for (const auto& [name, value] : fields) key.add(name, value);
  return key;
}

TEST_CASE("each input of a key, changed alone, selects another entry" *
          doctest::description("promise 4")) {
  CacheFixture cache;
  REQUIRE(cache.token(key_of(exchange_fields())) == "token-1");
  int changes = 0;
  for (std::size_t i = 0; i < exchange_fields().size(); ++i) {
    for (const char* change : {"x", " ", "\n", "%"}) {
      Fields fields = exchange_fields();
      CAPTURE(fields[i].first);
      fields[i].second += change;
      ++changes;
      CHECK(cache.token(key_of(fields)) == "token-" + std::to_string(changes + 1));
    }
    Fields fields = exchange_fields();
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i));
    ++changes;
    CHECK(cache.token(key_of(fields)) == "token-" + std::to_string(changes + 1));
  }
  CHECK(cache.token(key_of(exchange_fields())) == "token-1");
  CHECK(cache.provider.calls == changes + 1);
}

TEST_CASE("an entry under the right name with another key is a miss") {
  CacheFixture cache;
  REQUIRE(cache.token(sample_key("https://a.example.com")) == "token-1");
  std::filesystem::rename(cache.file(".credential", sample_key("https://a.example.com")),
                          cache.file(".credential", sample_key("https://b.example.com")));
  CHECK(cache.token(sample_key("https://b.example.com")) == "token-2");
}

}  // namespace
}  // namespace execcred
