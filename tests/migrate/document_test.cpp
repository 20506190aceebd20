// SPDX-License-Identifier: Apache-2.0
#include "migrate/document.hpp"
#include "migrate/report.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/url_pattern.hpp>
#include <execcred/json/json.hpp>
#include <execcred/kube/provider_mapping.hpp>
#include <execcred/yaml/documents.hpp>

#include <string>

namespace execcred::migrate {
namespace {

using execcred::test::check_fails;
using execcred::test::contains;

std::string kubeconfig(const std::string& users, const std::string& rest = "") {
  return "apiVersion: v1\nkind: Config\n" + rest + "users:\n" + users;
}

std::string user(const std::string& name, const std::string& exec) {
  return "- {name: " + name + ", user: {exec: {" + exec + "}}}\n";
}

Rewritten rewritten(const std::string& text) {
  Result<Rewritten> result = rewrite(text, {.plugin_dir = "/opt/plugins"});
  if (!result) FAIL(result.error().message);
  return std::move(result).value();
}

// The whole document as compact JSON.
std::string compact(const std::string& text) {
  const Result<std::vector<json::Value>> documents = parse_documents(text, 1 << 20);
  REQUIRE(documents);
  return json::to_text(documents->front());
}

// The migrated GKE user "u", with these clusters and contexts.
std::string with_clusters(const std::string& clusters, const std::string& contexts) {
  return compact(
      rewritten(kubeconfig(user("u", "command: gke-auth-plugin"),
                           "clusters: [" + clusters + "]\ncontexts: [" + contexts + "]\n"))
          .text);
}

std::string cluster(const std::string& name, const std::string& members) {
  return "{name: " + name + ", cluster: {" + members + "}},";
}

std::string context(const std::string& name) {
  return "{name: " + name + ", context: {user: u, cluster: " + name + "}},";
}

TEST_CASE("rewrite: only the exec section of a user of a known plugin changes") {
  const Rewritten result = rewritten(kubeconfig(
      user("eks",
           "x-own: {a: 1e400}, command: aws, apiVersion: client.authentication.k8s.io/v1beta1, "
           "args: [eks, get-token, --cluster-name, prod], env: null, installHint: get aws, "
           "interactiveMode: IfAvailable, provideClusterInfo: false") +
      "- {name: no, user: {token: t}}\n- {name: own, user: {exec: {command: ./aws-vault}}}\n"));
  CHECK(compact(result.text) ==
        R"({"apiVersion":"v1","kind":"Config","users":[{"name":"eks","user":{"exec":{)"
        R"("x-own":{"a":"1e400"},"command":"/opt/plugins/execcred-aws",)"
        R"("apiVersion":"client.authentication.k8s.io/v1beta1","args":["--cluster-id=prod"],)"
        R"("installHint":"put the execcred plugins under /opt/plugins, or change this command to )"
        R"(where they are","interactiveMode":"Never","provideClusterInfo":false}}},)"
        R"({"name":false,"user":{"token":"t"}},)"
        R"({"name":"own","user":{"exec":{"command":"./aws-vault"}}}]})");
  CHECK(is_complete(result));
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings.front().path == "users[0].user.exec");
}

TEST_CASE("rewrite: a second run finds nothing, and writes the same bytes") {
  const std::string text = kubeconfig(user("u", "command: gke-auth-plugin"), "# mine\n");
  const Rewritten first = rewritten(text);
  CHECK(first.has_lost_comments);
  CHECK(first.text != text);
  const Rewritten second = rewritten(first.text);
  CHECK(second.findings.empty());
  CHECK(second.text == first.text);
  CHECK(contains(report(second, "/p"), "no user of a known plugin was found"));
}

TEST_CASE("rewrite: a user with an option that cannot be carried over stays byte for byte") {
  const std::string text =
      kubeconfig(user("u", "command: aws, args: [eks, get-token, --cluster-name, c, --query, x]"));
  const Rewritten result = rewritten(text);
  CHECK(result.text == text);
  CHECK_FALSE(is_complete(result));
  const std::string told = report(result, "/p");
  CHECK(contains(told, "users[0].user.exec 'u': aws eks get-token stays as it is\n"));
  CHECK(contains(told, "  not carried over  --query: "));
  CHECK(contains(told, "0 users carried over, 1 user left\n"));
}

TEST_CASE("rewrite: malformed args and env of a known plugin are reported, not guessed") {
  for (const std::string& members :
       {std::string("args: [1]"), std::string("args: x"), std::string("env: {A: b}"),
        std::string("env: [{value: b}]"), std::string("env: [{name: A, value: 1}]")}) {
    CAPTURE(members);
    const Rewritten result =
        rewritten(kubeconfig(user("u", "command: gke-auth-plugin, " + members)));
    CHECK_FALSE(is_complete(result));
    CHECK(contains(report(result, "/p"), "it is malformed"));
  }
}

