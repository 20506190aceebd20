// SPDX-License-Identifier: Apache-2.0
// The confused deputy problem: the writer of a ClusterProfile must not combine any Secret with any
// server. Each case fails without the defence that its title names.
#include "material.hpp"
#include "plugin.hpp"
#include "support/tls_identity.hpp"

#include <doctest/doctest.h>

namespace execcred::test {
namespace {

constexpr const char* kEvil = "https://evil.example.net:6443";

// A token of `spoke-1` in the namespace, as secretreader reads it.
HubSecret token_secret(const std::string& token, const std::string& name_space = "clusters") {
  return {.name = "spoke-1", .data = {{"token", token}}, .name_space = name_space};
}

HubSecret kubeconfig_secret(const std::string& kubeconfig) {
  return {.name = "spoke-1", .data = {{"kubeconfig", kubeconfig}}};
}

const Texts kStored = {"--secret-name=spoke-1", "--format=kubeconfig"};

Texts with(Texts arguments, const std::string& more) {
  arguments.push_back(more);
  return arguments;
}

constexpr const char* kHubAudience = R"(["https://kubernetes.default.svc.cluster.local"])";

// A token of the same issuer, audience and key as the plugin's own one.
std::string hub_token(const std::string& key_id_header = "",
                      const std::string& audience = kHubAudience) {
  const std::string claims =
      R"({"iss":"https://kubernetes.default.svc.cluster.local","sub":"system:serviceaccount:)"
      R"(kube-system:admin",)" +
      (audience.empty() ? "" : "\"aud\":" + audience + ",") +
      "\"exp\":" + std::to_string(blackbox::seconds_since_epoch() + 3600) + "}";
  std::string token = blackbox::make_jwt(claims);
  if (!key_id_header.empty()) {
    std::string header = blackbox::base64(key_id_header);
    while (header.ends_with('=')) header.pop_back();
    token = header + token.substr(token.find('.'));
  }
  blackbox::remember_secret(token);
  return token;
}

}  // namespace

TEST_CASE("defence 1: another namespace, from a config or a template, is refused unless allowed" *
          doctest::description("promise 6")) {
  struct Case {
    Texts arguments;
    std::string config;
  };
  const std::string named = R"({"name":"spoke-1","key":"token","namespace":"kube-system"})";
  const std::string secret_named =
      R"({"secretName":"spoke-1","key":"token","secretNamespace":"kube-system"})";
  const std::string cluster = R"({"clusterName":"kube-system"})";
  const Texts token_reader = {"--convention=token-secretreader"};
  for (const Case& c :
       {Case{{}, named}, Case{{}, secret_named}, Case{token_reader, secret_named},
        Case{{"--convention=kubeconfig-secretreader", "--format=token"}, named},
        Case{{"--namespace={clusterName}", "--secret-name=spoke-1"}, cluster},
        Case{{"--from-profile", "--namespace=kube-system", "--secret-name=spoke-1"}, cluster}}) {
    CAPTURE(c.config);
    CAPTURE(c.arguments.size());
    Plugin plugin;
    const std::string token = new_token();
    plugin.hub.add(token_secret(token, "kube-system"));
    const Outcome outcome = plugin.run({.arguments = c.arguments, .config = c.config});
    CHECK_REFUSAL(outcome, 1, "--allow-namespace=kube-system");
    CHECK(plugin.hub.requests().empty());
    for (const std::string allowed : {"--allow-namespace=kube-system", "--allow-namespace=any"}) {
      Texts arguments = c.arguments;
      arguments.insert(arguments.begin(), allowed);
      CHECK(token_of(plugin.run({.arguments = arguments, .config = c.config})) == token);
    }
    Texts other = c.arguments;
    other.insert(other.begin(), "--allow-namespace=elsewhere");
    CHECK_FAILURE(plugin.run({.arguments = other, .config = c.config}), 1, "and not allowed");
  }
}

