# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-spiffe with the suite's own SPIRE (spire.sh), and a cluster that trusts it with the files of
# config/spiffe.
#
#   spiffe_cluster              starts the cluster for the suite's checks. It accepts JWT-SVIDs of
#                               SPIRE_ISSUER for AUDIENCE and for its own URL, and certificates that
#                               SPIRE_ROOT has issued
#
# A check runs the plugin as one of the suite's workloads.

# shellcheck source=tests/e2e/lib/spire.sh
. "$E2E_DIR/lib/spire.sh"

SPIFFE_EXAMPLES=$EXECCRED_ROOT/config/spiffe
AUDIENCE=k8s

spiffe_cluster() {
  # If a port is taken, cluster_start stops its processes and starts again. That must not stop SPIRE.
  local CLUSTER_PIDS=() dir=$SPIRE/cluster
  mkdir -p "$dir/log"
  cluster_pki "$dir/pki" 2>"$dir/log/openssl" || fail "openssl: $(tail -n 3 "$dir/log/openssl")"
  cat "$dir/pki/ca.crt" "$SPIRE_ROOT" >"$dir/clients.crt"
  trusting "$AUDIENCE" >"$dir/authentication.yaml"
  cluster_start "$dir" --authentication-config "$dir/authentication.yaml" \
    --client-ca-file "$dir/clients.crt"
  E2E_CLUSTER=$dir
  SERVER=$(cat "$E2E_CLUSTER/server")
  # shellcheck disable=SC2034
  CA_FILE=$E2E_CLUSTER/pki/ca.crt
  # The URL is known only now. The API server reads the file again when it changes.
  trusting "$AUDIENCE" "$SERVER" >"$dir/new.yaml"
  mv "$dir/new.yaml" "$dir/authentication.yaml"
}

# trusting AUDIENCE...: prints the example's authentication.yaml with these audiences.
trusting() {
  local audience audiences='' authority
  for audience; do audiences+="\\n        - $audience"; done
  authority="certificateAuthority: $(as_json "$SPIRE_PKI/ca.crt")"
  sed -E -e "s|^( +url:) .*|\1 $SPIRE_ISSUER\n      $authority|" \
    -e '/^ +- https:\/\/spoke-1\./d' -e "s|^( +audiences:)|\1$audiences|" \
    "$SPIFFE_EXAMPLES/jwt/authentication.yaml"
}
# as_json FILE: prints its text as a JSON string that sed can insert.
as_json() { jq -Rs . "$1" | sed 's/[\\&|]/\\&/g'; }

# expect_trust WORKLOAD: waits until the cluster has read its configuration and SPIRE's keys.
expect_trust() {
  wait_until 90 accepts_token_of "$@" || fail "the cluster does not trust SPIRE"
}
accepts_token_of() {
  local token
  token=$("$(workload "$1")" --type=jwt --audience="$SERVER" | jq -er .status.token)
  curl -fsS --noproxy '*' --cacert "$CA_FILE" -H "Authorization: Bearer $token" -o /dev/null \
    "$SERVER/api"
}

# ask WORKLOAD ARGUMENT...: runs the plugin by itself.
ask() { run "$(workload "$1")" "${@:2}"; }

# ask_for CONFIG WORKLOAD ARGUMENT...: the same, with spec.cluster of a ClusterProfile with this config.
ask_for() {
  local info
  info=$(jq -cn --argjson config "$1" --arg server "$SERVER" '{
    kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
    spec: {cluster: {server: $server, config: $config}, interactive: false}}')
  KUBERNETES_EXEC_INFO=$info run "$(workload "$2")" "${@:3}"
}

# write_clients WORKLOAD ARGUMENT...: writes config, mapping.json and profile.json, which run it.
write_clients() {
  local exec
  exec=$(exec_config v1 "$(workload "$1")" "${@:2}")
  write_kubeconfig config "$exec"
  write_mapping mapping.json "$exec"
  write_profile profile.json spoke accessProviders
}

# expect_user NAME: the cluster accepts kubectl, client-go and execcred as this user.
expect_user() {
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$1"
  expect_silent_stderr
  expect_client_go "$1"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json
  expect_success
  expect_silent_stderr
}
expect_client_go() {
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile "${2:-profile.json}"
  expect_success
  expect_stdout "ok $1"
  expect_silent_stderr
}

# fill_in EXAMPLE WORKLOAD: copies the example's files here, with this machine's paths and server.
fill_in() {
  jq --arg plugin "$(workload "$2")" --arg socket "$SPIFFE_ENDPOINT_SOCKET" --arg server "$SERVER" '
    .providers[].execConfig |= (.command = $plugin
      | .env |= map(if .name == "SPIFFE_ENDPOINT_SOCKET" then .value = $socket else . end)
      | .args |= map(sub("^--allow-server=.*"; "--allow-server=" + $server)))' \
    "$SPIFFE_EXAMPLES/$1/mapping.json" >mapping.json
  sed -E -e "s|https://spoke-1\.example\.com:6443|$SERVER|" \
    -e "s|LS0t[A-Za-z0-9+/=]{99,}|$(base64 -w0 "$CA_FILE")|" \
    "$SPIFFE_EXAMPLES/$1/clusterprofile.yaml" >profile.yaml
  expect_in mapping.json "$SERVER" "$SPIFFE_ENDPOINT_SOCKET"
  expect_in profile.yaml "server: $SERVER"
}

# expect_identity ID: the JWT-SVID on stdout is of this identity.
expect_identity() {
  expect_success
  expect_silent_stderr
  jwt_claims "$(jq -er .status.token stdout)" >claims
  expect_equal "the identity" "$SPIRE_DOMAIN/$1" "$(jq -r .sub claims)"
}

# validate TOKEN: lets the agent, which has the keys, check it.
validate() {
  run "$E2E_SPIRE/spire-agent" api validate jwt -socketPath "$SPIRE_SOCKET" -audience "$AUDIENCE" \
    -svid "$1"
}

# expect_refused STATUS TEXT...: no credential, one error line that contains each text, and a hint.
expect_refused() {
  local status=$1
  shift
  expect_status "$status"
  expect_no_stdout
  expect_error_line execcred-spiffe "$@"
  expect_in stderr "  hint: "
}

# example_entries WORKLOAD: creates the entries of config/spiffe for this workload.
example_entries() {
  jq --arg parent "$SPIRE_DOMAIN/node" --arg path "path:$(workload "$1")" '
    .entries[] |= (.parent_id = $parent | .selectors = [{type: "unix", value: $path}])' \
    "$SPIFFE_EXAMPLES/entries.json" >"$SPIRE/entries.json"
  spire_server entry create -data "$SPIRE/entries.json" >"$SPIRE/log/entry" ||
    fail "$(cat "$SPIRE/log/entry")"
}

# kubectl_by_example: runs kubectl auth whoami with the kubeconfig that execcred makes of the example.
kubectl_by_example() {
  run "$EXECCRED_BIN/execcred" kubeconfig -m mapping.json -f profile.yaml -o config
  expect_success
  run kubectl --kubeconfig config --context fleet/spoke-1 auth whoami -o json
  expect_success
  expect_silent_stderr
}
