// SPDX-License-Identifier: Apache-2.0
// resolve -o istio-secret and -o argocd-secret: the Secrets for Istio and Argo CD.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"

#include <execcred/yaml/documents.hpp>

#include <doctest/doctest.h>

using namespace blackbox;
using execcred::json::Value;

namespace {

constexpr const char* kExec =
    R"(,"args":["--a=1"],"env":[{"name":"Z","value":"1"},{"name":"A","value":"no"},)"
    R"({"name":"Z","value":"2"}],"provideClusterInfo":true,"installHint":"get it")";

std::string config(const std::string& json) {
  return ",\"extensions\":[" + extension(kExecExtension, json) + "]";
}

Outcome resolve(const std::string& format, const std::string& profiles,
                const std::string& more_of_exec = kExec) {
  const Inventory inventory(mapping({mapped("p", "/plugins/a plugin", more_of_exec)}), profiles);
  return inventory.run("resolve", {"-o", format});
}

std::string one(const std::string& more_of_cluster, const std::string& name = "c1",
                const std::string& server = "https://10.1.2.3:6443") {
  return profile(name, {provider("p", server, more_of_cluster)});
}

std::vector<Value> documents_of(const Outcome& outcome) {
  REQUIRE_MESSAGE(outcome.exit_code == 0, describe(outcome));
  auto documents = execcred::parse_documents(outcome.output, 1 << 20);
  REQUIRE_MESSAGE(documents.has_value(), outcome.output);
  return *std::move(documents);
}

Value at(const Value& document, std::initializer_list<std::string_view> path) {
  const Value* value = &document;
  for (const std::string_view name : path) {
    value = value->find(name);
    REQUIRE_MESSAGE(value != nullptr, name);
  }
  return *value;
}

std::string text_at(const Value& document, std::initializer_list<std::string_view> path) {
  const Value value = at(document, path);
  REQUIRE(value.string() != nullptr);
  return *value.string();
}

bool notes(const Outcome& outcome, const std::string& text) {
  return outcome.error_output.find("execcred: note: ") != std::string::npos &&
         outcome.error_output.find(text) != std::string::npos;
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE(
    "resolve -o istio-secret: the kubeconfig is what kubeconfig writes for that cluster only") {
  // Names that look like a number or a boolean must stay strings.
  for (const std::string cluster : {"spoke-1", "123", "true", "1e3", "a.b"}) {
    CAPTURE(cluster);
    const std::string profiles = one(config(R"({"clusterName":")" + cluster + "\"}"));
    const Outcome outcome = resolve("istio-secret", profiles);
    const std::vector<Value> documents = documents_of(outcome);
    REQUIRE(documents.size() == 1);
    const Value& secret = documents.front();
    CHECK(text_at(secret, {"apiVersion"}) == "v1");
    CHECK(text_at(secret, {"kind"}) == "Secret");
    CHECK(text_at(secret, {"metadata", "namespace"}) == "istio-system");
    CHECK(text_at(secret, {"metadata", "name"}) == "istio-remote-secret-" + cluster);
    CHECK(text_at(secret, {"metadata", "labels", "istio/multiCluster"}) == "true");
    CHECK(text_at(secret, {"metadata", "annotations", "networking.istio.io/cluster"}) == cluster);
    CHECK(at(secret, {"stringData"}).object()->size() == 1);
    const Inventory inventory(mapping({mapped("p", "/plugins/a plugin", kExec)}), profiles);
    CHECK(text_at(secret, {"stringData", cluster}) == inventory.run("kubeconfig").output);
    CHECK(
        outcome.output.starts_with("# istiod takes a user with exec only with "
                                   "PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS=exec.\n"));
    CHECK(notes(outcome, "PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS=exec"));
    CHECK(notes(outcome, "'/plugins/a plugin'"));
  }
}

TEST_CASE("resolve -o argocd-secret: every field that Argo CD knows") {
  const Outcome outcome = resolve(
      "argocd-secret", one(R"(,"tls-server-name":"spoke","certificate-authority-data":"QUFBQQ==",)"
                           R"("proxy-url":"https://proxy:3128","disable-compression":true)" +
                           config(R"({"clusterName":"spoke-1","n":1.50})")));
  const std::vector<Value> documents = documents_of(outcome);
  REQUIRE(documents.size() == 1);
  const Value& secret = documents.front();
  CHECK(text_at(secret, {"metadata", "name"}) == "cluster-spoke-1");
  CHECK(text_at(secret, {"metadata", "namespace"}) == "argocd");
  CHECK(text_at(secret, {"metadata", "labels", "argocd.argoproj.io/secret-type"}) == "cluster");
  CHECK(text_at(secret, {"stringData", "name"}) == "spoke-1");
  CHECK(text_at(secret, {"stringData", "server"}) == "https://10.1.2.3:6443");
  CHECK(is_same_json(
      text_at(secret, {"stringData", "config"}),
      R"({"execProviderConfig":{"command":"/plugins/a plugin","args":["--a=1"],)"
      R"("env":{"A":"no","Z":"2"},"apiVersion":"client.authentication.k8s.io/v1",)"
      R"("installHint":"get it","provideClusterInfo":true,)"
      R"("config":{"clusterName":"spoke-1","n":1.50}},)"
      R"("tlsClientConfig":{"insecure":false,"serverName":"spoke","caData":"QUFBQQ=="},)"
      R"("proxyUrl":"https://proxy:3128","disableCompression":true})"));
  CHECK(notes(outcome, "Argo CD 3.5"));
  CHECK(notes(outcome, "'/plugins/a plugin'"));
}

TEST_CASE("resolve -o argocd-secret: no character of a ClusterProfile starts a new line") {
  for (const std::string line_break : {"\u0085", "\u2028", "\u2029", "\x7f"}) {
    CAPTURE(line_break);
    const std::string value = line_break + "metadata:" + line_break + " name: evil";
    const Outcome outcome =
        resolve("argocd-secret", one(config(R"({"clusterName":"spoke-1","x":")" + value + "\"}")));
    const std::vector<Value> documents = documents_of(outcome);
    REQUIRE(documents.size() == 1);
    CHECK(text_at(documents[0], {"metadata", "name"}) == "cluster-spoke-1");
    const Value config = *execcred::json::parse(text_at(documents[0], {"stringData", "config"}));
    CHECK(text_at(config, {"execProviderConfig", "config", "x"}) == value);
  }
}

TEST_CASE("resolve -o argocd-secret: a note names each setting that cannot be carried over") {
  const Outcome outcome = resolve("argocd-secret", one(R"(,"insecure-skip-tls-verify":true)"),
                                  R"(,"interactiveMode":"IfAvailable")");
  const Value secret = documents_of(outcome).front();
  CHECK(is_same_json(text_at(secret, {"stringData", "config"}),
                     R"({"execProviderConfig":{"command":"/plugins/a plugin",)"
                     R"("apiVersion":"client.authentication.k8s.io/v1"},)"
                     R"("tlsClientConfig":{"insecure":true}})"));
  CHECK(notes(outcome, "interactiveMode: IfAvailable"));
  CHECK(outcome.output.find("\n# interactiveMode: IfAvailable") != std::string::npos);
  CHECK_FALSE(notes(outcome, "Argo CD 3.5"));
}

TEST_CASE("resolve -o argocd-secret: the server of Argo CD's own cluster is refused") {
  for (const char* server : {"https://kubernetes.default.svc", "https://kubernetes.default.svc/"}) {
    CHECK_REFUSAL(resolve("argocd-secret", one("", "c1", server)), 2, "its own cluster");
    CHECK(resolve("istio-secret", one("", "c1", server)).exit_code == 0);
  }
}

TEST_CASE("resolve -o istio-secret, argocd-secret: one document for each ClusterProfile") {
  const std::string both = one("", "c1") + "\n---\n" + one(config(R"({"clusterName":"c2"})"), "c3");
  for (const std::string format : {"istio-secret", "argocd-secret"}) {
    const std::vector<Value> documents = documents_of(resolve(format, both));
    REQUIRE(documents.size() == 2);
    CHECK(text_at(documents[0], {"metadata", "name"}).ends_with("-c1"));
    CHECK(text_at(documents[1], {"metadata", "name"}).ends_with("-c2"));
    // Of two Secrets with one name, one would replace the other.
    const std::string twice =
        one("", "c1") + "\n---\n" + one(config(R"({"clusterName":"c1"})"), "c3");
    const Outcome first = resolve(format, twice + "\n---\n" + one("", "c4"));
    CHECK(first.exit_code == 1);
    CHECK_MESSAGE(says(first, "a ClusterProfile before it is for cluster 'c1' too"),
                  describe(first));
    const auto kept = execcred::parse_documents(first.output, 1 << 20);
    REQUIRE(kept.has_value());
    REQUIRE(kept->size() == 2);
    CHECK(text_at(kept->back(), {"metadata", "name"}).ends_with("-c4"));
  }
}

TEST_CASE("resolve -o istio-secret, argocd-secret: a name that no Secret can have is refused") {
  for (const std::string format : {"istio-secret", "argocd-secret"}) {
    for (const std::string name :
         {R"("")", R"("Spoke")", R"("a/b")", R"("a_b")", R"("../x")", R"("a-")", R"("a\nb: c")",
          R"("{{name}}")", "7", "null", R"(["c1"])"}) {
      CAPTURE(name);
      const Outcome outcome = resolve(format, one(config("{\"clusterName\":" + name + "}")));
      if (name == "null") {
        CHECK(outcome.exit_code == 0);
      } else {
        CHECK_REFUSAL(outcome, 2, "cluster");
      }
    }
    CHECK_REFUSAL(resolve(format, one("", std::string(250, 'a'))), 2, "cluster's name");
  }
}

TEST_CASE("argocd-secret: the placeholders that Argo CD replaces in arguments are filled in") {
  const std::string args =
      R"(,"args":["--cluster={{ .ClusterProfileName }}","{{ .ClusterProfileServer }}/x",)"
      R"("{{.ClusterProfileName}}","{{ .Other }}"],"env":[{"name":"A","value":)"
      R"("{{ .ClusterProfileName }}"}])";
  const Outcome outcome = resolve("argocd-secret", one(config(R"({"clusterName":"other"})")), args);
  const std::string text = text_at(documents_of(outcome)[0], {"stringData", "config"});
  const auto written = execcred::json::parse(text);
  REQUIRE(written);
  const Value exec = at(*written, {"execProviderConfig"});
  CHECK(execcred::json::to_text(at(exec, {"args"})) ==
        R"(["--cluster=c1","https://10.1.2.3:6443/x","{{.ClusterProfileName}}","{{ .Other }}"])");
  // Argo CD leaves variables as they are.
  CHECK(text_at(exec, {"env", "A"}) == "{{ .ClusterProfileName }}");
  // In a kubeconfig nothing replaces them, so they are shown unchanged.
  CHECK(resolve("exec-config", one(""), args).output.find("--cluster={{ .ClusterProfileName }}") !=
        std::string::npos);
}

TEST_SUITE_END();
