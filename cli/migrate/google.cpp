// SPDX-License-Identifier: Apache-2.0
// GKE: gke-gcloud-auth-plugin, traviswt's gke-auth-plugin, argocd-k8s-auth, and gcp-auth-plugin of
// GoogleCloudPlatform/gke-fleet-management, which takes no flags.
#include "peers.hpp"

#include <google/options.hpp>

#include <array>
#include <string>

namespace execcred::migrate {
namespace {

constexpr std::string_view kEdge = "Google Distributed Cloud's edge has tokens of its own";
constexpr std::string_view kEdgeOnly = "it is for --use_edge_cloud";
constexpr std::string_view kGcloudLogin = "execcred-google does not read gcloud's own logins";
constexpr std::string_view kGcloud = "it is gcloud's";

constexpr std::array kGcloudFlags = std::to_array<Rule>({
    drop("use_application_default_credentials", "execcred-google always uses these").as_toggle(),
    keep("impersonate_service_account", "--impersonate-service-account"),
    refuse("account", kGcloudLogin),
    refuse("use_edge_cloud", kEdge).as_toggle(),
    drop("project", kEdgeOnly),
    drop("location", kEdgeOnly),
    drop("cluster", kEdgeOnly),
});

constexpr std::array kTravisFlags = std::to_array<Rule>({
    keep("impersonate_service_account", "--impersonate-service-account").as_short('i'),
    drop("client_auth_version", "the client names the version; without one, apiVersion is used")
        .as_short('v'),
});

constexpr std::array kArgoFlags =
    std::to_array<Rule>({drop("verbose", "logging; execcred's plugins have --debug").as_toggle()});

constexpr std::array kVariables = std::to_array<Rule>({
    keep("GOOGLE_APPLICATION_CREDENTIALS"),
    keep(google::kExecutablesVariable),
    keep("GCE_METADATA_HOST"),
    keep("SSL_CERT_FILE", "--ca-file"),
});

constexpr std::array kGcloudVariables = std::to_array<Rule>({
    keep("GOOGLE_APPLICATION_CREDENTIALS"),
    keep(google::kExecutablesVariable),
    keep("GCE_METADATA_HOST"),
    keep("SSL_CERT_FILE", "--ca-file"),
    keep("CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT", "--impersonate-service-account"),
    keep("CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", "--credentials-file"),
    refuse("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", "a token in a file is for execcred-token-file"),
    refuse("CLOUDSDK_CORE_ACCOUNT", kGcloudLogin),
    refuse("CLOUDSDK_ACTIVE_CONFIG_NAME", kGcloudLogin),
    refuse("CLOUDSDK_CONFIG", kGcloudLogin),
    drop("CLOUDSDK_*", kGcloud),
    drop("USE_GKE_GCLOUD_AUTH_PLUGIN", kGcloud),
});

void finish_gcloud(Migration& migration) {
  if (migration.is_on("use_application_default_credentials")) return;
  if (migration.has("--credentials-file")) return;
  migration.note(
      "it took gcloud's current login; execcred-google takes application default credentials: "
      "GOOGLE_APPLICATION_CREDENTIALS, 'gcloud auth application-default login', or the machine's");
}

}  // namespace

std::vector<Peer> google_peers() {
  return {{.name = "gke-gcloud-auth-plugin",
           .programs = {"gke-gcloud-auth-plugin"},
           .plugin = "execcred-google",
           .flags = kGcloudFlags,
           .variables = kGcloudVariables,
           .is_good_at_many_servers = true,
           .finish = finish_gcloud},
          {.name = "gke-auth-plugin",
           .programs = {"gke-auth-plugin"},
           .plugin = "execcred-google",
           .flags = kTravisFlags,
           .variables = kVariables,
           .is_good_at_many_servers = true},
          {.name = "gcp-auth-plugin",
           .programs = {"gcp-auth-plugin"},
           .plugin = "execcred-google",
           .variables = kVariables,
           .is_good_at_many_servers = true},
          {.name = "argocd-k8s-auth gcp",
           .programs = {"argocd-k8s-auth"},
           .subcommand = {"gcp"},
           .plugin = "execcred-google",
           .flags = kArgoFlags,
           .variables = kVariables,
           .is_good_at_many_servers = true}};
}

}  // namespace execcred::migrate
