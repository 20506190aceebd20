# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-static-secret and a real hub: how it authenticates, and what it reports when the
# hub does not answer, forbids the request, or has a certificate that cannot be verified.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

CONFIG='{"clusterName": "spoke"}'
TOKEN_FROM_SECRET=(--convention=secretreader)

# hub [CLUSTER_FIELDS]: writes hub.json for the ServiceAccount that may get Secrets here.
hub() { hub_kubeconfig hub.json "$NAMESPACE" controller "${1:-{\}}"; }

ask() { ask_plugin "$CONFIG" "${TOKEN_FROM_SECRET[@]}" "$@"; }

# --- identities

a_token_file_is_the_identity() {
  hub
  jq -j '.users[0].user.token' hub.json >token
  jq '.users[0].user = {tokenFile: "token"}' hub.json >file.json
  mv file.json hub.json
  ask
  expect_token "$SPOKE_TOKEN"
}

a_certificate_is_the_identity() { # data|file
  client_certificate client extendedKeyUsage=clientAuth
  if [ "$1" = data ]; then
    user=$(jq -n --arg certificate "$(base64 -w0 client/client.crt)" \
      --arg key "$(base64 -w0 client/client.key)" \
      '{"client-certificate-data": $certificate, "client-key-data": $key}')
  else
    user='{"client-certificate": "client/client.crt", "client-key": "client/client.key"}'
  fi
  kubeconfig_json "$user" '{}' "$NAMESPACE" >hub.json
  ask
  expect_token "$SPOKE_TOKEN"
}

the_hubs_own_exec_is_refused() {
  hub
  jq --argjson exec "$(exec_config v1 /bin/true)" '.users[0].user = {exec: $exec}' hub.json >exec.json
  mv exec.json hub.json
  ask
  expect_refused 2 "exec"
}

an_unknown_identity_is_told() {
  kubeconfig_json "$(token_user "$(forged_token "$SPOKE_TOKEN")")" '{}' "$NAMESPACE" >hub.json
  ask
  expect_refused 1 "401 Unauthorized"
}

