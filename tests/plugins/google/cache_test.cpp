// SPDX-License-Identifier: Apache-2.0
// Which of Google's tokens are cached, and for which identity.
#include "google.hpp"
#include "rights.hpp"
#include "support/claim_changes.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>

namespace execcred::test {
namespace {

constexpr auto kPlain = ScriptedServer::Transport::plain;

Ask by(const Members& credentials, Texts arguments = {}, Texts variables = {}) {
  return {.credentials = object(credentials),
          .arguments = std::move(arguments),
          .variables = std::move(variables)};
}

std::string all_names_in(const std::filesystem::path& folder) {
  std::string names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names += entry.path().filename().native() + "\n";
  }
  return names;
}

}  // namespace

TEST_CASE("cache: a second run calls no server, and a renewed subject token finds the entry") {
  Google google;
  const Outcome first = google.run(by(google.file_account()));
  CHECK_SUCCESS(first);
  google.sandbox.write("subject", new_subject(3600));
  const Outcome second = google.run(by(google.file_account()));
  CHECK(token_of(second) == token_of(first));
  CHECK(google.cloud.connections() == 1);
  // An expired subject token finds it too: the token from the exchange is still valid.
  google.sandbox.write("subject", new_subject(-10));
  CHECK(token_of(google.run(by(google.file_account()))) == token_of(first));
  CHECK(google.cloud.connections() == 1);
}

TEST_CASE("cache: each claim of the subject token is part of the identity") {
  Google google;
  check_that_claims_are_identity([&](const std::string& claims) {
    const std::size_t before = google.cloud.calls();
    google.sandbox.write("subject", blackbox::make_jwt(claims));
    Ask ask = by(google.file_account());
    ask.server = next_server();
    CHECK_SUCCESS(google.run(ask));
    return static_cast<int>(google.cloud.calls() - before);
  });
}

TEST_CASE("cache: 20 runs at once with an empty cache call Google once") {
  Google google;
  google.sandbox.write("credentials.json", object(Google::service_account()));
  std::vector<std::unique_ptr<blackbox::Child>> children;
  Ask ask = by(Google::service_account());
  ask.patience = milliseconds(60'000);
  ask.server = "";
  blackbox::Command command = google.command(ask);
  command.arguments.emplace_back("--timeout=30s");
  for (int i = 0; i < 20; ++i) children.push_back(std::make_unique<blackbox::Child>(command));
  std::set<std::string> tokens;
  for (const auto& child : children) {
    const Outcome outcome = child->wait();
    CHECK_SUCCESS(outcome);
    tokens.insert(token_of(outcome));
  }
  CHECK(tokens.size() == 1);
  CHECK(google.cloud.calls() == 1);
}

TEST_CASE("cache: switching the account never returns the old account's token") {
  Google google;
  // Each token names its account.
  google.cloud.api().on(kOauth, [](Stream& stream, const Received& request) {
    stream.write(reply(200, token_body("ya29.of-" + request.field("refresh_token"))));
  });
  const std::string path = google.sandbox.at("adc.json");
  for (int round = 0; round < 3; ++round) {
    for (const std::string account : {"anna", "bert", "carl"}) {
      // All accounts use the same file, as with `gcloud auth application-default login`.
      google.sandbox.write("adc.json", object(with(google.user(), "refresh_token", text(account))));
      const Outcome outcome = google.run({.arguments = {"--credentials-file=" + path}});
      CHECK(token_of(outcome) == "ya29.of-" + account);
    }
  }
  CHECK(google.cloud.calls() == 3);
}

TEST_CASE("cache: each input of a token's identity or purpose selects another entry") {
  Google google;
  ScriptedServer metadata(kPlain);
  const Members usual = google.file_account();
  const std::string other_subject =
      google.sandbox.write("other", new_subject(3600, "somebody-else"));
  const Members impersonating =
      with(usual, "service_account_impersonation_url", text(impersonation_url()));
  const std::string ca = google.sandbox.write("ca-2.pem", google.cloud.ca_pem());
  const std::string provider =
      "--workload-identity-provider=projects/9/locations/global/workloadIdentityPools/p/providers/"
      "x";
  const std::vector<Ask> asks = {
      by(usual),
      by(with(usual, "credential_source", object({{"file", text(other_subject)}}))),
      by(with(usual, "audience", text(std::string(kAudience) + "-2"))),
      by(with(usual, "subject_token_type", text("urn:ietf:params:oauth:token-type:id_token"))),
      by(with(usual, "token_url", text("https://us-east1-sts.googleapis.com/v1/token"))),
      by(with(with(usual, "client_id", text("id")), "client_secret", text("s"))),
      by(usual, {"--scope=a"}),
      by(usual, {"--scope=a", "--scope=b"}),
      by(usual, {"--scope=b", "--scope=a"}),
      by(usual, {provider}),
      by(usual, {"--ca-file=" + ca}),
      by(usual, {std::string("--impersonate-service-account=") + kAccount}),
      by(usual, {std::string("--impersonate-service-account=") + kOtherAccount}),
      by(usual, {std::string("--impersonate-service-account=") + kOtherAccount + "," + kAccount}),
      by(impersonating),
      by(with(impersonating, "service_account_impersonation",
              object({{"token_lifetime_seconds", "600"}}))),
      by(Google::service_account()),
      by(Google::service_account(kOtherAccount)),
      by(with(Google::service_account(), "private_key_id", text("key-2"))),
      by(google.user()),
      by(google.user(),
         {"--scope=" + std::string(kCloudPlatform), "--scope=" + std::string(kEmailScope)}),
      by(with(google.user(), "refresh_token", text("1//another"))),
  };
  std::set<std::string> tokens;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    CAPTURE(i);
    Ask ask = asks[i];
    if (ask.arguments == Texts{"--ca-file=" + ca}) ask.has_trust = false;
    const Outcome outcome = google.run(ask);
    CHECK_SUCCESS(outcome);
    CHECK(tokens.insert(token_of(outcome)).second);
  }
  CHECK(tokens.size() == asks.size());
  // The subject's file is the same, and its identity is another one.
  google.sandbox.write("subject", new_subject(3600, "third"));
  CHECK(tokens.insert(token_of(google.run(by(usual)))).second);
}

