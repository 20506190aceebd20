// SPDX-License-Identifier: Apache-2.0
// No run gets another identity's token: each input of the cache key is changed alone.
#include "federation.hpp"
#include "support/claim_changes.hpp"
#include "support/jws_keys.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>

namespace execcred::test {
namespace {

struct Change {
  std::string what;
  Ask ask;
};

std::string identity(const std::string& issuer, const std::string& subject,
                     const std::string& audience = "server") {
  std::string token = blackbox::make_jwt(
      R"({"iss":")" + issuer + R"(","sub":")" + subject + R"(","aud":")" + audience +
      R"(","exp":)" + std::to_string(blackbox::seconds_since_epoch() + 3600) + "}");
  blackbox::remember_secret(token);
  return token;
}

// Runs each change twice with one cache. The first run of each must make its own call, and the
// second must get the same token. Returns how many runs got another change's token.
int cross_hits(const Federation& fed, std::vector<Change> changes) {
  const auto run = [&fed](Change& change) {
    change.ask.server = next_server();
    return fed.run(change.ask);
  };
  int crossed = 0;
  std::set<std::string> seen;
  std::vector<std::string> tokens;
  for (Change& change : changes) {
    CAPTURE(change.what);
    const Outcome outcome = run(change);
    CHECK_SUCCESS(outcome);
    tokens.push_back(token_of(outcome));
    const bool is_own = seen.insert(tokens.back()).second;
    CHECK(is_own);
    crossed += is_own ? 0 : 1;
  }
  const std::size_t calls = fed.idp.calls();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(changes[i].what);
    CHECK(token_of(run(changes[i])) == tokens[i]);
  }
  CHECK(fed.idp.calls() == calls);
  return crossed;
}

// Changes that add options to the usual arguments.
std::vector<Change> option_changes(const Federation& fed) {
  std::vector<Change> changes = {{"nothing", {}}};
  for (const char* option :
       {"--audience=a", "--audience=b", "--resource=urn:a", "--resource=urn:b", "--scope=a",
        "--scope=b", "--scope=a b", "--client-id=a", "--client-id=b", "--param=a=1", "--param=a=2",
        "--param=b=1", "--subject-token-type=id_token", "--requested-token-type=access_token",
        "--requested-token-type=id_token", "--audience=a b", "--param=a=1 b=2"}) {
    changes.push_back({option, {.arguments = {option}}});
  }
  changes.push_back({"two audiences", {.arguments = {"--audience=a", "--audience=b"}}});
  changes.push_back({"two resources", {.arguments = {"--resource=urn:a", "--resource=urn:b"}}});
  changes.push_back({"two parameters", {.arguments = {"--param=a=1", "--param=b=1"}}});
  changes.push_back({"another flow", {.flow = "jwt-bearer"}});
  changes.push_back({"no subject", {.flow = "client-credentials"}});
  changes.push_back({"by discovery", {.by_issuer = true}});
  changes.push_back(
      {"a profile's audience",
       {.arguments = {"--allow-audience=any"}, .config = R"({"audience":"from-profile"})"}});
  const std::string actor = fed.sandbox.write("actor", identity("https://i", "actor"));
  const std::string other = fed.sandbox.write("actor-2", identity("https://i", "actor-2"));
  changes.push_back({"an actor", {.arguments = {"--actor-token-file=" + actor}}});
  changes.push_back({"another actor", {.arguments = {"--actor-token-file=" + other}}});
  const std::string secret = fed.sandbox.write("secret", new_secret(), 0600);
  changes.push_back({"a confidential client",
                     {.arguments = {"--client-id=a", "--client-secret-file=" + secret}}});
  changes.push_back({"its secret in the body",
                     {.arguments = {"--client-id=a", "--client-secret-file=" + secret,
                                    "--client-auth=client_secret_post"}}});
  return changes;
}

}  // namespace

TEST_CASE("cross-hits: every option of a token request" * doctest::description("promise 4")) {
  Federation fed;
  const std::vector<Change> changes = option_changes(fed);
  const int crossed = cross_hits(fed, changes);
  MESSAGE("cross-hits of options: " << crossed << "/" << changes.size());
}

TEST_CASE("cross-hits: another token endpoint, or another CA for it, is another server" *
          doctest::description("promise 4")) {
  Federation fed;
  fed.idp.on("/other", reply(200, token_reply("of-the-other")));
  const std::string token = token_of(fed.run({}));
  const auto by = [&fed](const std::string& path, const std::string& ca) {
    return token_of(blackbox::run(
        plugin_of({"--flow=token-exchange", "--token-url=" + fed.idp.url(path), "--ca-file=" + ca,
                   "--subject-token-file=" + fed.subject_path, "--cache-dir=" + fed.cache_path})));
  };
  CHECK(by(kToken, fed.ca_path) == token);
  CHECK(by("/other", fed.ca_path) == "of-the-other");
  CHECK(by(kToken, fed.sandbox.write("ca-2.pem", fed.idp.ca_pem())) != token);
  CHECK(fed.idp.calls() == 2);
}