TEST_CASE("rewrite: a missing apiVersion and v1alpha1 become v1, and v1beta1 stays") {
  const auto version = [](const std::string& text) {
    const Rewritten result = rewritten(kubeconfig(user("u", "command: gke-auth-plugin" + text)));
    const std::string after = compact(result.text);
    CHECK(contains(report(result, "/p"), "apiVersion was ") ==
          contains(after, "\"client.authentication.k8s.io/v1\""));
    return after.substr(after.find("client.authentication"), 36);
  };
  CHECK(version(", apiVersion: client.authentication.k8s.io/v1beta1") ==
        "client.authentication.k8s.io/v1beta1");
  CHECK(version(", apiVersion: client.authentication.k8s.io/v1alpha1")
            .starts_with("client.authentication.k8s.io/v1\""));
  CHECK(version("").starts_with("client.authentication.k8s.io/v1\""));
}

TEST_CASE("rewrite: a token that is valid at many servers is limited to those of its contexts") {
  const std::string both = with_clusters(
      cluster("a", "server: 'https://A.example.com:443/'") +
          cluster("b", "server: 'https://[fd00::1]:6443/k8s', proxy-url: 'http://p:3128'") +
          cluster("other", "server: 'https://other'"),
      context("a") + context("b") + context("a"));
  CHECK(contains(both,
                 R"("args":["--allow-server=https://a.example.com",)"
                 R"("--allow-server=https://[fd00::1]:6443/k8s","--allow-proxy=http://p:3128"])"));
  CHECK(contains(both, R"("provideClusterInfo":true)"));
  for (const std::string& pattern :
       {std::string("https://a.example.com"), std::string("https://[fd00::1]:6443/k8s")}) {
    CHECK(UrlPattern::parse(pattern, UrlPattern::Use::server));
  }
}

TEST_CASE("rewrite: servers are not limited where that would break a working setup") {
  for (const std::string& members :
       {std::string("server: 'https://a', insecure-skip-tls-verify: true"),
        std::string("server: 'http://a'"), std::string("server: 'https://a?x=y'"),
        std::string("server: 'https://a/b/*'"), std::string("server: 'https://u:S3CRET@a'"),
        std::string("certificate-authority: /x"),
        std::string("server: 'https://a', proxy-url: 'http://u:S3CRET@p'")}) {
    CAPTURE(members);
    const std::string text =
        kubeconfig(user("u", "command: gke-auth-plugin"),
                   "clusters: [" + cluster("ok", "server: 'https://ok'") + cluster("a", members) +
                       "]\ncontexts: [" + context("ok") + context("a") + "]\n");
    const Rewritten result = rewritten(text);
    CHECK(is_complete(result));
    CHECK_FALSE(contains(result.text, "allow-server"));
    const std::string told = report(result, "/p");
    CHECK(contains(told, "add --allow-server=PATTERN"));
    CHECK(contains(told, "cluster 'a' has"));
    CHECK_FALSE(contains(told, "S3CRET"));
  }
  CHECK(contains(report(rewritten(kubeconfig(user("u", "command: gke-auth-plugin"))), "/p"),
                 "no context here names its clusters"));
  const std::string text = kubeconfig(user("u", "command: gke-auth-plugin"),
                                      "clusters: [" + cluster("a", "server: 'https://a'") +
                                          "]\ncontexts: [" + context("a") + context("b") + "]\n");
  CHECK_FALSE(contains(rewritten(text).text, "allow-server"));
  CHECK(contains(report(rewritten(text), "/p"), "cluster 'b' of a context is not in this file"));
  std::string clusters;
  std::string contexts;
  for (int i = 0; i < 101; ++i) {
    const std::string name = "c" + std::to_string(i);
    clusters += cluster(name, "server: 'https://" + name + "'");
    contexts += context(name);
  }
  CHECK_FALSE(contains(with_clusters(clusters, contexts), "allow-server"));
}

TEST_CASE("rewrite: a mapping keeps its order, its policies and the case of its keys") {
  const Rewritten result = rewritten(
      R"({"Providers":[{"name":"spire","EXECCONFIG":{"ApiVersion":"client.authentication.k8s.io/v1",)"
      R"("Command":"/p/spire-agent","ARGS":["api","fetch","jwt"],"Env":[{"NAME":"HOME","Value":"/h"}]},)"
      R"("profileSourcedCLIArgsPolicy":"Append"},{"name":"own","execConfig":{"command":"/x"}}]})");
  CHECK(is_complete(result));
  CHECK(
      compact(result.text) ==
      R"({"Providers":[{"name":"spire","EXECCONFIG":{)"
      R"("ApiVersion":"client.authentication.k8s.io/v1","Command":"/opt/plugins/execcred-spiffe",)"
      R"("ARGS":["--type=jwt","--from-profile"],"Env":[{"name":"HOME","value":"/h"}],)"
      R"("installHint":"put the execcred plugins under /opt/plugins, or change this command to )"
      R"(where they are","interactiveMode":"Never"},"profileSourcedCLIArgsPolicy":"Append"},)"
      R"({"name":"own","execConfig":{"command":"/x"}}]})");
  CHECK(contains(result.text, "\n  \"Providers\": ["));
  const std::string told = report(result, "/opt/plugins");
  CHECK(contains(told,
                 "providers[0].execConfig 'spire': spire-agent api fetch jwt → "
                 "/opt/plugins/execcred-spiffe\n"));
  CHECK(contains(told, "add --allow-server=PATTERN"));
}

