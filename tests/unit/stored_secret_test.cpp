// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/stored_secret.hpp>

namespace execcred {
namespace {

using test::check_fails;

constexpr auto kNoCredential = Error::Kind::no_credential;

Result<StoredSecret> secret_of(std::string_view text, bool is_item = false) {
  Result<json::Value> document = json::parse(text);
  REQUIRE(document);
  return take_secret(*std::move(document), is_item);
}

TEST_CASE("stored secret: reads the metadata of the API, and decodes the values from base64") {
  const Result<StoredSecret> secret = secret_of(
      R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"n","labels":)"
      R"({"a":"1"},"annotations":{"b":"2"}},"data":{"token":"dDBrM24=","empty":""},"type":"T"})");
  REQUIRE(secret);
  CHECK(secret->full_name() == "n/s");
  CHECK(secret->type == "T");
  CHECK(secret->labels == Labels{{"a", "1"}});
  CHECK(secret->annotations == Labels{{"b", "2"}});
  CHECK(secret->has("token"));
  CHECK_FALSE(secret->has("other"));
  CHECK((*secret->value("token"))->reveal() == "t0k3n");
  CHECK((*secret->value("empty"))->reveal() == "");
  CHECK_FALSE(secret->value("other")->has_value());
}

TEST_CASE("stored secret: invalid base64 is an error only when that value is read") {
  const Result<StoredSecret> secret =
      secret_of(R"({"kind":"Secret","metadata":{"name":"s","namespace":"n"},"data":{"good":"Zw==",)"
                R"("bad":"S3cret!","number":7,"object":{}}})");
  REQUIRE(secret);
  CHECK((*secret->value("good"))->reveal() == "g");
  const auto bad = secret->value("bad");
  check_fails(bad, kNoCredential, "key 'bad' of Secret 'n/s' is no base64");
  CHECK_FALSE(test::contains(test::full_text(bad.error()), "S3cret"));
  CHECK_FALSE(secret->has("number"));
  CHECK_FALSE(secret->has("object"));
}

TEST_CASE("stored secret: values from a folder are not decoded") {
  StoredSecret secret{.is_decoded = true};
  secret.data.emplace("token", SecretString("not base64!"));
  CHECK((*secret.value("token"))->reveal() == "not base64!");
}

TEST_CASE("stored secret: a document that is not a Secret is refused") {
  for (const std::string_view text :
       {R"({})", R"([])", R"(null)", R"("Secret")", R"({"metadata":{"name":"s"}})",
        R"({"kind":"ConfigMap","metadata":{"name":"s"}})", R"({"kind":7,"metadata":{}})",
        R"({"kind":"Secret"})", R"({"kind":"Secret","metadata":[]})",
        R"({"kind":"Secret","metadata":{"labels":[]}})",
        R"({"kind":"Secret","metadata":{"annotations":"x"}})",
        R"({"kind":"Secret","metadata":{},"data":"x"})",
        R"({"kind":"Secret","metadata":{},"data":[]})"}) {
    CAPTURE(text);
    check_fails(secret_of(text), kNoCredential, "the hub's reply");
  }
}

TEST_CASE("stored secret: an item of a list may have no kind, but not another kind") {
  CHECK(secret_of(R"({"metadata":{"name":"s"}})", true));
  CHECK(secret_of(R"({"kind":"Secret","metadata":{"name":"s"},"data":null})", true));
  CHECK_FALSE(secret_of(R"({"kind":"Pod","metadata":{"name":"s"}})", true));
}

TEST_CASE("secret keys: letters, digits, dots, dashes and underscores, but not '.' and '..'") {
  for (const std::string_view key : {"a", "tls.crt", "A-b_c.9", "...", "..data", "-"}) {
    CAPTURE(key);
    CHECK(is_secret_key(key));
  }
  for (const std::string_view key : {"", ".", "..", "a/b", "a b", "a\n", "é", "a%2e", "{{a}}"}) {
    CAPTURE(key);
    CHECK_FALSE(is_secret_key(key));
  }
  CHECK(is_secret_key(std::string(253, 'a')));
  CHECK_FALSE(is_secret_key(std::string(254, 'a')));
}

}  // namespace
}  // namespace execcred
