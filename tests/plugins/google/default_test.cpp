// SPDX-License-Identifier: Apache-2.0
// Which credentials are used, by the order of application default credentials.
#include "google.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace execcred::test {
namespace {

constexpr auto kPlain = ScriptedServer::Transport::plain;
constexpr const char* kTokenPath = "/computeMetadata/v1/instance/service-accounts/default/token";

// Each place has its own credentials, with different refresh tokens.
struct Places {
  Places() {
    metadata.on(kTokenPath, reply(200, token_body("ya29.metadata"), "Metadata-Flavor: Google\r\n"));
    google.cloud.api().on(kOauth, [](Stream& stream, const Received& request) {
      const std::string token = request.field("refresh_token");
      stream.write(reply(200, token_body("ya29.of-" + token)));
    });
  }

  std::string file(const std::string& name) const {
    return google.sandbox.write(name + ".json",
                                object(with(google.user(), "refresh_token", text(name))));
  }
  std::string folder(const std::string& name) const {
    google.sandbox.write(name + "/application_default_credentials.json",
                         object(with(google.user(), "refresh_token", text(name))));
    return google.sandbox.at(name);
  }

  std::string token(Texts arguments, Texts variables) const {
    const Outcome outcome = google.run_cold(
        {.arguments = std::move(arguments),
         .variables = variables + Texts{"GCE_METADATA_HOST=" + metadata.authority()}});
    CHECK_SUCCESS(outcome);
    return token_of(outcome);
  }

  Google google;
  ScriptedServer metadata{kPlain};
};

}  // namespace

TEST_CASE(
    "default: the order is flag, its variable, Google's variable, gcloud folder, metadata server") {
  const Places places;
  Texts variables;
  CHECK(places.token({}, variables) == "ya29.metadata");
  places.folder("home/.config/gcloud");
  CHECK(places.token({}, variables) == "ya29.of-home/.config/gcloud");
  variables.push_back("CLOUDSDK_CONFIG=" + places.folder("cloudsdk"));
  CHECK(places.token({}, variables) == "ya29.of-cloudsdk");
  variables.push_back("GOOGLE_APPLICATION_CREDENTIALS=" + places.file("google"));
  CHECK(places.token({}, variables) == "ya29.of-google");
  variables.push_back("EXECCRED_CREDENTIALS_FILE=" + places.file("execcred"));
  CHECK(places.token({}, variables) == "ya29.of-execcred");
  CHECK(places.token({"--credentials-file=" + places.file("flag")}, variables) == "ya29.of-flag");
}

TEST_CASE("default: a folder without the file is skipped, and so is a missing HOME") {
  const Places places;
  std::filesystem::create_directories(places.google.home + "/.config/gcloud");
  CHECK(places.token({}, {}) == "ya29.metadata");
  CHECK(places.token({}, {"CLOUDSDK_CONFIG=/nowhere/at/all"}) == "ya29.metadata");
  blackbox::Command command =
      places.google.command({.variables = {"GCE_METADATA_HOST=" + places.metadata.authority()}});
  std::erase_if(command.environment,
                [](const std::string& entry) { return entry.starts_with("HOME="); });
  CHECK(token_of(blackbox::run(command)) == "ya29.metadata");
}

TEST_CASE("default: a named file must exist and be a credentials file") {
  const Places places;
  const auto refused = [&](const std::string& path, int exit_code) {
    CAPTURE(path);
    CHECK_FAILURE(places.google.run({.variables = {"GOOGLE_APPLICATION_CREDENTIALS=" + path}}),
                  exit_code, "reading GOOGLE_APPLICATION_CREDENTIALS");
    CHECK_FAILURE(places.google.run({.arguments = {"--credentials-file=" + path}}), exit_code,
                  "reading --credentials-file");
  };
  refused("/nowhere/at/all.json", 2);
  refused(places.google.sandbox.path(), 2);
  refused(places.google.sandbox.write("writable.json", object(places.google.user()), 0666), 2);
  refused(places.google.sandbox.write("empty.json", ""), 2);
  refused(places.google.sandbox.write("large.json", std::string(200'000, ' ')), 2);
  refused(places.google.sandbox.write("token", "ya29.a-token"), 2);
  // The same holds for the file in gcloud's own folder.
  places.google.sandbox.write("home/.config/gcloud/application_default_credentials.json", "{}");
  CHECK_FAILURE(
      places.google.run({.variables = {"GCE_METADATA_HOST=" + places.metadata.authority()}}), 2,
      "type is missing");
  CHECK(places.google.cloud.connections() == 0);
  CHECK(places.metadata.connections() == 0);
}

TEST_CASE("default: an unsupported type of credentials file is refused by its name") {
  const Google google;
  for (const std::string type :
       {"external_account_authorized_user", "gdch_service_account", "user", "Service_Account"}) {
    CAPTURE(type);
    const Outcome outcome =
        google.run({.credentials = object({{"type", text(type)}, {"client_id", text("x")}})});
    CHECK_REFUSAL(outcome, 2, "'" + type + "'");
  }
}

TEST_CASE("default: --show-config and messages name the source of the credentials file's path") {
  Google google;
  const std::string path = google.sandbox.at("absent.json");
  Ask ask = {.arguments = {"--show-config"},
             .variables = {"GOOGLE_APPLICATION_CREDENTIALS=" + path}};
  const auto shown = [&] {
    const Outcome outcome = google.run(ask);
    CHECK(outcome.exit_code == 0);
    return blackbox::shown_setting(outcome.output, "--credentials-file");
  };
  CHECK(shown() == path + " GOOGLE_APPLICATION_CREDENTIALS");
  const std::string named = "reading GOOGLE_APPLICATION_CREDENTIALS '" + path;
  const Outcome by_variable = google.run({.variables = ask.variables});
  CHECK_FAILURE(by_variable, 2, "No such file or directory");
  CHECK(blackbox::says(by_variable, named));
  ask.variables.push_back("EXECCRED_CREDENTIALS_FILE=" + path + "2");
  CHECK(shown() == path + "2 EXECCRED_CREDENTIALS_FILE");
  CHECK(blackbox::says(google.run({.variables = ask.variables}),
                       "reading EXECCRED_CREDENTIALS_FILE"));
  ask.arguments.push_back("--credentials-file=" + path + "3");
  CHECK(shown() == path + "3 --credentials-file");
}

}  // namespace execcred::test