TEST_CASE("defence 1: a namespace that the mapping names is allowed" *
          doctest::description("promise 6")) {
  Plugin plugin;
  const std::string token = new_token();
  plugin.hub.add(token_secret(token, "vault"));
  CHECK(token_of(plugin.run({.arguments = {"--convention=secretreader", "--namespace=vault"}})) ==
        token);
  CHECK(token_of(plugin.run({.arguments = {"--convention=secretreader"},
                             .variables = {"EXECCRED_NAMESPACE=vault"}})) == token);
  // A ClusterProfile's namespace is then ignored.
  const std::string config = R"({"clusterName":"spoke-1","namespace":"clusters"})";
  CHECK(token_of(plugin.run({.arguments = {"--secret-name=spoke-1", "--namespace=vault"},
                             .config = config})) == token);
}

TEST_CASE("defence 2: the Secret must match --require-label and --selector" *
          doctest::description("promise 6")) {
  Plugin plugin;
  const std::string token = new_token();
  HubSecret secret = token_secret(token);
  secret.labels = {{"for", "clusters"}, {"tier", "dev"}};
  plugin.hub.add(secret);
  struct Case {
    std::string argument;
    bool is_given;
  };
  for (const Case& c :
       {Case{"--require-label=for=clusters", true}, Case{"--require-label=for=other", false},
        Case{"--require-label=absent=clusters", false}, Case{"--require-label=for=", false},
        Case{"--selector=for", true}, Case{"--selector=for=clusters,tier in (dev,test)", true},
        Case{"--selector=tier=prod", false}, Case{"--selector=!tier", false}}) {
    CAPTURE(c.argument);
    const Outcome outcome = plugin.run({.arguments = {"--convention=secretreader", c.argument}});
    if (c.is_given) CHECK(token_of(outcome) == token);
    if (!c.is_given) CHECK_REFUSAL(outcome, 1, "does not have the label");
  }
}

TEST_CASE("defence 3: a credential that is stored for one server goes to no other server" *
          doctest::description("promise 6")) {
  struct Case {
    std::string stored, asked;
    bool is_given;
  };
  for (const Case& c :
       {Case{std::string(kSpoke), kEvil, false},
        Case{std::string(kSpoke), std::string(kSpoke), true},
        Case{std::string(kSpoke), "https://SPOKE-1.example.com:6443/", true},
        Case{"https://spoke-1.example.com/", "https://spoke-1.example.com:443", true},
        Case{"https://[::1]:6443", "https://[0:0::1]:6443", true},
        Case{std::string(kSpoke), "https://spoke-1.example.com:6444", false},
        Case{std::string(kSpoke), "https://spoke-1.example.com:6443/evil", false},
        Case{"https://rancher.example.com/k8s/clusters/c-1",
             "https://rancher.example.com/k8s/clusters/c-2", false},
        Case{std::string(kSpoke), "https://spoke-1.example.com.evil.net:6443", false}}) {
    CAPTURE(c.asked);
    Plugin plugin;
    const std::string token = new_token();
    plugin.hub.add(
        kubeconfig_secret(stored_kubeconfig("token: " + token, "server: '" + c.stored + "'")));
    const Outcome outcome = plugin.run({.arguments = kStored, .server = c.asked});
    if (c.is_given) CHECK(token_of(outcome) == token);
    if (!c.is_given) CHECK_REFUSAL(outcome, 1, "--allow-server-mismatch");
  }
}

TEST_CASE("defence 3: Argo CD's server, Fleet's apiServerURL and an annotation bind as well" *
          doctest::description("promise 6")) {
  const std::string token = new_token();
  const HubSecret argocd{.name = "spoke-1",
                         .data = {{"name", "spoke-1"},
                                  {"server", std::string(kSpoke)},
                                  {"config", R"({"bearerToken":")" + token + R"("})"}},
                         .labels = {{"argocd.argoproj.io/secret-type", "cluster"}}};
  HubSecret fleet =
      kubeconfig_secret(stored_kubeconfig("token: " + token, "server: " + std::string(kEvil)));
  fleet.data["apiServerURL"] = kSpoke;
  HubSecret annotated = token_secret(token);
  annotated.annotations = {{"example.com/server", std::string(kSpoke) + "/"}};
  struct Case {
    HubSecret secret;
    Texts arguments;
    bool is_given;
  };
  const Texts by_annotation = {"--convention=secretreader",
                               "--server-annotation=example.com/server"};
  for (const Case& c : {Case{argocd, {"--convention=argocd"}, true}, Case{fleet, kStored, false},
                        Case{annotated, by_annotation, true}}) {
    CAPTURE(c.arguments.front());
    Plugin plugin;
    plugin.hub.add(c.secret);
    CHECK_REFUSAL(plugin.run({.arguments = c.arguments, .server = kEvil}), 1, "is stored for");
    const Outcome outcome = plugin.run({.arguments = c.arguments});
    if (c.is_given) CHECK(token_of(outcome) == token);
  }
  Plugin plugin;
  plugin.hub.add(token_secret(token));
  CHECK_REFUSAL(plugin.run({.arguments = by_annotation}), 1, "has no annotation");
}

