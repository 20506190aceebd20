// SPDX-License-Identifier: Apache-2.0
// The confused deputy problem, and how the server is verified: with which CA, and for which host.
// Each case fails without the defence that its title names.
#include "material.hpp"
#include "plugin.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

using blackbox::base64;

constexpr const char* kAuthorityField = "spec.cluster.certificate-authority-data";

std::string new_authority() { return make_pair({.usage = "", .is_ca = true}).certificate; }

// A stored kubeconfig whose cluster has these fields too, in YAML's flow style.
HubSecret kubeconfig_with(const std::string& fields) {
  const std::string cluster = "server: " + std::string(kSpoke) + (fields.empty() ? "" : ", ");
  return {.name = "spoke-1",
          .data = {{"kubeconfig", stored_kubeconfig("token: " + new_token(), cluster + fields)}}};
}

std::string authority_field(const std::string& pem) {
  return "certificate-authority-data: " + base64(pem);
}

HubSecret argocd_with(const std::string& tls) {
  return {.name = "spoke-1",
          .data = {{"name", "spoke-1"},
                   {"server", std::string(kSpoke)},
                   {"config",
                    R"({"bearerToken":")" + new_token() + R"(","tlsClientConfig":{)" + tls + "}}"}},
          .labels = {{"argocd.argoproj.io/secret-type", "cluster"}}};
}

std::string name_member(const std::string& name) {
  return R"(,"tls-server-name":)" + blackbox::json_string(name);
}

const Texts kKubeconfig = {"--secret-name=spoke-1", "--format=kubeconfig"};
const Texts kArgocd = {"--convention=argocd"};

Outcome run(const HubSecret& secret, Texts arguments, const std::string& more_of_cluster,
            Texts variables = {}) {
  Plugin plugin;
  plugin.hub.add(secret);
  return plugin.run({.arguments = std::move(arguments),
                     .more_of_cluster = more_of_cluster,
                     .variables = std::move(variables)});
}

struct Form {
  HubSecret secret;
  Texts arguments;
  std::string origin;
};

// A credential with a server and without a CA.
std::vector<Form> without_authority() {
  return {{kubeconfig_with(""), kKubeconfig, "the stored kubeconfig"},
          {argocd_with(R"("insecure":false)"), kArgocd, "Argo CD's Secret"}};
}

}  // namespace

TEST_CASE("CA: a credential that is stored without one trusts the system's, no ClusterProfile's") {
  for (const Form& form : without_authority()) {
    CAPTURE(form.origin);
    CHECK_SUCCESS(run(form.secret, form.arguments, ""));
    // Base64 of no bytes counts as missing.
    CHECK_SUCCESS(run(form.secret, form.arguments, R"(,"certificate-authority-data":"\n")"));
    for (const std::string& member : {ca_member(new_authority()), ca_member("no PEM"),
                                      std::string(R"(,"certificate-authority-data":"%%%")")}) {
      CAPTURE(member);
      const Outcome outcome = run(form.secret, form.arguments, member);
      CHECK_REFUSAL(outcome, 1,
                    std::string(kAuthorityField) + " is set, and " + form.origin +
                        " has no CA, so it trusts the system's");
      CHECK(says(outcome, "--allow-profile-ca"));
    }
  }
}

TEST_CASE("CA: --allow-profile-ca accepts the ClusterProfile's, and exists only as a flag") {
  const std::string member = ca_member(new_authority());
  for (const Form& form : without_authority()) {
    CAPTURE(form.origin);
    Texts allowed = form.arguments;
    allowed.emplace_back("--allow-profile-ca");
    CHECK_SUCCESS(run(form.secret, allowed, member));
    CHECK_REFUSAL(run(form.secret, form.arguments, member, {"EXECCRED_ALLOW_PROFILE_CA=true"}), 1,
                  kAuthorityField);
  }
  Plugin plugin;
  plugin.hub.add(kubeconfig_with(""));
  CHECK_REFUSAL(plugin.run({.arguments = kKubeconfig, .config = R"({"allowProfileCa":"true"})"}), 2,
                "spec.cluster.config.allowProfileCa sets --allow-profile-ca");
  Texts behind = kKubeconfig;
  behind.insert(behind.end(), {"--from-profile", "--allow-profile-ca"});
  CHECK_REFUSAL(plugin.run({.arguments = behind}), 2,
                "--allow-profile-ca stands behind --from-profile");
}

