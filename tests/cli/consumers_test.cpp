// SPDX-License-Identifier: Apache-2.0
// config/consumers: what an API server does not check. The tests of lint have its mappings and
// ClusterProfiles; tests/e2e sends its manifests to an API server.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "sandbox.hpp"
#include "test_paths.hpp"

#include <execcred/json/json.hpp>
#include <execcred/yaml/documents.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace blackbox;

namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

const std::string kConsumers = EXECCRED_SOURCE "/config/consumers/";

// The only document of a file, as JSON.
std::string document(const std::string& name) {
  auto documents = execcred::parse_documents(read_text(kConsumers + name), 1024 * 1024);
  REQUIRE_MESSAGE(documents.has_value(), name);
  REQUIRE(documents->size() == 1);
  return execcred::json::to_text(documents->front());
}

// The only file of a ConfigMap.
struct DataFile {
  std::string name;
  std::string text;
};
DataFile file_of(const std::string& name) {
  const auto parsed = execcred::json::parse(json_at(document(name), "data"));
  REQUIRE_MESSAGE(parsed.has_value(), name);
  const auto* const members = parsed->object();
  REQUIRE(members != nullptr);
  REQUIRE(members->size() == 1);
  const std::string* const text = members->front().value.string();
  REQUIRE(text != nullptr);
  return {.name = members->front().name, .text = *text};
}

Texts strings_at(const std::string& text, const std::string& path) {
  Texts all;
  for (int i = 0;; ++i) {
    std::string one = json_at(text, path + "." + std::to_string(i));
    if (one == "(missing)") return all;
    all.push_back(std::move(one));
  }
}

std::set<std::string> shipped_plugins() {
  std::set<std::string> names;
  for (const auto& program : fs::directory_iterator(EXECCRED_BIN)) {
    const std::string name = program.path().filename().native();
    if (name.starts_with("execcred-")) names.insert(name);
  }
  return names;
}

// The built program of a command below /plugins.
std::string built(const std::string& command) {
  REQUIRE(command.starts_with("/plugins/execcred-"));
  return EXECCRED_BIN + command.substr(std::string("/plugins").size());
}

void check_plugin_takes(const std::string& command, Texts arguments) {
  arguments.insert(arguments.begin(), built(command));
  arguments.emplace_back("--show-config");
  const Outcome shown = run({.arguments = std::move(arguments)});
  CHECK_MESSAGE(shown.exit_code == 0, describe(shown));
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("consumers: every document is YAML that can be read") {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kConsumers)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
    CAPTURE(entry.path().native());
    CHECK(execcred::parse_documents(read_text(entry.path().native()), 1024 * 1024).has_value());
    ++count;
  }
  CHECK(count >= 40);
}

TEST_CASE("consumers: the plugin of each Argo CD cluster Secret accepts the Secret's arguments") {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kConsumers + "argocd")) {
    const std::string name = entry.path().filename().native();
    if (!name.starts_with("cluster") || name.starts_with("clusterprofile")) continue;
    CAPTURE(name);
    const std::string secret = document("argocd/" + name);
    CHECK(json_at(secret, "metadata.namespace") == "argocd");
    const std::string config = json_at(secret, "stringData.config");
    const std::string exec = "execProviderConfig.";
    CHECK(json_at(config, exec + "apiVersion") == kV1);
    CHECK(json_at(config, exec + "provideClusterInfo") == "true");
    CHECK(json_at(config, "tlsClientConfig.insecure") == "false");
    CHECK(json_at(config, "tlsClientConfig.caData") != "(missing)");
    const Texts arguments = strings_at(config, exec + "args");
    check_plugin_takes(json_at(config, exec + "command"), arguments);
    // The server of the Secret is one that the plugin gives credentials for.
    const std::string server = json_at(secret, "stringData.server");
    bool is_bound = false;
    for (const std::string& argument : arguments) {
      const std::string flag = "--allow-server=";
      if (!argument.starts_with(flag)) continue;
      std::string pattern = argument.substr(flag.size());
      if (pattern.ends_with("/*")) pattern.resize(pattern.size() - 1);
      is_bound = is_bound || server.starts_with(pattern);
    }
    CHECK(is_bound);
    ++count;
  }
  CHECK(count == 3);
}

TEST_CASE("consumers: Argo CD's projected token is where its cluster Secrets look for it") {
  for (const std::string patch : {"application-controller", "server"}) {
    CAPTURE(patch);
    const std::string manifest = document("argocd/" + patch + "-projected-token.yaml");
    const std::string pod = "spec.template.spec.";
    const std::string token = json_at(manifest, pod + "containers.0.volumeMounts.0.mountPath") +
                              "/" +
                              json_at(manifest, pod +
                                                    "volumes.0.projected.sources.0."
                                                    "serviceAccountToken.path");
    CHECK(json_at(manifest, pod + "containers.0.volumeMounts.0.name") ==
          json_at(manifest, pod + "volumes.0.name"));
    const auto arguments_of = [](const std::string& name) {
      return strings_at(json_at(document("argocd/" + name), "stringData.config"),
                        "execProviderConfig.args");
    };
    const Texts direct = arguments_of("cluster-projected-token.yaml");
    CHECK(direct.at(0) == "--token-file=" + token);
    CHECK(direct.at(1) == "--audience=" + json_at(manifest, pod + "volumes.0.projected.sources.0."
                                                                  "serviceAccountToken.audience"));
    CHECK(arguments_of("cluster-federation.yaml").at(1) == "--subject-token-file=" + token);
  }
}

