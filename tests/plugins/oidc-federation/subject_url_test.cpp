// SPDX-License-Identifier: Apache-2.0
// Subject tokens from a URL, from GitHub Actions, and from Google's metadata server.
#include "federation.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

constexpr auto kPlain = ScriptedServer::Transport::plain;
constexpr const char* kIdentity = "/computeMetadata/v1/instance/service-accounts/default/identity";

Ask by(Texts arguments, Texts variables = {}) {
  return {
      .arguments = std::move(arguments), .variables = std::move(variables), .has_subject = false};
}

bool has(const Texts& texts, const std::string& wanted) {
  return std::count(texts.begin(), texts.end(), wanted) == 1;
}

std::string plain_reply(const std::string& body, const std::string& headers = {}) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}

}  // namespace

TEST_CASE("url: the body or one member of its JSON is the token, and headers are sent") {
  Federation fed;
  ScriptedServer source(kPlain);
  source.on("/text", plain_reply(fed.subject + "\n"));
  source.on("/json", reply(200, R"({"id":7,"token":")" + fed.subject + "\"}"));
  const std::string secret = new_secret();
  CHECK_SUCCESS(fed.run_cold(
      by({"--subject-token-url=" + source.url("/text?a=b"),
          "--subject-token-header=X-Secret=" + secret, "--subject-token-header=Metadata=true"})));
  CHECK(fed.idp.last(kToken).field("subject_token") == fed.subject);
  const Received asked = source.last("/text");
  CHECK(asked.method == "GET");
  CHECK(asked.target == "/text?a=b");
  CHECK(asked.header("X-Secret") == secret);
  CHECK(asked.header("Metadata") == "true");
  CHECK(asked.header("Authorization") == "");
  CHECK_SUCCESS(fed.run_cold(
      by({"--subject-token-url=" + source.url("/json"), "--subject-token-field=token"})));
  CHECK(fed.idp.last(kToken).field("subject_token") == fed.subject);
  CHECK_FAILURE(fed.run_cold(by({"--subject-token-url=" + source.url("/json")})), 1,
                "this is a JSON document, not a token");
  for (const std::string field : {"id", "nope", "Token"}) {
    const Outcome outcome = fed.run_cold(
        by({"--subject-token-url=" + source.url("/json"), "--subject-token-field=" + field}));
    CHECK_FAILURE(outcome, 1, "answered has no string");
    CHECK(blackbox::says(outcome, "'" + field + "'"));
  }
}

TEST_CASE("url: an https server is verified only with --subject-ca-file") {
  Federation fed;
  ScriptedServer source;
  source.on("/t", plain_reply(fed.subject));
  const std::string ca = fed.sandbox.write("source-ca.pem", source.ca_pem());
  const std::string url = "--subject-token-url=" + source.url("/t");
  CHECK_SUCCESS(fed.run_cold(by({url, "--subject-ca-file=" + ca})));
  source.forget();
  CHECK_FAILURE(fed.run_cold(by({url, "--timeout=2s"})), 3,
                "unable to get local issuer certificate");
  CHECK_FAILURE(fed.run_cold(by({url, "--timeout=2s", "--subject-ca-file=" + fed.ca_path})), 3,
                "unable to get local issuer certificate");
  // An empty file must not stand for the system's CAs.
  const std::string none = fed.sandbox.write("none.pem", "");
  CHECK_REFUSAL(fed.run_cold(by({url, "--subject-ca-file=" + none})), 2, "--subject-ca-file");
  CHECK(source.requests().empty());
}

