# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-static-secret and its hub: an identity for the hub, the rows of the table in
# config/static-secret with this machine's values, and runs of the plugin as a client runs it.

# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"

STATIC_SECRET=$EXECCRED_BIN/execcred-static-secret
EXAMPLES=$EXECCRED_ROOT/config/static-secret
# The user in certificates that client_certificate makes.
CERTIFICATE_USER=fleet-member
# Replaces the CA in an example's files.
CA_DATA=$(base64 -w0 "$CA_FILE")

# client_certificate DIR [EXTENSION...]: makes DIR/client.{crt,key}, which the API server accepts.
client_certificate() {
  mkdir -p "$1"
  ln -sf "$E2E_CLUSTER"/pki/ca.{crt,key} "$1"
  certificate "$1" client "/O=fleet/CN=$CERTIFICATE_USER" basicConstraints=critical,CA:FALSE \
    "${@:2}" 2>"$1/openssl.log" || fail "$(cat "$1/openssl.log")"
}

# kubeconfig_json USER [CLUSTER_FIELDS [NAMESPACE]]: prints a kubeconfig of the API server whose
# user is this JSON object.
kubeconfig_json() {
  jq -n --argjson user "$1" --argjson more "${2:-{\}}" --arg namespace "${3:-}" \
    --arg server "$SERVER" --arg ca "$CA_DATA" '{
      apiVersion: "v1", kind: "Config", "current-context": "c",
      clusters: [{name: "c", cluster: ({server: $server, "certificate-authority-data": $ca} + $more)}],
      users: [{name: "u", user: $user}],
      contexts: [{name: "c", context: ({cluster: "c", user: "u"} +
                  if $namespace == "" then {} else {namespace: $namespace} end)}]}'
}

token_user() { jq -n --arg token "$1" '{token: $token}'; }

# hub_kubeconfig FILE NAMESPACE ACCOUNT [CLUSTER_FIELDS]: writes a kubeconfig of this ServiceAccount. Its
# context has the ServiceAccount's namespace, like a pod.
hub_kubeconfig() {
  kubeconfig_json "$(token_user "$(admin -n "$2" create token "$3")")" "${4:-{\}}" "$2" >"$1"
}

# allow ACCOUNT VERB [NAME...]: allows this verb on all Secrets of the suite's namespace, or on those with
# these names. OF_NAMESPACE=NS chooses another namespace.
allow() {
  local account=$1 verb=$2 namespace=${OF_NAMESPACE:-$NAMESPACE} names=()
  shift 2
  [ "$#" -eq 0 ] || names=("${@/#/--resource-name=}")
  admin -n "$namespace" create role "$account-$verb" --verb "$verb" --resource secrets "${names[@]}"
  admin -n "$namespace" create rolebinding "$account-$verb" --role "$account-$verb" \
    --serviceaccount "$NAMESPACE:$account"
} >/dev/null

# store_secret NAME KEY VALUE [FIELDS]: FIELDS is JSON to merge into the object.
store_secret() {
  jq -n --arg name "$1" --arg key "$2" --arg value "$3" --argjson fields "${4:-{\}}" '
    {apiVersion: "v1", kind: "Secret", metadata: {name: $name}, stringData: {($key): $value}}
    * $fields' | admin -n "$NAMESPACE" apply -f - >/dev/null
}

# exec_info CONFIG [CLUSTER_FIELDS]: prints what client-go writes into KUBERNETES_EXEC_INFO.
exec_info() {
  jq -cn --argjson config "$1" --argjson more "${2:-{\}}" --arg server "$SERVER" --arg ca "$CA_DATA" '{
    kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
    spec: {cluster: ({server: $server, "certificate-authority-data": $ca} + $more + {config: $config}),
           interactive: false}}'
}

# ask_plugin CONFIG ARGUMENT...: runs the plugin with the hub of the file hub.json. The fields of CLUSTER
# (JSON) are added to spec.cluster.
ask_plugin() {
  KUBERNETES_EXEC_INFO=$(exec_info "$1" "${CLUSTER:-{\}}") KUBECONFIG=$PWD/hub.json \
    run "$STATIC_SECRET" "${@:2}"
}

expect_token() { # TOKEN
  expect_success
  expect_silent_stderr
  expect_json .status.token "$1"
}

# expect_refused STATUS TEXT...: no credential, and one error line that contains each text.
expect_refused() {
  local status=$1
  shift
  expect_status "$status"
  expect_no_stdout
  expect_error_line execcred-static-secret "$@"
}

# --- the examples

# indented FILE: prints its lines, indented for a block in a manifest.
indented() { sed 's/^/    /' "$1"; }

# row PROVIDER DIR: writes the files of this row of the table there. Without arguments, prints the names.
row() { /usr/bin/python3 -B "$EXECCRED_ROOT/tests/support/static_secret_rows.py" "$EXAMPLES" "$@"; }

