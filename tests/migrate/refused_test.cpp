// SPDX-License-Identifier: Apache-2.0
#include "case.hpp"

#include <set>

namespace execcred::migrate::test {
namespace {

using execcred::test::contains;

Texts with(Texts command, const Texts& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

TEST_CASE("migrate: anything that is not carried over is named with a reason, without its value") {
  const Texts oidc = {"kubectl", "oidc-login", "get-token", "--oidc-issuer-url=https://i",
                      "--oidc-client-id=k"};
  const Texts eks = {"aws", "eks", "get-token", "--cluster-name", "prod"};
  const Texts iam = {"aws-iam-authenticator", "token", "-i", "prod"};
  const Texts aks = {"kubelogin", "get-token", "--login=workloadidentity", "--server-id=s"};
  const Texts pinniped = {"pinniped", "login", "static"};
  for (const Refused& refused : std::vector<Refused>{
           {with(iam, {"--token-only"}), {}, "--token-only"},
           {with(iam, {"-c", "S3CRET"}), {}, "-c"},
           {with(iam, {"-r", "arn:x", "--forward-session-name"}), {}, "--forward-session-name"},
           {{"aws-iam-authenticator", "token"}, {}, "the cluster"},
           {{"aws", "eks", "get-token"}, {}, "the cluster"},
           {{"argocd-k8s-auth", "aws"}, {}, "the cluster"},
           {with(eks, {"--no-verify-ssl"}), {}, "--no-verify-ssl"},
           {with(eks, {"--ca-bundle", "/x"}), {}, "--ca-bundle"},
           {with(eks, {"--unheard-of=S3CRET"}), {}, "--unheard-of"},
           {with(eks, {"--unheard-of", "S3CRET"}), {}, "--unheard-of"},
           {with(eks, {"-xS3CRET"}), {}, "-x"},
           {with(eks, {"S3CRET"}), {}, "argument 5"},
           {with(eks, {"--region"}), {}, "--region"},
           {with(eks, {"--region", "a\nb"}), {}, "--region"},
           {eks, {"SSL_CERT_FILE=/x"}, "variable SSL_CERT_FILE"},
           {{"kubelogin", "get-token", "--server-id=s"}, {}, "login method 'devicecode'"},
           {{"kubelogin", "get-token", "--login", "interactive", "--server-id=s"},
            {},
            "login method 'interactive'"},
           {{"kubelogin", "get-token", "--login=azurecli", "--server-id=s"},
            {},
            "login method 'azurecli'"},
           {{"kubelogin", "get-token", "--login=azurepipelines", "--server-id=s",
             "--azure-pipelines-service-connection-id=c"},
            {},
            "login method 'azurepipelines'"},
           {{"kubelogin", "get-token", "--login=spn", "--server-id=s", "--client-secret=S3CRET"},
            {},
            "login method 'spn'"},
           {{"kubelogin", "get-token", "--login=spn", "--server-id=s", "--client-secret=S3CRET"},
            {},
            "--client-secret"},
           {aks, {"AAD_LOGIN_METHOD=ropc"}, "login method 'ropc'"},
           {{"kubelogin", "get-token", "--login=msi"}, {}, "--server-id"},
           {with(aks, {"--legacy"}), {}, "--legacy"},
           {with(aks, {"--pop-enabled"}), {}, "--pop-enabled"},
           {{"kubelogin", "get-token", "--login=msi", "--server-id=s"},
            {"MSI_ENDPOINT=http://e"},
            "variable MSI_ENDPOINT"},
           {{"argocd-k8s-auth", "azure"},
            {"AAD_LOGIN_METHOD=msi", "IMDS_ENDPOINT=http://e"},
            "variable IMDS_ENDPOINT"},
           {with(aks, {"--environment=AzureStackCloud"}), {}, "--environment"},
           {with(aks, {"--use-azurerm-env-vars"}), {}, "--use-azurerm-env-vars"},
           {{"argocd-k8s-auth", "azure"}, {"AAD_LOGIN_METHOD=spn"}, "login method 'spn'"},
           {{"argocd-k8s-auth", "azure"},
            {"AAD_ENVIRONMENT_NAME=Custom"},
            "variable AAD_ENVIRONMENT_NAME"},
           {oidc, {}, "no --grant-type"},
           {with(oidc, {"--grant-type=password", "--password=S3CRET"}),
            {},
            "--grant-type 'password'"},
           {with(oidc, {"--grant-type", "authcode-keyboard"}),
            {},
            "--grant-type 'authcode-keyboard'"},
           {with(oidc, {"--grant-type=client-credentials", "--oidc-client-secret=S3CRET"}),
            {},
            "--oidc-client-secret"},
           {with(oidc, {"--grant-type=client-credentials", "--certificate-authority-data=S3CRET"}),
            {},
            "--certificate-authority-data"},
           {with(oidc, {"--grant-type=client-credentials", "--certificate-authority=~/ca"}),
            {},
            "--certificate-authority"},
           {with(oidc, {"--grant-type=client-credentials", "--insecure-skip-tls-verify"}),
            {},
            "--insecure-skip-tls-verify"},
           {{"kubelogin", "get-token", "--oidc-client-id=k"}, {}, "--oidc-issuer-url"},
           {{"gke-gcloud-auth-plugin", "--use_edge_cloud"}, {}, "--use_edge_cloud"},
           {{"gke-gcloud-auth-plugin", "--account=S3CRET"}, {}, "--account"},
           {{"gke-gcloud-auth-plugin"},
            {"CLOUDSDK_CORE_ACCOUNT=me"},
            "variable CLOUDSDK_CORE_ACCOUNT"},
           {{"cp-creds"}, {}, "--managed-serviceaccount"},
           {with(pinniped, {"--token=S3CRET"}), {}, "--token"},
           {with(pinniped,
                 {"--token-env=T", "--enable-concierge", "--concierge-ca-bundle-data=S3CRET"}),
            {"T=S3CRET"},
            "--concierge-ca-bundle-data"},
           {pinniped, {}, "--token-env"},
           {{"pinniped", "login", "oidc", "--issuer=https://i", "--client-secret=S3CRET"},
            {},
            "pinniped login oidc"},
           {{"k8s-spiffe-workload-jwt-exec-auth"},
            {"SPIFFE_ENDPOINT_SOCKET=/s"},
            "variable SPIFFE_ENDPOINT_SOCKET"},
           {{"spire-agent", "api", "fetch", "jwt", "-socketPath", "/s"}, {}, "-audience"},
           {{"argocd-k8s-auth", "oidc"}, {}, "--token-file"}}) {
    check(refused);
  }
}

TEST_CASE("migrate: flags are read as the peers' own parsers read them") {
  const auto cluster = [](const Texts& flags) {
    Texts command = {"aws-iam-authenticator", "token"};
    command.insert(command.end(), flags.begin(), flags.end());
    return lines(migrate(command, {}).args());
  };
  for (const Texts& flags : std::vector<Texts>{{"--cluster-id=c"},
                                               {"--cluster-id", "c"},
                                               {"-i", "c"},
                                               {"-ic"},
                                               {"-i=c"},
                                               {"-cluster-id", "c"},
                                               {"-i", "first", "--cluster-id=c"},
                                               {"-i", "c", "--region="},
                                               {"-i", "c", "--log-verbosity", "5"}}) {
    CAPTURE(lines(flags));
    CHECK(cluster(flags) == "--cluster-id=c\n");
  }
  CHECK(cluster({"-i", "--cluster-id"}) == "--cluster-id=--cluster-id\n");
  CHECK(cluster({"-i", "a=b"}) == "--cluster-id=a=b\n");
}

TEST_CASE("migrate: only argparse's peer takes the start of a flag, where it is one flag's alone") {
  const Texts aws = {"aws", "eks", "get-token", "--cluster-name=c"};
  for (const std::string flag : {"--role", "--role-a", "--ro", "--role-arn"}) {
    CAPTURE(flag);
    const std::string arguments =
        "--cluster-id=c\n--role-arn=arn:x\n--session-name=EKSGetTokenAuth\n";
    CHECK(lines(migrate(with(aws, {flag, "arn:x"}), {}).args()) == arguments);
    CHECK(lines(migrate(with(aws, {flag + "=arn:x"}), {}).args()) == arguments);
  }
  for (const std::string flag : {"--c", "--cluster", "--no", "--r"}) {
    check(Refused{with(aws, {flag, "S3CRET"}), {}, flag});
    CHECK(contains(all_changes(migrate(with(aws, {flag, "x"}), {})), "the start of several flags"));
  }
  check(Refused{{"aws-iam-authenticator", "token", "--cluster", "c"}, {}, "--cluster"});
  check(Refused{{"kubelogin", "get-token", "--log=msi", "--server-id=s"}, {}, "--log"});
}

TEST_CASE("migrate: settings that the plugin would refuse are not carried over, with a reason") {
  struct Case {
    Texts command;
    std::string_view reason;
  };
  const Texts credentials = {"kubelogin", "get-token", "--oidc-client-id=k",
                             "--grant-type=client-credentials"};
  const Texts concierge = {"pinniped", "login", "static", "--token-env=T", "--enable-concierge"};
  for (const Case& c :
       {Case{with(credentials, {"--oidc-issuer-url=http://i.example.com"}), "is no https URL"},
        Case{with(credentials, {"--oidc-issuer-url=https://u:S3CRET@i.example.com"}),
             "--issuer-url"},
        Case{with(credentials,
                  {"--oidc-issuer-url=https://i", "--oidc-auth-request-extra-params=S3CRET"}),
             "a parameter is NAME=VALUE"},
        Case{concierge, "--concierge-authenticator-type"},
        Case{with(concierge, {"--concierge-authenticator-type=ldap"}), "neither jwt nor webhook"},
        Case{with(concierge,
                  {"--concierge-authenticator-type=jwt", "--concierge-authenticator-name=A"}),
             "is no name"},
        Case{{"cp-creds"}, "--managed-serviceaccount"}}) {
    CAPTURE(lines(c.command));
    const Migration migration = migrate(c.command, {});
    CHECK_FALSE(migration.is_complete());
    CHECK_MESSAGE(contains(changes(migration, Change::Kind::refused), c.reason),
                  all_changes(migration));
    CHECK_FALSE(contains(all_changes(migration), "S3CRET"));
  }
}

TEST_CASE("migrate: passwords in URLs and values of variables are never shown") {
  const Migration migration = migrate(
      {"kubelogin", "get-token", "--oidc-issuer-url=https://i.example.com", "--oidc-client-id=k",
       "--grant-type=client-credentials", "--oidc-auth-request-extra-params=password=S3CRET"},
      {"HTTPS_PROXY=http://u:S3CRET@p:1", "UNKNOWN=S3CRET", "SSL_CERT_FILE=/x"});
  CHECK(migration.is_complete());
  CHECK(contains(lines(migration.args()), "S3CRET"));
  CHECK_MESSAGE(!contains(all_changes(migration), "S3CRET"), all_changes(migration));
  CHECK(contains(changes(migration, Change::Kind::dropped), "variable UNKNOWN: "));
}

TEST_CASE("find_peer: other commands and execcred's own plugins belong to no peer") {
  for (const Texts& command : std::vector<Texts>{{""},
                                                 {"/plugins/execcred-aws", "--cluster-id=c"},
                                                 {"aws"},
                                                 {"aws", "eks", "update-kubeconfig"},
                                                 {"aws", "get-token", "eks"},
                                                 {"kubectl", "get-token"},
                                                 {"kubelogin", "convert-kubeconfig"},
                                                 {"my-aws", "eks", "get-token"},
                                                 {"pinniped", "login"},
                                                 {"doctl", "kubernetes", "cluster", "list"},
                                                 {"rancher", "kubectl"},
                                                 {"argocd-k8s-auth"}}) {
    CAPTURE(lines(command));
    CHECK(find_peer({.command = command.front(), .args = {command.begin() + 1, command.end()}}) ==
          nullptr);
  }
}

TEST_CASE("all_peers: names are unique, and every rule has the text that it needs") {
  std::set<std::string_view> names;
  for (const Peer& peer : all_peers()) {
    CAPTURE(peer.name);
    CHECK(names.insert(peer.name).second);
    CHECK((peer.plugin.starts_with("execcred-") || !peer.never.empty()));
    for (const std::span<const Rule> rules : {peer.flags, peer.variables}) {
      std::set<std::string_view> seen;
      for (const Rule& rule : rules) {
        CAPTURE(rule.name);
        CHECK(seen.insert(rule.name).second);
        CHECK_FALSE(rule.name.starts_with('-'));
        const bool needs_text =
            rule.action == Rule::Action::drop || rule.action == Rule::Action::refuse;
        CHECK_FALSE((needs_text && rule.text.empty()));
        const bool is_flag = rules.data() == peer.flags.data();
        if (rule.action == Rule::Action::keep && is_flag) CHECK(rule.text.starts_with("--"));
      }
    }
  }
}

}  // namespace
}  // namespace execcred::migrate::test
