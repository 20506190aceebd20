// SPDX-License-Identifier: Apache-2.0
// execcred init: what it writes for a fleet, and that it changes nothing that exists.
#include "documents.hpp"
#include "inventory.hpp"
#include "plugin_under_test.hpp"
#include "support/texts.hpp"
#include "test_paths.hpp"

#include <init/servers.hpp>

#include <execcred/base/shell_words.hpp>
#include <execcred/yaml/documents.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace blackbox;
using execcred::test::lines_of;

namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

constexpr std::string_view kNext = "next: ";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class Fleet {
 public:
  explicit Fleet(const std::string& profiles) { sandbox.write("profiles.yaml", profiles); }

  Outcome init(const Texts& options) const {
    Command command;
    command.arguments = {kCli, "init", "-f", sandbox.at("profiles.yaml"), "-o", sandbox.at("out")};
    command.arguments.insert(command.arguments.end(), options.begin(), options.end());
    return run(command);
  }
  std::string written(const std::string& file) const {
    return read_text(sandbox.at("out/" + file));
  }
  bool is_written(const std::string& file) const { return fs::exists(sandbox.at("out/" + file)); }

  Sandbox sandbox;
};

std::string with_config(std::string_view name, std::string_view server, std::string_view config) {
  return provider(name, server, R"(,"extensions":[)" + extension(kExecExtension, config) + "]");
}

// Two clusters of one domain, with tokens in Secrets.
std::string two_clusters() {
  return profile("a", {with_config("secretreader", "https://a.example.com:6443",
                                   R"({"clusterName":"spoke-a"})")}) +
         "\n---\n" +
         profile("b", {with_config("secretreader", "https://b.example.com:6443",
                                   R"({"clusterName":"spoke-b"})")});
}

Texts patterns_of(const Texts& urls) {
  std::vector<execcred::Url> servers;
  for (const std::string& url : urls) {
    servers.push_back(execcred::parse_url(url).value());
  }
  return execcred::init::server_patterns(servers);
}

}  // namespace

TEST_SUITE_BEGIN("cli");

TEST_CASE("init: the servers seen become as few patterns as are justified") {
  struct Row {
    Texts servers;
    Texts patterns;
  };
  for (const Row& row : std::vector<Row>{
           {{"https://a.example.com:6443"}, {"https://a.example.com:6443"}},
           {{"https://a.example.com", "https://b.example.com"}, {"https://*.example.com"}},
           {{"https://a.x.example.com", "https://b.x.example.com"}, {"https://*.x.example.com"}},
           {{"https://a.x.example.com", "https://b.example.com"}, {"https://*.example.com"}},
           {{"https://a.com", "https://b.com"}, {"https://a.com", "https://b.com"}},
           {{"https://a.co.uk", "https://b.co.uk"}, {"https://a.co.uk", "https://b.co.uk"}},
           {{"https://example.com", "https://a.example.com"},
            {"https://a.example.com", "https://example.com"}},
           {{"https://a.example.com:1", "https://b.example.com:2"},
            {"https://a.example.com:1", "https://b.example.com:2"}},
           {{"https://a.gr7.eu-west-1.eks.amazonaws.com",
             "https://b.gr7.eu-west-1.eks.amazonaws.com"},
            {"https://a.gr7.eu-west-1.eks.amazonaws.com",
             "https://b.gr7.eu-west-1.eks.amazonaws.com"}},
           {{"https://a.hcp.eastus.azmk8s.io", "https://b.hcp.eastus.azmk8s.io"},
            {"https://a.hcp.eastus.azmk8s.io", "https://b.hcp.eastus.azmk8s.io"}},
           {{"https://connectgateway.googleapis.com/v1/a",
             "https://connectgateway.googleapis.com/v1/b"},
            {"https://connectgateway.googleapis.com/v1/a",
             "https://connectgateway.googleapis.com/v1/b"}},
           {{"https://a.us-west-2.api.aws", "https://b.us-west-2.api.aws"},
            {"https://a.us-west-2.api.aws", "https://b.us-west-2.api.aws"}},
           {{"https://a.hcp.usgovvirginia.cx.aks.containerservice.azure.us",
             "https://b.hcp.usgovvirginia.cx.aks.containerservice.azure.us"},
            {"https://a.hcp.usgovvirginia.cx.aks.containerservice.azure.us",
             "https://b.hcp.usgovvirginia.cx.aks.containerservice.azure.us"}},
           {{"https://api.a.p1.openshiftapps.com:6443", "https://api.b.p1.openshiftapps.com:6443"},
            {"https://api.a.p1.openshiftapps.com:6443", "https://api.b.p1.openshiftapps.com:6443"}},
           {{"https://gke-a.us-central1.gke.goog", "https://gke-b.us-central1.gke.goog"},
            {"https://gke-a.us-central1.gke.goog", "https://gke-b.us-central1.gke.goog"}},
           {{"https://a.example.com", "https://b.example.net"},
            {"https://a.example.com", "https://b.example.net"}},
           {{"https://a.example.com:6443", "https://b.example.com:6443"},
            {"https://*.example.com:6443"}},
           {{"https://a.example.com/k8s/a", "https://b.example.com"},
            {"https://a.example.com/k8s/a", "https://b.example.com"}},
           {{"https://10.0.0.1:6443", "https://[fd00::1]:6443"},
            {"https://10.0.0.1:6443", "https://[fd00::1]:6443"}}}) {
    CAPTURE(row.servers.front());
    CHECK(patterns_of(row.servers) == row.patterns);
  }
}

