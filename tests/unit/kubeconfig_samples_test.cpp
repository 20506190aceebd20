// SPDX-License-Identifier: Apache-2.0
// Kubeconfigs in the form in which other projects store them. They are written by hand, from the
// documented formats.
#include "expect.hpp"

#include <doctest/doctest.h>
#include <execcred/base/try.hpp>
#include <execcred/kube/kubeconfig.hpp>

namespace execcred {
namespace {

using test::check_fails;

Result<KubeconfigContext> read(const std::string& text) {
  CAPTURE(text);
  const Kubeconfig config = TRY(Kubeconfig::parse(text));
  TRY(config.check_stored({}, false));
  return config.context("");
}

KubeconfigContext must_read(const std::string& text) {
  Result<KubeconfigContext> found = read(text);
  if (!found) FAIL(test::full_text(found.error()));
  return std::move(found).value();
}

// istioctl create-remote-secret: one data key of a Secret with istio/multiCluster=true.
TEST_CASE("kubeconfig samples: Istio's remote secret") {
  const std::string text = R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0EtREFUQQ==
    server: https://c0.example.com:6443
  name: c0
contexts:
- context:
    cluster: c0
    user: c0
  name: c0
current-context: c0
kind: Config
preferences: {}
users:
- name: c0
  user:
    token: eyJhbGciOiJSUzI1NiJ9.e30.c2ln
)";
  const KubeconfigContext found = must_read(text);
  CHECK(found.name == "c0");
  CHECK(found.cluster.cluster.server == "https://c0.example.com:6443");
  CHECK(found.cluster.cluster.certificate_authority_data == "Q0EtREFUQQ==");
  CHECK(found.user.token.reveal() == "eyJhbGciOiJSUzI1NiJ9.e30.c2ln");
}

// istioctl create-remote-secret --auth-type=plugin --auth-plugin-name=…
TEST_CASE("kubeconfig samples: Istio's remote secret with an auth plugin") {
  const auto text = [](const std::string& plugin) {
    return R"(apiVersion: v1
kind: Config
clusters: [{name: c0, cluster: {server: "https://c0.example.com", certificate-authority-data: ""}}]
contexts: [{name: c0, context: {cluster: c0, user: c0}}]
current-context: c0
users:
- name: c0
  user:
    auth-provider:
      config:
        client-id: istio
        id-token: eyJhbGciOiJSUzI1NiJ9.e30.c2ln
        idp-issuer-url: https://issuer.example.com
      name: )" +
           plugin + "\n";
  };
  CHECK(must_read(text("oidc")).user.oidc_id_token.reveal() == "eyJhbGciOiJSUzI1NiJ9.e30.c2ln");
  check_fails(read(text("gcp")), Error::Kind::no_credential,
              "the kubeconfig's user 'c0' has the auth-provider 'gcp'");
}

// Kueue's create-multikueue-kubeconfig.sh: the key "kubeconfig" of a MultiKueue Secret.
TEST_CASE("kubeconfig samples: Kueue's MultiKueue worker") {
  const std::string text = R"(apiVersion: v1
kind: Config
clusters:
- name: kind-worker
  cluster:
    certificate-authority-data: Q0EtREFUQQ==
    server: https://worker1-control-plane:6443
contexts:
- name: kind-worker
  context:
    cluster: kind-worker
    user: multikueue-sa
current-context: kind-worker
users:
- name: multikueue-sa
  user:
    token: tok
)";
  const KubeconfigContext found = must_read(text);
  CHECK(found.user.name == "multikueue-sa");
  CHECK(found.user.token.reveal() == "tok");
  for (const auto& [from, to, problem] : {
           std::tuple("    token: tok", "    tokenFile: /var/run/secrets/token", "tokenFile"),
           std::tuple("    certificate-authority-data: Q0EtREFUQQ==",
                      "    certificate-authority: /etc/ca.crt", "certificate-authority path"),
           std::tuple("    certificate-authority-data: Q0EtREFUQQ==",
                      "    insecure-skip-tls-verify: true", "insecure-skip-tls-verify"),
           std::tuple("https://worker1-control-plane:6443", "https://worker 1:6443",
                      "server of the cluster 'kind-worker'"),
       }) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string(from).size(), to);
    check_fails(read(changed), Error::Kind::no_credential, problem);
  }
}

// Cluster API: the key "value" of <cluster>-kubeconfig, with an administrator's certificate.
TEST_CASE("kubeconfig samples: Cluster API's workload cluster") {
  const KubeconfigContext found = must_read(R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0EtREFUQQ==
    server: https://172.18.0.3:6443
  name: capi-quickstart
contexts:
- context:
    cluster: capi-quickstart
    user: capi-quickstart-admin
  name: capi-quickstart-admin@capi-quickstart
current-context: capi-quickstart-admin@capi-quickstart
kind: Config
preferences: {}
users:
- name: capi-quickstart-admin
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
)");
  CHECK(found.name == "capi-quickstart-admin@capi-quickstart");
  CHECK(found.user.token.empty());
  CHECK(found.user.client_certificate_data == "Q0VSVA==");
  CHECK(found.user.client_key_data.reveal() == "S0VZ");
}

// karmadactl init: the key "karmada.config" of kubeconfig, which lists its own API servers.
TEST_CASE("kubeconfig samples: Karmada's control plane") {
  const KubeconfigContext found = must_read(R"(apiVersion: v1
kind: Config
preferences: {}
clusters:
  - name: karmada-apiserver
    cluster:
      certificate-authority-data: |
        Q0Et
        REFUQQ==
      server: https://karmada-apiserver.karmada-system.svc.cluster.local:5443
users:
  - name: karmada-apiserver
    user:
      client-certificate-data: Q0VSVA==
      client-key-data: S0VZ
contexts:
  - name: karmada-apiserver
    context:
      cluster: karmada-apiserver
      user: karmada-apiserver
current-context: karmada-apiserver
)");
  CHECK(found.cluster.cluster.certificate_authority_data == "Q0EtREFUQQ==");
  CHECK(found.user.client_key_data.reveal() == "S0VZ");
}

// aws eks update-kubeconfig, gcloud container clusters get-credentials.
TEST_CASE("kubeconfig samples: a person's own kubeconfig, stored by mistake") {
  check_fails(read(R"(apiVersion: v1
kind: Config
current-context: arn:aws:eks:eu-west-1:111122223333:cluster/prod
clusters:
- cluster: {certificate-authority-data: Q0E=, server: "https://A1B2.gr7.eu-west-1.eks.amazonaws.com"}
  name: arn:aws:eks:eu-west-1:111122223333:cluster/prod
contexts:
- context:
    cluster: arn:aws:eks:eu-west-1:111122223333:cluster/prod
    user: arn:aws:eks:eu-west-1:111122223333:cluster/prod
  name: arn:aws:eks:eu-west-1:111122223333:cluster/prod
users:
- name: arn:aws:eks:eu-west-1:111122223333:cluster/prod
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [--region, eu-west-1, eks, get-token, --cluster-name, prod]
      command: aws
)"),
              Error::Kind::no_credential, "has an exec section");
}

}  // namespace
}  // namespace execcred
