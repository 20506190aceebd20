// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"
#include "kubeconfig_text.hpp"

#include <doctest/doctest.h>
#include <execcred/kube/kubeconfig.hpp>
#include <execcred/os/file.hpp>

namespace execcred {
namespace {

using test::check_fails;
using test::contains;
using test::KubeconfigText;

const std::string kSecret = "S3CRET-CANARY";

void check_stored_malformed(const std::string& text, std::string_view part) {
  const std::string shown = text.substr(0, 400);
  CAPTURE(shown);
  const Result<Kubeconfig> stored = Kubeconfig::parse(text);
  check_fails(stored, Error::Kind::no_credential, part);
  CHECK_FALSE(contains(test::full_text(stored.error()), kSecret));
}

void check_malformed(const std::string& text, std::string_view part) {
  check_stored_malformed(text, part);
  check_fails(Kubeconfig::parse(text, Kubeconfig::Source::hub), Error::Kind::configuration, part);
}

void check_token(const std::string& text, std::string_view token) {
  const std::string shown = text.substr(0, 400);
  CAPTURE(shown);
  const Result<Kubeconfig> config = Kubeconfig::parse(text);
  if (!config) FAIL(test::full_text(config.error()));
  const Result<KubeconfigContext> context = config->context("");
  if (!context) FAIL(test::full_text(context.error()));
  CHECK(context->user.token.reveal() == token);
}

TEST_CASE("kubeconfig: must be exactly one document, which is a mapping") {
  check_malformed("", "the kubeconfig is empty");
  check_malformed("# nothing\n---\n", "the kubeconfig is empty");
  check_malformed("null", "the kubeconfig is empty");
  for (const char* mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}) {
    check_malformed(mark, "the kubeconfig is empty");
  }
  const std::string two = KubeconfigText().text() + "---\n" + KubeconfigText().text();
  check_stored_malformed(two, "the kubeconfig holds more than one document");
  CHECK(Kubeconfig::parse(two, Kubeconfig::Source::hub));  // clients read the first alone
  check_malformed("[]", "the kubeconfig is an array, not a mapping");
  check_malformed(kSecret, "the kubeconfig is a string, not a mapping");
  check_malformed("eyJhbGciOiJSUzI1NiJ9." + kSecret, "the kubeconfig is a string");
  check_malformed("-----BEGIN PRIVATE KEY-----\n" + kSecret + "\n-----END PRIVATE KEY-----\n",
                  "the kubeconfig ");
  check_token("---\n" + KubeconfigText().text() + "...\n", "t");
}

TEST_CASE("kubeconfig: a document of another kind or version is refused") {
  check_malformed("apiVersion: v1\nkind: Secret\ndata: {}\n", "kind is 'Secret', not Config");
  check_malformed("apiVersion: v2\nkind: Config\n", "apiVersion is 'v2', not v1");
  check_malformed("kind: [Config]\n", "kind must be a string, not an array");
  CHECK(Kubeconfig::parse("clusters: []"));
  CHECK(Kubeconfig::parse("kind: Config\nclusters: null"));
}

TEST_CASE("kubeconfig: JSON is accepted, with tabs and escapes") {
  check_token(
      "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Config\",\n\t\"clusters\": [{\"name\": \"c\", "
      "\"cluster\": {\"server\": \"https:\\/\\/a\"}}],\n\t\"users\": [{\"name\": \"u\", \"user\": "
      "{\"token\": \"a\\u00e9b\"}}],\n\t\"contexts\": [{\"name\": \"x\", \"context\": "
      "{\"cluster\": \"c\", \"user\": \"u\"}}]\n}\n",
      "a\u00e9b");
  check_token(
      R"({"clusters":[{"name":"c","cluster":{"server":"https://a"}}],"users":[{"name":"u","user":{"token":"t"}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}]})",
      "t");
  check_stored_malformed(R"({"users":[{"name":"u","user":{"token":"a","token":"b"}}]})",
                         "more than once");
}

TEST_CASE("kubeconfig: CRLF line endings and byte order marks are accepted") {
  std::string windows;
  for (const char c : KubeconfigText().text()) {
    if (c == '\n') windows += '\r';
    windows += c;
  }
  check_token(windows, "t");
  check_token("\xef\xbb\xbf" + KubeconfigText().text(), "t");
  check_token("\xef\xbb\xbf" + windows, "t");
}

TEST_CASE("kubeconfig: NUL and other control bytes are refused, raw or escaped") {
  check_malformed(KubeconfigText{.user = std::string("token: a\0b", 10)}.text(),
                  "the kubeconfig is no valid YAML");
  check_malformed(std::string("\0", 1) + KubeconfigText().text(),
                  "the kubeconfig is no valid YAML");
  check_malformed(KubeconfigText().text() + std::string("\0", 1),
                  "the kubeconfig is no valid YAML");
  check_malformed(KubeconfigText{.user = "token: a\x1b[0m"}.text(),
                  "the kubeconfig is no valid YAML");
  check_malformed(KubeconfigText{.user = "token: a\xff"}.text(), "the kubeconfig is no valid YAML");
}

TEST_CASE("kubeconfig: a text that breaks a rule makes its entry unusable, and a stored file") {
  struct Case {
    std::string field, value, told;
  };
  const std::string control = "has a control character";
  const auto check = [](const std::vector<Error>& problems, const std::string& told) {
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().message == told);
  };
  for (const auto& [field, value, told] :
       std::vector<Case>{{"tokenFile", "\"a\\0b\"", control},
                         {"as", "\"bob\\n\"", control},
                         {"as", "bob, as-uid: \"\\e\"", "-uid " + control},
                         {"as", "bob, as-groups: [a, \"\\n\"]", "-groups " + control},
                         {"as", "bob, as-user-extra: {a: [\"\\n\"]}", "-user-extra " + control},
                         {"auth-provider", "{}", ".name is missing"},
                         {"auth-provider", "{config: {}}", ".name is missing"}}) {
    const std::string user = field + ": " + value;
    CAPTURE(user);
    const std::string text = KubeconfigText{.user = user}.text();
    const std::string message = "users[0].user." + field + (told == control ? " " : "") + told;
    check_stored_malformed(text, message);
    const Result<Kubeconfig> config = Kubeconfig::parse(text, Kubeconfig::Source::hub);
    REQUIRE(config);
    check(config->context("")->user.problems, message);
  }
  for (const std::string field : {"server", "tls-server-name", "certificate-authority"}) {
    CAPTURE(field);
    const std::string text =
        KubeconfigText{.cluster = (field == "server" ? "" : "server: https://a, ") + field +
                                  ": \"https://a\\n\""}
            .text();
    const std::string message = "clusters[0].cluster." + field + " has a control character";
    check_stored_malformed(text, message);
    const Result<Kubeconfig> config = Kubeconfig::parse(text, Kubeconfig::Source::hub);
    REQUIRE(config);
    check(config->context("")->cluster.problems, message);
  }
}

