// SPDX-License-Identifier: Apache-2.0
// Known secrets on every path: none of them may appear in messages, arguments, environments or
// files, at any verbosity.
#include "entry_file.hpp"
#include "federation.hpp"
#include "support/jws_keys.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

// The part of a secret that the text shows, except the requested token.
std::string leak_in(std::string text, const std::string& token) {
  for (std::size_t at = text.find(token); !token.empty() && at != std::string::npos;
       at = text.find(token)) {
    text.erase(at, token.size());
  }
  return blackbox::secret_in(text);
}

struct Secrets {
  Federation fed;
  std::string secret_path = fed.sandbox.write("secret", new_secret(), 0600);
  std::string key_path;
  std::string actor_path = fed.sandbox.write("actor", new_subject());
  std::string parameter = new_secret();
  std::string header = new_secret();
  std::string variable = new_subject();
  ScriptedServer source{ScriptedServer::Transport::plain};

  Secrets() {
    const SecretString pem = pkcs8_pem(new_ec_key("P-256"));
    blackbox::remember_secret(std::string(pem.reveal()));
    key_path = fed.sandbox.write("key.pem", pem.reveal(), 0600);
    source.on("/t", reply(200, fed.subject));
  }

  std::vector<Ask> asks() {
    const std::string script = fed.sandbox.script("get-token", "echo " + fed.subject);
    const std::string parameters = "--param=password=" + parameter;
    return {{.arguments = {"--client-id=me", "--client-secret-file=" + secret_path, parameters}},
            {.arguments = {"--client-id=me", "--client-secret-file=" + secret_path,
                           "--client-auth=client_secret_post"}},
            {.arguments = {"--client-id=me", "--private-key-file=" + key_path}},
            {.arguments = {"--actor-token-file=" + actor_path}, .by_issuer = true},
            {.arguments = {"--subject-token-env=T"},
             .variables = {"T=" + variable},
             .has_subject = false},
            {.arguments = {"--subject-token-url=" + source.url("/t?key=" + header),
                           "--subject-token-header=X-Key=" + header},
             .has_subject = false},
            {.arguments = {"--subject-token-command=[\"" + script + "\",\"" + parameter + "\"]"},
             .has_subject = false},
            {.flow = "pass-through"},
            {.flow = "jwt-bearer"},
            {.flow = "refresh-token",
             .arguments = {"--subject-token-file=" + secret_path},
             .has_subject = false}};
  }
};

}  // namespace

TEST_CASE("canary: --debug of every flow and source shows steps, and no secret" *
          doctest::description("promise 16")) {
  Secrets secrets;
  int runs = 0;
  int showed = 0;
  for (Ask& ask : secrets.asks()) {
    CAPTURE(ask.flow);
    ask.is_traced = true;
    for (int run = 0; run < 2; ++run) {
      const Outcome outcome = secrets.fed.run(ask);
      CHECK(outcome.exit_code == 0);
      CHECK(blackbox::says(outcome, "debug: "));
      const std::string secret = blackbox::secret_in(outcome.error_output);
      CHECK(secret == "");
      ++runs;
      showed += secret.empty() ? 0 : 1;
    }
  }
  MESSAGE("runs with --debug that showed a secret: " << showed << " of " << runs);
}

TEST_CASE("canary: no secret is shown if a provider refuses, is down, or sends garbage" *
          doctest::description("promise 16")) {
  Secrets secrets;
  int runs = 0;
  int showed = 0;
  for (const std::string& bytes :
       {reply(400, R"({"error":"invalid_grant"})"), reply(503, "{}"), reply(200, "<html>"),
        std::string("garbage\r\n"), redirect(307, "https://127.0.0.1:1/")}) {
    secrets.fed.idp.on(kToken, [bytes](Stream& stream, const Received&) {
      stream.write(bytes);
      stream.cut();
    });
    for (Ask& ask : secrets.asks()) {
      if (ask.flow == "pass-through") continue;
      CAPTURE(ask.flow);
      ask.is_traced = true;
      ask.arguments.emplace_back("--timeout=2s");
      const Outcome outcome = secrets.fed.run_cold(ask);
      CHECK(outcome.exit_code != 0);
      CHECK(outcome.output == "");
      const std::string secret = blackbox::secret_in(outcome.error_output);
      CHECK(secret == "");
      ++runs;
      showed += secret.empty() ? 0 : 1;
    }
  }
  MESSAGE("failed runs that showed a secret: " << showed << " of " << runs);
}

