// SPDX-License-Identifier: Apache-2.0
// The metadata server: workload identity of GKE, and the account of a machine.
#include "google.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <ctime>

namespace execcred::test {
namespace {

constexpr auto kPlain = ScriptedServer::Transport::plain;
constexpr const char* kTokenPath = "/computeMetadata/v1/instance/service-accounts/default/token";
constexpr const char* kFlavor = "Metadata-Flavor: Google\r\n";

Ask at(const std::string& host, Texts arguments = {}) {
  return {.arguments = std::move(arguments), .variables = {"GCE_METADATA_HOST=" + host}};
}

std::string good(const std::string& token = "ya29.of-the-machine") {
  return reply(200, token_body(token), kFlavor);
}

}  // namespace

TEST_CASE("metadata: the request has the scopes and the flavour header, and uses no proxy") {
  Google google;
  ScriptedServer metadata(kPlain);
  metadata.on(kTokenPath, good());
  const ScriptedServer proxy(kPlain);
  Ask ask = at(metadata.authority());
  ask.variables = ask.variables + Texts{"HTTP_PROXY=" + proxy.url(), "http_proxy=" + proxy.url(),
                                        "ALL_PROXY=" + proxy.url()};
  const Outcome outcome = google.run(ask);
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == "ya29.of-the-machine");
  CHECK(is_claimed(outcome, 3600));
  const Received asked = metadata.last(kTokenPath);
  CHECK(asked.method == "GET");
  CHECK(asked.header("Metadata-Flavor") == "Google");
  CHECK(asked.target == std::string(kTokenPath) +
                            "?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform%2C"
                            "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fuserinfo.email");
  CHECK(google.cloud.connections() == 0);
  CHECK(proxy.connections() == 0);
}

TEST_CASE("metadata: with impersonation the machine's token is requested for IAM only") {
  Google google;
  ScriptedServer metadata(kPlain);
  metadata.on(kTokenPath, good());
  CHECK_SUCCESS(google.run(
      at(metadata.authority(), {std::string("--impersonate-service-account=") + kAccount})));
  CHECK(metadata.last(kTokenPath).parameters() == Texts{"scopes=" + std::string(kIamScope)});
  CHECK(google.cloud.api().last(impersonation_path()).header("Authorization") ==
        "Bearer ya29.of-the-machine");
}

TEST_CASE("metadata: replies without its flavour header or a valid token are refused") {
  Google google;
  ScriptedServer metadata(kPlain);
  for (const std::string& bytes :
       {reply(200, token_body("ya29.x")),
        reply(200, token_body("ya29.x"), "Metadata-Flavor: x\r\n"),
        reply(200, "<html>sign in</html>"), reply(200, "<html>", kFlavor),
        reply(200, "{}", kFlavor), reply(200, token_body("ya29.x", "0"), kFlavor),
        reply(404, "no account", kFlavor), reply(403, "no", kFlavor),
        redirect(302, "http://127.0.0.1/")}) {
    CAPTURE(bytes.substr(0, 60));
    metadata.on(kTokenPath, bytes);
    CHECK_FAILURE(google.run_cold(at(metadata.authority())), 1,
                  "asking the metadata server for a token");
  }
  CHECK(metadata.count(kTokenPath) == 9);
  metadata.on(kTokenPath, reply(404, "no account", kFlavor));
  CHECK_REFUSAL(google.run_cold(at(metadata.authority())), 1, "no service account");
}

TEST_CASE("metadata: a token's lifetime begins before the request, also if the reply is slow") {
  Google google;
  ScriptedServer metadata(kPlain);
  metadata.on(kTokenPath, [](Stream& stream, const Received&) {
    const timespec slow = {.tv_sec = 2, .tv_nsec = 100'000'000};
    nanosleep(&slow, nullptr);
    stream.write(good());
  });
  const Outcome outcome = google.run_cold(at(metadata.authority()));
  CHECK_SUCCESS(outcome);
  CHECK(claimed_seconds(outcome) <= claim_for(3600) - 2);
}

TEST_CASE("metadata: a token that ends before it is printed is replaced once") {
  Google google;
  ScriptedServer metadata(kPlain);
  int count = 0;
  metadata.on(kTokenPath, [&count](Stream& stream, const Received&) {
    if (++count > 1) return void(stream.write(good("ya29.second")));
    const timespec slow = {.tv_sec = 1, .tv_nsec = 100'000'000};
    nanosleep(&slow, nullptr);
    stream.write(reply(200, token_body("ya29.first", "1"), kFlavor));
  });
  const Outcome outcome = google.run_cold(at(metadata.authority()));
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == "ya29.second");
  CHECK(count == 2);
}

TEST_CASE("metadata: its temporary errors are retried") {
  Google google;
  for (const int status : {429, 500, 503}) {
    CAPTURE(status);
    ScriptedServer metadata(kPlain);
    int count = 0;
    metadata.on(kTokenPath, [&](Stream& stream, const Received&) {
      stream.write(++count == 1 ? reply(status, "starting", kFlavor) : good());
    });
    CHECK_SUCCESS(google.run_cold(at(metadata.authority())));
    CHECK(count == 2);
    count = 0;
    Ask alone = at(metadata.authority(), {"--no-cache"});
    CHECK_SUCCESS(google.run(alone));
    CHECK(count == 2);
  }
}

TEST_CASE("metadata: a server that never answers ends the run at --timeout") {
  Google google;
  ScriptedServer metadata(kPlain);
  metadata.on(kTokenPath, [](Stream& stream, const Received&) { stream.wait_for_close(); });
  const Outcome outcome = google.run(at(metadata.authority(), {"--timeout=1s"}));
  CHECK_FAILURE(outcome, 3, "did not reply within");
  CHECK(outcome.elapsed < blackbox::kNoWait);
}

TEST_CASE("metadata: other hosts are refused, even if their names begin like an allowed one") {
  Google google;
  for (const std::string host :
       {"metadata.google.internal.evil.example", "169.254.169.254.evil.example", "evil.example",
        "169.254.169.254@evil.example", "127.0.0.1.evil.example:80", "8.8.8.8", "10.0.0.1",
        "metadata.google.internal/x", "metadata.google.internal?x", "a b", "http://127.0.0.1",
        "127.0.0.1:99999", "[::1", "2852039166"}) {
    CAPTURE(host);
    CHECK_FAILURE(google.run(at(host)), 2, "asking the metadata server for a token");
  }
  ScriptedServer metadata(kPlain);
  metadata.on(kTokenPath, good());
  const std::string port = metadata.authority().substr(metadata.authority().find(':'));
  CHECK_SUCCESS(google.run_cold(at("localhost" + port)));
}

TEST_CASE("metadata: without a server and without a file, the hint says what to set") {
  Google google;
  ScriptedServer closed(kPlain);
  // Nothing listens on port 1 of loopback.
  const Outcome outcome = google.run(at("127.0.0.1:1", {"--timeout=1s"}));
  CHECK_REFUSAL(outcome, 3, "GOOGLE_APPLICATION_CREDENTIALS");
}

}  // namespace execcred::test
