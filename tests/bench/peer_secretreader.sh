# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# execcred-static-secret and what cluster-inventory-api's secretreader does, with the same client-go
# (tests/e2e/peers/secretreader): both read the same Secret of the same kube-apiserver on loopback,
# with the same kubeconfig. A row reads the same Secret from a mounted folder instead. For
# scripts/bench-peers.

PEER="secretreader (Go)"
PLUGIN=execcred-static-secret
# Times less wall, CPU and memory than the peer, in the rows of LIMITED.
LIMITS="[4, 5, 6]"
LIMITED=static-secret
# The namespace of the Secrets, and of the account that may get them.
FLEET=fleet-system

prepare() {
  step "starting etcd and kube-apiserver"
  make_hub
  make_input
  variables=(KUBECONFIG="$work/hub.json")
  KUBERNETES_EXEC_INFO=$(cat "$work/exec-info.json")
  export KUBERNETES_EXEC_INFO
}

# The token, from the output of the peer or of ours.
is_credential() {
  jq -e --rawfile token "$work/token" '.status.token == ($token | rtrimstr("\n"))'
}

add_peer() { add "$PEER" "$E2E_SECRETREADER"; }

# add_build NAME DIRECTORY
add_build() {
  local plugin=$2/$PLUGIN
  add "static-secret, $1" "$plugin" --convention=secretreader
  add "static-secret, $1, folder" "$plugin" --secret-dir="$work/volume" --key=token
}

admin() { timeout 60 kubectl --kubeconfig "$cluster/admin.kubeconfig" "$@"; }

# The hub: one Secret with a ServiceAccount's token, and an account that may get it.
make_hub() {
  cluster_start "$cluster"
  admin create namespace "$FLEET"
  admin -n "$FLEET" create serviceaccount member
  admin -n "$FLEET" create serviceaccount controller
  admin -n "$FLEET" create token member >"$work/token"
  admin -n "$FLEET" create secret generic spoke-1 --from-file token="$work/token"
  admin -n "$FLEET" create role secrets --verb get --resource secrets
  admin -n "$FLEET" create rolebinding secrets --role secrets --serviceaccount "$FLEET:controller"
  wait_until 30 admin -n "$FLEET" auth can-i get secrets -q \
    --as "system:serviceaccount:$FLEET:controller"
}

# What client-go gives the plugin, and the hub's kubeconfig as a pod's would be.
make_input() {
  local server ca
  server=$(cat "$cluster/server")
  ca=$(base64 -w0 "$cluster/pki/ca.crt")
  jq -n --arg server "$server" --arg ca "$ca" --arg namespace "$FLEET" \
    --arg token "$(admin -n "$FLEET" create token controller)" '{
      apiVersion: "v1", kind: "Config", "current-context": "hub",
      clusters: [{name: "hub", cluster: {server: $server, "certificate-authority-data": $ca}}],
      users: [{name: "controller", user: {token: $token}}],
      contexts: [{name: "hub", context: {cluster: "hub", user: "controller", namespace: $namespace}}]}' \
    >"$work/hub.json"
  jq -cn --arg server "$server" --arg ca "$ca" '{
    kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
    spec: {cluster: {server: $server, "certificate-authority-data": $ca,
                     config: {clusterName: "spoke-1"}}, interactive: false}}' >"$work/exec-info.json"
  # As the kubelet lays out a Secret's volume.
  mkdir -p "$work/volume/..data_1"
  cp "$work/token" "$work/volume/..data_1/token"
  ln -s ..data_1 "$work/volume/..data"
  ln -s ..data/token "$work/volume/token"
}
