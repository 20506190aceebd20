// SPDX-License-Identifier: Apache-2.0
// The users of stored kubeconfigs and of Argo CD's clusters: what is used, and what is refused
// because it would start a program, read a file, or impersonate a user.
#include "material.hpp"
#include "plugin.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

using blackbox::base64;

Outcome of_user(const std::string& user, Texts arguments = {}) {
  Plugin plugin;
  plugin.hub.add({.name = "s", .data = {{"kubeconfig", stored_kubeconfig(user)}}});
  arguments.insert(arguments.begin(), {"--secret-name=s", "--format=kubeconfig"});
  return plugin.run({.arguments = arguments});
}

Outcome of_argocd(const std::string& config, const std::string& more = {}, Texts arguments = {}) {
  Plugin plugin;
  plugin.hub.add(
      {.name = "s",
       .data = {{"name", "spoke-1"}, {"server", std::string(kSpoke)}, {"config", config}},
       .labels = {{"argocd.argoproj.io/secret-type", "cluster"}}});
  arguments.emplace_back("--convention=argocd");
  return plugin.run({.arguments = arguments, .more_of_cluster = more});
}

std::string pair_of(const Pair& pair) {
  return "client-certificate-data: " + base64(pair.certificate) +
         ", client-key-data: " + base64(pair.key);
}

std::string argocd_pair(const Pair& pair, const std::string& more = {}) {
  return R"("tlsClientConfig":{"certData":")" + base64(pair.certificate) + R"(","keyData":")" +
         base64(pair.key) + "\"" + more + "}";
}

}  // namespace

TEST_CASE("kubeconfig user: a token, a certificate, and both only with --both") {
  const std::string token = new_token();
  const Pair pair = make_pair();
  const blackbox::Answer of_pair = blackbox::read_answer(of_user(pair_of(pair)).output);
  CHECK((of_pair.certificate == pair.certificate));
  CHECK((of_pair.key == pair.key));
  const std::string both = "token: " + token + ", " + pair_of(pair);
  blackbox::Answer answer = blackbox::read_answer(of_user(both).output);
  CHECK(answer.token == token);
  CHECK(answer.certificate.empty());
  answer = blackbox::read_answer(of_user(both, {"--both"}).output);
  CHECK(answer.token == token);
  CHECK((answer.certificate == pair.certificate));
}

TEST_CASE("--both: token and tls.crt of one Secret, and the token alone without it") {
  const std::string token = new_token();
  const Pair pair = make_pair();
  Plugin plugin;
  plugin.hub.add(
      {.name = "s",
       .data = {{"token", token}, {"tls.crt", pair.certificate}, {"tls.key", pair.key}}});
  blackbox::Answer answer =
      blackbox::read_answer(plugin.run({.arguments = {"--secret-name=s"}}).output);
  CHECK(answer.token == token);
  CHECK(answer.certificate.empty());
  answer = blackbox::read_answer(plugin.run({.arguments = {"--secret-name=s", "--both"}}).output);
  CHECK(answer.token == token);
  CHECK((answer.certificate == pair.certificate));
}

TEST_CASE("kubeconfig user: programs, files and impersonation are refused by name") {
  struct Case {
    std::string user, text;
  };
  for (const Case& c :
       {Case{"token: t, exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh}",
             "an exec section"},
        Case{"token: t, auth-provider: {name: gcp}", "auth-provider 'gcp'"},
        Case{"tokenFile: /etc/hostname", "--allow-field=tokenFile"},
        Case{"client-certificate: /a, client-key-data: YQ==", "--allow-field=clientCertificate"},
        Case{"client-key: /a, client-certificate-data: YQ==", "--allow-field=clientKey"},
        Case{"token: t, as: admin", "impersonation (as)"},
        Case{"token: t, as-uid: '7'", "impersonation (as-uid)"},
        Case{"token: t, as-groups: [system:masters]", "impersonation (as-groups)"},
        Case{"token: t, as-user-extra: {a: [b]}", "impersonation (as-user-extra)"},
        Case{"username: u, password: p", "username or password"},
        Case{"token: t, act-as: x", "unknown field 'act-as'"}}) {
    CAPTURE(c.text);
    CHECK_REFUSAL(of_user(c.user), 1, c.text);
  }
}

TEST_CASE("kubeconfig user: an invalid user beside the chosen one is refused too, as in Istio") {
  const std::string good = stored_kubeconfig("token: " + new_token());
  Plugin plugin;
  const std::string other = "- name: other\n  user: {exec: {command: /bin/sh}}\n";
  std::string text = good;
  text.insert(text.find("contexts:"), other);
  plugin.hub.add({.name = "s", .data = {{"kubeconfig", text}}});
  CHECK_REFUSAL(plugin.run({.arguments = {"--secret-name=s", "--format=kubeconfig"}}), 1,
                "user 'other' has an exec section");
}