TEST_CASE("canary: --show-config shows where each setting comes from, and no secret" *
          doctest::description("promise 16")) {
  Secrets secrets;
  for (Ask& ask : secrets.asks()) {
    CAPTURE(ask.flow);
    ask.arguments.emplace_back("--show-config");
    ask.variables.push_back("EXECCRED_PARAM=x=" + secrets.parameter);
    const Outcome outcome = secrets.fed.run(ask);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.output.find("subject-token-file") != std::string::npos);
    CHECK(blackbox::secret_in(outcome.output) == "");
    CHECK(blackbox::secret_in(outcome.error_output) == "");
  }
  CHECK(secrets.fed.idp.connections() == 0);
}

TEST_CASE("canary: only the entry has the token, and no file has the secrets of the request" *
          doctest::description("promise 16")) {
  Secrets secrets;
  for (const Ask& ask : secrets.asks()) {
    CAPTURE(ask.flow);
    const Outcome outcome = secrets.fed.run_cold(ask);
    CHECK_SUCCESS(outcome);
    const std::string token = token_of(outcome);
    int holders = 0;
    for (const fs::path& path : cache_files(secrets.fed.cache_path, "")) {
      CAPTURE(path.native());
      const std::string content = blackbox::read_text(path);
      CHECK(leak_in(content, token) == "");
      CHECK(leak_in(path.native(), "") == "");
      holders += content.find(token) != std::string::npos ? 1 : 0;
    }
    CHECK(holders == (ask.flow == "pass-through" ? 0 : 1));
  }
}

TEST_CASE("canary: a failure that is remembered holds no secret" *
          doctest::description("promise 16")) {
  Secrets secrets;
  secrets.fed.idp.on(kToken, [](Stream& stream, const Received& request) {
    stream.write(reply(400, R"({"error":"invalid_grant","error_description":)" +
                                blackbox::json_string("you sent " + request.body) + "}"));
  });
  for (const Ask& ask : secrets.asks()) {
    if (ask.flow == "pass-through") continue;
    CHECK_FAILURE(secrets.fed.run_cold(ask), 1,
                  "answered 400 with the error 'invalid_grant': you sent");
    for (const fs::path& path : cache_files(secrets.fed.cache_path, "")) {
      CHECK(blackbox::secret_in(blackbox::read_text(path)) == "");
    }
  }
}

TEST_CASE(
    "canary: the subject's command has no secret in its arguments, environment or descriptors" *
    doctest::description("promise 16")) {
  Secrets secrets;
  const std::string log = secrets.fed.sandbox.at("seen");
  const std::string script = secrets.fed.sandbox.script(
      "get-token",
      "{ cat /proc/$$/cmdline /proc/$$/environ; for f in /proc/$$/fd/*; do readlink $f; "
      "done; } >" +
          log + " 2>/dev/null\necho " + secrets.fed.subject);
  CHECK_SUCCESS(
      secrets.fed.run({.arguments = {"--subject-token-command=[\"" + script + "\"]",
                                     "--param=password=" + secrets.parameter, "--client-id=me",
                                     "--client-secret-file=" + secrets.secret_path},
                       .variables = {"EXECCRED_PARAM=x=" + secrets.parameter},
                       .has_subject = false}));
  const std::string seen = blackbox::read_text(log);
  CHECK(seen.find("get-token") != std::string::npos);
  CHECK(blackbox::secret_in(seen) == "");
}

TEST_CASE("SSLKEYLOGFILE and the like have no effect" * doctest::description("promise 17")) {
  Federation fed;
  const std::string log = fed.sandbox.at("keys");
  CHECK_SUCCESS(fed.run({.variables = {"SSLKEYLOGFILE=" + log, "CURL_HOME=" + fed.sandbox.at(""),
                                       "OPENSSL_CONF=/nope", "NETRC=/nope"}}));
  CHECK_FALSE(fs::exists(log));
}

}  // namespace execcred::test