TEST_CASE("init: each consumer gets its mapping, rights and manifests, and lint finds no error") {
  for (const std::string consumer :
       {"generic", "kueue", "argocd", "multicluster-runtime", "headlamp", "sveltos", "knative"}) {
    CAPTURE(consumer);
    const Fleet fleet(two_clusters());
    const Outcome outcome = fleet.init({"--for", consumer, "--plugin-dir", EXECCRED_BIN});
    CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
    const std::string mapping = fleet.written("mapping.json");
    CHECK(json_at(mapping, "providers.0.name") == "secretreader");
    CHECK(json_at(mapping, "providers.0.execConfig.args.1") ==
          "--allow-server=https://*.example.com:6443");
    CHECK(json_at(mapping, "providers.1") == "(missing)");
    CHECK(has(fleet.written("rbac.yaml"), "- spoke-a\n"));
    CHECK(has(fleet.written("rbac.yaml"), "- spoke-b\n"));
    CHECK(has(fleet.written("mapping.yaml"), "--allow-server=https://*.example.com:6443"));
    // The last line is the next command, and it works.
    const Texts lines = lines_of(outcome.output);
    REQUIRE(lines.back().starts_with("next: execcred lint --for=" + consumer + " "));
    const Outcome linted =
        run({.arguments = {"/bin/sh", "-c", lines.back().substr(kNext.size())},
             .environment = {std::string("PATH=") + EXECCRED_BIN + ":/usr/bin:/bin"}});
    CHECK_MESSAGE(!has(linted.output, ": error: "), describe(linted));
  }
}

TEST_CASE("init: a second run changes nothing, and a change is shown until --force") {
  const Fleet fleet(two_clusters());
  CHECK(fleet.init({"--dry-run"}).exit_code == 0);
  CHECK_FALSE(fs::exists(fleet.sandbox.at("out")));
  CHECK(fleet.init({}).exit_code == 0);
  const std::string mapping = fleet.written("mapping.json");
  const Outcome again = fleet.init({});
  CHECK(again.exit_code == 0);
  CHECK(lines_of(again.output).size() == 1);
  CHECK(has(again.error_output, "mapping.json' is unchanged"));
  fleet.sandbox.write("out/mapping.json", "{}\n");
  const Outcome differs = fleet.init({});
  CHECK(differs.exit_code == 1);
  CHECK(has(differs.output, "-{}"));
  CHECK(fleet.written("mapping.json") == "{}\n");
  CHECK(fleet.init({"--dry-run"}).exit_code == 0);
  CHECK(fleet.init({"--force"}).exit_code == 0);
  CHECK(fleet.written("mapping.json") == mapping);
}