TEST_CASE("kubeconfig user: each --allow-field allows one field, and no other") {
  const blackbox::Sandbox sandbox;
  const std::string token = new_token();
  const Pair pair = make_pair();
  const std::string token_file = sandbox.write("token", token, 0600);
  const std::string certificate = sandbox.write("tls.crt", pair.certificate, 0600);
  const std::string key = sandbox.write("tls.key", pair.key, 0600);
  CHECK(token_of(of_user("tokenFile: " + token_file, {"--allow-field=tokenFile"})) == token);
  CHECK(token_of(of_user("token: " + token + ", tokenFile: /none", {"--allow-field=tokenFile"})) ==
        token);
  CHECK_FAILURE(of_user("tokenFile: " + token_file, {"--allow-field=clientKey"}), 1,
                "has a tokenFile path, which");
  const std::string paths = "client-certificate: " + certificate + ", client-key: " + key;
  CHECK_FAILURE(of_user(paths, {"--allow-field=clientKey"}), 1, "has a client-certificate");
  CHECK_FAILURE(of_user(paths, {"--allow-field=clientCertificate"}), 1,
                "has a client-key path, which");
  CHECK_SUCCESS(of_user(paths, {"--allow-field=clientKey", "--allow-field=clientCertificate"}));
  CHECK_REFUSAL(of_user("token: t", {"--allow-field=exec"}), 2, "clientKey, clientCertificate");
  // A variable must not weaken a check.
  Plugin plugin;
  plugin.hub.add(
      {.name = "s", .data = {{"kubeconfig", stored_kubeconfig("tokenFile: " + token_file)}}});
  CHECK_FAILURE(plugin.run({.arguments = {"--secret-name=s", "--format=kubeconfig"},
                            .variables = {"EXECCRED_ALLOW_FIELD=tokenFile"}}),
                1, "has a tokenFile path, which");
}

TEST_CASE("kubeconfig user: an oidc provider's id-token is used while it is valid") {
  const std::string token = new_token();
  const std::string provider = "auth-provider: {name: oidc, config: {id-token: ";
  CHECK(token_of(of_user(provider + token + "}}")) == token);
  const Outcome expired = of_user(provider + new_token(-60) + "}}");
  CHECK_REFUSAL(expired, 1, "has expired");
  CHECK(says(expired, "execcred-oidc-federation gets new ones"));
  CHECK_REFUSAL(of_user("auth-provider: {name: oidc, config: {refresh-token: r}}"), 1,
                "execcred-oidc-federation");
}

TEST_CASE("argocd: bearerToken, TLS data, and both only with --both") {
  const std::string token = new_token();
  const Pair pair = make_pair();
  const std::string bearer = R"("bearerToken":")" + token + "\"";
  CHECK(token_of(of_argocd("{" + bearer + "}")) == token);
  blackbox::Answer answer = blackbox::read_answer(of_argocd("{" + argocd_pair(pair) + "}").output);
  CHECK((answer.certificate == pair.certificate));
  answer = blackbox::read_answer(of_argocd("{" + bearer + "," + argocd_pair(pair) + "}").output);
  CHECK(answer.token == token);
  CHECK(answer.certificate.empty());
  answer = blackbox::read_answer(
      of_argocd("{" + bearer + "," + argocd_pair(pair) + "}", "", {"--both"}).output);
  CHECK((answer.certificate == pair.certificate));
  // Go writes fields that are not set like this.
  CHECK(token_of(of_argocd("{" + bearer + R"(,"username":"","awsAuthConfig":null})")) == token);
}

TEST_CASE("argocd: caData binds like a kubeconfig's CA") {
  const std::string ca = make_pair({.usage = "", .is_ca = true}).certificate;
  const std::string other = make_pair({.usage = "", .is_ca = true}).certificate;
  const std::string config = R"({"bearerToken":")" + new_token() +
                             R"(","tlsClientConfig":{"caData":")" + base64(ca) + "\"}}";
  CHECK_SUCCESS(of_argocd(config, ca_member(ca)));
  CHECK_FAILURE(of_argocd(config, ca_member(other)), 1,
                "spec.cluster.certificate-authority-data holds a certificate");
  CHECK_FAILURE(of_argocd(config), 1, "spec.cluster.certificate-authority-data is missing, and");
}

TEST_CASE("argocd: a config without a stored credential is refused with the reason") {
  const std::string token = new_opaque_token();
  struct Case {
    std::string config, text;
  };
  for (const Case& c :
       {Case{R"({"awsAuthConfig":{"clusterName":"x"}})", "execcred-aws"},
        Case{R"({"execProviderConfig":{"command":"/bin/sh"}})", "let the mapping name the plugin"},
        Case{R"({"username":"u","password":")" + token + "\"}", "no client of the exec protocol"},
        Case{R"({"bearerToken":")" + token + R"(","tlsClientConfig":{"insecure":true}})",
             "--allow-insecure"}}) {
    CAPTURE(c.text);
    CHECK_REFUSAL(of_argocd(c.config), 1, c.text);
  }
  for (const std::string& config :
       {std::string("{}"), std::string("[]"), std::string("not JSON"), std::string("null"),
        R"({"bearerToken":7,"x":")" + token + "\"}", R"({"bearerToken":"a b"})" + token,
        R"({"bearerToken":")" + token + R"(","bearerToken":"other"})",
        std::string(R"({"tlsClientConfig":{"certData":"!!"}})"),
        std::string(R"({"tlsClientConfig":{"certData":"YQ=="}})"),
        R"({"bearerToken":")" + token + "\\u0000\"}", std::string(100, '[')}) {
    CAPTURE(config);
    CHECK_FAILURE(of_argocd(config), 1, "reading key 'config' of Secret 'clusters/s'");
  }
}

}  // namespace execcred::test
