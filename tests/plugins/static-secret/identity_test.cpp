// SPDX-License-Identifier: Apache-2.0
// The plugin's identity at the hub, and its own namespace: from the Pod or a kubeconfig.
#include "material.hpp"
#include "pod.hpp"
#include "support/stream_server.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace execcred::test {
namespace {

using blackbox::base64;

const Texts kReader = {"--convention=secretreader"};
const Texts kCpCreds = {"--convention=cp-creds", "--managed-serviceaccount=msa"};

std::string variable_of_cluster() {
  return asked_for(kSpoke, R"({"clusterName":"spoke-1"})").front();
}

// A hub with the same Secrets in several namespaces, and another token in each.
struct Namespaces {
  Plugin plugin{""};
  std::map<std::string, std::string> tokens = {};

  Namespaces() {
    for (const std::string name :
         {"clusters", "default", "from-context", "from-env", "from-pod-env", "pod-namespace"}) {
      tokens[name] = new_token();
      for (const std::string secret : {"spoke-1", "spoke-1-msa"}) {
        plugin.hub.add({.name = secret, .data = {{"token", tokens[name]}}, .name_space = name});
      }
    }
  }

  std::string write_kubeconfig(const std::string& name_space) const {
    return plugin.sandbox.write("config", plugin.hub.kubeconfig(name_space), 0600);
  }

  ServiceAccount account() const {
    return {.token = plugin.hub.token(), .ca = plugin.hub.ca_pem()};
  }

  std::string namespace_of(const Outcome& outcome) const {
    for (const auto& [name, token] : tokens) {
      if (token == token_of(outcome)) return name;
    }
    return describe(outcome);
  }

  Texts pod_variables() const {
    const std::string url = plugin.hub.url();
    return {variable_of_cluster(), "KUBERNETES_SERVICE_HOST=127.0.0.1",
            "KUBERNETES_SERVICE_PORT=" + url.substr(url.rfind(':') + 1)};
  }
};

Outcome run_with(const std::string& kubeconfig, const std::string& user) {
  const blackbox::Sandbox sandbox;
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"token", new_token()}}});
  std::string text = kubeconfig.empty() ? plugin.hub.kubeconfig() : kubeconfig;
  const std::size_t at = text.find("{token: ");
  if (!user.empty()) text.replace(at, text.find('}', at) - at + 1, user);
  for (std::size_t i = text.find("TOKEN"); i != std::string::npos; i = text.find("TOKEN")) {
    text.replace(i, 5, plugin.hub.token());
  }
  sandbox.write("token", plugin.hub.token() + "\n", 0600);
  sandbox.write("ca.crt", plugin.hub.ca_pem(), 0600);
  const std::string path = sandbox.write("config", text, 0600);
  return blackbox::run(
      plugin_of({"--kubeconfig=" + path, "--secret-name=spoke-1"}, {variable_of_cluster()}));
}

}  // namespace

TEST_CASE("own namespace, outside of a Pod: the kubeconfig's context, else default") {
  const Namespaces hub;
  const std::string path = hub.write_kubeconfig("from-context");
  const auto run = [&](Texts arguments, Texts variables) {
    variables.push_back(variable_of_cluster());
    return hub.namespace_of(blackbox::run(plugin_of(std::move(arguments), std::move(variables))));
  };
  CHECK(run(kReader, {"KUBECONFIG=" + path}) == "from-context");
  CHECK(run(kReader, {"KUBECONFIG=" + path, "NAMESPACE=from-env"}) == "from-context");
  CHECK(run(kCpCreds, {"KUBECONFIG=" + path, "NAMESPACE=from-env"}) == "from-env");
  CHECK(run(kCpCreds, {"KUBECONFIG=" + path}) == "from-context");
  hub.write_kubeconfig("");
  CHECK(run(kReader, {"KUBECONFIG=" + path}) == "default");
  CHECK(run(kCpCreds, {"KUBECONFIG=" + path}) == "default");
  CHECK(run(kReader, {"KUBECONFIG=/nowhere/config:" + path}) == "default");
}