TEST_CASE("consumers: the Knative Operator's values, patches and mapping agree") {
  const std::string values = document("knative/values.yaml");
  const std::string multicluster = "knative_operator.multicluster.";
  CHECK(json_at(values, multicluster + "enabled") == "true");
  const std::string providers = json_at(values, multicluster + "accessProvidersConfig");
  const DataFile mapping = file_of("knative/mapping.yaml");
  CHECK_MESSAGE(is_same_json(providers, mapping.text), mapping.text);
  // The chart's own rule: an absolute mountPath, and the command below it.
  const std::string mount = json_at(values, multicluster + "plugins.0.mountPath");
  CHECK(mount == "/plugins");
  CHECK(json_at(providers, "providers.0.execConfig.command").starts_with(mount + "/"));
  for (const std::string patch : {"knative/image-volume.yaml", "knative/init-container.yaml"}) {
    CAPTURE(patch);
    const std::string manifest = document(patch);
    const std::string container = "spec.template.spec.containers.0.";
    const std::string folder = json_at(manifest, container + "volumeMounts.1.mountPath");
    std::string flag = "--clusterprofile-provider-file=";
    flag.append(folder).append("/").append(mapping.name);
    CHECK(json_at(manifest, container + "args.0") == flag);
    CHECK(json_at(manifest, container + "volumeMounts.0.mountPath") == mount);
    CHECK(json_at(manifest, "spec.template.spec.volumes.1.configMap.name") ==
          json_at(document("knative/mapping.yaml"), "metadata.name"));
  }
}

TEST_CASE("consumers: the file provider's kubeconfig is what execcred kubeconfig writes") {
  const std::string folder = "multicluster-runtime-file/";
  const Sandbox sandbox;
  const std::string mapping = sandbox.write("mapping.json", file_of(folder + "mapping.yaml").text);
  const Outcome outcome = run({.arguments = {kCli, "kubeconfig", "-m", mapping, "-f",
                                             kConsumers + folder + "clusterprofile.yaml"}});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  const DataFile kubeconfig = file_of(folder + "kubeconfig.yaml");
  CHECK(kubeconfig.name.ends_with(".kubeconfig"));  // which the provider looks for
  CHECK(kubeconfig.text == outcome.output);
  const std::string file = sandbox.write("fleet.kubeconfig", kubeconfig.text);
  const Outcome linted = run({.arguments = {kCli, "lint", "--no-files", file}});
  CHECK_MESSAGE(linted.exit_code == 0, describe(linted));
  CHECK(linted.output.find("0 errors, 0 warnings") != std::string::npos);
  for (const std::string way : {"image-volume.yaml", "init-container.yaml"}) {
    const std::string manifest = document(folder + way);
    CHECK(json_at(manifest, "spec.template.spec.containers.0.args.0") ==
          "--kubeconfig-dirs=" +
              json_at(manifest, "spec.template.spec.containers.0.volumeMounts.1.mountPath"));
    CHECK(json_at(manifest, "spec.template.spec.volumes.1.configMap.name") ==
          json_at(document(folder + "kubeconfig.yaml"), "metadata.name"));
  }
}

TEST_CASE("consumers: each image volume has the image of the plugin that the mapping runs") {
  // Kueue's mapping is a part of a configuration in YAML.
  const auto plugin_of = [](const std::string& folder) {
    const std::string text = file_of(folder + "/mapping.yaml").text;
    const std::string start = "/plugins/";
    const auto at = text.find(start);
    REQUIRE(at != std::string::npos);
    return text.substr(at + start.size(), text.find_first_of("\",\n", at) - at - start.size());
  };
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kConsumers)) {
    const std::string name = entry.path().filename().native();
    if (!name.ends_with("image-volume.yaml")) continue;
    CAPTURE(entry.path().native());
    const std::string folder = entry.path().parent_path().filename().native();
    CHECK(json_at(document(folder + "/" + name), "spec.template.spec.volumes.0.image.reference") ==
          "registry.example/" + plugin_of(folder) + ":0.2.0");
    ++count;
  }
  CHECK(count == 9);
  CHECK(json_at(document("knative/values.yaml"), "knative_operator.multicluster.plugins.0.image") ==
        "registry.example/" + plugin_of("knative") + ":0.2.0");
}

TEST_CASE("consumers: kubectl's allowlist has the path of every plugin, and no other path") {
  const std::string kuberc = document("kubectl/kuberc");
  CHECK(json_at(kuberc, "apiVersion") == "kubectl.config.k8s.io/v1beta1");
  CHECK(json_at(kuberc, "kind") == "Preference");
  CHECK(json_at(kuberc, "credentialPluginPolicy") == "Allowlist");
  std::set<std::string> allowed;
  for (int i = 0;; ++i) {
    const std::string entry = "credentialPluginAllowlist." + std::to_string(i);
    if (json_at(kuberc, entry) == "(missing)") break;
    const fs::path path = json_at(kuberc, entry + ".name");
    CHECK(path.parent_path() == "/usr/local/bin");
    CHECK(allowed.insert(path.filename().native()).second);
  }
  CHECK(allowed == shipped_plugins());
}

TEST_SUITE_END();