TEST_CASE("init: --force replaces no file of ClusterProfiles that it reads") {
  const Fleet fleet("");
  const std::string file = fleet.sandbox.at("out/rbac.yaml");
  fs::create_directory(fleet.sandbox.at("out"));
  fleet.sandbox.write("out/rbac.yaml", two_clusters());
  Command command;
  command.arguments = {kCli, "init", "-f", file, "-o", fleet.sandbox.at("out"), "--force"};
  CHECK_REFUSAL(run(command), 2, "--output and --clusterprofile name the same file");
  CHECK(fleet.written("rbac.yaml") == two_clusters());
  CHECK_FALSE(fleet.is_written("mapping.json"));
}

TEST_CASE("init: without --for, the files are those of a generic controller") {
  const Fleet fleet(two_clusters());
  CHECK(fleet.init({}).exit_code == 0);
  const std::string rbac = fleet.written("rbac.yaml");
  CHECK(has(rbac, "name: fleet-controller\n"));
  CHECK(fleet.init({"--for=generic"}).exit_code == 0);
  CHECK(fleet.written("rbac.yaml") == rbac);
  CHECK(fleet.init({"--for=kueue"}).exit_code == 1);  // the shown difference
  CHECK(fleet.init({"--for=flux"}).exit_code == 2);
}

TEST_CASE("init: an unknown provider is left out with the three nearest, until --plugin decides") {
  const Fleet fleet(two_clusters() + "\n---\n" +
                    profile("c", {provider("secretreadre", "https://c.example.com:6443")}));
  const Outcome outcome = fleet.init({});
  CHECK(outcome.exit_code == 1);
  CHECK(has(outcome.error_output, "provider 'secretreadre' is not known, and left out"));
  CHECK(has(outcome.error_output, "near names are secretreader, "));
  CHECK_FALSE(has(fleet.written("mapping.json"), "secretreadre\""));
  const Outcome decided = fleet.init({"--force", "--plugin", "secretreadre=execcred-token-file"});
  CHECK_MESSAGE(decided.exit_code == 0, describe(decided));
  CHECK(has(fleet.written("mapping.json"), "/plugins/execcred-token-file"));
  for (const std::string wrong : {"x", "=execcred-aws", "x=", "x=/bin/sh", "x=execcred-none",
                                  "x=kubelogin", "x=execcred-aws/../sh", "x=EXECCRED-AWS"}) {
    CAPTURE(wrong);
    CHECK(fleet.init({"--force", "--plugin", wrong}).exit_code == 2);
  }
}

TEST_CASE("init: values for a person are marked, and lint says what shows them") {
  const Fleet fleet(profile("a", {with_config("open-cluster-management", "https://a.example.com",
                                              R"({"clusterName":"a"})")}));
  const Outcome outcome = fleet.init({});
  CHECK(outcome.exit_code == 0);
  CHECK(
      has(outcome.error_output, "replace FILL-IN-MANAGED-SERVICEACCOUNT; it is shown by: kubectl"));
  const Outcome linted =
      run({.arguments = {kCli, "lint", "--no-files", fleet.sandbox.at("out/mapping.json")}});
  CHECK(linted.exit_code == 1);
  CHECK(has(linted.output, "args[1]: has 'FILL-IN-MANAGED-SERVICEACCOUNT'"));
  CHECK(has(linted.output, "kubectl get managedserviceaccounts"));
  const Outcome rights =
      run({.arguments = {kCli, "lint", "--no-files", fleet.sandbox.at("out/rbac.yaml")}});
  CHECK(rights.exit_code == 1);
  CHECK(has(rights.output, "resourceNames[0]: has 'FILL-IN-MANAGED-SERVICEACCOUNT'"));
  // The next command finds it in every file.
  const Outcome all =
      run({.arguments = {"/bin/sh", "-c", lines_of(outcome.output).back().substr(kNext.size())},
           .environment = {std::string("PATH=") + EXECCRED_BIN + ":/usr/bin:/bin"}});
  CHECK(all.exit_code == 1);
  for (const char* const file : {"mapping.json", "mapping.yaml", "rbac.yaml"}) {
    CHECK_MESSAGE(has(all.output, std::string(file) + ":"), describe(all));
  }
}