TEST_CASE("url: plain http is allowed only to loopback, link-local and metadata hosts") {
  Federation fed;
  for (const std::string host :
       {"idp.example.com", "10.0.0.1", "192.168.1.1", "169.253.0.1", "128.0.0.1", "[2001:db8::1]",
        "localhost.example.com", "metadata.google.internal.evil.example", "127.0.0.1.evil.example",
        "169.254.169.254.evil.example", "0.0.0.0", "[::ffff:10.0.0.1]"}) {
    CAPTURE(host);
    CHECK_FAILURE(fed.run(by({"--subject-token-url=http://" + host + "/t"})), 2,
                  "is plain http to another machine");
  }
  for (const std::string url : {"ftp://127.0.0.1/t", "file:///etc/passwd", "127.0.0.1/t", "http://",
                                "http://127.0.0.1/a b", "http://u:p@127.0.0.1/"}) {
    CAPTURE(url);
    CHECK_FAILURE(fed.run(by({"--subject-token-url=" + url})), 2, "--subject-token-url");
  }
  ScriptedServer source(kPlain);
  source.on("/t", plain_reply(fed.subject));
  const std::string port = source.url().substr(source.url().rfind(':'));
  CHECK_SUCCESS(fed.run_cold(by({"--subject-token-url=http://localhost" + port + "/t"})));
}