TEST_CASE("defence 3: --allow-server-mismatch allows a proxy in front of the cluster" *
          doctest::description("promise 6")) {
  Plugin plugin;
  const std::string token = new_token();
  const std::string ca = make_pair({.usage = "", .is_ca = true}).certificate;
  plugin.hub.add(kubeconfig_secret(stored_kubeconfig(
      "token: " + token,
      "server: " + std::string(kSpoke) + ", certificate-authority-data: " + blackbox::base64(ca))));
  const Texts allowed = with(kStored, "--allow-server-mismatch=https://proxy.example.com/spoke-1");
  const std::string proxy = "https://proxy.example.com/spoke-1";
  // Its CA is the proxy's own, but a proxy-url is still refused.
  CHECK(token_of(plugin.run({.arguments = allowed, .server = proxy})) == token);
  CHECK_FAILURE(plugin.run({.arguments = allowed, .server = proxy + "/x"}), 1,
                "the credential is stored for");
  CHECK_FAILURE(plugin.run({.arguments = allowed, .server = kEvil}), 1,
                "' (the stored kubeconfig), not for 'https://evil.example.net");
  CHECK_REFUSAL(plugin.run({.arguments = allowed,
                            .server = proxy,
                            .more_of_cluster = R"(,"proxy-url":"http://evil.example.net:80")"}),
                1, "proxy-url");
}

TEST_CASE("defence 3: a bound credential is refused if the client names no server" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add(kubeconfig_secret(stored_kubeconfig("token: " + new_token())));
  CHECK_REFUSAL(plugin.run_blind(kStored), 2, "provideClusterInfo: true");
}

TEST_CASE("defence 4: no token is given if the server's certificate is not verified" *
          doctest::description("promise 6")) {
  const std::string insecure = R"(,"insecure-skip-tls-verify":true)";
  Plugin plugin;
  const std::string token = new_token();
  plugin.hub.add(token_secret(token));
  const Texts arguments = {"--convention=secretreader"};
  CHECK_REFUSAL(plugin.run({.arguments = arguments, .more_of_cluster = insecure}), 1,
                "--allow-insecure");
  CHECK(token_of(plugin.run({.arguments = with(arguments, "--allow-insecure"),
                             .more_of_cluster = insecure})) == token);
  CHECK_REFUSAL(plugin.run({.arguments = with(arguments, "--allow-insecure"),
                            .server = "http://spoke-1.example.com"}),
                1, "is not https");
}

TEST_CASE("stored kubeconfig: white space around its token is no part of it") {
  for (const char* token : {"\"t0ken\\n\"", "\" t0ken\"", "\"t0ken\\r\\n\"", "\"\\tt0ken \""}) {
    CAPTURE(token);
    Plugin plugin;
    plugin.hub.add(kubeconfig_secret(stored_kubeconfig("token: " + std::string(token))));
    CHECK(token_of(plugin.run({.arguments = kStored})) == "t0ken");
  }
}

TEST_CASE("defence 4: a stored object that turns verification off is refused" *
          doctest::description("promise 6")) {
  Plugin plugin;
  const std::string token = new_token();
  plugin.hub.add(kubeconfig_secret(stored_kubeconfig(
      "token: " + token, "server: " + std::string(kSpoke) + ", insecure-skip-tls-verify: true")));
  CHECK_REFUSAL(plugin.run({.arguments = kStored}), 1, "insecure-skip-tls-verify");
  CHECK(token_of(plugin.run({.arguments = with(kStored, "--allow-insecure")})) == token);
}

TEST_CASE("defence 5: a token of the hub itself is given only for the hub" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add(token_secret(hub_token()));
  const Texts arguments = {"--convention=secretreader"};
  CHECK_REFUSAL(plugin.run({.arguments = arguments}), 1, "--allow-hub-token");
  CHECK_SUCCESS(plugin.run({.arguments = arguments, .server = plugin.hub.url()}));
  CHECK_SUCCESS(plugin.run({.arguments = with(arguments, "--allow-hub-token")}));
  CHECK_REFUSAL(plugin.run_blind({"--secret-name=spoke-1"}), 1, "provideClusterInfo: true");
}

// The hub's URL with another CA, TLS server name or proxy may lead anywhere.
TEST_CASE("defence 5: the hub is its URL with its own CA, and without another name or a proxy" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add(token_secret(hub_token()));
  const std::string mounted = plugin.sandbox.write("mounted/token", hub_token(), 0600);
  const auto authority = [](const std::string& pem) {
    return R"(,"certificate-authority-data":")" + blackbox::base64(pem) + "\"";
  };
  const std::string foreign = make_ca("foreign").pem;
  for (const Texts& arguments : {Texts{"--convention=secretreader"},
                                 Texts{"--secret-dir=" + plugin.sandbox.at("mounted")}}) {
    CAPTURE(arguments.front());
    const auto run = [&](const std::string& more, Texts others = {}) {
      others.insert(others.begin(), arguments.begin(), arguments.end());
      return plugin.run({.arguments = others, .server = plugin.hub.url(), .more_of_cluster = more});
    };
    CHECK_SUCCESS(run(""));
    CHECK_SUCCESS(run(authority(plugin.hub.ca_pem())));
    CHECK_REFUSAL(run(authority(foreign)), 1, "holds a certificate that is not the CA of");
    CHECK_REFUSAL(run(authority(plugin.hub.ca_pem() + foreign)), 1, "that is not the CA of");
    CHECK_REFUSAL(run(R"(,"tls-server-name":"evil.example")"), 1, "tls-server-name");
    CHECK_REFUSAL(run(R"(,"proxy-url":"http://evil.example:3128")"), 1, "proxy-url");
    CHECK_SUCCESS(run(R"(,"proxy-url":"http://proxy.example:3128")",
                      {"--allow-proxy=http://proxy.example:3128"}));
    CHECK_SUCCESS(run(authority(foreign), {"--allow-profile-ca"}));
    CHECK_SUCCESS(run(authority(foreign), {"--allow-hub-token"}));
  }
}

TEST_CASE("defence 5: a token with another key ID than the hub's is given for other clusters" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add(token_secret(hub_token(R"({"alg":"RS256","kid":"k2"})")));
  CHECK_SUCCESS(plugin.run({.arguments = {"--convention=secretreader"}}));
}

TEST_CASE("defence 5: one audience in common with the hub's token is enough to refuse it" *
          doctest::description("promise 6")) {
  struct Case {
    std::string audience;
    bool is_given;
  };
  const std::string own = R"("https://kubernetes.default.svc.cluster.local")";
  for (const Case& c :
       {Case{own, false}, Case{"[" + own + "]", false}, Case{"[\"other\"," + own + "]", false},
        Case{"[" + own + ",\"other\",\"third\"]", false},
        // Without an audience it is valid at all of its issuer's servers.
        Case{"", false}, Case{"[]", false}, Case{"\"other\"", true},
        Case{R"(["other","https://kubernetes.default.svc"])", true}}) {
    CAPTURE(c.audience);
    Plugin plugin;
    plugin.hub.add(token_secret(hub_token("", c.audience)));
    const Outcome outcome = plugin.run({.arguments = {"--convention=secretreader"}});
    if (c.is_given) CHECK_SUCCESS(outcome);
    if (!c.is_given) CHECK_REFUSAL(outcome, 1, "one of the hub's own");
  }
}

TEST_CASE("defence 5: hub tokens in a stored kubeconfig or in Argo CD's config are refused too" *
          doctest::description("promise 6")) {
  const std::string token = hub_token();
  Plugin plugin;
  plugin.hub.add(kubeconfig_secret(stored_kubeconfig("token: " + token)));
  plugin.hub.add({.name = "argo",
                  .data = {{"name", "spoke-1"},
                           {"server", std::string(kSpoke)},
                           {"config", R"({"bearerToken":")" + token + R"("})"}},
                  .labels = {{"argocd.argoproj.io/secret-type", "cluster"}}});
  CHECK_REFUSAL(plugin.run({.arguments = kStored}), 1, "one of the hub's own");
  CHECK_REFUSAL(plugin.run({.arguments = {"--convention=argocd"}}), 1, "one of the hub's own");
}

TEST_CASE("defence 5: hub tokens in files are refused too, with any identity at the hub" *
          doctest::description("promise 6")) {
  Plugin plugin;
  const std::string token = hub_token();
  const std::string file = plugin.sandbox.write("mounted/token", token, 0600);
  const std::string hub = plugin.sandbox.write("hub", plugin.hub.kubeconfig(), 0600);
  const std::string stored =
      plugin.sandbox.write("stored", stored_kubeconfig("token: " + token), 0600);
  const Texts folder = {"--secret-dir=" + plugin.sandbox.at("mounted")};
  const Texts variable = {"KUBECONFIG=" + hub};
  CHECK_REFUSAL(plugin.run({.arguments = folder}), 1, "one of the hub's own");
  CHECK_SUCCESS(plugin.run({.arguments = folder, .server = plugin.hub.url()}));
  CHECK_SUCCESS(plugin.run({.arguments = with(folder, "--allow-hub-token")}));
  const auto run = [&](Texts arguments, Texts variables) {
    variables.push_back(asked_for(kSpoke, R"({"clusterName":"spoke-1"})").front());
    return blackbox::run(plugin_of(std::move(arguments), std::move(variables)));
  };
  CHECK_REFUSAL(run(folder, variable), 1, "one of the hub's own");
  CHECK_REFUSAL(run({"--kubeconfig-file=" + stored}, variable), 1, "one of the hub's own");
  // A KUBECONFIG that cannot be read is ignored; a --kubeconfig that cannot be read is an error.
  CHECK_SUCCESS(run(folder, {"KUBECONFIG=/nowhere"}));
  CHECK_FAILURE(run(with(folder, "--kubeconfig=/nowhere"), {}), 2,
                "cannot read '/nowhere': No such file or directory");
  CHECK_FAILURE(run({"--kubeconfig-file=/nowhere"}, {}), 2, "reading --kubeconfig-file '/nowhere'");
  CHECK_FAILURE(run({"--client-certificate=/nowhere", "--client-key=/nowhere"}, {}), 2,
                "reading --client-certificate and --client-key");
  CHECK_FAILURE(run(with(folder, "--server-ca-file=/nowhere"), {}), 2, "reading --server-ca-file");
  CHECK_FAILURE(run(with(folder, "--exec-info=/nowhere"), {}), 2, "reading --exec-info '/nowhere'");
}

TEST_CASE("defence 5: the plugin's own token for the hub is refused" *
          doctest::description("promise 6")) {
  Plugin plugin;
  plugin.hub.add(token_secret(plugin.hub.token()));
  CHECK_REFUSAL(plugin.run({.arguments = {"--convention=secretreader"}}), 1, "--allow-hub-token");
}

TEST_CASE("defence 5: a service account's token Secret is read by its own convention only" *
          doctest::description("promise 6")) {
  Plugin plugin;
  const std::string token = new_opaque_token();
  HubSecret secret = token_secret(token);
  secret.type = "kubernetes.io/service-account-token";
  plugin.hub.add(secret);
  for (const std::string name : {"secretreader", "karmada", "generic"}) {
    CAPTURE(name);
    const Texts arguments = {"--convention=" + name, "--secret-name=spoke-1"};
    CHECK_REFUSAL(plugin.run({.arguments = arguments}), 1, "service-account-token");
    CHECK(token_of(plugin.run({.arguments = with(arguments, "--allow-hub-token")})) == token);
  }
  CHECK(token_of(plugin.run({.arguments = {"--convention=service-account-token"}})) == token);
}

}  // namespace execcred::test
