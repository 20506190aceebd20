// SPDX-License-Identifier: Apache-2.0
// Discovery of the token endpoint from the issuer, and the servers that must not be called.
#include "federation.hpp"

#include <doctest/doctest.h>

namespace execcred::test {

TEST_CASE("--issuer-url: the discovery document names the token endpoint") {
  Federation fed;
  fed.idp.on("/elsewhere/token", reply(200, token_reply("by-discovery")));
  fed.idp.on(kDiscovery,
             reply(200, R"({"issuer":")" + fed.idp.issuer() + R"(","token_endpoint":")" +
                            fed.idp.url("/elsewhere/token") + "\"}"));
  CHECK(token_of(fed.run({.by_issuer = true})) == "by-discovery");
  REQUIRE(fed.idp.requests().size() == 2);
  const Received asked = fed.idp.last(kDiscovery);
  CHECK(asked.method == "GET");
  CHECK(asked.header("Accept") == "application/json");
  CHECK(asked.header("Authorization") == "");
  CHECK(asked.body == "");
}

TEST_CASE(
    "--issuer-url with a path: one slash at its end is removed, and the issuer must be identical") {
  Federation fed;
  const std::string with_slash = fed.idp.url("/tenant/");
  fed.idp.on("/tenant/.well-known/openid-configuration",
             reply(200, R"({"issuer":")" + with_slash + R"(","token_endpoint":")" +
                            fed.idp.token_url() + "\"}"));
  const auto issued_by = [&fed](const std::string& issuer) {
    return fed.run_cold(
        {.flow = "client-credentials", .arguments = {"--issuer-url=" + issuer, "--client-id=me"}});
  };
  // The rig always gives a token URL; these runs leave it out.
  const auto by_issuer_alone = [&fed](const std::string& issuer) {
    fed.clear_cache();
    return blackbox::run(
        plugin_of({"--flow=client-credentials", "--client-id=me", "--issuer-url=" + issuer,
                   "--ca-file=" + fed.ca_path, "--cache-dir=" + fed.cache_path}));
  };
  CHECK_SUCCESS(by_issuer_alone(with_slash));
  CHECK_REFUSAL(by_issuer_alone(fed.idp.url("/tenant")), 1, "issuer");
  // With a token URL the document is not needed.
  fed.idp.forget();
  CHECK_SUCCESS(issued_by(with_slash));
  CHECK(fed.idp.requests().size() == 1);
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("an invalid discovery document, or one of another issuer, is refused before any token") {
  Federation fed;
  const std::string endpoint = R"("token_endpoint":")" + fed.idp.token_url() + "\"";
  const std::string issuer = R"("issuer":")" + fed.idp.issuer() + "\"";
  for (const std::string& body :
       {R"({"issuer":"https://evil.example",)" + endpoint + "}",
        R"({"issuer":")" + fed.idp.issuer() + "/\"," + endpoint + "}", "{" + endpoint + "}",
        "{" + issuer + "}", "{" + issuer + R"(,"token_endpoint":"http://127.0.0.1/token"})",
        "{" + issuer + R"(,"token_endpoint":"/token"})", "{" + issuer + R"(,"token_endpoint":7})",
        "{" + issuer + "," + issuer + "," + endpoint + "}",
        "{" + issuer + "," + endpoint + "," + endpoint + "}",
        "{" + issuer + R"(,"token_endpoint":"file:///etc/passwd"})",
        "{" + issuer + R"(,"token_endpoint":"https://u:p@127.0.0.1/"})", std::string("<html>"),
        std::string(), std::string("[]")}) {
    CAPTURE(body);
    fed.idp.on(kDiscovery, reply(200, body));
    CHECK_FAILURE(fed.run_cold({.by_issuer = true}), 1,
                  "reading the discovery document of https://");
  }
  CHECK(fed.idp.calls() == 0);
}

TEST_CASE("plain http to an issuer or token endpoint is an error, and nothing is sent") {
  Federation fed;
  const ScriptedServer thief(ScriptedServer::Transport::plain);
  for (const std::string& option :
       {"--issuer-url=" + thief.url(), "--token-url=" + thief.url("/token"),
        std::string("--issuer-url=http://localhost"), std::string("--token-url=ftp://a.example/t"),
        std::string("--issuer-url=a.example"), std::string("--token-url=https://"),
        std::string("--issuer-url=https://a.example/?b=c"),
        std::string("--token-url=https://user:pass@a.example/token"),
        std::string("--token-url=https://a.example/to ken")}) {
    CAPTURE(option);
    const Outcome outcome = blackbox::run(
        plugin_of({"--flow=token-exchange", option, "--subject-token-file=" + fed.subject_path}));
    CHECK_FAILURE(outcome, 2, "error: " + option.substr(0, option.find('=')) + ": ");
    CHECK_FALSE(blackbox::says(outcome, "user:pass"));
  }
  CHECK(thief.connections() == 0);
}