TEST_CASE("own namespace: POD_NAMESPACE has the place of the Pod's file, and overrides it") {
  const Namespaces hub;
  const std::string path = hub.write_kubeconfig("from-context");
  const std::string pod = "POD_NAMESPACE=from-pod-env";
  const auto run = [&](Texts arguments, Texts variables) {
    variables.push_back(variable_of_cluster());
    return hub.namespace_of(blackbox::run(plugin_of(std::move(arguments), std::move(variables))));
  };
  CHECK(run(kReader, {"KUBECONFIG=" + path, pod}) == "from-context");
  CHECK(run(kCpCreds, {"KUBECONFIG=" + path, pod}) == "from-pod-env");
  CHECK(run(kCpCreds, {"KUBECONFIG=" + path, pod, "NAMESPACE=from-env"}) == "from-env");
  CHECK(run(kCpCreds, {"KUBECONFIG=" + path, "POD_NAMESPACE="}) == "from-context");
  hub.write_kubeconfig("");
  CHECK(run(kReader, {"KUBECONFIG=" + path, pod}) == "from-pod-env");
  CHECK(run(kReader, {"KUBECONFIG=" + path, "POD_NAMESPACE="}) == "default");
  const Outcome outcome = blackbox::run(
      plugin_of(kReader, {"KUBECONFIG=" + path, "POD_NAMESPACE=a/../b", variable_of_cluster()}));
  CHECK_REFUSAL(outcome, 2, "this side's own namespace 'a/../b' is no namespace's name");
  if (!can_be_pod()) return;
  const auto run_there = [&](Texts arguments, Texts variables) {
    const Texts of_pod = hub.pod_variables();
    variables.insert(variables.end(), of_pod.begin(), of_pod.end());
    return hub.namespace_of(run_in_pod(plugin_of(std::move(arguments), variables), hub.account()));
  };
  for (const Texts& convention : {kReader, kCpCreds}) {
    CAPTURE(convention.front());
    CHECK(run_there(convention, {pod}) == "from-pod-env");
    CHECK(run_there(convention, {"POD_NAMESPACE="}) == "pod-namespace");
    CHECK(run_there(convention, {"KUBECONFIG=" + path, pod}) == "from-pod-env");
  }
  CHECK(run_there(kCpCreds, {pod, "NAMESPACE=from-env"}) == "from-env");
}

TEST_CASE("own namespace, in a Pod: the context's precedes the Pod's, except for cp-creds") {
  if (!can_be_pod()) return;
  const Namespaces hub;
  const std::string path = hub.write_kubeconfig("from-context");
  const auto run = [&](Texts arguments, const std::string& variable) {
    Texts variables = hub.pod_variables();
    if (!variable.empty()) variables.push_back(variable);
    return hub.namespace_of(run_in_pod(plugin_of(std::move(arguments), variables), hub.account()));
  };
  CHECK(run(kReader, "") == "pod-namespace");
  CHECK(run(kReader, "NAMESPACE=from-env") == "pod-namespace");
  CHECK(run(kReader, "KUBECONFIG=" + path) == "from-context");
  CHECK(run(kCpCreds, "") == "pod-namespace");
  CHECK(run(kCpCreds, "NAMESPACE=from-env") == "from-env");
  CHECK(run(kCpCreds, "KUBECONFIG=" + path) == "pod-namespace");
  hub.write_kubeconfig("");
  CHECK(run(kReader, "KUBECONFIG=" + path) == "pod-namespace");
}

