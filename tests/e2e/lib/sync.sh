# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A cluster for a suite of execcred sync: a real kube-apiserver and etcd, ClusterProfiles in the
# namespace fleet, Secrets in the namespace TO, and the RBAC rules of config/sync. The plugin of each
# ClusterProfile is a script that requests a token from the API server. Sourced, after suite.sh.

# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

trap cluster_stop EXIT
E2E_CLUSTER=$SUITE_DIR/cluster
cluster_start "$E2E_CLUSTER"
# Sourced again, for this cluster instead of the one that all suites share.
# shellcheck source=tests/e2e/lib/fixtures.sh
. "$E2E_DIR/lib/fixtures.sh"
# shellcheck disable=SC2034
CA_DATA=$(base64 -w0 "$CA_FILE")

EXECCRED=$EXECCRED_BIN/execcred
CONFIG=$EXECCRED_ROOT/config/sync
TO=fleet-credentials

# The provider. Each run returns a new token from the API server; the file lifetime has its seconds.
make_provider() {
  cat >"$SUITE_DIR/issue" <<END
#!/bin/sh
echo run >>'$SUITE_DIR/runs'
[ ! -e '$SUITE_DIR/fails' ] || { echo 'the issuer is down' >&2; exit 1; }
lifetime=\$(cat '$SUITE_DIR/lifetime')
token=\$(kubectl --kubeconfig '$E2E_CLUSTER/admin.kubeconfig' -n fleet create token reader --duration=48h)
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"expirationTimestamp":"%s","token":"%s"}}' \
  "\$(date -u -d "+\$lifetime seconds" +%Y-%m-%dT%H:%M:%SZ)" "\$token"
END
  chmod 755 "$SUITE_DIR/issue"
  echo 3600 >"$SUITE_DIR/lifetime"
  NAMESPACE=fleet
  write_mapping "$SUITE_DIR/mapping.json" "$(exec_config v1 "$SUITE_DIR/issue")"
}

# sync_kubeconfig: writes sync.json, with the ServiceAccount of config/sync.
sync_kubeconfig() {
  local token
  token=$(admin -n execcred-sync create token execcred-sync)
  kubeconfig_json "$(jq -n --arg token "$token" '{token: $token}')" >"$SUITE_DIR/sync.json"
  chmod 600 "$SUITE_DIR/sync.json"
}

# once ARGUMENT...: runs execcred sync --once with the Deployment's RBAC rules.
once() {
  run "$EXECCRED" sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --kubeconfig "$SUITE_DIR/sync.json" \
    --secret-namespace="$TO" --once "$@"
}

start() { # ARGUMENT...
  "$EXECCRED" "$@" >log.out 2>log &
  RUN=$!
}
end() {
  kill -TERM "$RUN"
  wait "$RUN"
}

value_of() { admin -n "$TO" get secret "$1" -o json | jq -r --arg key "$2" '.data[$key] // empty | @base64d'; }
is_there() { admin -n "$TO" get secret "$1" >/dev/null 2>&1; }
is_gone() { ! is_there "$1"; }
changed_from() { [ -n "$(value_of "$1" "$2")" ] && [ "$(value_of "$1" "$2")" != "$3" ]; }

# Each check starts without ClusterProfiles and Secrets.
clean() {
  admin -n fleet delete clusterprofile --all >/dev/null
  admin -n "$TO" delete secret --all >/dev/null
  echo 3600 >"$SUITE_DIR/lifetime"
}

store() { # NAME
  write_profile "$SUITE_DIR/$1.json" "$1" accessProviders
  store_profile "$SUITE_DIR/$1.json"
}
unstore() { admin -n fleet delete clusterprofile "$1" >/dev/null; }

# accepted_with KUBECONFIG
accepted_with() {
  run kubectl --kubeconfig "$1" auth whoami -o json
  expect_success
  expect_json .status.userInfo.username system:serviceaccount:fleet:reader
}

admin create namespace fleet >/dev/null
admin apply -f "$E2E_DIR/manifests/clusterprofile-crd.yaml" >/dev/null
admin wait --for=condition=Established crd/clusterprofiles.multicluster.x-k8s.io >/dev/null
admin -n fleet create serviceaccount reader >/dev/null
admin apply -f "$CONFIG/rbac.yaml" >/dev/null
make_provider
sync_kubeconfig
