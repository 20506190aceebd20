// SPDX-License-Identifier: Apache-2.0
#include "case.hpp"

namespace execcred::migrate::test {
namespace {

const std::string kAksServer = "6dae42f8-4368-4678-94ff-3960e28e3630";
const std::string kClient = "99999999-8888-7777-6666-555555555555";
const std::string kResource =
    "/subscriptions/0/resourceGroups/rg/providers/"
    "Microsoft.ManagedIdentity/userAssignedIdentities/app";

TEST_CASE("migrate: EKS users keep cluster, role, region and the AWS_* variables") {
  for (const Carried& carried : std::vector<Carried>{
           {"execcred-aws",
            {"aws-iam-authenticator", "token", "-i", "prod", "-r",
             "arn:aws:iam::123456789012:role/x", "-e", "ext", "-s", "me", "--region=eu-west-1",
             "--cache"},
            {"AWS_PROFILE=ops", "PATH=/bin"},
            {"--cluster-id=prod", "--role-arn=arn:aws:iam::123456789012:role/x",
             "--region=eu-west-1", "--external-id=ext", "--session-name=me"},
            {"AWS_PROFILE=ops"},
            "--cache: execcred-aws keeps a cache"},
           {"execcred-aws",
            {"/usr/bin/aws-iam-authenticator", "token", "--cluster-id=prod", "--token-only=false",
             "--forward-session-name=false"},
            {"DEFAULT_ROLE=arn:aws:iam::123456789012:role/d",
             "AWS_IAM_AUTHENTICATOR_CACHE_FILE=/c"},
            {"--cluster-id=prod", "--role-arn=arn:aws:iam::123456789012:role/d"},
            {},
            ""},
           {"execcred-aws",
            {"aws-iam-authenticator", "token", "-i", "prod", "--forward-session-name"},
            {},
            {"--cluster-id=prod"},
            {},
            "--forward-session-name: no role is assumed"},
           {"execcred-aws",
            {"aws-iam-authenticator", "token", "-i", "prod", "-s", "me", "--external-id=ext"},
            {},
            {"--cluster-id=prod"},
            {},
            "--external-id: no role is assumed"},
           {"execcred-aws",
            {"aws-iam-authenticator", "token"},
            {"KUBERNETES_AWS_AUTHENTICATOR_CLUSTER_ID=prod", "AWS_REGION=eu-west-1"},
            {"--cluster-id=prod"},
            {"AWS_REGION=eu-west-1"},
            "variable KUBERNETES_AWS_AUTHENTICATOR_CLUSTER_ID → --cluster-id=prod"},
           {"execcred-aws",
            {"aws", "--region", "eu-west-1", "eks", "get-token", "--cluster-name", "prod",
             "--output", "json"},
            {"AWS_PROFILE=ops", "AWS_PAGER=less", "AWS_SECRET_ACCESS_KEY=S3CRET"},
            {"--region=eu-west-1", "--cluster-id=prod"},
            {"AWS_PROFILE=ops", "AWS_SECRET_ACCESS_KEY=S3CRET"},
            "--cluster-name → --cluster-id=prod"},
           {"execcred-aws",
            {"aws", "eks", "get-token", "--cluster-id", "local-1", "--role-arn",
             "arn:aws:iam::123456789012:role/x", "--profile", "ops", "--no-cli-pager"},
            {},
            {"--cluster-id=local-1", "--role-arn=arn:aws:iam::123456789012:role/x", "--profile=ops",
             "--session-name=EKSGetTokenAuth"},
            {},
            "the name that aws gives the session"},
           {"execcred-aws",
            {"aws", "eks", "--debug", "--region=us-east-1", "get-token", "--cluster-name=prod"},
            {},
            {"--region=us-east-1", "--cluster-id=prod"}},
           {"execcred-aws",
            {"argocd-k8s-auth", "aws", "--cluster-name", "prod", "--role-arn",
             "arn:aws:iam::123456789012:role/x", "--profile=ops"},
            {},
            {"--cluster-id=prod", "--role-arn=arn:aws:iam::123456789012:role/x", "--profile=ops"}},
           {"execcred-aws", {"/plugins/eks-aws-auth-plugin"}, {}, {}, {}, "{region, clusterId}"}}) {
    check(carried);
  }
}

TEST_CASE("migrate: AKS users keep their identity, and variables that override their flags") {
  for (const Carried& carried : std::vector<Carried>{
           {"execcred-azure",
            {"kubelogin", "get-token", "--login", "workloadidentity", "--server-id", kAksServer},
            {"AZURE_CLIENT_ID=" + kClient, "AZURE_TENANT_ID=contoso.com",
             "AZURE_FEDERATED_TOKEN_FILE=/f",
             "AZURE_AUTHORITY_HOST=https://login.microsoftonline.com/"},
            {"--server-id=" + kAksServer, "--identity=workload"},
            {"AZURE_CLIENT_ID=" + kClient, "AZURE_TENANT_ID=contoso.com",
             "AZURE_FEDERATED_TOKEN_FILE=/f",
             "AZURE_AUTHORITY_HOST=https://login.microsoftonline.com/"}},
           {"execcred-azure",
            {"kubelogin", "get-token", "-l", "workloadidentity", "--client-id", kClient, "-t",
             "contoso.com", "--federated-token-file", "/f", "--authority-host",
             "https://h.example.com", "--environment", "AzureChinaCloud", "--server-id", "s",
             "--token-cache-dir", "/c"},
            {},
            {"--server-id=s", "--identity=workload", "--client-id=" + kClient,
             "--tenant-id=contoso.com", "--federated-token-file=/f",
             "--authority-host=https://h.example.com"},
            {},
            "here the flags override them"},
           {"execcred-azure",
            {"kubelogin", "get-token", "--login=workloadidentity", "--server-id=s",
             "--client-id=loses"},
            {"AZURE_CLIENT_ID=" + kClient, "AAD_SERVICE_PRINCIPAL_CLIENT_ID=loses too"},
            {"--server-id=s", "--identity=workload"},
            {"AZURE_CLIENT_ID=" + kClient},
            "--client-id: variable AZURE_CLIENT_ID counts"},
           {"execcred-azure",
            {"kubelogin", "get-token", "--login=workloadidentity", "--server-id=s",
             "--client-id=" + kClient, "--disable-environment-override"},
            {"AZURE_CLIENT_ID=loses", "AAD_LOGIN_METHOD=spn"},
            {"--server-id=s", "--identity=workload", "--client-id=" + kClient}},
           {"execcred-azure",
            {"kubelogin", "get-token", "--login=workloadidentity", "--server-id=s",
             "--use-azurerm-env-vars"},
            {"ARM_CLIENT_ID=" + kClient, "ARM_TENANT_ID=contoso.com", "AZURE_TENANT_ID=not read"},
            {"--server-id=s", "--identity=workload", "--client-id=" + kClient,
             "--tenant-id=contoso.com"},
            {},
            "variable ARM_CLIENT_ID → --client-id=99999999-"},
           {"execcred-azure",
            {"kubelogin", "get-token", "--login", "devicecode", "--server-id", "s", "-e",
             "AzureUSGovernmentCloud"},
            {"AAD_LOGIN_METHOD=workloadidentity"},
            {"--server-id=s", "--identity=workload",
             "--authority-host=https://login.microsoftonline.us"}},
           {"execcred-azure",
            {"kubelogin.exe", "get-token", "--login", "msi", "--server-id", "s", "--client-id",
             kClient, "--environment", "AzureChinaCloud", "--client-secret", "S3CRET"},
            {"AZURE_TENANT_ID=contoso.com"},
            {"--server-id=s", "--identity=managed", "--client-id=" + kClient},
            {},
            "--client-secret: this login method does not use it"},
           {"execcred-azure",
            {"kubelogin", "get-token", "-l", "msi", "--server-id=s",
             "--identity-resource-id=" + kResource},
            {"AZURE_POD_IDENTITY_AUTHORITY_HOST=http://127.0.0.1:1", "IDENTITY_ENDPOINT=http://e",
             "IDENTITY_HEADER=S3CRET", "SSL_CERT_FILE=/ca"},
            {"--server-id=s", "--identity=managed", "--identity-resource-id=" + kResource},
            {"AZURE_POD_IDENTITY_AUTHORITY_HOST=http://127.0.0.1:1", "IDENTITY_ENDPOINT=http://e",
             "IDENTITY_HEADER=S3CRET"},
            "here the flag overrides it"},
           {"execcred-azure",
            {"kubelogin", "get-token", "-l", "msi", "--server-id=s", "--client-id", kClient,
             "--identity-resource-id=" + kResource},
            {},
            {"--server-id=s", "--identity=managed", "--client-id=" + kClient},
            {},
            "--identity-resource-id: the client ID counts"},
           {"execcred-azure",
            {"kubelogin", "get-token", "-l", "workloadidentity", "--server-id=s",
             "--identity-resource-id=" + kResource},
            {"SSL_CERT_FILE=/ca", "MSI_ENDPOINT=http://e"},
            {"--server-id=s", "--identity=workload", "--ca-file=/ca"},
            {},
            "--identity-resource-id: workload identity uses the client ID"},
           {"execcred-azure",
            {"argocd-k8s-auth", "azure"},
            {"AAD_ENVIRONMENT_NAME=AzurePublicCloud", "AZURE_CLIENT_ID=" + kClient,
             "AZURE_TENANT_ID=contoso.com"},
            {"--identity=workload", "--server-id=" + kAksServer},
            {"AZURE_CLIENT_ID=" + kClient, "AZURE_TENANT_ID=contoso.com"},
            "the default of argocd-k8s-auth"},
           {"execcred-azure",
            {"argocd-k8s-auth", "azure"},
            {"AAD_LOGIN_METHOD=msi", "AAD_SERVER_APPLICATION_ID=s"},
            {"--identity=managed", "--server-id=s"}}}) {
    check(carried);
  }
}

TEST_CASE("migrate: GKE users keep impersonation and application default credentials") {
  for (const Carried& carried : std::vector<Carried>{
           {"execcred-google",
            {"gke-gcloud-auth-plugin"},
            {"USE_GKE_GCLOUD_AUTH_PLUGIN=True"},
            {},
            {},
            "it took gcloud's current login"},
           {"execcred-google",
            {"gke-gcloud-auth-plugin", "--use_application_default_credentials",
             "--impersonate_service_account=a@p.iam.gserviceaccount.com"},
            {"GOOGLE_APPLICATION_CREDENTIALS=/adc.json", "HTTPS_PROXY=http://p:1"},
            {"--impersonate-service-account=a@p.iam.gserviceaccount.com"},
            {"GOOGLE_APPLICATION_CREDENTIALS=/adc.json", "HTTPS_PROXY=http://p:1"},
            "--use_application_default_credentials: execcred-google always uses these"},
           {"execcred-google",
            {"gke-gcloud-auth-plugin"},
            {"CLOUDSDK_AUTH_IMPERSONATE_SERVICE_ACCOUNT=a@p.iam.gserviceaccount.com",
             "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE=/k.json", "CLOUDSDK_CORE_PROJECT=p"},
            {"--impersonate-service-account=a@p.iam.gserviceaccount.com",
             "--credentials-file=/k.json"}},
           {"execcred-google",
            {"gke-auth-plugin", "-i", "a@p.iam.gserviceaccount.com", "-v", "v1beta1"},
            {},
            {"--impersonate-service-account=a@p.iam.gserviceaccount.com"}},
           {"execcred-google", {"gke-auth-plugin"}, {}, {}},
           {"execcred-google",
            {"/plugins/gcp-auth-plugin"},
            {"GOOGLE_APPLICATION_CREDENTIALS=/adc.json", "GCE_METADATA_HOST=h", "CLOUDSDK_X=y",
             "SSL_CERT_FILE=/ca.pem"},
            {"--ca-file=/ca.pem"},
            {"GOOGLE_APPLICATION_CREDENTIALS=/adc.json", "GCE_METADATA_HOST=h"},
            "variable CLOUDSDK_X: execcred-google does not read it"},
           {"execcred-google", {"argocd-k8s-auth", "gcp"}, {}, {}}}) {
    check(carried);
  }
  CHECK(migrate({"gcp-auth-plugin"}, {}).peer().is_good_at_many_servers);
}

TEST_CASE("migrate: oidc-login with client credentials keeps issuer, client, scopes and CA") {
  const Texts args = {"--oidc-issuer-url=https://i.example.com",
                      "--oidc-client-id=k",
                      "--grant-type=client-credentials",
                      "--oidc-extra-scope=email,groups",
                      "--oidc-extra-scope",
                      "x",
                      "--oidc-use-access-token",
                      "--oidc-auth-request-extra-params=audience=api,tenant=t",
                      "--certificate-authority=/ca.pem",
                      "--token-cache-dir=~/.kube/cache",
                      "-v1"};
  const Texts carried = {"--flow=client-credentials",
                         "--issuer-url=https://i.example.com",
                         "--client-id=k",
                         "--ca-file=/ca.pem",
                         "--audience=api",
                         "--param=tenant=t",
                         "--scope=email groups x openid",
                         "--token=access_token"};
  for (Texts command : std::vector<Texts>{{"kubectl", "oidc-login", "get-token"},
                                          {"kubectl-oidc_login", "get-token"},
                                          {"kubelogin", "get-token"}}) {
    command.insert(command.end(), args.begin(), args.end());
    check(Carried{"execcred-oidc-federation", command, {}, carried, {}, "--param=tenant=…"});
  }
  check(Carried{"execcred-oidc-federation",
                {"kubelogin", "get-token", "--oidc-issuer-url=https://i.example.com",
                 "--oidc-client-id=k", "--grant-type=client-credentials"},
                {"SSL_CERT_FILE=/ca.pem", "no_proxy=x"},
                {"--flow=client-credentials", "--issuer-url=https://i.example.com", "--client-id=k",
                 "--ca-file=/ca.pem", "--scope=openid", "--token=id_token"},
                {"no_proxy=x"},
                "--client-secret-file=PATH"});
}

TEST_CASE("migrate: plugins that read Secrets become static-secret with their convention") {
  for (const Carried& carried : std::vector<Carried>{
           {"execcred-static-secret",
            {"/plugins/cp-creds", "--managed-serviceaccount=m"},
            {"NAMESPACE=fleet", "KUBECONFIG=/k"},
            {"--convention=cp-creds", "--managed-serviceaccount=m", "--namespace=fleet"},
            {"KUBECONFIG=/k"}},
           {"execcred-static-secret",
            {"/bin/cp-creds-plugin", "--managed-serviceaccount=m"},
            {},
            {"--convention=cp-creds", "--managed-serviceaccount=m"}},
           {"execcred-static-secret", {"secretreader-plugin"}, {}, {"--convention=secretreader"}},
           {"execcred-static-secret",
            {"/bin/kubeconfig-secretreader-plugin"},
            {},
            {"--convention=kubeconfig-secretreader"},
            {},
            "--allow-namespace=NS"},
           {"execcred-static-secret",
            {"token-secretreader"},
            {},
            {"--convention=token-secretreader"}}}) {
    check(carried);
    CHECK(migrate(carried.command, carried.env).peer().needs_cluster);
  }
}

TEST_CASE("migrate: notes list what a reader of Secrets accepted and static-secret refuses") {
  const std::string name_space =
      "a namespace that a ClusterProfile names must be the own one, or --allow-namespace=NS "
      "added\n";
  const std::string hub_token =
      "a token of the hub's own ServiceAccounts, or in a Secret of type "
      "kubernetes.io/service-account-token, needs --allow-hub-token\n";
  const std::string insecure =
      "a token for a cluster with insecure-skip-tls-verify needs --allow-insecure\n";
  const auto notes = [](const Texts& command) {
    return changes(migrate(command, {}), Change::Kind::note);
  };
  // The Secret's name comes from clusterName. No ClusterProfile can set the namespace, and a token
  // names no server.
  CHECK(notes({"secretreader"}) == hub_token + insecure);
  CHECK(notes({"cp-creds", "--managed-serviceaccount=m"}) == hub_token + insecure);
  CHECK(notes({"token-secretreader"}) == name_space + hub_token + insecure);
  CHECK(notes({"kubeconfig-secretreader"}) ==
        name_space +
            "a stored kubeconfig is given to its own server alone: where spec.cluster.server is "
            "another, add --allow-server-mismatch=PATTERN\n"
            "each CA in spec.cluster.certificate-authority-data must be in the stored kubeconfig; "
            "if it has no CA, add --allow-profile-ca\n"
            "a stored kubeconfig needs --allow-proxy=PATTERN for a cluster with a proxy-url, and "
            "--allow-insecure for one with insecure-skip-tls-verify\n"
            "a stored kubeconfig is refused where any user has exec, an auth-provider other than "
            "oidc, impersonation, a password or an unknown field\n"
            "of a user with a token and a certificate the token is given; add --both to give "
            "both\n" +
            hub_token +
            "execcred-bootstrap, with this entry as its --credential, has the cluster exchange the "
            "stored credential for a short-lived one\n");
}

TEST_CASE("migrate: SPIFFE, Pinniped and token files") {
  for (const Carried& carried : std::vector<Carried>{
           {"execcred-spiffe",
            {"k8s-spiffe-workload-jwt-exec-auth"},
            {"SPIFFE_ENDPOINT_SOCKET=unix:///s", "SPIFFE_JWT_AUDIENCE=a",
             "EXEC_CREDENTIAL_VERSION=v1beta1"},
            {"--type=jwt", "--audience=a", "--api-version=v1beta1"},
            {"SPIFFE_ENDPOINT_SOCKET=unix:///s"}},
           {"execcred-spiffe",
            {"k8s-spiffe-workload-jwt-exec-auth", "-timeout", "5s"},
            {},
            {"--type=jwt", "--timeout=5s", "--audience=k8s"},
            {},
            "execcred-spiffe has no default"},
           {"execcred-spiffe",
            {"spire-agent", "api", "fetch", "jwt", "-audience", "a,b", "-socketPath", "/s",
             "-spiffeID=spiffe://td/x", "-output=json", "-timeout=0"},
            {},
            {"--type=jwt", "--audience=a", "--audience=b", "--spiffe-id=spiffe://td/x",
             "--socket=unix:///s"}},
           {"execcred-oidc-federation",
            {"pinniped", "login", "static", "--token-env=TOKEN", "--enable-concierge",
             "--concierge-api-group-suffix=pinniped.dev", "--concierge-authenticator-name=n",
             "--concierge-authenticator-type=webhook",
             "--concierge-endpoint=https://h.example.com"},
            {"TOKEN=S3CRET", "PINNIPED_DEBUG=true"},
            {"--flow=pinniped", "--concierge-authenticator-type=webhook",
             "--concierge-authenticator-name=n", "--concierge-api-group-suffix=pinniped.dev",
             "--concierge-endpoint=https://h.example.com", "--subject-token-env=TOKEN"},
            {"TOKEN=S3CRET"},
            "--token-env → --subject-token-env=TOKEN"},
           {"execcred-oidc-federation",
            {"pinniped", "login", "static", "--token-env=TOKEN"},
            {},
            {"--flow=pass-through", "--subject-token-env=TOKEN"}},
           {"execcred-token-file",
            {"argocd-k8s-auth", "oidc", "--token-file=/t"},
            {},
            {"--token-file=/t"}},
           {"execcred-token-file",
            {"argocd-k8s-auth", "oidc"},
            {"ARGOCD_OIDC_TOKEN_FILE=/t"},
            {"--token-file=/t"}}}) {
    check(carried);
  }
}

}  // namespace
}  // namespace execcred::migrate::test
