// SPDX-License-Identifier: Apache-2.0
// execcred lint: what the catalogue of providers and consumers knows of names.
#include "cli/inventory.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace blackbox;
using nlohmann::json;

namespace {

using Texts = std::vector<std::string>;

const std::set<std::string> kNames = {"provider-name", "provider-not-mapped"};

// "SEVERITY RULE PATH: MESSAGE (HINT)" of each finding of these rules.
Texts findings(const Texts& documents, const Texts& options = {},
               const std::set<std::string>& rules = kNames) {
  const Sandbox sandbox;
  Texts arguments = {kCli, "lint", "--no-files", "-o", "json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    arguments.push_back(sandbox.write(std::to_string(i) + ".json", documents[i]));
  }
  const json items = json::parse(run({.arguments = arguments}).output)["items"];
  Texts found;
  for (const json& item : items) {
    const std::string rule = item["rule"];
    if (!rules.contains(rule)) continue;
    found.push_back(item["severity"].get<std::string>() + " " + rule + " " +
                    item["path"].get<std::string>() + ": " + item["message"].get<std::string>() +
                    " (" + item["hint"].get<std::string>() + ")");
  }
  return found;
}

bool has(const Texts& found, std::string_view part) {
  return found.size() == 1 && found.front().find(part) != std::string::npos;
}

std::string mapping_of(std::string_view name) {
  return mapping({mapped(name, "/plugins/execcred-aws")});
}

}  // namespace

TEST_CASE("lint: a misspelled provider of a mapping is named with the nearest one in use") {
  CHECK(findings({mapping_of("secretreadre")}) ==
        Texts{"warning provider-name providers[0].name: is 'secretreadre', and a name in use is "
              "'secretreader' (compare it with the names in status.accessProviders of the "
              "ClusterProfiles)"});
  CHECK(has(findings({mapping_of("open-cluster-managment")}), "'open-cluster-management'"));
  for (const char* const name : {"secretreader", "corp", "eks", "ek", "aws-fleet", "secretly"}) {
    CAPTURE(name);
    CHECK(findings({mapping_of(name)}).empty());
  }
}

TEST_CASE("lint: a misspelled provider of a ClusterProfile is named with the nearest one") {
  CHECK(has(findings({profile("a", {provider("spire-agnet")})}),
            "warning provider-name status.accessProviders: has 'spire-agnet', and a name in use is "
            "'spire-agent'"));
  // With a mapping, its names count.
  CHECK(has(findings({profile("a", {provider("spire-agnet")}), mapping_of("spire-agent")}),
            "('spire-agnet' is nearly 'spire-agent'; give an entry of "));
  CHECK(has(findings({profile("a", {provider("corp-1")}), mapping_of("corp-2")}),
            "('corp-1' is nearly 'corp-2'; "));
  CHECK(findings({profile("a", {provider("spire-agnet")}), mapping_of("spire-agnet")}).size() == 1);
}

TEST_CASE("lint: a provider that the mapping lacks and the catalogue knows gets its hint") {
  CHECK(has(findings({profile("a", {provider("google")}), mapping_of("eks")}),
            "('google' is for execcred-google, and execcred init writes its entry; give"));
  CHECK(has(findings({profile("a", {provider("argo-cd-builtin-gcp")}), mapping_of("eks")}),
            "('argo-cd-builtin-gcp' gets no entry: Argo CD has it built in, and reads no mapping "
            "for it; give"));
  // Argo CD reaches it.
  const Texts documents = {profile("a", {provider("argo-cd-builtin-gcp")}), mapping_of("eks")};
  CHECK(findings(documents, {"--for=argocd"}).empty());
  CHECK(has(findings(documents, {"--for=kueue"}), "error provider-not-mapped"));
}

TEST_CASE("lint: an entry that its consumer answers itself is never run") {
  CHECK(has(findings({mapping_of("argo-cd-builtin-gcp")}),
            "info provider-name providers[0].name: is 'argo-cd-builtin-gcp', which argocd has "
            "built in: it never runs this entry (for argocd, remove it)"));
  CHECK(has(findings({mapping_of("argo-cd-builtin-gcp")}, {"--for=argocd"}), "warning provider-n"));
  CHECK(findings({mapping_of("kubeconfig-secretreader")}).empty());
  CHECK(findings({mapping_of("kubeconfig-secretreader")}, {"--for=kueue"}).empty());
  CHECK(has(findings({mapping_of("kubeconfig-secretreader")}, {"--for=sveltos"}),
            "warning provider-name providers[0].name: is 'kubeconfig-secretreader', which sveltos "
            "has built in: it never runs this entry (for sveltos, remove it)"));
}

