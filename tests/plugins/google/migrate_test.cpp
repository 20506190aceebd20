// SPDX-License-Identifier: Apache-2.0
// execcred-google gets a credential with every configuration that `execcred migrate` writes for
// users of other plugins for GKE.
#include "google.hpp"
#include "test_paths.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace execcred::test {
namespace {

using Json = nlohmann::json;

constexpr auto kPlain = ScriptedServer::Transport::plain;
constexpr const char* kTokenPath = "/computeMetadata/v1/instance/service-accounts/default/token";

// A user of a kubeconfig.
struct User {
  Texts command;
  Texts variables = {};
};

std::string kubeconfig_of(const User& user) {
  Json exec = {{"apiVersion", "client.authentication.k8s.io/v1beta1"},
               {"command", user.command.front()},
               {"args", Texts(user.command.begin() + 1, user.command.end())},
               {"provideClusterInfo", true},
               {"installHint", "install gke-gcloud-auth-plugin"}};
  exec["env"] = Json::array();
  for (const std::string& entry : user.variables) {
    const std::size_t equals = entry.find('=');
    exec["env"].push_back({{"name", entry.substr(0, equals)}, {"value", entry.substr(equals + 1)}});
  }
  return Json({{"apiVersion", "v1"},
               {"kind", "Config"},
               {"clusters", {{{"name", "c"}, {"cluster", {{"server", kSpoke}}}}}},
               {"contexts", {{{"name", "c"}, {"context", {{"cluster", "c"}, {"user", "u"}}}}}},
               {"users", {{{"name", "u"}, {"user", {{"exec", exec}}}}}}})
      .dump();
}

struct World {
  World() {
    metadata.on(kTokenPath,
                reply(200, token_body("ya29.of-the-machine"), "Metadata-Flavor: Google\r\n"));
  }

  // The user's exec object after execcred migrate.
  Json migrate(const User& user) const {
    const std::string file = google.sandbox.write("kubeconfig", kubeconfig_of(user));
    const Outcome outcome = blackbox::run(
        {.arguments = {EXECCRED_BIN "/execcred", "migrate", file, "--plugin-dir=" EXECCRED_BIN}});
    CAPTURE(outcome.error_output);
    REQUIRE(outcome.exit_code == 0);
    return Json::parse(outcome.output)["users"][0]["user"]["exec"];
  }

  // Runs it for this server, as client-go would.
  Outcome run(const Json& exec, const std::string& server = kSpoke) const {
    google.clear_cache();
    Texts arguments = {exec["command"].get<std::string>()};
    for (const Json& argument : exec.value("args", Json::array())) {
      arguments.push_back(argument.get<std::string>());
    }
    Texts variables = {"HTTPS_PROXY=" + google.cloud.proxy(),
                       "HOME=" + google.home,
                       "GCE_METADATA_HOST=" + metadata.authority(),
                       "EXECCRED_CA_FILE=" + google.ca_path,
                       "EXECCRED_CACHE_DIR=" + google.sandbox.at("cache"),
                       "KUBERNETES_EXEC_INFO=" + blackbox::exec_info(blackbox::kV1Beta1, server)};
    for (const Json& variable : exec.value("env", Json::array())) {
      variables.push_back(variable["name"].get<std::string>() + "=" +
                          variable["value"].get<std::string>());
    }
    return blackbox::run({.arguments = arguments, .environment = variables});
  }

  Google google;
  ScriptedServer metadata{kPlain};
};

}  // namespace

TEST_CASE("migrate: each peer's user is migrated to execcred-google, and gets a credential") {
  const World world;
  const std::string key = world.google.sandbox.write("key.json", object(Google::service_account()));
  const std::string adc = world.google.sandbox.write("adc.json", object(world.google.user()));
  const std::string account = kAccount;
  const std::string chain = std::string(kOtherAccount) + "," + kAccount;
  struct Case {
    User user;
    std::string token;  // its beginning
  };
  const std::string machine = "ya29.of-the-machine";
  const std::string of_account = google_token(kAccount, 0).substr(0, 37);
  const std::string of_file = google_token(kOauth, 0).substr(0, 37);
  for (const Case& c : {
           Case{{{"gke-gcloud-auth-plugin"}, {"USE_GKE_GCLOUD_AUTH_PLUGIN=True"}}, machine},
           Case{{{"/usr/lib/google-cloud-sdk/bin/gke-gcloud-auth-plugin"}}, machine},
           Case{{{"gke-gcloud-auth-plugin", "--use_application_default_credentials"},
                 {"GOOGLE_APPLICATION_CREDENTIALS=" + adc}},
                of_file},
           Case{{{"gke-gcloud-auth-plugin", "--use_application_default_credentials",
                  "--impersonate_service_account=" + account}},
                of_account},
           Case{{{"gke-gcloud-auth-plugin", "--use_application_default_credentials",
                  "--impersonate_service_account", chain}},
                of_account},
           Case{{{"gke-gcloud-auth-plugin"},
                 {"CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE=" + key,
                  "CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT=" + account}},
                of_account},
           Case{
               {{"gke-gcloud-auth-plugin", "--use_application_default_credentials"},
                {"GOOGLE_APPLICATION_CREDENTIALS=" + key, "SSL_CERT_FILE=" + world.google.ca_path}},
               of_file},
           Case{{{"gke-auth-plugin"}}, machine},
           Case{{{"/plugins/gcp-auth-plugin"}}, machine},
           Case{{{"gcp-auth-plugin"}, {"GOOGLE_APPLICATION_CREDENTIALS=" + key}}, of_file},
           Case{{{"gke-auth-plugin", "-i", account, "-v", "v1beta1"}}, of_account},
           Case{{{"argocd-k8s-auth", "gcp"}, {"GOOGLE_APPLICATION_CREDENTIALS=" + key}}, of_file},
       }) {
    const Json exec = world.migrate(c.user);
    CAPTURE(exec.dump());
    const Outcome outcome = world.run(exec);
    CHECK_SUCCESS(outcome, blackbox::kV1Beta1);
    CHECK(token_of(outcome).starts_with(c.token));
    // The user is bound to the server of its context.
    CHECK_FAILURE(world.run(exec, "https://another.example"), 1,
                  "spec.cluster.server 'https://another.example' matches no");
  }
}

}  // namespace execcred::test
