// SPDX-License-Identifier: Apache-2.0
// Secrets in documents that must not contain them: lint finds them, and never shows them.
#include "lint.hpp"
#include "unit/growth.hpp"

#include <execcred/base/encoding.hpp>
#include <lint/secrets.hpp>

#include <algorithm>

namespace execcred {
namespace {

using lint::Finding;
using lint::secret_in;
using test::contains;
using test::lint_text;
using test::Severity;

const std::string kKey =
    "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIsecretbytes\n-----END EC PRIVATE KEY-----\n";
const std::string kJwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";

TEST_CASE("secret_in: recognizes a secret by its form, also in base64 and inside other text") {
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
  for (const std::string& text :
       {kKey, certificate + kKey, encode_base64(kKey), encode_base64(certificate + kKey),
        encode_base64(encode_base64(kKey)), "{\"key\":\"" + encode_base64(kKey) + "\"}"}) {
    CAPTURE(text);
    CHECK(secret_in(text) == "a private key");
  }
  for (const std::string& text :
       {kJwt, "--token=" + kJwt, "Bearer " + kJwt + "\n", encode_base64(kJwt)}) {
    CAPTURE(text);
    CHECK(secret_in(text) == "a JSON Web Token");
  }
  for (const std::string text :
       {"http://u:p@proxy:1", "x https://user:pass@h/p y", "socks5://:p@h"}) {
    CAPTURE(text);
    CHECK(secret_in(text) == "a URL with a password");
  }
  for (const std::string text :
       {"Bearer abcdefgh1jklmnop", "no Bearer authentication, but Bearer ABCdefGHIjkl"}) {
    CAPTURE(text);
    CHECK(secret_in(text) == "a bearer token");
  }
  CHECK(secret_in("sha256~abcdefghijklmnopqrstuvwxyz0123456789") == "an OpenShift token");
  CHECK(secret_in("k8s-aws-v1.aHR0cHM6Ly9zdHMuYW1hem9uYXdzLmNvbQ") == "a token for EKS");
}

TEST_CASE("secret_in: ignores texts that only look like a secret") {
  for (const std::string& text :
       {std::string(), std::string("eyJ"), std::string("eyJhbGciOiJSUzI1NiJ9"),
        std::string("eyJub3Qg.x.y"), std::string("https://h:6443/p@x"),
        std::string("https://user@h"), std::string("a:b@c"),
        std::string("-----BEGIN CERTIFICATE-----"), std::string("ghp_short"),
        std::string("sha256:abcdef"), std::string("Bearer authentication failed"),
        std::string("WWW-Authenticate: Bearer Authentication"),
        encode_base64("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"),
        std::string("/var/run/secrets/token")}) {
    CAPTURE(text);
    CHECK(secret_in(text).empty());
  }
}

TEST_CASE("secret_in: finds a secret after many incomplete ones") {
  const std::string many = test::repeated("eyJ.", 100);
  CHECK(secret_in(many + kJwt) == "a JSON Web Token");
  CHECK(secret_in(many + " " + kJwt + many) == "a JSON Web Token");
  // In base64, with the start at each of the four positions in a group of digits.
  const std::string key = encode_base64(kKey).substr(0, 60);
  const std::string certificate = encode_base64("-----BEGIN CERTIFICATE-----\n").substr(0, 36);
  for (const std::string_view between : {"", "a", "ab", "abc", "=", "==", " ", "\n"}) {
    CAPTURE(between);
    CHECK(secret_in("{" + certificate + std::string(between) + key + "}") == "a private key");
  }
}

TEST_CASE("secret_in: the time is linear in the length of the text" *
          doctest::description("promise 30")) {
  for (const std::string_view part : {"eyJ",
                                      "eyJ.",
                                      "eyJ..",
                                      "eyJhbGciOiJSUzI1NiJ9.",
                                      "eyJhbGciOiJSUzI1NiJ9.a ",
                                      "://",
                                      "://a:",
                                      "a:b://",
                                      ":@",
                                      "@://",
                                      "Bearer ",
                                      "Bearer a1",
                                      "ya29.",
                                      "ghp_",
                                      "ghp_.",
                                      "sha256~",
                                      "k8s-aws-v1.",
                                      "LS0tLS1CRUdJTi",
                                      "LS0tLS1CRUdJTi=",
                                      "LS0tLS1CRUdJTia",
                                      "-----BEGIN ",
                                      "PRIVATE KEY----",
                                      "a",
                                      "=",
                                      "\n",
                                      " "}) {
    CAPTURE(part);
    test::check_linear(
        16 * 1024,
        [part](std::size_t size) {
          // The "!" makes the whole text invalid base64.
          return test::repeated(part, size / part.size()) + "!";
        },
        [](const std::string& text) { static_cast<void>(secret_in(text)); });
  }
}

TEST_CASE("is_name_of_secret: true for names of secrets, false for names of their locations") {
  for (const std::string_view name : {"token", "--client-secret", "MY_PASSWORD",
                                      "AWS_SECRET_ACCESS_KEY", "clientKeyData", "apiKey"}) {
    CAPTURE(name);
    CHECK(lint::is_name_of_secret(name));
  }
  for (const std::string_view name :
       {"token-file", "secretName", "subject-token-type", "key", "SECRET_DIR", ""}) {
    CAPTURE(name);
    CHECK_FALSE(lint::is_name_of_secret(name));
  }
}

std::string quoted(const std::string& text) { return json::to_text(json::Value(text)); }

// Documents with the secret in each place that holds text, and in names.
std::vector<std::string> documents_with(const std::string& secret) {
  const std::string head =
      R"({"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ClusterProfile",)";
  const std::string exec =
      R"({"providers":[{"name":"p","execConfig":{"apiVersion":"client.authentication.k8s.io/v1","command":"/x",)";
  const std::string cluster =
      R"("status":{"accessProviders":[{"name":"a","cluster":{"server":"https://h",)";
  const std::string text = quoted(secret);
  const std::string named = head + R"("metadata":{"name":"c"},)" + cluster;
  std::vector<std::string> documents;
  documents.push_back(head + R"("metadata":{"name":"c","annotations":{"x":)" + text + "}}}");
  documents.push_back(head + R"("metadata":{"name":)" + text + "}}");
  documents.push_back(named + R"("proxy-url":)" + text + "}}]}}");
  documents.push_back(named + text + ":1}}]}}");
  documents.push_back(
      named +
      R"("extensions":[{"name":"client.authentication.k8s.io/exec","extension":{"a":[{"b":)" +
      text + "}]}}]}}]}}");
  documents.push_back(exec + R"("args":["--x",)" + text + "]}}]}");
  documents.push_back(exec + R"("args":[)" + quoted("--x=" + secret) + "]}}]}");
  documents.push_back(exec + R"("env":[{"name":"A","value":)" + text + "}]}}]}");
  return documents;
}

TEST_CASE("lint: a secret is found anywhere in a document, and never shown") {
  for (const std::string& secret :
       {kKey, kJwt, std::string("https://user:hunter2secret@h"), encode_base64(kKey)}) {
    for (const std::string& document : documents_with(secret)) {
      CAPTURE(document);
      const std::vector<Finding> findings = lint_text(document);
      const std::string told = lint::to_text(findings, {.files = 1}) +
                               json::to_text(lint::to_json(findings, {.files = 1}));
      CAPTURE(told);
      CHECK(contains(told, "hold"));
      for (const std::string_view shown :
           {"MHcCAQEEIsecretbytes", "c2lnbmF0dXJl", "hunter2secret", "LS0tLS1CRUdJTiBF"}) {
        CHECK_FALSE(contains(told, shown));
      }
    }
  }
}

TEST_CASE("lint: a secret is an error in a ClusterProfile, but not in a mapping's variable") {
  const std::vector<std::string> documents = documents_with(kJwt);
  const auto is_error = [](const Finding& finding) {
    return finding.message == "holds a JSON Web Token" && finding.severity == Severity::error;
  };
  const std::vector<Finding> profile = lint_text(documents.front());
  CHECK(std::any_of(profile.begin(), profile.end(), is_error));
  const std::vector<Finding> mapping = lint_text(documents.back());
  CHECK_FALSE(std::any_of(mapping.begin(), mapping.end(), is_error));
  REQUIRE(mapping.size() == 1);
  CHECK(mapping.front().path == "providers[0].execConfig.env[0].value");
}

}  // namespace
}  // namespace execcred