TEST_CASE("kubeconfig: YAML that Go does not read is refused") {
  check_malformed("%YAML 1.2\n---\n" + KubeconfigText().text(), "incompatible YAML document");
  check_malformed(KubeconfigText().text() + "null: x\n", "has a key that is null");
  check_malformed(KubeconfigText().text() + "? \n: x\n", "has a key that is null");
  CHECK(Kubeconfig::parse(KubeconfigText().text() + "\"null\": x\n\"\": y\n"));
  const auto with_text = [](const std::string& text) {
    return Kubeconfig::parse(
        "\xef\xbb\xbf\u00e9: \u00e9\n" + KubeconfigText().text() + "x: " + text,
        Kubeconfig::Source::hub);
  };
  for (const std::string text : {"\"a\\/b\"", "[\u00e9, &a \"\\\\\\/\"]", "{\"\\/\": 1}"}) {
    CAPTURE(text);
    check_fails(with_text(text), Error::Kind::configuration, "has the escape '\\/'");
  }
  for (const std::string text : {"\"a\\\\/b\"", "'a\\/b'", "a\\/b", "|\n  \"a\\/b\"\n"}) {
    CAPTURE(text);
    CHECK(with_text(text));
  }
}

TEST_CASE("kubeconfig: too many aliases, too deep nesting and too large texts are refused") {
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    const std::string before = "*" + std::string(1, static_cast<char>(c - 1));
    laughs += std::string(1, c) + ": &" + c + " [" + before;
    for (int i = 0; i < 9; ++i) laughs += ", " + before;
    laughs += "]\n";
  }
  check_malformed(laughs, "the kubeconfig has aliases that stand for more than 1000 nodes");
  check_malformed("a: &a [*a]", "alias");
  check_stored_malformed(
      "users: &u\n- name: " + std::string(40'000, 'a') + "\n" +
          [] {
            std::string uses = "more:\n";
            for (int i = 0; i < 100; ++i) uses += "- *u\n";
            return uses;
          }(),
      "aliases that stand for more than 1024 KiB");
  check_malformed("a: " + std::string(40, '[') + std::string(40, ']'),
                  "is nested deeper than 32 levels");
  check_malformed(std::string(500'000, '{'), "has a key that is no scalar");
  check_malformed(std::string(500'000, '['), "is nested deeper than 32 levels");
  const std::string large = "a: " + std::string(2'000'000, 'a');
  check_stored_malformed(large, "the kubeconfig is larger than 1024 KiB");
  CHECK(Kubeconfig::parse(large, Kubeconfig::Source::hub));
  check_malformed("<<: {users: []}", "merge key");
  check_malformed("users: !!binary aGk=", "users must be an array, not a string");

  const std::string text = KubeconfigText().text();
  check_token(text + "# " + std::string(kMaxKubeconfig - text.size() - 2, 'a'), "t");
  check_stored_malformed(text + "# " + std::string(kMaxKubeconfig - text.size() - 1, 'a'),
                         "larger");
}

TEST_CASE("kubeconfig: an alias has the same meaning as its text") {
  check_token(
      "clusters: [{name: &n c, cluster: {server: 'https://a'}}]\n"
      "users: [{name: *n, user: {token: &t tok}}]\n"
      "contexts: [{name: *t, context: {cluster: *n, user: *n}}]\n",
      "tok");
}

TEST_CASE("kubeconfig: a name or token that YAML reads as another type is an error with a hint") {
  struct Case {
    std::string text;
    std::string kind;
  };
  for (const Case& c :
       {Case{"123", "a number"}, Case{"1e3", "a number"}, Case{"0x1F", "a number"},
        Case{"1_000", "a number"}, Case{"yes", "a boolean"}, Case{"on", "a boolean"},
        Case{"n", "a boolean"}, Case{"true", "a boolean"}}) {
    const std::string problem = " must be a string, not " + c.kind;
    const std::string hint = "\nhint: put it in quotes: without them YAML takes it for " + c.kind;
    check_malformed("users: [{name: " + c.text + "}]", "users[0].name" + problem + hint);
    check_malformed("clusters: [{name: " + c.text + "}]", "clusters[0].name" + problem + hint);
    check_malformed("contexts: [{name: " + c.text + "}]", "contexts[0].name" + problem + hint);
    check_malformed("current-context: " + c.text, "current-context" + problem + hint);
    check_malformed(KubeconfigText{.user = "token: " + c.text}.text(),
                    "users[0].user.token" + problem + "\nwhile reading the user 'u'" + hint);
    check_malformed(KubeconfigText{.context = "cluster: " + c.text}.text(),
                    "contexts[0].context.cluster" + problem);
    check_token(KubeconfigText{.user = "token: '" + c.text + "'"}.text(), c.text);
  }
  CHECK(Kubeconfig::parse("users: [{user: {}}]"));
  check_malformed("users: [{user: {}}, {name: ''}]", "users[1].name is '', like that of an entry");
  check_malformed("users: [null, null]", "users[1].name is '', like that of an entry");
  check_malformed("users: [{name: [a]}]", "users[0].name must be a string, not an array");
}

TEST_CASE("kubeconfig: two entries of the same name are refused, because readers differ") {
  for (const std::string list : {"clusters", "users", "contexts"}) {
    check_malformed(list + ": [{name: a}, {name: b}, {name: \"\\x61\"}]",
                    list + "[2].name is 'a', like that of an entry before it");
    CHECK(Kubeconfig::parse(list + ": [{name: a}, {name: A}]"));
  }
  check_stored_malformed("users: []\nusers: []", "more than once");
  const std::string twice = KubeconfigText{.user = "token: a, 'token': b"}.text();
  check_stored_malformed(twice, "more than once");
  const Result<Kubeconfig> config = Kubeconfig::parse(twice, Kubeconfig::Source::hub);
  REQUIRE(config);
  CHECK(config->context("")->user.token.reveal() == "b");  // as for kubectl
}

TEST_CASE("kubeconfig: a field of the wrong type is an error in every entry") {
  for (const std::string list : {"clusters", "users", "contexts"}) {
    const std::string kind = list.substr(0, list.size() - 1);
    check_malformed(list + ": {}", list + " must be an array, not an object");
    check_malformed(list + ": x", list + " must be an array, not a string");
    check_malformed(list + ": [x]", list + "[0] must be an object, not a string");
    CHECK(Kubeconfig::parse(list + ": [null]"));
    check_malformed(list + ": [{name: a, " + kind + ": x}]",
                    list + "[0]." + kind + " must be an object, not a string");
  }
  check_malformed(KubeconfigText{.user = "token: {}"}.text(), "must be a string, not an object");
  check_malformed(KubeconfigText{.user = "auth-provider: x"}.text(), "must be an object");
  check_malformed(KubeconfigText{.user = "auth-provider: {name: oidc, config: []}"}.text(),
                  "users[0].user.auth-provider.config must be an object");
  check_malformed(KubeconfigText{.cluster = "insecure-skip-tls-verify: 'true'"}.text(),
                  "must be true or false, not a string");
  check_malformed(KubeconfigText{.cluster = "certificate-authority-data: '-----BEGIN'"}.text(),
                  "clusters[0].cluster.certificate-authority-data is no base64");
  for (const std::string field : {"client-certificate-data", "client-key-data"}) {
    check_malformed(KubeconfigText{.user = field + ": " + kSecret}.text(),
                    "users[0].user." + field + " is no base64\nwhile reading the user 'u'");
  }
}

TEST_CASE("kubeconfig: a syntax error shows a position and no text") {
  check_malformed("users:\n- name: u\n  user: {token: " + kSecret + "\n", "line ");
  check_malformed("users: *" + kSecret, "line 1");
  check_malformed("users: '" + kSecret, "line ");
  check_malformed("a: b\n" + kSecret + "\n", "line ");
}

}  // namespace
}  // namespace execcred