# A pod's files have fixed paths, so the plugin runs in its own mount namespace with files there.
the_pod_is_the_identity() {
  local pod=(bash -euc '
    mount -t tmpfs -o mode=755 tmpfs /run
    mkdir -p /run/secrets/kubernetes.io
    cp -r pod /run/secrets/kubernetes.io/serviceaccount
    chmod -R go-w /run/secrets
    exec "$@"' pod)
  mkdir -m 755 pod
  admin -n "$NAMESPACE" create token controller >pod/token
  printf %s "$NAMESPACE" >pod/namespace
  cp "$CA_FILE" pod/ca.crt
  KUBERNETES_EXEC_INFO=$(exec_info "$CONFIG") KUBERNETES_SERVICE_HOST=127.0.0.1 \
    KUBERNETES_SERVICE_PORT=${SERVER##*:} \
    run unshare "${OWN_MOUNTS[@]}" "${pod[@]}" "$STATIC_SECRET" "${TOKEN_FROM_SECRET[@]}"
  expect_token "$SPOKE_TOKEN"
}

# Istio's paths are fixed too.
certificates_are_found_where_istio_mounts_them() { # FOLDER CERTIFICATE KEY
  client_certificate client extendedKeyUsage=clientAuth
  # shellcheck disable=SC2016
  KUBERNETES_EXEC_INFO=$(exec_info null) run unshare "${OWN_MOUNTS[@]}" bash -euc '
    mount -t tmpfs -o mode=755 tmpfs "/$(cut -d/ -f2 <<<"$1")"
    mkdir -p "$1"
    cp client/client.crt "$1/$2"
    cp client/client.key "$1/$3"
    exec "${@:4}"' certificates "$1" "$2" "$3" "$STATIC_SECRET" --convention=mounted-certificate
  expect_success
  expect_silent_stderr
  expect_json .status.clientCertificateData "$(cat client/client.crt)"
}

the_peer_gives_the_same_token() {
  hub
  KUBERNETES_EXEC_INFO=$(exec_info "$CONFIG") KUBECONFIG=$PWD/hub.json run "$E2E_SECRETREADER"
  expect_token "$SPOKE_TOKEN"
  ask
  expect_token "$SPOKE_TOKEN"
}

# --- no answer

forbidden() {
  hub_kubeconfig hub.json "$NAMESPACE" nobody
  ask
  expect_refused 1 "403 Forbidden" 'secrets "spoke" is forbidden'
  expect_in stderr "  hint: it needs a Role with verbs [get] on resources [secrets]" \
    "resourceNames [spoke]" "namespace '$NAMESPACE'"
}

forbidden_list() {
  hub
  ask_plugin "$CONFIG" --convention=cluster-profile
  expect_refused 1 "403 Forbidden" "secrets is forbidden"
  expect_in stderr "  hint: it needs a Role with verbs [list] on resources [secrets]"
}

no_such_secret() {
  hub
  ask_plugin '{"clusterName": "nowhere"}' "${TOKEN_FROM_SECRET[@]}"
  expect_refused 1 "'$NAMESPACE/nowhere' does not exist"
}

no_such_key() {
  hub
  ask --key=other
  expect_refused 1 "no key 'other'"
  expect_in stderr "its keys are 'token'"
}

another_ca() {
  mkdir other
  cluster_pki other 2>/dev/null
  hub "$(jq -n --arg ca "$(base64 -w0 other/ca.crt)" '{"certificate-authority-data": $ca}')"
  ask
  expect_refused 3
  expect_in stderr certificate
}

another_name() {
  hub '{"tls-server-name": "other.example.com"}'
  ask
  expect_refused 3
}

nobody_listens() {
  free_ports 1
  hub "{\"server\": \"https://127.0.0.1:${PORTS[0]}\"}"
  ask --timeout=5s
  expect_refused 3 "127.0.0.1:${PORTS[0]}"
}

# A server that completes the TLS handshake and then sends nothing, like a stopped API server.
nobody_answers() {
  local started=$SECONDS
  free_ports 1
  mkfifo silence
  exec 9<>silence
  openssl s_server -quiet -accept "127.0.0.1:${PORTS[0]}" -cert "$E2E_CLUSTER/pki/server.crt" \
    -key "$E2E_CLUSTER/pki/server.key" <&9 >/dev/null 2>&1 &
  wait_until 120 port_is_open "${PORTS[0]}"
  hub "{\"server\": \"https://127.0.0.1:${PORTS[0]}\"}"
  ask --timeout=1s
  expect_refused 3
  [ $((SECONDS - started)) -lt 60 ] || unexpected "an end within its deadline"
}
port_is_open() { (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# --- through clients

kubectl_shows_the_reason() {
  hub_kubeconfig hub.json "$NAMESPACE" nobody
  write_kubeconfig config "$(exec_config v1 "$STATIC_SECRET" "${TOKEN_FROM_SECRET[@]}" |
    jq --arg hub "$PWD/hub.json" '.env = [{name: "KUBECONFIG", value: $hub}]')" \
    "$(cluster_json "$CONFIG")"
  run kubectl --kubeconfig config auth whoami
  expect_status 1
  expect_error_line execcred-static-secret "403 Forbidden"
  expect_in stderr "executable $STATIC_SECRET failed with exit code 1"
}

a_new_token_is_seen() {
  hub
  store_secret rotating token "$(request_token reader)"
  write_mapping mapping.json "$(exec_config v1 "$STATIC_SECRET" "${TOKEN_FROM_SECRET[@]}" \
    --max-age=1s --allow-server "$SERVER" |
    jq --arg hub "$PWD/hub.json" '.env = [{name: "KUBECONFIG", value: $hub}]')"
  write_profile profile.json rotating accessProviders "$(cluster_json '{"clusterName": "rotating"}')"
  cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json \
    -requests 0 -interval 200ms -timeout 400s >answers 2>&1 &
  wait_until 120 grep -qx "ok $(user_of reader)" answers
  store_secret rotating token "$(request_token other)"
  wait_until 120 grep -qx "ok $(user_of other)" answers
  expect_equal "answers that are errors" 0 "$(grep -vc '^ok ' answers)"
}

use_namespace static-secret-hub
for account in reader other controller nobody; do create_account "$account"; done
SPOKE_TOKEN=$(request_token reader)
store_secret spoke token "$SPOKE_TOKEN"
allow controller get
admin -n "$NAMESPACE" create rolebinding certificate --role controller-get --user "$CERTIFICATE_USER" >/dev/null
wait_until 120 admin -n "$NAMESPACE" auth can-i get secrets -q --as "$CERTIFICATE_USER"

check "a hub kubeconfig with a token file" a_token_file_is_the_identity
check "a hub kubeconfig with an embedded certificate" a_certificate_is_the_identity data
check "a hub kubeconfig with a certificate file" a_certificate_is_the_identity file
check "a hub kubeconfig with an exec section is refused" the_hubs_own_exec_is_refused
check "an identity that the hub does not know is reported" an_unknown_identity_is_told
OWN_MOUNTS=(--mount --propagation private)
if [ "$(id -u)" -eq 0 ] && unshare "${OWN_MOUNTS[@]}" mount -t tmpfs tmpfs /run 2>/dev/null; then
  check "the pod's own ServiceAccount" the_pod_is_the_identity
  check "a certificate in /etc/certs" certificates_are_found_where_istio_mounts_them \
    /etc/certs cert-chain.pem key.pem
  check "a certificate of workload-spiffe-credentials" certificates_are_found_where_istio_mounts_them \
    /run/secrets/workload-spiffe-credentials certificates.pem private_key.pem
else
  for place in "the pod's own ServiceAccount" "a certificate in /etc/certs" \
    "a certificate of workload-spiffe-credentials"; do
    skip "$place" "needs root and a mount namespace of its own"
  done
fi
check "secretreader, with client-go, gives the same token" the_peer_gives_the_same_token
check "forbidden by RBAC: the error has the hub's message and the missing rule" forbidden
check "a list that RBAC forbids is reported with the missing rule" forbidden_list
check "a Secret that does not exist is reported" no_such_secret
check "a Secret without the key is reported with its keys" no_such_key
check "a hub with a certificate of another CA is refused" another_ca
check "a hub with a certificate for another name is refused" another_name
check "a hub that is down is reported" nobody_listens
check "a hub that does not answer ends the run by its time limit" nobody_answers
check "kubectl shows the plugin's error" kubectl_shows_the_reason
check "client-go uses a new token of the Secret" a_new_token_is_seen
