// SPDX-License-Identifier: Apache-2.0
// The confused deputy problem, continued: keys, lookups, names and certificates. Each case fails
// without the defence that its title names.
#include "material.hpp"
#include "plugin.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

using blackbox::base64;

HubSecret tls_secret(const Pair& pair) {
  return {.name = "spoke-1",
          .data = {{"tls.crt", pair.certificate}, {"tls.key", pair.key}},
          .type = "kubernetes.io/tls"};
}

std::string with_authority(const std::string& ca) {
  return "server: " + std::string(kSpoke) + ", certificate-authority-data: " + base64(ca);
}

}  // namespace

TEST_CASE("defence 6: only the format's own key is read, never another key of the Secret" *
          doctest::description("promise 6")) {
  const std::string token = new_opaque_token();
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"value", token}, {"password", token}}});
  for (const std::string format : {"token", "kubeconfig", "certificate", "argocd"}) {
    CAPTURE(format);
    const Outcome outcome =
        plugin.run({.arguments = {"--secret-name=spoke-1", "--format=" + format}});
    CHECK_REFUSAL(outcome, 1, "has no key");
    CHECK(says(outcome, "its keys are 'password', 'value'"));
  }
}

TEST_CASE("defence 7: a named Secret is read by one GET, and no list is requested" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"token", new_token()}}});
  CHECK_SUCCESS(plugin.run({.arguments = {"--convention=secretreader"}}));
  CHECK(plugin.hub.requests() == Texts{"GET /api/v1/namespaces/clusters/secrets/spoke-1"});
}

TEST_CASE("defence 7: if two Secrets have one cluster's labels, none of them is used" *
          doctest::description("promise 6")) {
  const std::map<std::string, std::string> labels = {{"x-k8s.io/cluster-profile", "spoke-1"},
                                                     {"x-k8s.io/cluster-inventory-consumer", "me"}};
  Plugin plugin;
  const std::string token = new_token();
  const std::string config = stored_kubeconfig("token: " + token);
  plugin.hub.add({.name = "one", .data = {{"Config", config}}, .labels = labels});
  const Texts arguments = {"--convention=cluster-profile"};
  CHECK(token_of(plugin.run({.arguments = arguments})) == token);
  plugin.hub.add({.name = "two", .data = {{"Config", config}}, .labels = labels});
  const Outcome outcome = plugin.run({.arguments = arguments});
  CHECK_REFUSAL(outcome, 1, "'clusters/one' and Secret 'clusters/two'");
}

TEST_CASE("defence 7: a bound credential is not sent through a ClusterProfile's proxy" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add(
      {.name = "spoke-1", .data = {{"kubeconfig", stored_kubeconfig("token: " + new_token())}}});
  const Texts arguments = {"--secret-name=spoke-1", "--format=kubeconfig"};
  const std::string proxy = R"(,"proxy-url":"http://evil.example.net:3128")";
  CHECK_REFUSAL(plugin.run({.arguments = arguments, .more_of_cluster = proxy}), 1, "proxy-url");
  CHECK_REFUSAL(plugin.run({.arguments = arguments,
                            .more_of_cluster = R"(,"insecure-skip-tls-verify":true)"}),
                1, "insecure-skip-tls-verify");
  Texts allowed = arguments;
  allowed.emplace_back("--allow-proxy=http://evil.example.net:3128");
  CHECK_SUCCESS(plugin.run({.arguments = allowed, .more_of_cluster = proxy}));
}

TEST_CASE("defence 7: the CA of the ClusterProfile must be the stored one" *
          doctest::description("promise 6")) {
  const std::string ca = make_pair({.usage = "", .is_ca = true}).certificate;
  const std::string other = make_pair({.usage = "", .is_ca = true}).certificate;
  Plugin plugin;
  plugin.hub.add(
      {.name = "spoke-1",
       .data = {{"kubeconfig", stored_kubeconfig("token: " + new_token(), with_authority(ca))}}});
  struct Case {
    std::string member;
    bool is_given;
  };
  for (const Case& c : {Case{ca_member(ca), true}, Case{ca_member("\n" + ca + ca), true},
                        Case{ca_member(other), false}, Case{ca_member(ca + other), false},
                        Case{"", false}, Case{ca_member("no PEM"), false}}) {
    CAPTURE(c.member);
    const Outcome outcome =
        plugin.run({.arguments = {"--secret-name=spoke-1", "--format=kubeconfig"},
                    .more_of_cluster = c.member});
    if (c.is_given) CHECK_SUCCESS(outcome);
    if (!c.is_given) CHECK_REFUSAL(outcome, 1, "certificate-authority-data");
  }
}

