// SPDX-License-Identifier: Apache-2.0
// make_plan, check_servers and read_stored: the plan of the options, and what is read with it.
#include "plan.hpp"
#include "binding.hpp"
#include "material.hpp"
#include "stored_credential.hpp"
#include "unit/expect.hpp"

#include <doctest/doctest.h>

#include <set>
#include <utility>

namespace execcred::static_secret {
namespace {

using test::check_fails;

constexpr auto kConfiguration = Error::Kind::configuration;
constexpr auto kNoCredential = Error::Kind::no_credential;

Options options_of(std::string_view convention) {
  Options options;
  options.convention = convention_of(convention);
  REQUIRE(options.convention.name == convention);
  return options;
}

CredentialRequest request_of(const std::string& server = "https://spoke.example.com") {
  CredentialRequest request;
  request.info.cluster = Cluster{.server = server};
  request.cluster_name = "spoke-1";
  return request;
}

Result<Plan> plan_of(const Options& options) {
  return make_plan(options, request_of(), "own", false);
}

}  // namespace

TEST_CASE("plan: each convention's name, key, namespace and labels") {
  struct Case {
    std::string convention, name, key, selector;
  };
  const std::string istio = "istio/multiCluster=true";
  for (const Case& c :
       {Case{"secretreader", "spoke-1", "token", ""}, Case{"karmada", "spoke-1", "token", ""},
        Case{"cluster-profile", "", "Config",
             "x-k8s.io/cluster-inventory-consumer,x-k8s.io/cluster-profile=spoke-1"},
        Case{"mcr-kubeconfig", "spoke-1", "kubeconfig",
             "sigs.k8s.io/multicluster-runtime-kubeconfig=true"},
        Case{"cluster-api", "spoke-1-kubeconfig", "value", "cluster.x-k8s.io/cluster-name=spoke-1"},
        Case{"istio", "istio-remote-secret-spoke-1", "spoke-1", istio},
        Case{"argocd", "", "config", "argocd.argoproj.io/secret-type=cluster"},
        Case{"service-account-token", "spoke-1", "token", ""}}) {
    CAPTURE(c.convention);
    const Result<Plan> plan = plan_of(options_of(c.convention));
    REQUIRE(plan);
    CHECK(plan->name_space == "own");
    CHECK(plan->secret_name == c.name);
    CHECK(plan->key == c.key);
    CHECK(plan->selector.text() == c.selector);
  }
}

TEST_CASE("plan: options of the same names replace a convention's defaults") {
  Options options = options_of("cluster-api");
  options.secret_name = "{clusterName}-admin-{server.host}";
  options.key = "kc";
  options.selector = *LabelSelector::parse("team=a");
  options.format = Format::token;
  const Result<Plan> plan = plan_of(options);
  REQUIRE(plan);
  CHECK(plan->secret_name == "spoke-1-admin-spoke.example.com");
  CHECK(plan->key == "kc");
  CHECK(plan->selector.text() == "team=a,cluster.x-k8s.io/cluster-name=spoke-1");
  CHECK(plan->format == Format::token);
}

TEST_CASE("plan: a missing or malformed name is an error that names what sets it") {
  const auto hint_of = [](std::string_view convention) {
    Options unnamed = options_of(convention);
    unnamed.key = "k";
    const Result<Plan> plan = plan_of(unnamed);
    REQUIRE_FALSE(plan);
    return plan.error().message + "; " + plan.error().hint;
  };
  CHECK(test::contains(hint_of("generic"), "as 'name'"));
  CHECK(test::contains(hint_of("kubeconfig-secretreader"), "as 'name'"));
  CHECK(test::contains(hint_of("token-secretreader"), "as 'secretName'"));
  CHECK(hint_of("managed-serviceaccount") == "no Secret is named; pass --secret-name=NAME");
  Options options = options_of("cp-creds");
  options.managed_service_account = "Bad_Name";
  check_fails(plan_of(options), kConfiguration, "--managed-serviceaccount: the name");
  options.managed_service_account = "good";
  options.secret_name = "Bad_Name";
  check_fails(plan_of(options), kConfiguration, "--secret-name 'Bad_Name'");
}

TEST_CASE("plan: a cluster's name that is too long for a label is named with the limit") {
  CredentialRequest request = request_of();
  request.cluster_name = std::string(64, 'a');
  const Result<Plan> plan = make_plan(options_of("cluster-profile"), request, "own", false);
  check_fails(plan, kConfiguration, "--cluster '" + request.cluster_name + "' is no label's value");
  check_fails(plan, kConfiguration, "at most 63 characters");
  CHECK(make_plan(options_of("secretreader"), request, "own", false));
}

TEST_CASE("plan: file sources need no name, key or namespace of a Secret") {
  Options certificate = options_of("mounted-certificate");
  CHECK(make_plan(certificate, request_of(), "", true));
  Options kubeconfig = options_of("kubeconfig-secretreader");
  kubeconfig.kubeconfig_file = "/config";
  CHECK(make_plan(kubeconfig, request_of(), "", true));
  Options folder = options_of("generic");
  folder.secret_dir = "/secrets/{clusterName}";
  const Result<Plan> plan = make_plan(folder, request_of(), "", true);
  REQUIRE(plan);
  CHECK(plan->secret_dir == "/secrets/spoke-1");
  folder.secret_dir = "/secrets/{x}";
  CHECK_FALSE(make_plan(folder, request_of(), "", true));
}

TEST_CASE("plan: a namespace is allowed if it is the own one, named by the mapping, or listed") {
  Options options = options_of("secretreader");
  options.name_space = "other";
  check_fails(make_plan(options, request_of(), "own", false), kNoCredential,
              "--allow-namespace=other");
  CHECK(make_plan(options, request_of(), "own", true));
  CHECK(make_plan(options, request_of(), "other", false));
  options.name_space = "{clusterName}";
  check_fails(make_plan(options, request_of(), "own", true), kNoCredential,
              "--allow-namespace=spoke-1");
  options.allow_namespaces = {"spoke-1"};
  CHECK(make_plan(options, request_of(), "own", true));
  check_fails(make_plan(options_of("secretreader"), request_of(), "", false), kConfiguration,
              "namespace");
}

TEST_CASE("check_servers: the server, the CA, a proxy and a missing cluster are checked") {
  const test::Pair ca = test::make_pair({.usage = "", .is_ca = true});
  StoredCredential stored;
  stored.servers.push_back({.server = "https://spoke.example.com",
                            .certificate_authority = ca.certificate,
                            .origin = "the stored kubeconfig"});
  const Options options = options_of("generic");
  check_fails(check_servers(stored, options, CredentialRequest{}), kConfiguration,
              "provideClusterInfo: true");
  check_fails(check_servers(stored, options, request_of()), kNoCredential,
              "certificate-authority-data is missing");
  check_fails(check_servers(stored, options, request_of("https://evil.example.net")), kNoCredential,
              "is stored for 'https://spoke.example.com' (the stored kubeconfig)");
  stored.servers.front().certificate_authority.clear();
  CHECK(check_servers(stored, options, request_of()));
  CredentialRequest proxied = request_of();
  proxied.info.cluster->proxy_url = "http://evil.example.net";
  check_fails(check_servers(stored, options, proxied), kNoCredential, "proxy-url");
  stored.servers.push_back({.server = "https://other.example.com", .origin = "an annotation"});
  check_fails(check_servers(stored, options, request_of()), kNoCredential, "an annotation");
  stored.servers.back().server = "no URL";
  check_fails(check_servers(stored, options, request_of("no URL")), kNoCredential,
              "not for 'no URL'");
}

TEST_CASE("read_stored: an error names the key and the Secret, or the folder") {
  StoredSecret secret{.name_space = "n", .name = "s"};
  secret.data.emplace("token", SecretString("!!"));
  const Plan plan{.key = "token"};
  const Options options = options_of("generic");
  const auto bad = read_stored(secret, plan, options, TimePoint());
  check_fails(bad, kNoCredential, "while reading key 'token' of Secret 'n/s'");
  const Plan mounted{.key = "none", .secret_dir = "/secrets"};
  StoredSecret files{.is_decoded = true};
  check_fails(read_stored(files, mounted, options, TimePoint()), kNoCredential,
              "the mounted Secret '/secrets' has no key 'none'");
}

TEST_CASE("conventions: names are unique, and templates have only known placeholders") {
  std::set<std::string_view> names;
  for (const Convention& convention : kConventions) {
    CAPTURE(convention.name);
    CHECK(names.insert(convention.name).second);
    for (const std::string_view text :
         {convention.secret_name, convention.key, convention.name_space, convention.selector}) {
      CHECK(request_of().expand("x", text));
    }
  }
  CHECK(names.size() == 14);
}

}  // namespace execcred::static_secret
