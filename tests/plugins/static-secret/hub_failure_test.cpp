// SPDX-License-Identifier: Apache-2.0
// A hub that refuses, fails, stalls or is another server: one clear line, and the right exit code.
#include "plugin.hpp"
#include "support/stream_server.hpp"

#include <doctest/doctest.h>

#include <atomic>

namespace execcred::test {
namespace {

const Texts kArguments = {"--convention=secretreader"};

Texts with(Texts arguments, const std::string& more) {
  arguments.push_back(more);
  return arguments;
}

// The plugin in front of a server that is no API server.
struct Elsewhere {
  blackbox::Sandbox sandbox;

  Outcome run(const std::string& server, const std::string& ca, Texts arguments = {}) const {
    const std::string token = new_opaque_token();
    const std::string path =
        sandbox.write("hub.kubeconfig",
                      "clusters: [{name: h, cluster: {server: '" + server +
                          "', certificate-authority-data: " + blackbox::base64(ca) +
                          "}}]\nusers: [{name: u, user: {token: " + token +
                          "}}]\ncontexts: [{name: c, context: {cluster: h, user: u}}]\n",
                      0600);
    arguments.insert(arguments.begin(), {"--kubeconfig=" + path, "--secret-name=spoke-1"});
    return blackbox::run(plugin_of(arguments));
  }
};

std::string secret_reply(const std::string& token) {
  return to_json({.name = "spoke-1", .data = {{"token", token}}, .name_space = "default"});
}

}  // namespace

TEST_CASE("hub: each refusal is shown with its status, its reason phrase and its message") {
  struct Case {
    int status;
    std::string reason, text;
    int exit_code;
  };
  for (const Case& c :
       {Case{400, "BadRequest", "400 Bad Request", 1},
        Case{401, "Unauthorized", "401 Unauthorized", 1},
        Case{403, "Forbidden", "403 Forbidden", 1}, Case{404, "NotFound", "404 Not Found", 1},
        Case{409, "Conflict", "409 Conflict", 1},
        Case{429, "TooManyRequests", "429 Too Many Requests", 3},
        Case{500, "InternalError", "500 Internal Server Error", 3},
        Case{503, "ServiceUnavailable", "503 Service Unavailable", 3}}) {
    CAPTURE(c.status);
    Plugin plugin;
    plugin.hub.always(status_reply(c.status, c.reason, "words of the hub about it"));
    const Outcome outcome = plugin.run({.arguments = kArguments});
    CHECK_FAILURE(outcome, c.exit_code, "words of the hub about it");
    CHECK(says(outcome, c.text + ": words of the hub about it"));
    CHECK(says(outcome, "while reading secrets 'clusters/spoke-1' from the hub"));
  }
}

TEST_CASE("hub: the identity's token is not shown if the hub's message contains it") {
  Plugin plugin;
  plugin.hub.always(status_reply(403, "Forbidden", "bad token: Bearer " + plugin.hub.token()));
  const Outcome outcome = plugin.run({.arguments = kArguments});
  CHECK_REFUSAL(outcome, 1, "bad token: Bearer ***");
  CHECK(outcome.error_output.find(plugin.hub.token().substr(0, 20)) == std::string::npos);
}

TEST_CASE("hub: a 403 hints at the RBAC rule that is missing, for a GET and for a list") {
  Plugin plugin;
  plugin.hub.always(status_reply(403, "Forbidden", "secrets is forbidden: User \"x\""));
  CHECK_REFUSAL(plugin.run({.arguments = kArguments}), 1,
                "hint: it needs a Role with verbs [get] on resources [secrets], resourceNames "
                "[spoke-1], bound in namespace 'clusters'");
  CHECK_REFUSAL(plugin.run({.arguments = {"--convention=argocd"}}), 1,
                "hint: it needs a Role with verbs [list] on resources [secrets], bound in "
                "namespace 'clusters'");
}

TEST_CASE("hub: a temporary failure is retried, after the Retry-After of a 429 or 503") {
  for (const int status : {429, 500, 502, 503, 504}) {
    CAPTURE(status);
    Plugin plugin;
    const std::string token = new_token();
    plugin.hub.add({.name = "spoke-1", .data = {{"token", token}}});
    plugin.hub.next(status_reply(status, "Busy", "later", {"Retry-After: 1"}));
    const Outcome outcome = plugin.run({.arguments = kArguments});
    CHECK(token_of(outcome) == token);
    if (status == 429 || status == 503) CHECK(outcome.elapsed >= blackbox::milliseconds(1000));
    CHECK(plugin.hub.requests().size() == 2);
  }
}

TEST_CASE("hub: a permanent failure is not retried") {
  for (const int status : {400, 401, 403, 404, 409, 301, 302, 307, 308}) {
    CAPTURE(status);
    Plugin plugin;
    plugin.hub.always(status_reply(status, "No", "no"));
    CHECK_FAILURE(plugin.run({.arguments = kArguments}), 1, "the hub answered");
    CHECK(plugin.hub.requests().size() == 1);
  }
}

TEST_CASE("hub: a Retry-After beyond the remaining time ends the run at once") {
  Plugin plugin;
  plugin.hub.always(status_reply(429, "TooManyRequests", "slow down", {"Retry-After: 3600"}));
  const Outcome outcome = plugin.run({.arguments = kArguments});
  CHECK_FAILURE(outcome, 3, "the hub answered 429 Too Many Requests: slow down");
  CHECK(outcome.elapsed < blackbox::kNoWait);
  CHECK(plugin.hub.requests().size() == 1);
}

TEST_CASE("hub: a redirect is not followed, so the identity's token stays with the hub" *
          doctest::description("promises 5, 14")) {
  const LoopbackServer thief([](const HttpRequest&) { return HttpResponse{}; });
  for (const int status : {301, 302, 303, 307, 308}) {
    CAPTURE(status);
    Plugin plugin;
    plugin.hub.always({.status = status, .headers = {"Location: " + thief.url("/x")}});
    CHECK_REFUSAL(plugin.run({.arguments = kArguments}), 1, "redirects are not followed");
  }
  CHECK(thief.connections() == 0);
}

TEST_CASE("hub: a reply that is too large, or endless, is refused") {
  Plugin plugin;
  plugin.hub.always({.body = std::string(5UL * 1024 * 1024, ' ')});
  const Outcome outcome = plugin.run({.arguments = kArguments});
  CHECK_FAILURE(outcome, 1, "the reply of https://");
  CHECK(says(outcome, "4 MiB"));

  const Identity identity = make_identity({});
  const StreamServer endless(
      [](Stream& stream) {
        stream.read_request();
        stream.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        const std::string chunk = "10000\r\n" + std::string(65536, 'x') + "\r\n";
        while (stream.write(chunk)) {
        }
      },
      {.identity = &identity});
  CHECK_FAILURE(Elsewhere().run(endless.url(""), identity.pem), 1, "the reply of https://");
}

TEST_CASE("hub: a reply that is cut off or reset is retried, and then reported") {
  const Identity identity = make_identity({});
  const std::string token = new_opaque_token();
  const std::string body = secret_reply(token);
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  for (const bool is_reset : {false, true}) {
    CAPTURE(is_reset);
    std::atomic<int> requests = 0;
    std::atomic<int> cut_off = 100;
    const StreamServer server(
        [&](Stream& stream) {
          if (stream.read_request().empty()) return;
          const bool is_whole = ++requests > cut_off;
          stream.write(head + body.substr(0, is_whole ? body.size() : body.size() / 2));
          if (!is_whole && is_reset) stream.reset();
          if (!is_whole) stream.cut();
        },
        {.identity = &identity});
    const Outcome failed = Elsewhere().run(server.url(""), identity.pem);
    CHECK_FAILURE(failed, 3, "the server at https://");
    CAPTURE(failed.error_output);
    // A reset may reach the client before what was sent, which is then lost.
    CHECK(says(failed, is_reset ? "closed the connection" : "in the middle of its reply"));
    CHECK(requests > 1);
    cut_off = requests + 1;
    CHECK(token_of(Elsewhere().run(server.url(""), identity.pem)) == token);
  }
}

TEST_CASE("hub: one that never answers ends the run at --timeout") {
  const Identity identity = make_identity({});
  const StreamServer silent(
      [](Stream& stream) {
        stream.read_request();
        stream.wait_for_close();
      },
      {.identity = &identity});
  const Outcome outcome = Elsewhere().run(silent.url(""), identity.pem, {"--timeout=1s"});
  CHECK_FAILURE(outcome, 3, "timed out after");
  CAPTURE(outcome.error_output);
  CHECK(says(outcome, "timed out after 1s\n  while reading the Secret from the hub\n"));
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

TEST_CASE("hub: an endless list ends the run at --timeout") {
  Plugin plugin;
  plugin.hub.always({.body = R"({"kind":"SecretList","metadata":{"continue":"more"},"items":[]})"});
  const Outcome outcome = plugin.run({.arguments = {"--convention=argocd", "--timeout=1s"}});
  CHECK_FAILURE(outcome, 3, "timed out after");
  CHECK(outcome.elapsed < blackbox::kNoWait);
  CHECK(plugin.hub.requests().size() > 1);
}

TEST_CASE("hub: one whose certificate is not trusted, or has expired, does not get the token") {
  const auto check = [](const std::string& text, const Identity& identity, const std::string& ca) {
    CAPTURE(text);
    std::atomic<int> requests = 0;
    const StreamServer server(
        [&](Stream& stream) { requests += stream.read_request().empty() ? 0 : 1; },
        {.identity = &identity});
    const Outcome outcome = Elsewhere().run(server.url(""), ca);
    CHECK_FAILURE(outcome, 3, "cannot verify https://");
    CHECK(says(outcome, text));
    CHECK(requests == 0);
  };
  const Identity good = make_identity({});
  const Identity other = make_ca("another CA");
  const Identity expired = make_identity({.begins = -7200, .ends = -3600});
  const Identity future = make_identity({.begins = 3600});
  const Identity elsewhere = make_identity({.alternative_names = "DNS:hub.example.com"});
  check("", good, other.pem);
  check("expired", expired, expired.pem);
  check("valid", future, future.pem);
  check("", elsewhere, elsewhere.pem);
}

TEST_CASE("hub: a port on which nothing listens and an unknown name are temporary failures") {
  const Identity identity = make_identity({});
  std::string url;
  {
    const StreamServer gone([](Stream&) {}, {.identity = &identity});
    url = gone.url("");
  }
  CHECK_FAILURE(Elsewhere().run(url, identity.pem), 3, "cannot connect to https://");
  CHECK_FAILURE(Elsewhere().run("https://hub.invalid:6443", identity.pem, {"--timeout=3s"}), 3,
                "cannot resolve 'hub.invalid'");
}

TEST_CASE("hub: no message at any verbosity shows the identity's token or the stored one") {
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"token", new_opaque_token()}}});
  plugin.hub.add({.name = "config",
                  .data = {{"kubeconfig", stored_kubeconfig("token: " + new_opaque_token())}}});
  const Texts named = {"--secret-name=config", "--format=kubeconfig"};
  for (const Ask& ask :
       {Ask{.arguments = kArguments}, Ask{.arguments = named},
        Ask{.arguments = named, .server = "https://evil.example.net"},
        Ask{.arguments = {"--secret-name=config", "--key=kubeconfig"}},
        Ask{.arguments = {"--secret-name=spoke-1", "--format=kubeconfig", "--key=token"}},
        Ask{.arguments = {"--secret-name=spoke-1", "--format=argocd", "--key=token"}},
        Ask{.arguments = with(kArguments, "--timeout=x")},
        Ask{.arguments = with(kArguments, "--show-config")}}) {
    for (const bool is_debug : {false, true}) {
      CAPTURE(ask.arguments.back());
      const Outcome outcome =
          plugin.run({.arguments = is_debug ? with(ask.arguments, "--debug") : ask.arguments,
                      .server = ask.server});
      CHECK(blackbox::secret_in(outcome.error_output) == "");
      if (is_debug && outcome.exit_code != 2) CHECK(says(outcome, "debug: "));
    }
  }
}

}  // namespace execcred::test