TEST_CASE("CA: --allow-profile-ca has no effect if a CA is stored") {
  const std::string stored = new_authority();
  Texts arguments = kKubeconfig;
  arguments.emplace_back("--allow-profile-ca");
  const HubSecret secret = kubeconfig_with(authority_field(stored));
  CHECK_REFUSAL(run(secret, arguments, ca_member(new_authority())), 1, kAuthorityField);
  CHECK_REFUSAL(run(secret, arguments, ""), 1, std::string(kAuthorityField) + " is missing");
  CHECK_SUCCESS(run(secret, arguments, ca_member(stored)));
}

TEST_CASE("CA: an allowed proxy, and a server that is not verified, may have another CA") {
  const std::string member = ca_member(new_authority());
  Plugin plugin;
  plugin.hub.add(kubeconfig_with(""));
  Texts proxied = kKubeconfig;
  proxied.emplace_back("--allow-server-mismatch=https://proxy.example.com/*");
  CHECK_SUCCESS(plugin.run({.arguments = proxied,
                            .server = "https://proxy.example.com/spoke-1",
                            .more_of_cluster = member}));
  CHECK_REFUSAL(plugin.run({.arguments = proxied, .more_of_cluster = member}), 1, kAuthorityField);
  Texts insecure = kKubeconfig;
  insecure.emplace_back("--allow-insecure");
  CHECK_SUCCESS(run(kubeconfig_with("insecure-skip-tls-verify: true"), insecure, member));
}

TEST_CASE("CA: during a rotation, the ClusterProfile may have the old one, the new one, or both") {
  const std::string before = new_authority();
  const std::string after = new_authority();
  const std::string other = new_authority();
  const std::string both = base64(before + after);
  const std::string beside = before + after;
  HubSecret fleet = kubeconfig_with("");
  fleet.data["apiServerCA"] = beside;
  const std::map<std::string, std::string> annotations = {
      {"example.com/server", std::string(kSpoke)}};
  const Texts annotated = {"--convention=secretreader", "--server-annotation=example.com/server"};
  const std::string token = new_token();
  for (const Form& form :
       {Form{kubeconfig_with("certificate-authority-data: " + both), kKubeconfig, "kubeconfig"},
        Form{argocd_with(R"("caData":")" + both + "\""), kArgocd, "Argo CD"},
        Form{fleet, kKubeconfig, "apiServerCA"},
        Form{{.name = "spoke-1",
        .data = {{"token", token}, {"ca.crt", beside}},
        .annotations = annotations},
             annotated,
             "annotation"},
        Form{{.name = "spoke-1",
        .data = {{"token", token}, {"caBundle", beside}},
        .annotations = annotations},
             annotated,
             "annotation"}}) {
    CAPTURE(form.origin);
    for (const std::string& given :
         {before, after, before + after, after + before, after + after}) {
      CHECK_SUCCESS(run(form.secret, form.arguments, ca_member(given)));
    }
    for (const std::string& given : {other, before + other, before + after + other}) {
      CHECK_REFUSAL(run(form.secret, form.arguments, ca_member(given)), 1,
                    std::string(kAuthorityField) + " holds a certificate that is not the CA of");
    }
    CHECK_REFUSAL(run(form.secret, form.arguments, ""), 1,
                  std::string(kAuthorityField) + " is missing");
  }
}

