// SPDX-License-Identifier: Apache-2.0
// Findings about mappings for execcred-static-secret.
#include "lint.hpp"
#include "test_paths.hpp"

namespace execcred {
namespace {

using test::check_findings;
using test::Expected;
using test::Severity;

constexpr auto kWarning = Severity::warning;
const std::string kArgs = "providers[0].execConfig.args";
const std::string kTold = "providers[0].execConfig.provideClusterInfo";

// A mapping with these arguments, each in quotes.
std::string with(const std::string& args, bool provides_cluster_info = true) {
  return R"({"providers":[{"name":"p","execConfig":{"apiVersion":"client.authentication.k8s.io/v1",)"
         R"("command":"/plugins/execcred-static-secret","args":[)" +
         args + R"(],"provideClusterInfo":)" + (provides_cluster_info ? "true" : "false") + "}}]}";
}

TEST_CASE("lint: no example of static-secret has findings") {
  CHECK(test::check_examples("static-secret") == 5);
}

TEST_CASE("lint: a Secret that names no server needs --allow-server") {
  for (const std::string args :
       {R"("--convention=secretreader")", R"("--convention=token-secretreader")",
        R"("--convention=cp-creds","--managed-serviceaccount=m")",
        R"("--convention=managed-serviceaccount","--secret-name=m","--namespace={clusterName}")",
        R"("--convention=karmada")", R"("--convention=service-account-token")", R"("--debug")",
        R"("--convention=cluster-api","--format=token")",
        R"("--secret-dir=/s/{clusterName}","--key=token")"}) {
    CAPTURE(args);
    check_findings(with(args), args.find("\"--secret-name=m\"") == std::string::npos
                                   ? std::vector<Expected>{{kArgs, "also chooses whose", kWarning}}
                                   : std::vector<Expected>{{kArgs, "one token for all", kWarning}});
    check_findings(with(args + R"(,"--allow-server=https://a.example.com")"), {});
    if (args.find("--secret-dir") == std::string::npos) {
      check_findings(with(args + R"(,"--server-annotation=example.com/server")"), {});
    }
  }
  check_findings(with(R"("--convention=secretreader","--secret-name=one")"),
                 {{kArgs, "one token for all", kWarning}});
}

TEST_CASE("lint: a credential that is bound to its server needs no --allow-server") {
  for (const std::string args :
       {R"("--convention=kubeconfig-secretreader")", R"("--convention=cluster-profile")",
        R"("--convention=mcr-kubeconfig")", R"("--convention=cluster-api")",
        R"("--convention=istio","--local-cluster=hub")", R"("--convention=argocd")",
        R"("--convention=mounted-certificate")", R"("--format=kubeconfig","--secret-name=x")",
        R"("--format","certificate","--secret-name=x")", R"("--kubeconfig-file=/k")",
        R"("--client-certificate=/c","--client-key=/k")"}) {
    check_findings(with(args), {});
  }
}

TEST_CASE("lint: a credential that {server.host} chooses is bound to no CA") {
  for (const std::string args :
       {R"("--secret-name={server.host}")", R"("--secret-dir=/s/{server.host}")",
        R"("--secret-name=x","--namespace={server.host}")",
        R"("--convention=secretreader","--key={server.host}")",
        R"("--secret-name={server.host}","--format=certificate")",
        // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one text
        R"("--convention=mounted-certificate","--format=kubeconfig",)"
        R"("--secret-dir=/s/{server.host}")"}) {
    CAPTURE(args);
    check_findings(with(args), {{kArgs, "chooses the CA by which the server", kWarning}});
    check_findings(with(args + R"(,"--server-ca-file=/ca")"), {});
    check_findings(with(args + R"(,"--allow-server=https://a.example.com")"), {});
  }
  // The stored server and its CA bind it.
  check_findings(with(R"("--secret-name={server.host}","--format=kubeconfig")"), {});
  check_findings(with(R"("--secret-name={server.host}","--server-annotation=a/b")"), {});
}

TEST_CASE("lint: --allow-proxy has an effect wherever the plugin checks the connection") {
  const std::string proxy = R"(,"--allow-proxy=http://p:3128")";
  check_findings(with(R"("--convention=cluster-api")" + proxy), {});
  check_findings(with(R"("--secret-dir=/s/{server.host}","--server-ca-file=/ca")" + proxy), {});
  check_findings(with(R"("--client-certificate=/c","--client-key=/k")" + proxy),
                 {{kArgs, "has --allow-proxy, which does nothing without", kWarning}});
}

TEST_CASE("lint: options of static-secret that use the cluster need provideClusterInfo") {
  const auto needs = [](const std::string& args, std::string_view what) {
    check_findings(with(args, false), {{kTold, what}});
  };
  needs(R"("--convention=cluster-api")", "--convention=cluster-api needs");
  needs(R"("--convention=cluster-api","--secret-name=x")", "--convention=cluster-api needs");
  needs(R"("--convention=secretreader","--allow-server=https://a")",
        "--convention=secretreader and --allow-server need");
  needs(R"("--format=kubeconfig","--secret-name=x")", "--format needs");
  needs(R"("--kubeconfig-file=/k")", "--kubeconfig-file needs");
  needs(R"("--secret-name=x","--server-annotation=a/b")", "--server-annotation needs");
  needs(R"("--secret-dir=/s/{clusterName}","--format=certificate")", "--secret-dir needs");
  check_findings(with(R"("--convention=mounted-certificate")", false), {});
  check_findings(with(R"("--client-certificate=/c","--client-key=/k")", false), {});
  check_findings(with(R"("--convention=secretreader","--cluster=a")", false),
                 {{kArgs, "one token for all", kWarning}});
}

TEST_CASE("lint: options of static-secret that weaken a check are warnings") {
  const std::string bound = R"("--convention=cluster-api",)";
  const auto opens = [&bound](const std::string& option, std::string_view message) {
    check_findings(with(bound + '"' + option + '"'), {{kArgs + "[1]", message, kWarning}});
  };
  opens("--allow-namespace=any", "a Secret of any namespace");
  opens("--allow-hub-token", "the hub's own tokens");
  opens("--allow-insecure", "certificate is not checked");
  opens("--allow-profile-ca", "choose the CA where none is stored");
  opens("--allow-field=tokenFile", "choose a file of this machine");
  opens("--allow-server-mismatch=https://*.example.com", "for many hosts");
  opens("--allow-server-mismatch=https://[10.0.0.0/8]:*/*", "for many hosts");
  for (const std::string option :
       {"--allow-server-mismatch=https://proxy.example.com/*", "--allow-namespace=fleet",
        "--allow-server-mismatch=https://[2001:db8::1]:6443/a/b", "--both"}) {
    check_findings(with(bound + '"' + option + '"'), {});
  }
}

TEST_CASE("lint: options of static-secret that it would refuse") {
  check_findings(
      with(R"("--convention=istiod","--format=pem","--allow-field=exec","--require-label=x",)"
           R"("--allow-namespace=A/b","--allow-server-mismatch=http://x","--local-cluster=",)"
           R"("--token-file=/t","--allow-server=https://a")"),
      {{kArgs + "[0]", "'istiod' is no convention"},
       {kArgs + "[1]", "'pem' is no format"},
       {kArgs + "[2]", "'exec' is no field"},
       {kArgs + "[2]", "choose a file of this machine", kWarning},
       {kArgs + "[3]", "KEY=VALUE"},
       {kArgs + "[4]", "neither a namespace"},
       {kArgs + "[5]", "--allow-server-mismatch"},
       {kArgs + "[6]", "--local-cluster"},
       {kArgs + "[7]", "unknown option '--token-file'"}});
  check_findings(
      with(R"("--convention=cp-creds","--allow-server=https://a")"),
      {{kArgs, "refused by the plugin: --convention=cp-creds needs --managed-serviceaccount"}});
  check_findings(with(R"("--convention=managed-serviceaccount","--allow-server=https://a")"),
                 {{kArgs, "lacks --secret-name"}});
  check_findings(with(R"("--convention=istio")"), {{kArgs, "lacks --local-cluster", kWarning}});
}

TEST_CASE("lint: names that no Secret, key or namespace can have") {
  const std::string server = R"(,"--allow-server=https://a.example.com")";
  check_findings(with(R"("--secret-name=Kc","--key=a/b","--namespace=Bad")" + server),
                 {{kArgs + "[0]", "--secret-name: 'Kc' is no Secret's name"},
                  {kArgs + "[1]", "--key: 'a/b' is no key of a Secret"},
                  {kArgs + "[2]", "--namespace: 'Bad' is no namespace's name"}});
  // Around placeholders too, and not in what is no name.
  check_findings(
      with(R"("--secret-name=Kc-{clusterName}","--namespace=fleet.{clusterName}")" + server),
      {{kArgs + "[0]", "'Kc-cluster' is no Secret's name"},
       {kArgs + "[1]", "'fleet.cluster' is no namespace's name"}});
  check_findings(with(R"("--secret-name=kc.{server.host}","--namespace={server.host}")" + server),
                 {});
}

TEST_CASE("lint: a selector that replaces a label of the convention is a warning") {
  const std::string convention = R"("--convention=cluster-profile","--selector=)";
  for (const std::string selector :
       {"x-k8s.io/cluster-profile", "a=b,x-k8s.io/cluster-profile!=x"}) {
    check_findings(with(convention + selector + '"'),
                   {{kArgs, "'x-k8s.io/cluster-profile={clusterName}'", kWarning}});
  }
  check_findings(with(convention + R"(a=b,x-k8s.io/cluster-inventory-consumer=me")"), {});
  const std::string istio = R"("--convention=istio","--local-cluster=hub","--selector=)";
  check_findings(with(istio + R"(istio/multiCluster=true,a=b")"), {});
  check_findings(with(istio + R"(istio/multiCluster=false")"),
                 {{kArgs, "'istio/multiCluster=true'", kWarning}});
}

TEST_CASE("lint: conflicting sources of a credential, and checks that files do not support") {
  check_findings(with(R"("--client-certificate=/c")"),
                 {{kArgs, "--client-certificate and --client-key go together"}});
  check_findings(with(R"("--client-key=/k","--allow-server=https://a")"),
                 {{kArgs, "--client-certificate and --client-key go together"}});
  // --kubeconfig identifies the hub's tokens.
  check_findings(with(R"("--kubeconfig-file=/k","--kubeconfig=/hub")"), {});
  check_findings(with(R"("--convention=cluster-api","--secret-dir=/s/{server.host}")"),
                 {{kArgs, "labels, type and annotations"}});
  check_findings(with(R"("--server-ca-file=/ca","--secret-name={server.host}",)"
                      R"("--managed-serviceaccount=m")"),
                 {{kArgs, "option of --convention=cp-creds"}});
  check_findings(with(R"("--secret-dir=/s/{server.host}","--kubeconfig-file=/k")"),
                 {{kArgs, "--credential-bundle-file exclude each other"}});
  check_findings(with(R"("--credential-bundle-file=/b","--allow-server=https://a")"), {});
  check_findings(
      with(R"("--credential-bundle-file=/b","--client-certificate=/c","--client-key=/k")"),
      {{kArgs, "--credential-bundle-file exclude each other"}});
  check_findings(with(R"("--credential-bundle-file=/b","--secret-name=a")"),
                 {{kArgs, "--secret-name has no use with --credential-bundle-file"}});
  for (const std::string option : {"--require-label=a=b", "--selector=a=b"}) {
    check_findings(with(R"("--format=certificate","--secret-dir=/s",")" + option + '"'),
                   {{kArgs, "labels, type and annotations"}});
  }
  check_findings(with(R"("--secret-dir=s","--format=certificate")"),
                 {{kArgs + "[0]", "relative path", kWarning}});
  check_findings(with(R"("--secret-name={cluster}-x","--allow-server=https://a")"),
                 {{kArgs + "[0]", "{cluster}"}});
}

TEST_CASE("lint: a kubeconfig needs no --allow-server, because its writer also sets the server") {
  check_findings(
      R"({"apiVersion":"v1","kind":"Config","current-context":"c",
          "clusters":[{"name":"c","cluster":{"server":"https://s"}}],
          "contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
          "users":[{"name":"u","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1",
            "command":"/plugins/execcred-static-secret","args":["--secret-name=x"],
            "interactiveMode":"Never"}}}]})",
      {});
}

}  // namespace
}  // namespace execcred
