# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The writer of a ClusterProfile chooses a Secret and a server. These checks show what
# execcred-static-secret refuses, although the hub returns the Secret, and which option allows it.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

ELSEWHERE='{"server": "https://elsewhere.example.com:6443"}'

# expect_allowed_by OPTION CONFIG ARGUMENT...: with this option the same run succeeds.
expect_allowed_by() {
  ask_plugin "$2" "${@:3}" "$1"
  expect_success
  expect_silent_stderr
}

another_namespace() {
  local other=$NAMESPACE-other config
  config=$(jq -cn --arg namespace "$other" '{name: "config", key: "kubeconfig", namespace: $namespace}')
  ask_plugin "$config" --convention=kubeconfig-secretreader
  expect_refused 1 "namespace '$other' is not this side's own"
  expect_in stderr "--allow-namespace=$other"
  expect_allowed_by "--allow-namespace=$other" "$config" --convention=kubeconfig-secretreader
  expect_allowed_by --allow-namespace=any "$config" --convention=kubeconfig-secretreader

  # It is refused before any request to the hub: this hub does not exist.
  hub_kubeconfig hub.json "$NAMESPACE" controller '{"server": "https://127.0.0.1:1"}'
  ask_plugin "$config" --convention=kubeconfig-secretreader
  expect_refused 1 "namespace '$other' is not this side's own"
}

another_namespace_by_template() {
  ask_plugin "{\"clusterName\": \"$NAMESPACE-other\"}" --convention=managed-serviceaccount \
    --secret-name=account
  expect_refused 1 "namespace '$NAMESPACE-other' is not this side's own"
}

another_server() {
  store_secret foreign kubeconfig "$(kubeconfig_json "$(token_user opaque-token)")" \
    '{"metadata": {"labels": {"sigs.k8s.io/multicluster-runtime-kubeconfig": "true"}}}'
  CLUSTER=$ELSEWHERE ask_plugin '{"clusterName": "foreign"}' --convention=mcr-kubeconfig
  expect_refused 1 "https://elsewhere.example.com:6443"
  CLUSTER=$ELSEWHERE expect_allowed_by --allow-server-mismatch=https://elsewhere.example.com:6443 \
    '{"clusterName": "foreign"}' --convention=mcr-kubeconfig
}

another_authority() {
  mkdir other
  cluster_pki other 2>/dev/null
  CLUSTER=$(jq -n --arg ca "$(base64 -w0 other/ca.crt)" '{"certificate-authority-data": $ca}') \
    ask_plugin '{"clusterName": "labelled"}' --convention=mcr-kubeconfig
  expect_refused 1 certificate-authority-data
}

a_proxy() {
  CLUSTER='{"proxy-url": "http://proxy.example.com:3128"}' \
    ask_plugin '{"clusterName": "labelled"}' --convention=mcr-kubeconfig
  expect_refused 1 proxy-url
}

no_verification() {
  local cluster='{"insecure-skip-tls-verify": true}'
  CLUSTER=$cluster ask_plugin '{"clusterName": "token"}' --convention=secretreader
  expect_refused 1 insecure-skip-tls-verify
  CLUSTER=$cluster expect_allowed_by --allow-insecure '{"clusterName": "token"}' --convention=secretreader
}

an_annotation_binds() {
  local arguments=(--convention=secretreader --server-annotation=example.com/server)
  ask_plugin '{"clusterName": "annotated"}' "${arguments[@]}"
  expect_success
  CLUSTER=$ELSEWHERE ask_plugin '{"clusterName": "annotated"}' "${arguments[@]}"
  expect_refused 1 "https://elsewhere.example.com:6443"
  ask_plugin '{"clusterName": "token"}' "${arguments[@]}"
  expect_refused 1 "no annotation 'example.com/server'"
}

a_label_is_demanded() {
  ask_plugin '{"clusterName": "unlabelled"}' --convention=mcr-kubeconfig
  expect_refused 1 "does not have the label"
  ask_plugin '{"clusterName": "labelled"}' --convention=mcr-kubeconfig --require-label=team=a
  expect_refused 1 "does not have the label 'team=a'"
  expect_allowed_by --require-label=team=b '{"clusterName": "labelled"}' --convention=mcr-kubeconfig
}

# A token of the hub itself, stored in a Secret as if it were the cluster's token.
a_token_of_the_hub() {
  local arguments=(--convention=secretreader)
  CLUSTER=$ELSEWHERE ask_plugin '{"clusterName": "token"}' "${arguments[@]}"
  expect_refused 1 "the hub's own"
  CLUSTER=$ELSEWHERE expect_allowed_by --allow-hub-token '{"clusterName": "token"}' "${arguments[@]}"
  ask_plugin '{"clusterName": "token"}' "${arguments[@]}"
  expect_success
}

