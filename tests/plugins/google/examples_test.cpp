// SPDX-License-Identifier: Apache-2.0
// The examples of config/google are run unchanged, except the paths of files.
#include "google.hpp"
#include "support/texts.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace execcred::test {
namespace {

namespace fs = std::filesystem;

constexpr auto kPlain = ScriptedServer::Transport::plain;

}  // namespace

TEST_CASE("examples: each mapping gets a credential for its ClusterProfile") {
  Google google;
  ScriptedServer metadata(kPlain);
  metadata.on("/computeMetadata/v1/instance/service-accounts/default/token",
              reply(200, token_body("ya29.machine"), "Metadata-Flavor: Google\r\n"));
  const std::string fleet = "fleet@project-1.iam.gserviceaccount.com";
  google.cloud.api().on(impersonation_path(fleet),
                        reply(200, account_body("ya29.of-the-fleet", time_from_now(3600))));
  const std::string reader = "reader@fleet-1.iam.gserviceaccount.com";
  google.cloud.api().on(impersonation_path(reader),
                        reply(200, account_body("ya29.of-its-project", time_from_now(3600))));
  google.sandbox.write("google/key.json", object(Google::service_account()), 0600);
  int count = 0;
  for (const auto& folder : fs::directory_iterator(EXECCRED_SOURCE "/config/google")) {
    if (!folder.is_directory()) continue;
    ++count;
    CAPTURE(folder.path().filename().native());
    const auto placed = [&](const std::string& name, const std::string& as) {
      std::string content = blackbox::read_text(folder.path() / name);
      content = replaced(content, "/plugins/", EXECCRED_BIN "/");
      content = replaced(content, "/etc/google/", google.sandbox.at("google/"));
      content = replaced(content, "/var/run/secrets/google/token", google.subject_path);
      return google.sandbox.write(as, content);
    };
    if (fs::exists(folder.path() / "credentials.json")) {
      placed("credentials.json", "google/credentials.json");
    }
    const Outcome outcome = blackbox::run(
        {.arguments = {std::string(EXECCRED_BIN "/execcred"), "get", "-m",
                       placed("mapping.json", "mapping.json"), "-f",
                       placed("clusterprofile.yaml", "clusterprofile.yaml"), "-o", "token"},
         .environment = {"HTTPS_PROXY=" + google.cloud.proxy(), "HOME=" + google.home,
                         "GCE_METADATA_HOST=" + metadata.authority(),
                         "EXECCRED_CA_FILE=" + google.ca_path, "EXECCRED_NO_CACHE=true"}});
    CHECK_MESSAGE(outcome.exit_code == 0, blackbox::describe(outcome));
    CHECK(outcome.output.starts_with("ya29."));
  }
  CHECK(count == 5);
  CHECK(google.cloud.api().count(impersonation_path(reader)) == 1);
  CHECK(google.cloud.api().count(impersonation_path(fleet)) == 2);
  const std::string own_provider =
      "//iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/fleet/providers/"
      "spoke-1";
  bool is_asked_for = false;
  for (const Received& request : google.cloud.api().requests(kSts)) {
    is_asked_for = is_asked_for || request.field("audience") == own_provider;
  }
  CHECK(is_asked_for);
}

}  // namespace execcred::test