TEST_CASE("defence 7: the CA stored beside a token binds with the annotation's server" *
          doctest::description("promise 6")) {
  const std::string ca = make_pair({.usage = "", .is_ca = true}).certificate;
  const std::string other = make_pair({.usage = "", .is_ca = true}).certificate;
  for (const std::string key : {"ca.crt", "caBundle"}) {
    CAPTURE(key);
    Plugin plugin;
    plugin.hub.add({.name = "spoke-1",
                    .data = {{"token", new_token()}, {key, ca}},
                    .annotations = {{"example.com/server", std::string(kSpoke)}}});
    const Texts bound = {"--convention=secretreader", "--server-annotation=example.com/server"};
    CHECK_SUCCESS(plugin.run({.arguments = bound, .more_of_cluster = ca_member(ca)}));
    for (const std::string& member : {ca_member(other), std::string()}) {
      CHECK_REFUSAL(plugin.run({.arguments = bound, .more_of_cluster = member}), 1,
                    "certificate-authority-data");
    }
    // Without a bound server, the ClusterProfile's writer chooses server and CA.
    CHECK_SUCCESS(plugin.run({.arguments = {"--convention=secretreader"}}));
  }
}

TEST_CASE("defence 7: Fleet's apiServerCA applies without its apiServerURL too" *
          doctest::description("promise 6")) {
  const std::string ca = make_pair({.usage = "", .is_ca = true}).certificate;
  Plugin plugin;
  plugin.hub.add(
      {.name = "spoke-1",
       .data = {{"value", stored_kubeconfig("token: " + new_token())}, {"apiServerCA", ca}}});
  const Texts arguments = {"--secret-name=spoke-1", "--format=kubeconfig", "--key=value"};
  CHECK_SUCCESS(plugin.run({.arguments = arguments, .more_of_cluster = ca_member(ca)}));
  CHECK_REFUSAL(plugin.run({.arguments = arguments}), 1, "the Secret's apiServerCA");
}

TEST_CASE("defence 8: an invalid name or key never becomes part of a URL or path" *
          doctest::description("promise 6")) {
  struct Case {
    std::string config;
    int exit_code;
    std::string text = "error: spec.cluster.config.name";
  };
  const std::string kept = R"("name":"spoke-1","key":"token")";
  const std::string key = "error: spec.cluster.config.key";
  const std::string name_space = "error: spec.cluster.config.namespace";
  for (const Case& c :
       {Case{R"({"name":"../../../api/v1/nodes","key":"token"})", 2},
        Case{R"({"name":"a/b","key":"token"})", 2}, Case{R"({"name":"a?b","key":"token"})", 2},
        Case{R"({"name":"a%2fb","key":"token"})", 2}, Case{R"({"name":"A","key":"token"})", 2},
        Case{R"({"name":"..","key":"token"})", 2}, Case{R"({"name":"a b","key":"token"})", 2},
        Case{R"({"name":"a\nb","key":"token"})", 2},
        Case{R"({"name":"{{name}}","key":"token"})", 2},
        Case{R"({"name":"spoke-1","key":"../token"})", 2, key},
        Case{R"({"name":"spoke-1","key":".."})", 2, key},
        Case{R"({"name":"spoke-1","key":"a b"})", 2, key},
        Case{R"({"name":"spoke-1","key":"{{key}}"})", 2, key},
        Case{"{" + kept + R"(,"namespace":"a/../b"})", 2, name_space},
        Case{"{" + kept + R"(,"namespace":"a.b"})", 2, name_space},
        Case{"{" + kept + R"(,"namespace":"{{ns}}"})", 2, name_space},
        Case{R"({"clusterName":"../x","name":"{clusterName}","key":"token"})", 2,
             "the value of {clusterName}"},
        Case{R"({"clusterName":"{{name}}","name":"{clusterName}","key":"token"})", 2,
             "the cluster's name '{{name}}'"}}) {
    CAPTURE(c.config);
    Plugin plugin;
    plugin.hub.add({.name = "spoke-1", .data = {{"token", new_token()}}});
    const Outcome outcome =
        plugin.run({.arguments = {"--allow-namespace=any"}, .config = c.config});
    CHECK_FAILURE(outcome, c.exit_code, c.text);
    CHECK(plugin.hub.requests().empty());
  }
}