TEST_CASE("rewrite: appended arguments do not replace an option that they may not set") {
  for (const std::string exec :
       {R"("command":"cp-creds")", R"("command":"argocd-k8s-auth","args":["oidc"])",
        R"("command":"kubelogin","args":["get-token","--grant-type=client-credentials",)"
        R"("--oidc-client-id=c"])",
        R"("command":"kubelogin","args":["get-token","--grant-type=client-credentials",)"
        R"("--oidc-issuer-url=http://idp","--oidc-client-id=c"])"}) {
    CAPTURE(exec);
    const Rewritten result = rewritten(R"({"providers":[{"name":"p","execConfig":{)" + exec +
                                       R"(},"profileSourcedCLIArgsPolicy":"Append"}]})");
    CHECK_FALSE(is_complete(result));
    CHECK(contains(report(result, "/p"), "not carried over"));
  }
}

TEST_CASE("rewrite: a migrated mapping is valid") {
  const Rewritten result = rewritten(
      R"({"providers":[{"name":"p","execConfig":{"apiVersion":"client.authentication.k8s.io/v1beta1",)"
      R"("command":"cp-creds","args":["--managed-serviceaccount=m"],"provideClusterInfo":false}}]})");
  const Result<ProviderMapping> mapping = parse_provider_mapping(result.text);
  REQUIRE(mapping);
  CHECK(mapping->providers.front().exec.command == "/opt/plugins/execcred-static-secret");
  CHECK(mapping->providers.front().exec.provide_cluster_info);
}

TEST_CASE("rewrite: variables that ClusterProfiles set cannot be carried over") {
  for (const std::string policy : {"Replace", "AppendIfNotExists"}) {
    const Rewritten result =
        rewritten(R"({"providers":[{"name":"p","execConfig":{"command":"secretreader"},)"
                  R"("profilesourcedenvvarspolicy":")" +
                  policy + "\"}]}");
    CHECK_FALSE(is_complete(result));
    CHECK(contains(report(result, "/p"), "profileSourcedEnvVarsPolicy '" + policy + "'"));
  }
}

TEST_CASE("rewrite: a user with an auth-provider stays, and the report names what replaces it") {
  struct Case {
    std::string user;
    std::string name;
    std::string told;
  };
  for (const Case& c : {
           Case{"auth-provider: {name: azure, config: {apiserver-id: a, tenant-id: t}}", "azure",
                "'kubelogin convert-kubeconfig -l workloadidentity', or '-l msi', and migrate"},
           Case{"auth-provider: {name: gcp, config: {access-token: S3CRET}}", "gcp",
                "'gcloud container clusters get-credentials', which writes gke-gcloud-auth-plugin"},
           Case{"auth-provider: {name: oidc, config: {refresh-token: S3CRET}}", "oidc",
                "another flow of execcred-oidc-federation"},
           Case{"auth-provider: {name: openstack}", "openstack", "no client knows it"},
           Case{"auth-provider: {config: {}}", "", "no client knows it"},
           Case{"exec: {command: aws}, auth-provider: {name: gcp}", "gcp", "clients refuse it"},
       }) {
    CAPTURE(c.user);
    const std::string text =
        kubeconfig("- {name: u, user: {" + c.user + "}}\n" +
                       user("other", "command: gke-auth-plugin, args: [--unknown]"),
                   "contexts: [" + context("x") + "]\n");
    const Rewritten result = rewritten(text);
    CHECK(result.text == text);
    REQUIRE(result.findings.size() == 2);
    CHECK(result.findings.front().path == "users[0].user.auth-provider");
    CHECK_FALSE(is_complete(result));
    const std::string told = report(result, "/p");
    CHECK_MESSAGE(contains(told, "users[0].user.auth-provider 'u': auth-provider"), told);
    CHECK_MESSAGE(contains(told, c.name), told);
    CHECK_MESSAGE(contains(told, c.told), told);
    CHECK_MESSAGE(!contains(told, "S3CRET"), told);
    const Result<Rewritten> of_context = rewrite(text, {.plugin_dir = "/p", .context = "x"});
    REQUIRE(of_context);
    CHECK(of_context->findings.size() == 1);
  }
  CHECK(rewritten(
            "kind: Config\nusers: [{user: {auth-provider: null}}, {user: {auth-provider: x}}]\n")
            .findings.empty());
}