# A second cluster with the same issuer and audience, as kubeadm configures clusters.
a_token_of_another_cluster() {
  local spoke=$PWD/spoke token
  trap cluster_stop EXIT
  cluster_start "$spoke"
  kubectl --kubeconfig "$spoke/admin.kubeconfig" create serviceaccount member >/dev/null
  token=$(kubectl --kubeconfig "$spoke/admin.kubeconfig" create token member)
  expect_equal "the issuer" "$(jwt_claims "$TOKEN" | jq -r .iss)" "$(jwt_claims "$token" | jq -r .iss)"
  store_secret spoke token "$token"
  hub_with_env mapping.json --convention=secretreader "--allow-server=$(cat "$spoke/server")"
  write_profile profile.json spoke accessProviders "$(jq -n --arg server "$(cat "$spoke/server")" \
    --arg ca "$(base64 -w0 "$spoke/pki/ca.crt")" '{server: $server, "certificate-authority-data": $ca,
      extensions: [{name: "client.authentication.k8s.io/exec", extension: {clusterName: "spoke"}}]}')"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok system:serviceaccount:default:member"

  # The same ClusterProfile, changed to name a Secret with a token of the hub.
  sed -i 's|"clusterName": "spoke"|"clusterName": "token"|' profile.json
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_status 1
  expect_error_line execcred-static-secret "the hub's own"
}

hub_with_env() { # FILE ARGUMENT...
  write_mapping "$1" "$(exec_config v1 "$STATIC_SECRET" "${@:2}" |
    jq --arg hub "$PWD/hub.json" '.env = [{name: "KUBECONFIG", value: $hub}]')"
}

a_service_account_token_secret() {
  store_secret account token opaque '{"type": "kubernetes.io/service-account-token",
    "metadata": {"annotations": {"kubernetes.io/service-account.name": "reader"}}}'
  ask_plugin '{"clusterName": "account"}' --convention=secretreader
  expect_refused 1 "kubernetes.io/service-account-token"
  expect_allowed_by --allow-hub-token '{"clusterName": "account"}' --convention=secretreader
  ask_plugin '{"clusterName": "account"}' --convention=service-account-token
  expect_token opaque
  ask_plugin '{"clusterName": "token"}' --convention=service-account-token
  expect_refused 1 "is of type 'Opaque'"
}

a_ca_is_no_client_certificate() {
  mkdir other
  cluster_pki other 2>/dev/null
  admin -n "$NAMESPACE" create secret tls spoke-ca --cert other/ca.crt --key other/ca.key >/dev/null
  admin -n "$NAMESPACE" create secret tls spoke-server --cert other/server.crt --key other/server.key \
    >/dev/null
  ask_plugin '{}' --secret-name=spoke-ca --format=certificate
  expect_refused 1 CA
  ask_plugin '{}' --secret-name=spoke-server --format=certificate
  expect_refused 1 client
}

# A kubeconfig with more than a static credential is refused. Such fields are not just ignored.
a_kubeconfig_may_not() { # FIELDS NAME TEXT
  store_secret "bad-$2" kubeconfig "$(kubeconfig_json "$(token_user "$TOKEN")" | jq -c \
    --argjson fields "$1" '.users[0].user += $fields')"
  ask_plugin '{}' --format=kubeconfig "--secret-name=bad-$2"
  expect_refused 1 "$3"
}

two_secrets_for_one_label() {
  local name
  for name in one two; do
    store_secret "double-$name" Config "$KUBECONFIG_TEXT" '{"metadata": {"labels": {
      "x-k8s.io/cluster-profile": "double", "x-k8s.io/cluster-inventory-consumer": "a"}}}'
  done
  ask_plugin '{"clusterName": "double"}' --convention=cluster-profile
  expect_refused 1 double-one double-two
  admin -n "$NAMESPACE" label secret double-two x-k8s.io/cluster-inventory-consumer=b --overwrite \
    >/dev/null
  expect_allowed_by --selector=x-k8s.io/cluster-inventory-consumer=a '{"clusterName": "double"}' \
    --convention=cluster-profile
}

# istio_secret NAME CLUSTER...: a remote Secret with these data keys, and a key that is not a kubeconfig.
istio_secret() {
  jq -n --arg config "$KUBECONFIG_TEXT" '{apiVersion: "v1", kind: "Secret",
    metadata: {name: $ARGS.positional[0], labels: {"istio/multiCluster": "true"}},
    stringData: ($ARGS.positional[1:] | map({(.): $config}) | add + {broken: "- {"})}' --args -- "$@" |
    admin -n "$NAMESPACE" apply -f - >/dev/null
}

istio_clusters() {
  istio_secret remotes east west
  ask_plugin '{"clusterName": "west"}' --convention=istio
  expect_token "$TOKEN"
  ask_plugin '{"clusterName": "east"}' --convention=istio --local-cluster=east
  expect_refused 1 "'east' is this side's own"
  ask_plugin '{"clusterName": "north"}' --convention=istio
  expect_refused 1 "of cluster 'north'"
  istio_secret more-remotes west
  ask_plugin '{"clusterName": "west"}' --convention=istio
  expect_refused 1 remotes more-remotes
  # The Secret with the name that istioctl gives has priority.
  istio_secret istio-remote-secret-west west
  ask_plugin '{"clusterName": "west"}' --convention=istio
  expect_token "$TOKEN"
}