TEST_CASE("init: what else the Pod needs is said, and its example is there") {
  struct Row {
    std::string provider;
    std::string example;
  };
  for (const Row& row : std::vector<Row>{{"google", "config/google"},
                                         {"eks", "config/aws"},
                                         {"aks", "config/azure/workload-identity"},
                                         {"spire-agent", "config/spiffe/pod.yaml"}}) {
    const Fleet fleet(profile("a", {provider(row.provider, "https://a.example.com")}));
    const Outcome outcome = fleet.init({});
    CHECK(outcome.exit_code == 0);
    CHECK_MESSAGE(has(outcome.error_output, "provider '" + row.provider + "': the Pod needs "),
                  describe(outcome));
    CHECK(has(outcome.error_output, ", as in " + row.example + "\n"));
    CHECK(fs::exists(fs::path(EXECCRED_SOURCE) / row.example));
  }
}

TEST_CASE("init: what a consumer has built in gets no entry") {
  const std::string builtin =
      profile("a", {provider("argo-cd-builtin-gcp", "https://a.example.com")});
  for (const std::string consumer : {"argocd", "kueue"}) {
    CAPTURE(consumer);
    const Fleet alone(builtin);
    const Outcome outcome = alone.init({"--for", consumer});
    CHECK(outcome.exit_code == 0);
    CHECK(has(outcome.error_output, "'argo-cd-builtin-gcp' gets no entry: Argo CD has it"));
    CHECK_FALSE(has(outcome.error_output, "error: "));
    CHECK_FALSE(alone.is_written("mapping.json"));
    const Fleet beside(builtin + "\n---\n" + two_clusters());
    CHECK(beside.init({"--for", consumer}).exit_code == 0);
    CHECK_FALSE(has(beside.written("mapping.json"), "argo-cd"));
  }
  const Fleet sveltos(two_clusters() + "\n---\n" +
                      profile("c", {with_config("kubeconfig-secretreader", "https://c.example.com",
                                                R"({"name":"c","key":"value"})")}));
  CHECK(has(sveltos.init({"--for=sveltos"}).error_output,
            "sveltos has a provider of this name built in"));
  CHECK_FALSE(has(sveltos.written("mapping.json"), "kubeconfig-secretreader"));
}

TEST_CASE("init: projected tokens are volumes of the Pod, one for each server") {
  const Fleet fleet(profile("a", {provider("token-file", "https://a.example.com:6443")}) +
                    "\n---\n" +
                    profile("b", {provider("KubeFleet", "https://b.example.com:6443")}));
  CHECK(fleet.init({}).exit_code == 0);
  const std::string pod = fleet.written("init-container.yaml");
  CHECK(has(pod, "audience: https://b.example.com:6443"));
  CHECK(has(pod, "mountPath: /var/run/secrets/execcred/a.example.com"));
  CHECK(has(pod, "--plugin=execcred-token-file"));
  CHECK_FALSE(has(pod, "spoke-1"));
}

TEST_CASE("init: the token of an IPv6 address is not mounted, because no mountPath has a colon") {
  const Fleet fleet(profile("a", {provider("token-file", "https://a.example.com:6443"),
                                  provider("KubeFleet", "https://[2001:db8::1]:6443")}));
  const Outcome outcome = fleet.init({});
  CHECK(outcome.exit_code == 0);
  CHECK(has(outcome.error_output, "is an IPv6 address, which a Pod's mountPath cannot have"));
  CHECK(has(fleet.written("mapping.json"), "--allow-server=https://[2001:db8::1]:6443"));
  const std::string pod = fleet.written("init-container.yaml");
  CHECK(has(pod, "mountPath: /var/run/secrets/execcred/a.example.com"));
  CHECK_FALSE(has(pod, "2001:db8"));
}

