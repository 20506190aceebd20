# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# From a hub with ClusterProfiles and nothing else to clusters that doctor finds in order: a person types
# `execcred init`, and then each time the command that the one before has printed. Hub and clusters are real
# API servers.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
trap cluster_stop EXIT
# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"

SPOKE=$SUITE_DIR/spoke
CERTIFICATE_DAYS=90 CLUSTER_ISSUER=https://spoke.example.com cluster_start "$SPOKE"
spoke() { timeout 240 kubectl --kubeconfig "$SPOKE/admin.kubeconfig" "$@"; }

# fleet_kubeconfig CONTEXT...: what the administrator of the fleet has. The current context is the hub, as the
# controller in its namespace; each other one is that of a cluster.
fleet_kubeconfig() {
  jq -n --arg token "$(request_token controller)" --slurpfile hub "$E2E_CLUSTER/admin.kubeconfig" --slurpfile spoke "$SPOKE/admin.kubeconfig" \
    --arg namespace "$NAMESPACE" '{apiVersion: "v1", kind: "Config", "current-context": "hub",
      clusters: [{name: "hub", cluster: $hub[0].clusters[0].cluster},
                 {name: "spoke", cluster: $spoke[0].clusters[0].cluster}],
      users: [{name: "hub", user: {token: $token}}, {name: "spoke", user: $spoke[0].users[0].user}],
      contexts: ([{name: "hub", context: {cluster: "hub", user: "hub", namespace: $namespace}}] +
        [$ARGS.positional[] | {name: ., context: {cluster: "spoke", user: "spoke"}}])}' --args -- "$@" >fleet.json
  chmod 600 fleet.json
}

# a_cluster NAME: a ClusterProfile of the hub, and the Secret with the token of the cluster's user, who may do
# nothing there.
a_cluster() {
  spoke -n default create serviceaccount "$NAMESPACE-$1" >/dev/null
  admin -n "$NAMESPACE" create secret generic "$1" >/dev/null \
    --from-literal=token="$(spoke -n default create token "$NAMESPACE-$1")"
  write_profile profile.json "$1" accessProviders "$(
    SERVER=$(cat "$SPOKE/server") CA_FILE=$SPOKE/pki/ca.crt cluster_json "{\"clusterName\": \"$1\"}")"
  jq '.status.accessProviders |= map(select(.name == "token-file") | .name = "secretreader")' profile.json >hub.json
  store_profile hub.json
}

# a_hub NAME CLUSTER...: in a namespace of this name.
a_hub() {
  local name
  use_namespace "e2e-five-$1"
  shift
  create_account controller
  admin -n "$NAMESPACE" create role controller --verb get,list,watch \
    --resource clusterprofiles.multicluster.x-k8s.io,secrets >/dev/null
  admin -n "$NAMESPACE" create rolebinding controller --role controller \
    --serviceaccount "$NAMESPACE:controller" >/dev/null
  fleet_kubeconfig "$@"
  for name in "$@"; do a_cluster "$name"; done
}

# type_in COMMAND: runs it as a person's shell does. NEXT are the commands that it prints.
type_in() {
  KUBECONFIG=fleet.json PATH=$EXECCRED_BIN:$PATH run bash -o pipefail -c "$1"
  mapfile -t NEXT < <(sed -n 's/^next: //p' stdout stderr)
}

names_of_commands() { printf '%s\n' "${TYPED[@]}" | awk '{print $2}' | xargs; }

# way CONSUMER: types the first command, and then each command that was printed, until none is.
way() {
  TYPED=("execcred init --from-hub --for=$1 -n $NAMESPACE -o 'the fleet' --plugin-dir=$EXECCRED_BIN")
  type_in "${TYPED[0]}"
  while [ "${#NEXT[@]}" -gt 0 ]; do
    [ "${#TYPED[@]}" -lt 12 ] || unexpected "an end of the commands: $(names_of_commands)"
    local printed=("${NEXT[@]}") command
    for command in "${printed[@]}"; do
      TYPED+=("$command")
      type_in "$command"
    done
  done
}

five_commands() { # CONSUMER RIGHT
  a_hub "$1" spoke-1
  way "$1"
  expect_success
  expect_in stdout "result: ok" "may $2"
  expect_equal "the commands" "init lint doctor grant doctor" "$(names_of_commands)"
}

# The commands have the paths and options of the one before, and every right that Kueue's own setup gives.
rights_of_kueue() {
  a_hub rights again
  way kueue
  spoke auth can-i --list --as "system:serviceaccount:default:$NAMESPACE-again" >rights
  expect_in rights jobs.batch/status workloads.kueue.x-k8s.io/status jobsets.jobset.x-k8s.io
  [[ ${TYPED[2]} == "execcred doctor -m='the fleet/mapping.json' --from-hub "* ]] || unexpected "the path: ${TYPED[2]}"
}

two_clusters() {
  a_hub two spoke-1 spoke-2
  way generic
  expect_success
  expect_in stdout "2 clusters: 2 ok, 0 warn, 0 fail"
  # Both documents of the first doctor are applied; the doctor that the last one prints is the end.
  expect_equal "the commands" "init lint doctor grant grant doctor" "$(names_of_commands)"
}

# Without its context, nothing is applied: never to the hub.
no_context() {
  a_hub stranger stranger
  fleet_kubeconfig other
  type_in "execcred init --from-hub -n $NAMESPACE -o fleet --plugin-dir=$EXECCRED_BIN"
  type_in "${NEXT[0]}"
  type_in "${NEXT[0]}"
  type_in "${NEXT[0]}"
  expect_failure
  expect_in stderr 'context "stranger" does not exist'
  admin get clusterroles,roles -A -l app.kubernetes.io/managed-by=execcred -o name >written
  if grep stranger written; then unexpected "nothing on the hub"; fi
}

check "Kueue: five commands, each printed by the one before" five_commands kueue create/jobs.batch
check "a generic controller: five commands, each printed by the one before" five_commands generic list/namespaces
check "Kueue's rights are those of its own setup, and paths are quoted" rights_of_kueue
check "two clusters: each is told, and the last doctor is of both" two_clusters
check "a cluster without a context of its name: nothing is applied" no_context