TEST_CASE("url: the answer must be a valid token with status 200") {
  Federation fed;
  ScriptedServer source(kPlain);
  struct Case {
    std::string bytes;
    int exit_code;
  };
  for (const Case& c :
       {Case{plain_reply(""), 1}, Case{plain_reply("<html> sign in </html>"), 1},
        Case{plain_reply(new_subject(-30)), 1}, Case{plain_reply(std::string(2'000'000, 'a')), 1},
        Case{reply(403, "no"), 1}, Case{reply(404, "no"), 1}, Case{reply(500, "no"), 3},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", 3}}) {
    CAPTURE(c.bytes.substr(0, 40));
    source.on("/t", [bytes = c.bytes](Stream& stream, const Received&) {
      stream.write(bytes);
      stream.cut();
    });
    CHECK_FAILURE(fed.run_cold(by({"--subject-token-url=" + source.url("/t"), "--timeout=2s"})),
                  c.exit_code, "the subject token");
  }
  CHECK(fed.idp.requests().empty());
}

TEST_CASE("url: a malformed header is refused, and the URL is not called") {
  Federation fed;
  const ScriptedServer source(kPlain);
  for (const std::string header : {"X-A=1\r\nX-B: 2", "X-A", "=v", "X A=v", "X-A:=v", "X-A="}) {
    CAPTURE(header);
    CHECK_FAILURE(fed.run(by({"--subject-token-url=" + source.url("/t"),
                              "--subject-token-header=" + header})),
                  2, "--subject-token-header");
  }
  CHECK(source.connections() == 0);
}

TEST_CASE("github-actions: the job's request URL and token, and the audience encoded") {
  Federation fed;
  ScriptedServer github;
  const std::string ca = fed.sandbox.write("github-ca.pem", github.ca_pem());
  const std::string request_token = new_secret();
  github.on("/token", reply(200, R"({"count":1,"value":")" + fed.subject + "\"}"));
  const auto job = [&](const std::string& url, const std::string& audience) {
    return by(
        {"--subject=github-actions", "--subject-ca-file=" + ca, "--subject-audience=" + audience},
        {"ACTIONS_ID_TOKEN_REQUEST_URL=" + url, "ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + request_token});
  };
  CHECK_SUCCESS(
      fed.run_cold(job(github.url("/token?api-version=2.0"), "https://idp.example/?a=b&c d+é")));
  CHECK(fed.idp.last(kToken).field("subject_token") == fed.subject);
  const Received asked = github.last("/token");
  CHECK(asked.method == "GET");
  CHECK(asked.header("Authorization") == "bearer " + request_token);
  CHECK(asked.parameters() == Texts{"api-version=2.0", "audience=https://idp.example/?a=b&c d+é"});
  CHECK(asked.target.find("audience=https%3A%2F%2Fidp.example%2F%3Fa%3Db%26c%20d%2B%C3%A9") !=
        std::string::npos);
  CHECK_SUCCESS(fed.run_cold(job(github.url("/token"), "plain")));
  CHECK(github.last("/token").target == "/token?audience=plain");
}

TEST_CASE("github-actions: outside a job, or without the permission, is an error with a hint") {
  Federation fed;
  const Texts arguments = {"--subject=github-actions", "--subject-audience=a"};
  CHECK_REFUSAL(fed.run(by(arguments)), 2, "ACTIONS_ID_TOKEN_REQUEST_URL");
  CHECK_REFUSAL(fed.run(by(arguments, {"ACTIONS_ID_TOKEN_REQUEST_URL=https://127.0.0.1/"})), 2,
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN");
  CHECK_FAILURE(fed.run(by(arguments, {"ACTIONS_ID_TOKEN_REQUEST_URL=http://evil.example/",
                                       "ACTIONS_ID_TOKEN_REQUEST_TOKEN=x"})),
                2, "'http://evil.example:80' is plain http to another machine");
  CHECK_FAILURE(fed.run(by({"--subject=github-actions"})), 2, "--subject needs --subject-audience");
}

TEST_CASE("github-actions: a malformed request URL names its variable") {
  Federation fed;
  const Texts arguments = {"--subject=github-actions", "--subject-audience=a"};
  for (const std::string url : {"garbage", "https://", "https://127.0.0.1/#x", "ftp://127.0.0.1/",
                                "https://u:p@127.0.0.1/", "http://evil.example/"}) {
    CAPTURE(url);
    CHECK_FAILURE(fed.run(by(arguments, {"ACTIONS_ID_TOKEN_REQUEST_URL=" + url,
                                         "ACTIONS_ID_TOKEN_REQUEST_TOKEN=x"})),
                  2, "reading the variable ACTIONS_ID_TOKEN_REQUEST_URL");
  }
}

TEST_CASE("gcp-metadata: its flavour header is sent and required, and no proxy is used") {
  Federation fed;
  ScriptedServer metadata(kPlain);
  const ScriptedServer proxy(kPlain);
  const auto ask = [&](Texts more = {}) {
    return by({"--subject=gcp-metadata", "--subject-audience=https://idp/?x=1 2"},
              Texts{"GCE_METADATA_HOST=" + metadata.authority(), "HTTP_PROXY=" + proxy.url(),
                    "http_proxy=" + proxy.url(), "ALL_PROXY=" + proxy.url()} +
                  more);
  };
  metadata.on(kIdentity, plain_reply(fed.subject + "\n", "Metadata-Flavor: Google\r\n"));
  CHECK_SUCCESS(fed.run_cold(ask()));
  CHECK(fed.idp.last(kToken).field("subject_token") == fed.subject);
  const Received asked = metadata.last(kIdentity);
  CHECK(asked.header("Metadata-Flavor") == "Google");
  CHECK(has(asked.parameters(), "audience=https://idp/?x=1 2"));
  CHECK(has(asked.parameters(), "format=full"));
  CHECK(asked.target.find(' ') == std::string::npos);
  // A reply of another server, for example of a captive portal.
  fed.idp.forget();
  for (const std::string headers :
       {"", "Metadata-Flavor: Googl\r\n", "X: Metadata-Flavor: Google\r\n"}) {
    metadata.on(kIdentity, plain_reply(fed.subject, headers));
    CHECK_FAILURE(fed.run_cold(ask()), 1, "' is no metadata server of Google's");
  }
  CHECK(fed.idp.requests().empty());
  CHECK(proxy.connections() == 0);
}

TEST_CASE("the default audience of a fetched subject token is the issuer") {
  Federation fed;
  ScriptedServer metadata(kPlain);
  metadata.on(kIdentity, plain_reply(fed.subject, "Metadata-Flavor: Google\r\n"));
  const Texts variables = {"GCE_METADATA_HOST=" + metadata.authority()};
  CHECK_SUCCESS(fed.run({.arguments = {"--subject=gcp-metadata"},
                         .variables = variables,
                         .by_issuer = true,
                         .has_subject = false}));
  CHECK(has(metadata.last(kIdentity).parameters(), "audience=" + fed.idp.issuer()));
  // A token URL is no issuer.
  CHECK_FAILURE(fed.run(by({"--subject=gcp-metadata"}, variables)), 2,
                "--subject needs --subject-audience");
}

}  // namespace execcred::test