// YAML takes these characters for the ends of lines.
TEST_CASE("init: the mapping's ConfigMap stays one, whatever the name of a provider has") {
  for (const std::string end : {"\u2028", "\u2029", "\u0085"}) {
    CAPTURE(end);
    const std::string name = "azure" + end + "metadata:" + end + " name: other" + end +
                             "data:" + end + " x: |" + end + "  y";
    for (const std::string consumer :
         {"generic", "kueue", "argocd", "multicluster-runtime", "headlamp", "sveltos", "knative"}) {
      CAPTURE(consumer);
      const Fleet fleet(profile("a", {provider(name, "https://a.example.com")}));
      CHECK(fleet.init({"--for", consumer}).exit_code == 0);
      const std::string text = fleet.written("mapping.yaml");
      for (const char* separator : {"\u2028", "\u2029", "\u0085"})
        CHECK_FALSE(has(text, separator));
      const auto map = execcred::parse_documents(text, 1024 * 1024);
      REQUIRE(map.has_value());
      REQUIRE(map->size() == 1);
      const execcred::json::Value* const data = map->front().find("data");
      REQUIRE(data->object()->size() == 1);
      const std::string& mapping = *data->object()->front().value.string();
      // Kueue's is YAML itself.
      const auto inner = execcred::parse_documents(mapping, 1024 * 1024);
      REQUIRE(inner.has_value());
      CHECK(inner->size() == 1);
      CHECK(has(execcred::json::to_text(inner->front()), name));
    }
  }
}

TEST_CASE("init: a server that cannot be used is 1, and 2 if there is no other") {
  const std::string good = profile("a", {provider("token-file", "https://a.example.com")});
  for (const std::string server :
       {"http://b.example.com", "b", "https://b/k8s/*", "https://b?x=1"}) {
    CAPTURE(server);
    const std::string bad = profile("b", {provider("token-file", server)});
    const Fleet mixed(good + "\n---\n" + bad);
    const Outcome outcome = mixed.init({});
    CHECK(outcome.exit_code == 1);
    CHECK(has(outcome.error_output, "'fleet/b': status.accessProviders[0].cluster.server"));
    CHECK(has(outcome.error_output, ", so it is left out"));
    CHECK(has(mixed.written("mapping.json"), "--allow-server=https://a.example.com"));
    CHECK(Fleet(bad).init({}).exit_code == 2);
  }
}

TEST_CASE("init: what get refuses in a ClusterProfile is reported, and the rest is written") {
  const std::string server = "https://b.example.com";
  struct Row {
    std::string providers;
    std::string problem;
  };
  for (const Row& row : std::vector<Row>{
           {provider("", server), "status.accessProviders[0].name is empty"},
           {"true", "status.accessProviders[0]"},
           {provider("eks", server) + "," + provider("eks", server),
            "status.accessProviders[1].name is 'eks', like that of an entry before it"},
           {provider("eks", server, R"(,"certificate-authority":"/etc/ca.crt")"),
            "status.accessProviders[0].cluster.certificate-authority"},
           {R"({"name":"eks"})", "status.accessProviders[0].cluster is missing"}}) {
    CAPTURE(row.problem);
    const Fleet fleet(profile("a", {provider("token-file", "https://a.example.com")}) + "\n---\n" +
                      profile("b", {row.providers}));
    const Outcome outcome = fleet.init({});
    CHECK_MESSAGE(outcome.exit_code == 1, describe(outcome));
    CHECK_MESSAGE(has(outcome.error_output, "ClusterProfile 'fleet/b': " + row.problem),
                  describe(outcome));
    CHECK_FALSE(has(fleet.written("mapping.json"), "b.example.com"));
    CHECK(has(fleet.written("mapping.json"), "--allow-server=https://a.example.com"));
  }
}

TEST_CASE("init: servers of one host get no token, and one server gets it as its profile has it") {
  const Fleet fleet(profile("a", {provider("token-file", "https://a.example.com")}) + "\n---\n" +
                    profile("b", {provider("token-file", "https://10.0.0.1:6443")}) + "\n---\n" +
                    profile("c", {provider("token-file", "https://10.0.0.1:7443")}) + "\n---\n" +
                    profile("d", {provider("token-file", "https://r.example.com/k8s/d")}) +
                    "\n---\n" +
                    profile("e", {provider("token-file", "https://r.example.com/k8s/e")}));
  const Outcome outcome = fleet.init({});
  CHECK(outcome.exit_code == 0);
  CHECK(has(outcome.error_output, "2 servers have the host '10.0.0.1'"));
  CHECK(has(outcome.error_output, "2 servers have the host 'r.example.com'"));
  const std::string pod = fleet.written("init-container.yaml");
  CHECK(has(pod, "audience: https://a.example.com\n"));
  CHECK_FALSE(has(pod, "10.0.0.1"));
  CHECK_FALSE(has(pod, "r.example.com"));
}