TEST_CASE("cross-hits: another identity of the subject token in the same file or variable" *
          doctest::description("promise 4")) {
  Federation fed;
  const Texts tokens = {identity("https://i", "s"),
                        identity("https://i", "s2"),
                        identity("https://i2", "s"),
                        identity("https://i", "s", "another"),
                        identity("https://i\\ns", "s"),
                        identity("https://i", "s\\naud=x"),
                        identity("https://i%0As", "s"),
                        identity("https://i", ""),
                        identity("", "s"),
                        blackbox::make_jwt(R"({"a":1})"),
                        blackbox::make_jwt(R"({"a":2})"),
                        new_secret(),
                        new_secret()};
  int crossed = 0;
  for (const bool by_file : {true, false}) {
    std::set<std::string> seen;
    for (const std::string& token : tokens) {
      fed.set_subject(token);
      Ask ask;
      if (!by_file) {
        ask = {.arguments = {"--subject-token-env=T"},
               .variables = {"T=" + token},
               .has_subject = false};
      }
      const Outcome outcome = fed.run(ask);
      CHECK_SUCCESS(outcome);
      const bool is_own = seen.insert(token_of(outcome)).second;
      CHECK(is_own);
      crossed += is_own ? 0 : 1;
      CHECK(token_of(fed.run(ask)) == token_of(outcome));
    }
  }
  MESSAGE("cross-hits of identities: " << crossed << "/" << 2 * tokens.size());
  CHECK(fed.idp.calls() == 2 * tokens.size());
}

TEST_CASE("cross-hits: each claim of a subject, an assertion and an actor is part of the identity" *
          doctest::description("promise 4")) {
  Federation fed;
  const std::string actor = fed.sandbox.at("actor");
  const auto calls_with = [&fed](Ask ask) {
    ask.server = next_server();
    const std::size_t before = fed.idp.calls();
    CHECK_SUCCESS(fed.run(ask));
    return static_cast<int>(fed.idp.calls() - before);
  };
  for (const std::string flow : {"token-exchange", "jwt-bearer"}) {
    CAPTURE(flow);
    check_that_claims_are_identity([&](const std::string& claims) {
      fed.set_subject(blackbox::make_jwt(claims));
      return calls_with({.flow = flow});
    });
  }
  check_that_claims_are_identity([&](const std::string& claims) {
    return calls_with({.flow = "client-credentials",
                       .arguments = {"--client-auth=federated", "--subject-token-env=T"},
                       .variables = {"T=" + blackbox::make_jwt(claims)}});
  });
  check_that_claims_are_identity([&](const std::string& claims) {
    fed.sandbox.write("actor", blackbox::make_jwt(claims));
    return calls_with({.arguments = {"--actor-token-file=" + actor}});
  });
}

TEST_CASE("cross-hits: another actor token in the same file" * doctest::description("promise 4")) {
  Federation fed;
  std::set<std::string> tokens;
  for (const std::string name : {"one", "two", "three"}) {
    const std::string path = fed.sandbox.write("actor", identity("https://i", name));
    tokens.insert(token_of(fed.run({.arguments = {"--actor-token-file=" + path}})));
  }
  CHECK(tokens.size() == 3);
}

TEST_CASE("an actor token that is not valid now is refused, and nothing is sent") {
  Federation fed;
  for (const std::string& actor :
       {new_jwt(R"("sub":"a")", -10), new_jwt(R"("sub":"a")", 3600, R"(,"nbf":4000000000)"),
        blackbox::make_jwt(R"({"sub":"a","exp":"x"})")}) {
    const std::string path = fed.sandbox.write("actor", actor);
    CHECK_FAILURE(fed.run({.arguments = {"--actor-token-file=" + path}}), 1, "the actor token");
  }
  CHECK(fed.idp.calls() == 0);
}

TEST_CASE("cross-hits: another secret or key of the client in the same file" *
          doctest::description("promise 4")) {
  Federation fed;
  const std::string path = fed.sandbox.at("proof");
  for (const std::string option : {"--client-secret-file=", "--private-key-file="}) {
    CAPTURE(option);
    Ask ask = {.flow = "client-credentials", .arguments = {"--client-id=me", option + path}};
    Texts tokens;
    for (int i = 0; i < 2; ++i) {
      const bool is_key = option == "--private-key-file=";
      fed.sandbox.write("proof",
                        is_key ? std::string(pkcs8_pem(new_ed25519_key()).reveal()) : new_secret(),
                        0600);
      tokens.push_back(token_of(fed.run(ask)));
      CHECK(token_of(fed.run(ask)) == tokens.back());
    }
    CHECK(tokens[0] != tokens[1]);
  }
  CHECK(fed.idp.calls() == 4);
}

TEST_CASE("a renewed subject token of the same identity is a hit") {
  Federation fed;
  const std::string token = token_of(fed.run({}));
  fed.set_subject(new_subject(7200));
  CHECK(token_of(fed.run({})) == token);
  CHECK(fed.idp.calls() == 1);
}