TEST_CASE("defence 8: a name with an unexpanded template is reported as such" *
          doctest::description("promise 6")) {
  const Plugin plugin;
  for (const std::string config :
       {R"({"name":"{{name}}","key":"token"})", R"({"name":"a","key":"{{ .key }}"})",
        R"({"clusterName":"{{name}}","name":"a","key":"b"})"}) {
    CAPTURE(config);
    CHECK_REFUSAL(plugin.run({.config = config}), 2, "template that nobody expanded");
  }
}

TEST_CASE("defence 8: the plugin's own namespace is checked too" *
          doctest::description("promise 6")) {
  Plugin plugin("a/../../../api/v1/nodes");
  CHECK_FAILURE(plugin.run({.arguments = {"--convention=secretreader"}}), 2, "this side");
  const Outcome outcome =
      Plugin().run({.arguments = {"--convention=cp-creds", "--managed-serviceaccount=m"},
                    .variables = {"NAMESPACE=a/../b"}});
  CHECK_REFUSAL(outcome, 2, "namespace");
}

TEST_CASE("defence 9: the certificate and key of a CA are never given" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add(tls_secret(make_pair({.usage = "", .is_ca = true})));
  CHECK_REFUSAL(plugin.run({.arguments = {"--secret-name=spoke-1", "--format=certificate"}}), 1,
                "is a CA certificate");
}

TEST_CASE("defence 9: a certificate that is not for clients is never given" *
          doctest::description("promise 6")) {
  for (const std::string usage : {"serverAuth", "codeSigning", "OCSPSigning"}) {
    CAPTURE(usage);
    Plugin plugin;
    plugin.hub.add(tls_secret(make_pair({.usage = usage})));
    CHECK_REFUSAL(plugin.run({.arguments = {"--secret-name=spoke-1", "--format=certificate"}}), 1,
                  "not for clients");
  }
  for (const std::string usage : {"clientAuth", "serverAuth,clientAuth", ""}) {
    CAPTURE(usage);
    Plugin plugin;
    plugin.hub.add(tls_secret(make_pair({.usage = usage})));
    CHECK_SUCCESS(plugin.run({.arguments = {"--secret-name=spoke-1", "--format=certificate"}}));
  }
}

TEST_CASE("defence 9: the same holds for a stored kubeconfig and for Argo CD's config" *
          doctest::description("promise 6")) {
  const Pair authority = make_pair({.usage = "", .is_ca = true});
  const std::string user = "client-certificate-data: " + base64(authority.certificate) +
                           ", client-key-data: " + base64(authority.key);
  Plugin plugin;
  plugin.hub.add({.name = "spoke-1", .data = {{"kubeconfig", stored_kubeconfig(user)}}});
  CHECK_REFUSAL(plugin.run({.arguments = {"--secret-name=spoke-1", "--format=kubeconfig"}}), 1,
                "is a CA certificate");
  plugin.hub.add(
      {.name = "argo",
       .data = {{"name", "spoke-1"},
                {"server", std::string(kSpoke)},
                {"config", R"({"tlsClientConfig":{"certData":")" + base64(authority.certificate) +
                               R"(","keyData":")" + base64(authority.key) + "\"}}"}},
       .labels = {{"argocd.argoproj.io/secret-type", "cluster"}}});
  CHECK_REFUSAL(plugin.run({.arguments = {"--convention=argocd"}}), 1, "is a CA certificate");
}

}  // namespace execcred::test