TEST_CASE("rewrite: JSON stays JSON, and flow-style YAML becomes block-style YAML") {
  const std::string json = R"({"kind":"Config","users":[{"name":"u","user":{"exec":)"
                           R"({"command":"gke-auth-plugin"}}}]})";
  CHECK(rewritten(json).text.starts_with("{\n  \"kind\": \"Config\",\n"));
  CHECK(rewritten("{kind: Config, users: [{name: u, user: {exec: {command: gke-auth-plugin}}}]}")
            .text.starts_with("kind: Config\nusers:\n"));
}

TEST_CASE("rewrite: a byte order mark does not change the format") {
  const std::string mark = "\xef\xbb\xbf";
  const std::string exec = R"({"command":"gke-auth-plugin"})";
  const std::string mapping = R"({"providers":[{"name":"p","execConfig":)" + exec + "}]}";
  const std::string kubeconfig =
      R"({"kind":"Config","users":[{"name":"u","user":{"exec":)" + exec + "}}]}";
  for (const std::string& text :
       {mapping, kubeconfig,
        std::string("kind: Config\nusers: [{user: {exec: {command: gke-auth-plugin}}}]\n")}) {
    CAPTURE(text);
    CHECK(rewritten(mark + text).text == rewritten(text).text);
  }
  CHECK(rewritten(mark + R"({"kind":"Config"})").text == mark + R"({"kind":"Config"})");
}

TEST_CASE("rewrite: a JSON kubeconfig can be read by clients, which read it as YAML") {
  const std::string text =
      rewritten(R"({"kind":"Config","a":"\u007f\u0085\u2028\ufeff","users":[{"name":"u",)"
                R"("user":{"exec":{"command":"gke-auth-plugin"}}}]})")
          .text;
  CHECK(text.find(R"("a": "\u007f\u0085\u2028\ufeff")") != std::string::npos);
}

TEST_CASE("rewrite: anything other than one kubeconfig or JSON mapping is an error") {
  constexpr auto kConfiguration = Error::Kind::configuration;
  check_fails(rewrite("", {.plugin_dir = "/p"}), kConfiguration, "0 documents");
  check_fails(rewrite("kind: Config\n---\nkind: Config\n", {.plugin_dir = "/p"}), kConfiguration,
              "2 documents");
  check_fails(rewrite("kind: ConfigMap\n", {.plugin_dir = "/p"}), kConfiguration, "neither");
  check_fails(rewrite("[]", {.plugin_dir = "/p"}), kConfiguration, "neither");
  check_fails(rewrite("clusters: []\n", {.plugin_dir = "/p"}), kConfiguration, "neither");
  CHECK(rewrite("clusters: []\nusers: []\n",
                {.plugin_dir = "/p"}));  // kubectl accepts it without kind
  check_fails(rewrite("kind: Config\nusers: {}\n", {.plugin_dir = "/p"}), kConfiguration,
              "'users' must be");
  check_fails(rewrite(R"({"providers":{}})", {.plugin_dir = "/p"}), kConfiguration,
              "'providers' must be");
  check_fails(rewrite("providers: []\n", {.plugin_dir = "/p"}), kConfiguration,
              "mapping file is YAML");
  check_fails(rewrite(R"({"providers":[],"Providers":[]})", {.plugin_dir = "/p"}), kConfiguration,
              "has the key 'providers' more than once in the object that ends");
  check_fails(rewrite(R"({"kind":"Config","kind":"Config"})", {.plugin_dir = "/p"}), kConfiguration,
              "the document has the key 'kind' more than once in the object that ends");
  check_fails(rewrite("{\"kind\":", {.plugin_dir = "/p"}), kConfiguration,
              "the document is no valid JSON");
  check_fails(rewrite(std::string("\x7f"
                                  "ELF\0\1",
                                  6),
                      {.plugin_dir = "/p"}),
              kConfiguration, "control characters");
  CHECK(rewritten("kind: Config\n").findings.empty());
  CHECK(
      rewritten("kind: Config\nusers: [1, {}, {user: x}, {user: {exec: []}}]\n").findings.empty());
}

}  // namespace
}  // namespace execcred::migrate