TEST_CASE("in a Pod: a file with the token of its own service account is refused") {
  if (!can_be_pod()) return;
  const Namespaces hub;
  const blackbox::Sandbox sandbox;
  sandbox.write("token", hub.plugin.hub.token(), 0600);
  const Texts arguments = {"--secret-dir=" + sandbox.path().native()};
  const auto run = [&](Texts more, const std::string& variable = "NONE=") {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    Texts variables = hub.pod_variables();
    variables.push_back(variable);
    return run_in_pod(plugin_of(more, variables), hub.account());
  };
  CHECK_REFUSAL(run({}), 1, "one of the hub's own");
  CHECK_SUCCESS(run({"--allow-hub-token"}));
  // Another hub makes no difference.
  std::string other = hub.plugin.hub.kubeconfig();
  const std::size_t at = other.find("{token: ");
  other.replace(at, other.find('}', at) - at, "{token: " + new_opaque_token());
  const std::string path = sandbox.write("config", other, 0600);
  CHECK_REFUSAL(run({}, "KUBECONFIG=" + path), 1, "one of the hub's own");
  CHECK_REFUSAL(run({"--kubeconfig=" + path}), 1, "one of the hub's own");
}

TEST_CASE("in a Pod: Istio's certificate is found where its agent mounts it") {
  if (!can_be_pod()) return;
  const Pair pair = make_pair();
  const Texts arguments = {"--convention=mounted-certificate"};
  const Outcome outcome = run_in_pod(
      plugin_of(arguments), {.workload_certificate = pair.certificate, .workload_key = pair.key});
  CHECK_SUCCESS(outcome);
  CHECK((blackbox::read_answer(outcome.output).certificate == pair.certificate));
  CHECK_REFUSAL(run_in_pod(plugin_of(arguments), {}), 2, "workload-spiffe-credentials");
}

TEST_CASE("in a Pod without a token: the hint names automountServiceAccountToken") {
  if (!can_be_pod()) return;
  const Namespaces hub;
  ServiceAccount account = hub.account();
  account.token.clear();
  CHECK_REFUSAL(run_in_pod(plugin_of(kReader, hub.pod_variables()), account), 2,
                "automountServiceAccountToken");
}

TEST_CASE("identity: no hub at all is a configuration error that says what to pass") {
  CHECK_REFUSAL(blackbox::run(plugin_of(kReader, {variable_of_cluster()})), 2,
                "pass --kubeconfig=PATH");
  CHECK_REFUSAL(blackbox::run(plugin_of({"--kubeconfig=/nowhere/config", "--secret-name=a"})), 2,
                "/nowhere/config");
}

TEST_CASE(
    "identity: a token, a token file, which wins if it is there, and relative paths from the "
    "file's folder") {
  for (const std::string user :
       {"{token: TOKEN}", "{tokenFile: token}", "{token: other, tokenFile: ./token}",
        "{token: TOKEN, tokenFile: none}"}) {
    CAPTURE(user);
    CHECK_SUCCESS(run_with("", user));
  }
}

TEST_CASE("identity: programs, impersonation and passwords are refused with the reason") {
  struct Case {
    std::string user, text;
  };
  for (const Case& c :
       {Case{"{exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh}}",
             "an exec section, which would start another plugin"},
        Case{"{auth-provider: {name: oidc, config: {id-token: TOKEN}}}",
             "an auth-provider section"},
        Case{"{token: TOKEN, as: admin}", "'as', to act as another user"},
        Case{"{username: u, password: p}", "a username or password"},
        Case{"{}", "neither a token nor a client certificate"}}) {
    CAPTURE(c.text);
    CHECK_REFUSAL(run_with("", c.user), 2, c.text);
  }
}

TEST_CASE("identity: a hub that is not verified, or not https, is refused") {
  const std::string rest =
      "\nusers: [{name: u, user: {token: TOKEN}}]\ncontexts: [{name: c, context: {cluster: h, "
      "user: u}}]\n";
  for (const std::string cluster :
       {"server: http://127.0.0.1:1",
        "server: 'https://127.0.0.1:1', insecure-skip-tls-verify: true", "server: ''",
        "server: 'https://127.0.0.1:1/?a=b'", "server: 'https://u:p@127.0.0.1:1'"}) {
    CAPTURE(cluster);
    CHECK_FAILURE(
        run_with("clusters: [{name: h, cluster: {" + std::string(cluster) + "}}]" + rest, ""), 2,
        "reading the hub's kubeconfig, --kubeconfig '");
  }
}