TEST_CASE("a redirect is never followed: at discovery, the token endpoint, and the subject's URL" *
          doctest::description("promise 14")) {
  int redirects = 0;
  std::size_t followed = 0;
  for (const int status : {301, 302, 303, 307, 308}) {
    for (const auto transport :
         {ScriptedServer::Transport::tls, ScriptedServer::Transport::plain}) {
      CAPTURE(status);
      ScriptedServer thief(transport);
      Federation fed;
      ScriptedServer local(ScriptedServer::Transport::plain);
      const std::string to = redirect(status, thief.url("/x"));
      fed.idp.on(kToken, to);
      CHECK_REFUSAL(fed.run_cold({}), 1, "redirect");
      fed.idp.on(kDiscovery, to);
      CHECK_REFUSAL(fed.run_cold({.by_issuer = true}), 1, "redirect");
      local.on("/subject", to);
      CHECK_REFUSAL(fed.run_cold({.arguments = {"--subject-token-url=" + local.url("/subject")},
                                  .has_subject = false}),
                    1, "redirect");
      CHECK(thief.connections() == 0);
      // Nor is a redirect to the server itself.
      fed.idp.on(kToken, redirect(status, "/other"));
      CHECK_FAILURE(fed.run_cold({}), 1, "a redirect, which is never followed");
      CHECK(fed.idp.count("/other") == 0);
      redirects += 4;
      followed += thief.connections() + fed.idp.count("/other");
    }
  }
  MESSAGE("redirects followed: " << followed << " of " << redirects);
}

TEST_CASE("a server with a certificate of another CA gets no request, and the run exits with 3") {
  Federation fed;
  const Idp other;
  const std::string url = other.token_url();
  for (const Texts& arguments :
       {Texts{"--token-url=" + url, "--ca-file=" + fed.ca_path},
        Texts{"--issuer-url=" + other.issuer(), "--ca-file=" + fed.ca_path},
        Texts{"--token-url=" + url}}) {
    CAPTURE(arguments);
    const Outcome outcome = blackbox::run(
        plugin_of(Texts{"--flow=token-exchange", "--subject-token-file=" + fed.subject_path,
                        "--no-cache", "--timeout=3s"} +
                  arguments));
    CHECK_FAILURE(outcome, 3, "unable to get local issuer certificate");
  }
  CHECK(other.requests().empty());
}

TEST_CASE("a proxy of the environment is not used for a server on loopback") {
  const ScriptedServer proxy(ScriptedServer::Transport::plain);
  Federation fed;
  for (const char* name : {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY"}) {
    CAPTURE(name);
    CHECK_SUCCESS(fed.run_cold({.variables = {std::string(name) + "=" + proxy.url()}}));
  }
  CHECK(proxy.connections() == 0);
}

TEST_CASE("a proxy of the environment is used for other hosts, and gets no token") {
  ScriptedServer proxy(ScriptedServer::Transport::plain);
  Federation fed;
  CHECK_FAILURE(blackbox::run(plugin_of({"--flow=token-exchange", "--no-cache", "--timeout=2s",
                                         "--token-url=https://idp.example.com/token",
                                         "--subject-token-file=" + fed.subject_path},
                                        {"HTTPS_PROXY=" + proxy.url()})),
                3, "did not connect to idp.example.com:443: it answered 404");
  REQUIRE(!proxy.requests().empty());
  for (const Received& request : proxy.requests()) {
    CHECK(request.method == "CONNECT");
    CHECK(request.target == "idp.example.com:443");
    CHECK(request.body == "");
  }
}

TEST_CASE("the discovery document is cached: other audiences request only a token") {
  Federation fed;
  for (const char* audience : {"--audience=a", "--audience=b", "--audience=c"}) {
    CHECK_SUCCESS(fed.run({.arguments = {audience}, .by_issuer = true}));
  }
  CHECK(fed.idp.calls() == 3);
  CHECK(fed.idp.count(kDiscovery) == 1);
  // A run with another CA, or without a cache, requests it again.
  const std::string ca = fed.sandbox.write("ca-2.pem", fed.idp.ca_pem() + "\n" + Idp().ca_pem());
  CHECK_SUCCESS(
      blackbox::run(plugin_of({"--flow=client-credentials", "--issuer-url=" + fed.idp.issuer(),
                               "--ca-file=" + ca, "--cache-dir=" + fed.cache_path})));
  CHECK(fed.idp.count(kDiscovery) == 2);
  CHECK_SUCCESS(fed.run({.arguments = {"--no-cache"}, .by_issuer = true}));
  CHECK(fed.idp.count(kDiscovery) == 3);
}

TEST_CASE("a token endpoint that has moved is found by the run after the failed one") {
  Federation fed;
  CHECK_SUCCESS(fed.run({.arguments = {"--audience=a"}, .by_issuer = true}));
  fed.idp.on("/moved", reply(200, token_reply("of-the-new-place")));
  fed.idp.answer("", 404);
  fed.idp.on(kDiscovery, reply(200, R"({"issuer":")" + fed.idp.issuer() +
                                        R"(","token_endpoint":")" + fed.idp.url("/moved") + "\"}"));
  CHECK_FAILURE(fed.run({.arguments = {"--audience=b"}, .by_issuer = true}), 1, "answered 404");
  CHECK(token_of(fed.run({.arguments = {"--audience=c"}, .by_issuer = true})) ==
        "of-the-new-place");
}

}  // namespace execcred::test
