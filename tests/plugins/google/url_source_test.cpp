// SPDX-License-Identifier: Apache-2.0
// external_account credentials whose subject token comes from a URL.
#include "google.hpp"
#include "unit/growth.hpp"

#include <doctest/doctest.h>
#include <execcred/json/json.hpp>
#include <google/credential_reader.hpp>

namespace execcred::test {
namespace {

constexpr auto kPlain = ScriptedServer::Transport::plain;

Ask from(const Google& google, const Members& source, Texts arguments = {}) {
  return {.credentials = object(with(google.file_account(), "credential_source", object(source))),
          .arguments = std::move(arguments)};
}

std::string plain_reply(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("url: text or a member of JSON, with the headers of the file, and no proxy") {
  Google google;
  ScriptedServer source(kPlain);
  source.on("/text", plain_reply(google.subject + "\n"));
  source.on("/json", plain_reply(R"({"access_token":")" + google.subject + "\"}"));
  const std::string secret = new_secret();
  const std::string headers = object({{"Metadata", text("True")}, {"X-Secret", text(secret)}});
  CHECK_SUCCESS(google.run_cold(
      from(google, {{"url", text(source.url("/text?resource=a%2Fb"))}, {"headers", headers}})));
  CHECK(google.cloud.api().last(kSts).field("subject_token") == google.subject);
  const Received asked = source.last("/text");
  CHECK(asked.method == "GET");
  CHECK(asked.target == "/text?resource=a%2Fb");
  CHECK(asked.header("Metadata") == "True");
  CHECK(asked.header("X-Secret") == secret);
  CHECK_SUCCESS(google.run_cold(
      from(google, {{"url", text(source.url("/json"))},
                    {"format", R"({"type":"json","subject_token_field_name":"access_token"})"}})));
  CHECK(google.cloud.api().last(kSts).field("subject_token") == google.subject);
  CHECK(google.cloud.hosts() == Texts{"sts.googleapis.com:443", "sts.googleapis.com:443"});
}

TEST_CASE("url: GitHub Actions is allowed, and other https servers only with --allow-endpoint") {
  Google google;
  const std::string job = "https://run-actions-1.actions.githubusercontent.com/token";
  google.cloud.api().on("/token", plain_reply(R"({"value":")" + google.subject + "\"}"));
  const std::string format = R"({"type":"json","subject_token_field_name":"value"})";
  CHECK_SUCCESS(google.run_cold(from(google, {{"url", text(job)}, {"format", format}})));
  CHECK(google.cloud.hosts().front() == "run-actions-1.actions.githubusercontent.com:443");
  const Members broker = {{"url", text("https://sts.broker.example/token?x=1")},
                          {"format", format}};
  CHECK_REFUSAL(google.run_cold(from(google, broker)), 1,
                "--allow-endpoint='https://sts.broker.example:443/*'");
  CHECK_SUCCESS(
      google.run_cold(from(google, broker, {"--allow-endpoint=https://sts.broker.example:443/*"})));
}

TEST_CASE("url: plain http only to this machine, link-local addresses and metadata servers") {
  Google google;
  for (const std::string url :
       {"http://example.com/", "http://10.0.0.1/", "http://127.0.0.1.evil.example/",
        "http://169.254.169.254.evil.example/", "ftp://127.0.0.1/", "file:///etc/passwd", "nothing",
        "http://u:p@127.0.0.1/", "http://127.0.0.1/a b", "https://"}) {
    CAPTURE(url);
    CHECK_FAILURE(google.run(from(google, {{"url", text(url)}})), 2, "credential_source.url");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("url: the answer must be a valid token with status 200") {
  Google google;
  ScriptedServer source(kPlain);
  struct Case {
    std::string bytes;
    int exit_code;
  };
  for (const Case& c :
       {Case{plain_reply(""), 1}, Case{plain_reply("<html> no </html>"), 1},
        Case{plain_reply(new_subject(-30)), 1}, Case{reply(403, "no"), 1},
        Case{reply(404, "no"), 1}, Case{redirect(302, "http://127.0.0.1:1/"), 1},
        Case{reply(500, "no"), 3}, Case{plain_reply(std::string(2'000'000, 'a')), 1}}) {
    CAPTURE(c.bytes.substr(0, 40));
    source.on("/t", c.bytes);
    CHECK_FAILURE(
        google.run_cold(from(google, {{"url", text(source.url("/t"))}}, {"--timeout=2s"})),
        c.exit_code, "the subject token");
  }
  CHECK(google.cloud.connections() == 0);
}

TEST_CASE("url: malformed headers are refused") {
  Google google;
  for (const std::string headers :
       {R"({"X A":"1"})", R"({"X":"a\r\nY: b"})", R"({"X:":"1"})", R"({"":"1"})", R"({"X":7})",
        "[]", R"({"X":""})", R"({"X":"1","X":"2"})"}) {
    CAPTURE(headers);
    CHECK_FAILURE(
        google.run(from(google, {{"url", text("http://127.0.0.1:1/")}, {"headers", headers}})), 2,
        "reading --credentials-file");
  }
}

TEST_CASE("url: the time to read the headers of a credential_source is linear in their number" *
          doctest::description("promise 30")) {
  const Google google;
  const auto credentials = [&google](std::size_t count) {
    Members headers;
    for (std::size_t i = 0; i < count; ++i) {
      headers.emplace_back("X-" + std::to_string(i), text("v"));
    }
    const Members source = {{"url", text("http://127.0.0.1:1/")}, {"headers", object(headers)}};
    const std::string document =
        object(with(google.file_account(), "credential_source", object(source)));
    const Result<json::Value> value = json::parse(document);
    REQUIRE(value);
    return *value;
  };
  check_linear(1'000, credentials, [](const json::Value& value) {
    const std::vector<UrlPattern> none;
    const Result<json::ObjectReader> reader = json::ObjectReader::open(value, "");
    REQUIRE(reader);
    REQUIRE(google::parse_external_account(*reader, "googleapis.com", google::Endpoints(none)));
  });
}

}  // namespace execcred::test