TEST_CASE("identity: those of KUBECONFIG's files that are missing or empty are skipped") {
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"token", new_token()}}});
  const std::string good = plugin.sandbox.write("good", plugin.hub.kubeconfig(), 0600);
  const std::string empty = plugin.sandbox.write("empty", "", 0600);
  const auto run = [](const std::string& paths) {
    return blackbox::run(
        plugin_of({"--secret-name=spoke-1"}, {"KUBECONFIG=" + paths, variable_of_cluster()}));
  };
  CHECK_SUCCESS(run("/nowhere:" + empty + ":" + good));
  CHECK_REFUSAL(run(empty), 2, "empty");
}

TEST_CASE("identity: the hub's CA may be in a file, and an empty file is an error") {
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"token", new_token()}}});
  std::string text = plugin.hub.kubeconfig();
  const std::size_t at = text.find("certificate-authority-data: ");
  text.replace(at, text.find('\n', at) - at, "certificate-authority: ca.crt");
  const Texts arguments = {"--kubeconfig=" + plugin.sandbox.write("config", text, 0600),
                           "--secret-name=spoke-1"};
  plugin.sandbox.write("ca.crt", plugin.hub.ca_pem(), 0600);
  CHECK_SUCCESS(blackbox::run(plugin_of(arguments, {variable_of_cluster()})));
  plugin.sandbox.write("ca.crt", "", 0600);
  CHECK_REFUSAL(blackbox::run(plugin_of(arguments, {variable_of_cluster()})), 2,
                "holds no certificate");
}

TEST_CASE("identity: a client certificate, for a hub that requires one") {
  const Identity authority = make_ca("hub's CA of clients");
  const Identity client = make_identity({.common_name = "reader", .issuer = &authority});
  const Identity server = make_identity({});
  const std::string token = new_token();
  const std::string body =
      to_json({.name = "spoke-1", .data = {{"token", token}}, .name_space = "default"});
  std::atomic<bool> was_known = false;
  const StreamServer hub(
      [&](Stream& stream) {
        if (stream.read_request().empty()) return;
        was_known = stream.has_peer_certificate();
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\n\r\n" + body);
      },
      {.identity = &server, .client_ca = &authority});
  const blackbox::Sandbox sandbox;
  const auto run = [&](const std::string& user, const std::string& more = "--allow-hub-token") {
    const std::string path =
        sandbox.write("config",
                      "clusters: [{name: h, cluster: {server: '" + hub.url("") +
                          "', certificate-authority-data: " + base64(server.pem) +
                          "}}]\nusers: [{name: u, user: {" + user +
                          "}}]\ncontexts: [{name: c, context: {cluster: h, user: u}}]\n",
                      0600);
    return blackbox::run(plugin_of({"--kubeconfig=" + path, "--secret-name=spoke-1", more}));
  };
  CHECK(token_of(run("client-certificate-data: " + base64(client.pem) +
                     ", client-key-data: " + base64(client.key_pem))) == token);
  CHECK(was_known);
  sandbox.write("c.pem", client.pem, 0600);
  sandbox.write("k.pem", client.key_pem, 0600);
  CHECK(token_of(run("client-certificate: c.pem, client-key: k.pem")) == token);
  // A certificate does not show which tokens are the hub's.
  CHECK_REFUSAL(run("client-certificate: c.pem, client-key: k.pem", "--max-age=5m"), 1,
                "may be one of the hub's own");
  CHECK_FAILURE(run("client-certificate: c.pem"), 2,
                "client-key is missing, and so is client-key-data");
  CHECK_FAILURE(run("token: t"), 3, "wants a client certificate (TLS: certificate required)");
}

}  // namespace execcred::test