TEST_CASE("cache: a token of a metadata server serves only the machine that requested it") {
  Google google;
  ScriptedServer metadata(kPlain);
  int count = 0;
  metadata.on("/computeMetadata/v1/instance/service-accounts/default/token",
              [&](Stream& stream, const Received&) {
                stream.write(reply(200, token_body("ya29.machine-" + std::to_string(++count)),
                                   "Metadata-Flavor: Google\r\n"));
              });
  const Ask ask = {.variables = {"GCE_METADATA_HOST=" + metadata.authority()}};
  CHECK(token_of(google.run(ask)) == "ya29.machine-1");
  CHECK(token_of(google.run(ask)) == "ya29.machine-1");
  const std::optional<Outcome> elsewhere = blackbox::run_on_another_host(google.command(ask));
  if (elsewhere) CHECK(token_of(*elsewhere) == "ya29.machine-2");
}

TEST_CASE("cache: no file in it holds the secrets that a token was requested with") {
  Google google;
  const std::string secret = google.client_secret;
  CHECK_SUCCESS(google.run(by(google.user())));
  CHECK_SUCCESS(google.run(by(google.file_account())));
  CHECK_SUCCESS(google.run(by(Google::service_account())));
  const std::string names = all_names_in(google.sandbox.at("cache"));
  CHECK(names.find(".credential") != std::string::npos);
  for (const auto& entry : std::filesystem::directory_iterator(google.sandbox.at("cache"))) {
    const std::string content = blackbox::read_text(entry.path());
    for (const std::string& hidden :
         {secret, google.refresh_token, google.subject, std::string("PRIVATE KEY")}) {
      CHECK(content.find(hidden) == std::string::npos);
    }
  }
}

TEST_CASE("cache: --no-cache calls Google in each run and writes no files") {
  Google google;
  Ask ask = by(google.file_account(), {"--no-cache"});
  ask.has_cache = false;
  ask.variables = {"XDG_CACHE_HOME=" + google.sandbox.at("xdg")};
  CHECK(token_of(google.run(ask)) != token_of(google.run(ask)));
  CHECK(google.cloud.calls() == 2);
  CHECK_FALSE(std::filesystem::exists(google.sandbox.at("xdg")));
}

TEST_CASE("cache: a valid token is served while Google is down") {
  Google google;
  google.cloud.api().on(kSts, reply(200, token_body("ya29.short", "60")));
  CHECK_SUCCESS(google.run(by(google.file_account())));
  google.cloud.api().on(kSts, reply(503, "down"));
  // With this option the token is due for a refresh, which fails.
  const Outcome outcome = google.run(by(google.file_account(), {"--refresh-before=59s"}));
  CHECK_SUCCESS(outcome);
  CHECK(token_of(outcome) == "ya29.short");
}

}  // namespace execcred::test