# fill_in PROVIDER TOKEN: writes this row's files here, with what differs between machines: the server and
# its CA, the credentials, the plugin's path, and the hub. Needs client/client.crt.
fill_in() {
  row "$1" .
  fill_in_files "$1" "$2"
}

# fill_in_files NAME TOKEN: the same for the manifests and the mapping.json that are here.
fill_in_files() {
  local example=$1 token=$2 file
  for file in *.yaml; do
    sed -E -i -e "s|https://(spoke-1\|hub)\.example\.com:6443|$SERVER|" \
      -e "s|https://cluster-proxy-addon-user[^ ]*|$SERVER|" \
      -e "s|LS0t[A-Za-z0-9+/=]{99,}|$CA_DATA|" \
      -e "s|REPLACE-ME-TOKEN|$token|" \
      -e "s|REPLACE-ME-CLIENT-CERTIFICATE-DATA|$(base64 -w0 client/client.crt)|" \
      -e "s|REPLACE-ME-CLIENT-KEY-DATA|$(base64 -w0 client/client.key)|" \
      -e "s|REPLACE-ME-CA\$|$(jq -Rs . "$CA_FILE" | sed 's/[\\&|]/\\&/g')|" "$file"
    fill_in_block "$file" REPLACE-ME-CLIENT-CERTIFICATE client/client.crt
    fill_in_block "$file" REPLACE-ME-CLIENT-KEY client/client.key
    fill_in_block "$file" REPLACE-ME-CA-CERTIFICATE "$CA_FILE"
  done
  if grep -n REPLACE-ME -- *.yaml | grep -v ': *#'; then unexpected "no placeholder in $example"; fi
  fill_in_mapping
}

# fill_in_block FILE PLACEHOLDER PEM_FILE: replaces a placeholder that is a whole line.
fill_in_block() {
  grep -qE "^ +$2\$" "$1" || return 0
  indented "$3" >block
  sed -E -i -e "/^ +$2\$/{r block" -e 'd}' "$1"
}

fill_in_mapping() {
  jq --arg plugin "$STATIC_SECRET" --arg here "$PWD" --arg server "$SERVER" '
    .providers[].execConfig |= (
      .command = $plugin
      | .env = [{name: "KUBECONFIG", value: ($here + "/hub.json")}]
      | .args |= map(sub("^--allow-server=.*"; "--allow-server=" + $server)
                     | sub("=/var/run/secrets/execcred"; "=" + $here + "/mounted")))' \
    mapping.json >filled.json
  mv filled.json mapping.json
}

# objects FILE...: prints the JSON of each object in these manifests.
objects() {
  admin create --dry-run=client -o json "${@/#/--filename=}" | jq -c '(.items // [.])[]'
}

# apply_example: applies the manifests, in their namespaces. hub.json then has the example's
# ServiceAccount.
apply_example() {
  local manifest namespace account manifests=()
  [ ! -e secret.yaml ] || manifests+=(secret.yaml)
  [ ! -e rbac.yaml ] || manifests+=(rbac.yaml)
  [ "${#manifests[@]}" -gt 0 ] || return 0
  for namespace in $(objects "${manifests[@]}" | jq -r .metadata.namespace | sort -u); do
    have_namespace "$namespace"
  done
  for manifest in "${manifests[@]}"; do admin apply -f "$manifest"; done
  [ -e rbac.yaml ] || return 0
  objects rbac.yaml >rbac.json
  read -r namespace account < <(jq -r \
    'select(.kind == "ServiceAccount").metadata | .namespace + " " + .name' rbac.json)
  hub_kubeconfig hub.json "$namespace" "$account"
  # The authorizer reads a RoleBinding a moment after it was stored.
  wait_until 120 the_role_is_known
} >/dev/null

# Checks, with the example's identity, whether the hub allows the first rule of its Role.
the_role_is_known() {
  local namespace verb secret
  read -r namespace verb secret < <(jq -r 'select(.kind == "Role") | .metadata.namespace + " " +
    .rules[0].verbs[0] + " secrets" + (.rules[0].resourceNames // [] | map("/" + .)[:1] | add // "")' \
    rbac.json)
  timeout 240 kubectl --kubeconfig hub.json auth can-i -q -n "$namespace" "$verb" "$secret"
}

# remove_example PROVIDER: so that no other example uses its permissions.
remove_example() {
  local manifest folder
  folder=$(mktemp -d "$SUITE_DIR/row.XXXXXX")
  row "$1" "$folder"
  for manifest in "$folder"/{secret,rbac}.yaml; do
    [ ! -e "$manifest" ] || admin delete --ignore-not-found --wait=false -f "$manifest"
  done
} >/dev/null