TEST_CASE("cross-hits: arguments and environment of a command, path and headers of a URL" *
          doctest::description("promise 4")) {
  Federation fed;
  ScriptedServer source(ScriptedServer::Transport::plain);
  for (const char* path : {"/a", "/b"}) {
    source.on(path, reply(200, R"({"x":")" + fed.subject + R"(","y":")" + fed.subject + "\"}"));
  }
  const std::string script = fed.sandbox.script("get-token", "echo " + fed.subject);
  const std::string copy = fed.sandbox.script("get-token-2", "echo " + fed.subject);
  const auto command = [](const std::string& text, Texts variables = {}) {
    return Ask{.arguments = {"--subject-token-command=" + text},
               .variables = std::move(variables),
               .has_subject = false};
  };
  const auto url = [&](const std::string& path, Texts more) {
    return Ask{.arguments = Texts{"--subject-token-url=" + source.url(path)} + more,
               .has_subject = false};
  };
  const std::string x = "--subject-token-field=x";
  const std::vector<Change> changes = {
      {"a command", command("[\"" + script + "\"]")},
      {"another program", command("[\"" + copy + "\"]")},
      {"an argument", command("[\"" + script + "\",\"a\"]")},
      {"two", command("[\"" + script + "\",\"a\",\"b\"]")},
      {"both in one", command("[\"" + script + "\",\"ab\"]")},
      {"an empty one", command("[\"" + script + "\",\"\"]")},
      {"a variable", command("[\"" + script + "\"]", {"AWS_PROFILE=a"})},
      {"its value", command("[\"" + script + "\"]", {"AWS_PROFILE=b"})},
      {"another user's home", command("[\"" + script + "\"]", {"HOME=/home/b"})},
      {"a URL", url("/a", {x})},
      {"another path", url("/b", {x})},
      {"a query", url("/a?id=1", {x})},
      {"another query", url("/a?id=2", {x})},
      {"another field", url("/a", {"--subject-token-field=y"})},
      {"a header", url("/a", {x, "--subject-token-header=X-Id=1"})},
      {"its value", url("/a", {x, "--subject-token-header=X-Id=2"})},
      {"its name", url("/a", {x, "--subject-token-header=X-Key=1"})}};
  const int crossed = cross_hits(fed, changes);
  MESSAGE("cross-hits of fetched subjects: " << crossed << "/" << changes.size());
}

TEST_CASE("cross-hits: jobs of GitHub Actions, metadata hosts, and their audiences" *
          doctest::description("promise 4")) {
  Federation fed;
  ScriptedServer github;
  ScriptedServer metadata(ScriptedServer::Transport::plain);
  ScriptedServer other(ScriptedServer::Transport::plain);
  const std::string ca = fed.sandbox.write("github-ca.pem", github.ca_pem());
  for (const char* path : {"/1", "/2"}) {
    github.on(path, reply(200, R"({"value":")" + fed.subject + "\"}"));
  }
  for (ScriptedServer* server : {&metadata, &other}) {
    server->on("/computeMetadata/v1/instance/service-accounts/default/identity",
               "HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\nContent-Length: " +
                   std::to_string(fed.subject.size()) + "\r\n\r\n" + fed.subject);
  }
  const auto job = [&](const std::string& path, const std::string& token,
                       const std::string& audience) {
    return Ask{.arguments = {"--subject=github-actions", "--subject-ca-file=" + ca,
                             "--subject-audience=" + audience},
               .variables = {"ACTIONS_ID_TOKEN_REQUEST_URL=" + github.url(path),
                             "ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + token},
               .has_subject = false};
  };
  const auto machine = [](const ScriptedServer& server, const std::string& audience) {
    return Ask{.arguments = {"--subject=gcp-metadata", "--subject-audience=" + audience},
               .variables = {"GCE_METADATA_HOST=" + server.authority()},
               .has_subject = false};
  };
  const std::string one = new_secret();
  const std::string two = new_secret();
  const std::vector<Change> changes = {
      {"a job", job("/1", one, "a")},          {"its token", job("/1", two, "a")},
      {"its URL", job("/2", one, "a")},        {"its audience", job("/1", one, "b")},
      {"a machine", machine(metadata, "a")},   {"its audience", machine(metadata, "b")},
      {"another machine", machine(other, "a")}};
  const int crossed = cross_hits(fed, changes);
  MESSAGE("cross-hits of platforms: " << crossed << "/" << changes.size());
}

TEST_CASE("inputs that are not part of the identity find the same entry") {
  Federation fed;
  const std::string token = token_of(fed.run({.arguments = {"--param=a=1", "--param=b=2"}}));
  for (const Ask& ask :
       {Ask{.arguments = {"--param=b=2", "--param=a=1"}},
        Ask{.arguments = {"--param=a=1", "--param=b=2", "--timeout=7s"}},
        Ask{.arguments = {"--param=a=1", "--param=b=2"}, .version = blackbox::kV1Beta1},
        Ask{.arguments = {"--param=a=1", "--param=b=2"}, .server = "https://other.example"},
        Ask{.arguments = {"--param=a=1", "--param=b=2"}, .server = ""}}) {
    CHECK(token_of(fed.run(ask)) == token);
  }
  CHECK(fed.idp.calls() == 1);
}

}  // namespace execcred::test