TEST_CASE("init: --plugin-dir is where the manifests install too, and is absolute") {
  for (const std::string consumer :
       {"generic", "kueue", "argocd", "multicluster-runtime", "headlamp", "sveltos", "knative"}) {
    CAPTURE(consumer);
    const Fleet fleet(two_clusters());
    CHECK(fleet.init({"--for", consumer, "--plugin-dir=/opt/execcred"}).exit_code == 0);
    for (const auto& entry : std::filesystem::directory_iterator(fleet.sandbox.at("out"))) {
      const std::string file = entry.path().filename().native();
      CAPTURE(file);
      const std::string text = fleet.written(file);
      CHECK_FALSE(has(text, "/plugins"));
      if (has(text, "install")) CHECK(has(text, "mountPath: /opt/execcred\n"));
    }
  }
  for (const std::string directory : {"plugins", "~/plugins", "./x"}) {
    CHECK(Fleet(two_clusters()).init({"--plugin-dir=" + directory}).exit_code == 2);
  }
}

TEST_CASE("init: one provider cannot get two plugins") {
  const Fleet fleet(two_clusters());
  const Outcome outcome = fleet.init({"--plugin=p=execcred-aws", "--plugin=p=execcred-azure"});
  CHECK(outcome.exit_code == 2);
  CHECK(has(outcome.error_output, "'p' is given execcred-aws and execcred-azure"));
  CHECK(fleet.init({"--plugin=p=execcred-aws", "--plugin=p=execcred-aws"}).exit_code == 0);
}

TEST_CASE("init: hostile names are text in JSON, YAML and the shell") {
  const Fleet fleet(
      two_clusters() + "\n---\n" +
      profile("c", {with_config("eks", "https://c.example.com",
                                R"({"clusterName":"a: {b}\n---\nkind: Secret"})"),
                    R"({"name":"a b$(id)': ","cluster":{"server":"https://x.example.com"}})",
                    with_config("secretreader", "https://d.example.com",
                                R"({"clusterName":"../x\n- y"})")}));
  const std::string odd_name = "a b$(id)': ";
  const Outcome outcome = fleet.init({"--plugin", odd_name + "=execcred-aws"});
  CHECK_MESSAGE(outcome.exit_code == 0, describe(outcome));
  const auto mapping = execcred::parse_documents(fleet.written("mapping.json"), 1024 * 1024);
  REQUIRE(mapping.has_value());
  CHECK(mapping->size() == 1);
  CHECK(json_at(fleet.written("mapping.json"), "providers.0.name") == odd_name);
  const auto rbac = execcred::parse_documents(fleet.written("rbac.yaml"), 1024 * 1024);
  REQUIRE(rbac.has_value());
  for (const auto& document : *rbac) {
    CHECK(has(execcred::json::to_text(document), R"("kind":"Role)"));
  }
  CHECK_FALSE(has(fleet.written("rbac.yaml"), "../x"));
  CHECK(has(outcome.error_output, "names no Secret, so rbac.yaml lacks it"));
  // So is each word of the next command.
  const std::string odd_directory = fleet.sandbox.at("it's $(id) \"out\"");
  const Outcome odd =
      run({.arguments = {kCli, "init", "-f", fleet.sandbox.at("profiles.yaml"), "-o", odd_directory,
                         "--plugin", odd_name + "=execcred-aws"}});
  REQUIRE(odd.exit_code == 0);
  const Texts words = execcred::split_shell_words(lines_of(odd.output).back()).value();
  CHECK(words == Texts{"next:", "execcred", "lint", "--for=generic", odd_directory,
                       fleet.sandbox.at("profiles.yaml")});
  // An unknown name in a hint is one word of the shell.
  const Outcome unknown = fleet.init({"--force"});
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.error_output.find("--plugin='a b$(id)'") != std::string::npos);
}