# argo_cd_secret CLUSTER CONFIG: a cluster Secret of Argo CD.
argo_cd_secret() {
  store_secret "argo-$1" config "$2" "$(jq -n --arg name "$1" --arg server "$SERVER" '{
    metadata: {labels: {"argocd.argoproj.io/secret-type": "cluster"}},
    stringData: {name: $name, server: $server}}')"
}

argo_cd_may_not() { # CLUSTER FIELD
  argo_cd_secret "$1" "$(jq -n --arg field "$2" '{bearerToken: "t", ($field): {command: "/bin/sh"}}')"
  ask_plugin "{\"clusterName\": \"$1\"}" --convention=argocd
  expect_refused 1 "$2"
}

argo_cd_certificate() {
  client_certificate client extendedKeyUsage=clientAuth
  argo_cd_secret certificate "$(jq -n --arg ca "$CA_DATA" --arg key "$(base64 -w0 client/client.key)" \
    --arg certificate "$(base64 -w0 client/client.crt)" '{tlsClientConfig: {
      insecure: false, caData: $ca, certData: $certificate, keyData: $key}}')"
  ask_plugin '{"clusterName": "certificate"}' --convention=argocd
  expect_success
  expect_json .status.clientCertificateData "$(cat client/client.crt)"
}

an_expired_token() {
  store_secret expired token "$(expired_token "$TOKEN")"
  ask_plugin '{"clusterName": "expired"}' --convention=secretreader
  expect_refused 1 expired
}

# rule SENTENCE FUNCTION [ARGUMENT...]: a check with a hub that returns every Secret.
rule() { check "$1" with_hub "${@:2}"; }
with_hub() {
  hub_kubeconfig hub.json "$NAMESPACE" controller
  "$@"
}

use_namespace static-secret-rules
for account in reader controller; do create_account "$account"; done
allow controller get
allow controller list
admin create namespace "$NAMESPACE-other" >/dev/null
OF_NAMESPACE=$NAMESPACE-other allow controller get
TOKEN=$(request_token reader)
KUBECONFIG_TEXT=$(kubeconfig_json "$(token_user "$TOKEN")")
store_secret token token "$TOKEN"
# Not a JWT, so that no other rule applies to it.
store_secret annotated token opaque-token \
  "$(jq -n --arg server "$SERVER/" '{metadata: {annotations: {"example.com/server": $server}}}')"
store_secret unlabelled kubeconfig "$KUBECONFIG_TEXT"
store_secret labelled kubeconfig "$KUBECONFIG_TEXT" \
  '{"metadata": {"labels": {"sigs.k8s.io/multicluster-runtime-kubeconfig": "true", "team": "b"}}}'
NAMESPACE=$NAMESPACE-other store_secret config kubeconfig "$KUBECONFIG_TEXT"
wait_until 120 admin -n "$NAMESPACE-other" auth can-i get secrets -q \
  --as "system:serviceaccount:$NAMESPACE:controller"

rule "another namespace in the ClusterProfile is refused" another_namespace
rule "another namespace by the convention's template is refused" another_namespace_by_template
rule "a server other than the stored kubeconfig's is refused" another_server
rule "a CA other than the stored kubeconfig's is refused" another_authority
rule "a proxy is refused if the Secret names its server" a_proxy
rule "a token for a server that is not verified is refused" no_verification
rule "a server that the Secret's annotation does not name is refused" an_annotation_binds
rule "a Secret without the label is refused" a_label_is_demanded
rule "a token of the hub for another server is refused" a_token_of_the_hub
rule "a token of the hub for a cluster with the same issuer is refused" a_token_of_another_cluster
rule "a service-account-token Secret with another convention is refused" a_service_account_token_secret
rule "a CA's or a server's certificate is refused" a_ca_is_no_client_certificate
rule "a stored kubeconfig with an exec section is refused" a_kubeconfig_may_not \
  '{"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh"}}' exec exec
rule "a stored kubeconfig with a token file is refused" a_kubeconfig_may_not \
  '{"tokenFile": "/etc/passwd"}' file tokenFile
rule "a stored kubeconfig with a key file is refused" a_kubeconfig_may_not \
  '{"client-key": "/etc/ssl/private/key.pem"}' key client-key
rule "a stored kubeconfig with impersonation is refused" \
  a_kubeconfig_may_not '{"as": "admin"}' as "impersonation (as)"
rule "a stored kubeconfig with a password is refused" a_kubeconfig_may_not \
  '{"username": "admin", "password": "p"}' password username
rule "a stored kubeconfig with an unknown field is refused" \
  a_kubeconfig_may_not '{"spiffe": "x"}' unknown spiffe
rule "two Secrets with the same label are refused" two_secrets_for_one_label
rule "Istio: a Secret of several clusters; the local cluster and duplicates are refused" \
  istio_clusters
rule "Argo CD: a command is refused" argo_cd_may_not command execProviderConfig
rule "Argo CD: an EKS login is refused" argo_cd_may_not eks awsAuthConfig
rule "Argo CD: a certificate is accepted" argo_cd_certificate
rule "an expired token is refused" an_expired_token