TEST_CASE("lint: what Kueue refuses in a ClusterProfile has a finding") {
  struct Row {
    std::string server;
    std::string more_of_cluster;
    std::string finding;
  };
  const std::string https = "https://10.1.2.3:6443";
  for (const Row& row :
       {Row{"http://10.1.2.3", "", "error cluster status.accessProviders[0].cluster.server: "},
        Row{"https://jane@10.1.2.3", "", "error cluster status.accessProviders[0].cluster.server"},
        Row{"https://jane:pass@10.1.2.3", "",
            "error secret status.accessProviders[0].cluster.server: "},
        Row{"https://[2001:db8::1]", "",
            "error kueue status.accessProviders[0].cluster.server: is 'https://[2001:db8::1]', an "
            "IPv6 address without a port, which Kueue refuses as an untrusted server endpoint "
            "(write its port, such as :443)"},
        Row{"https://[2001:db8::1]/a:6443", "", "error kueue status.accessProviders[0].cluster.s"},
        Row{"https://[fe80::1%25eth0]:6443", "",
            "error kueue status.accessProviders[0].cluster.server: is "
            "'https://[fe80::1%25eth0]:6443', with no DNS-1123 name, which Kueue refuses"},
        Row{"https://spoke_1.example.com", "", "error kueue status.accessProviders[0].cluster.s"},
        Row{"https://spoke-1.example.com.", "", "error kueue status.accessProviders[0].cluster.s"},
        Row{https, R"(,"proxy-url":"http://jane:pass@proxy")",
            "error secret status.accessProviders[0].cluster.proxy-url: "},
        Row{https, R"(,"insecure-skip-tls-verify":true)",
            "warning cluster status.accessProviders[0].cluster.insecure-skip-tls-verify: is true"},
        Row{https, R"(,"certificate-authority":"/etc/ca.crt")",
            "error cluster status.accessProviders[0].cluster.certificate-authority: "}}) {
    CAPTURE(row.server + row.more_of_cluster);
    const Texts found = findings({profile("a", {provider("eks", row.server, row.more_of_cluster)})},
                                 {"--for=kueue"}, {"cluster", "secret", "kueue"});
    const auto is_expected = [&row](const std::string& one) {
      return one.starts_with(row.finding);
    };
    CHECK(std::any_of(found.begin(), found.end(), is_expected));
    for (const std::string& one : found) CHECK(one.find("pass@") == std::string::npos);
  }
}

TEST_CASE("lint: a server that Kueue refuses is good for others, and reported in kubeconfigs too") {
  const auto servers_of = [](const std::string& server, const Texts& options) {
    return findings({profile("a", {provider("eks", server)})}, options, {"cluster", "kueue"});
  };
  for (const char* const server : {"https://[2001:db8::1]", "https://spoke_1.example.com"}) {
    CAPTURE(server);
    CHECK(servers_of(server, {}).empty());
    CHECK(servers_of(server, {"--for=argocd"}).empty());
  }
  for (const char* const server :
       {"https://[2001:db8::1]:6443", "https://[::1]:6443/path", "https://10.1.2.3",
        "https://SPOKE-1.example.com", "https://spoke-1.example.com:443/a"}) {
    CAPTURE(server);
    CHECK(servers_of(server, {"--for=kueue"}).size() == 1);  // of the namespace
  }
  const std::string kubeconfig =
      R"({"apiVersion":"v1","kind":"Config","current-context":"a",)"
      R"("clusters":[{"name":"a","cluster":{"server":"https://[2001:db8::1]"}}],)"
      R"("users":[{"name":"a","user":{}}],"contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}]})";
  CHECK(has(findings({kubeconfig}, {"--for=kueue"}, {"kueue"}),
            "error kueue clusters[0].cluster.server: is 'https://[2001:db8::1]', an IPv6 "));
  CHECK(findings({kubeconfig}, {}, {"kueue"}).empty());
}

TEST_CASE("lint: Kueue reads no ClusterProfile of another namespace than its own") {
  const auto in_namespace = [](const std::string& name) {
    std::string text = profile("a", {provider("eks")});
    const std::string usual = R"("namespace":"fleet")";
    return text.replace(text.find(usual), usual.size(), R"("namespace":")" + name + "\"");
  };
  CHECK(
      findings({in_namespace("fleet")}, {"--for=kueue"}, {"kueue"}) ==
      Texts{"warning kueue metadata.namespace: is 'fleet', and kueue reads ClusterProfiles of its "
            "own namespace alone (write it to 'kueue-system', or to the namespace where kueue "
            "runs)"});
  CHECK(findings({in_namespace("kueue-system")}, {"--for=kueue"}, {"kueue"}).empty());
  CHECK(findings({in_namespace("fleet")}, {}, {"kueue"}).empty());
}

TEST_CASE("lint: --for takes the consumers of the catalogue alone") {
  const Outcome outcome = run({.arguments = {kCli, "lint", "--for=kueu", "x.json"}});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.error_output.find("it may be generic, kueue, argocd, ") != std::string::npos);
}