TEST_CASE("tls-server-name: the host that is verified is the one that the credential is for") {
  struct Case {
    std::string stored, given;
    std::string refused = {};  // by this part of the message
  };
  const std::string own = "spoke-1.example.com";
  for (const Case& c :
       {Case{"", ""}, Case{"", own}, Case{"", "SPOKE-1.Example.com"}, Case{own, ""},
        Case{"internal.example.com", "internal.example.com"},
        Case{"internal.example.com", "Internal.EXAMPLE.com"}, Case{"10.0.0.1", "10.0.0.1"},
        Case{"'fd00::1'", "fd00:0::1"}, Case{"'[fd00::1]'", "fd00::1"},
        Case{"", "evil.example.net",
             "'evil.example.net' is not the server's own host name, and the stored kubeconfig has "
             "none"},
        Case{"internal.example.com", "", "is missing, and the stored kubeconfig has 'internal."},
        Case{"internal.example.com", own,
             "'spoke-1.example.com' is not 'internal.example.com' of the stored kubeconfig"},
        Case{"internal.example.com", "evil.example.net", "'evil.example.net' is not 'internal."},
        Case{"10.0.0.1", "10.0.0.2", "'10.0.0.2' is not '10.0.0.1'"},
        Case{"", "spoke-1.example.com.",
             "'spoke-1.example.com.' is not the server's own host name"},
        Case{"", "a b", "'a b' is not the server's own host name"}}) {
    CAPTURE(c.stored);
    CAPTURE(c.given);
    const HubSecret secret =
        kubeconfig_with(c.stored.empty() ? "" : "tls-server-name: " + c.stored);
    const Outcome outcome = run(secret, kKubeconfig, c.given.empty() ? "" : name_member(c.given));
    if (c.refused.empty()) CHECK_SUCCESS(outcome);
    if (!c.refused.empty()) {
      CHECK_REFUSAL(outcome, 1, "spec.cluster.tls-server-name " + c.refused);
    }
  }
}

TEST_CASE("tls-server-name: Argo CD's serverName applies, and other sources do not change it") {
  const HubSecret argocd = argocd_with(R"("serverName":"internal.example.com")");
  CHECK_SUCCESS(run(argocd, kArgocd, name_member("internal.example.com")));
  CHECK_REFUSAL(run(argocd, kArgocd, ""), 1, "is missing, and Argo CD's Secret has 'internal.");
  CHECK_REFUSAL(
      run(argocd_with(R"("insecure":false)"), kArgocd, name_member("internal.example.com")), 1,
      "and Argo CD's Secret has none");
  CHECK_REFUSAL(run(argocd_with(R"("serverName":7)"), kArgocd, ""), 1,
                "tlsClientConfig.serverName must be a string");

  HubSecret beside = kubeconfig_with("tls-server-name: internal.example.com");
  beside.data["apiServerURL"] = kSpoke;
  beside.annotations = {{"example.com/server", std::string(kSpoke)}};
  Texts arguments = kKubeconfig;
  arguments.emplace_back("--server-annotation=example.com/server");
  CHECK_SUCCESS(run(beside, arguments, name_member("internal.example.com")));
  CHECK_REFUSAL(run(beside, arguments, ""), 1, "spec.cluster.tls-server-name is missing");

  const HubSecret token{.name = "spoke-1",
                        .data = {{"token", new_token()}},
                        .annotations = {{"example.com/server", std::string(kSpoke)}}};
  const Texts annotated = {"--convention=secretreader", "--server-annotation=example.com/server"};
  CHECK_SUCCESS(run(token, annotated, name_member("spoke-1.example.com")));
  CHECK_REFUSAL(run(token, annotated, name_member("evil.example.net")), 1,
                "the Secret's annotation example.com/server has none");
  // Without a bound server, the ClusterProfile's writer chooses it, like the server and the CA.
  CHECK_SUCCESS(run(token, {"--convention=secretreader"}, name_member("evil.example.net")));
}

TEST_CASE("tls-server-name: it is checked for a kubeconfig file too, unless TLS is not verified") {
  const blackbox::Sandbox sandbox;
  const std::string file = sandbox.write(
      "stored",
      stored_kubeconfig("token: " + new_token(),
                        "server: " + std::string(kSpoke) + ", tls-server-name: a.example.com"),
      0600);
  const Texts arguments = {"--kubeconfig-file=" + file};
  const Plugin plugin;
  CHECK_SUCCESS(
      plugin.run({.arguments = arguments, .more_of_cluster = name_member("a.example.com")}));
  CHECK_REFUSAL(plugin.run({.arguments = arguments}), 1, "spec.cluster.tls-server-name is missing");
  CHECK_REFUSAL(
      plugin.run({.arguments = arguments,
                  .more_of_cluster = name_member("a.example.com") + ca_member(new_authority())}),
      1, "--allow-profile-ca");
  Texts insecure = arguments;
  insecure.emplace_back("--allow-insecure");
  CHECK_SUCCESS(plugin.run(
      {.arguments = insecure, .more_of_cluster = R"(,"insecure-skip-tls-verify":true)"}));
}

}  // namespace execcred::test
