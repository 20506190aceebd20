# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred --from-hub: reads the inventory from the API server, as a ServiceAccount that may only list
# ClusterProfiles.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

EXECCRED=$EXECCRED_BIN/execcred
MANY=1100
CA_DATA=$(base64 -w0 "$CA_FILE")

# hub_kubeconfig FILE ACCOUNT: writes a kubeconfig of the hub for this ServiceAccount.
hub_kubeconfig() {
  jq -n --argjson cluster "$(cluster_json)" --arg token "$(request_token "$2")" '{
      apiVersion: "v1", kind: "Config", "current-context": "hub",
      clusters: [{name: "hub", cluster: $cluster}],
      users: [{name: "account", user: {token: $token}}],
      contexts: [{name: "hub", context: {cluster: "hub", user: "account"}}]}' >"$1"
}

# allow_profiles ACCOUNT VERB...: allows this on ClusterProfiles of the suite's namespace.
allow_profiles() {
  local account=$1 verbs
  verbs=$(IFS=, && echo "${*:2}")
  admin -n "$NAMESPACE" create role "$account" --verb "$verbs" \
    --resource clusterprofiles.multicluster.x-k8s.io
  admin -n "$NAMESPACE" create rolebinding "$account" --role "$account" \
    --serviceaccount "$NAMESPACE:$account"
} >/dev/null

# Stores two ClusterProfiles. The ServiceAccount in a token shows which of them it was selected for.
store_inventory() {
  local name
  for name in first second; do
    write_profile "$name.json" "$name" accessProviders \
      "$(cluster_json "{\"clusterName\": \"$name\"}")"
    jq --arg name "$name" '.metadata.labels = {only: $name}' "$name.json" >"labelled-$name.json"
    store_profile "labelled-$name.json"
  done
}

# inventory ACCOUNT: writes the tokens, mapping.json and hub.json into the check's directory.
inventory() {
  local name
  for name in first second; do
    project_token "tokens/$name" "$(request_token "$name")"
  done
  write_mapping mapping.json "$(exec_config v1 "$PLUGIN" \
    --token-file "$PWD/tokens/{clusterName}/token" --allow-server "$SERVER")"
  hub_kubeconfig hub.json "$1"
}

# from_hub SUBCOMMAND [ARGUMENT...]: runs it for the suite's namespace.
from_hub() {
  run "$EXECCRED" "$1" -m mapping.json --from-hub --kubeconfig hub.json -n "$NAMESPACE" "${@:2}"
}

kubectl_uses_every_context() {
  local name
  inventory lister
  from_hub kubeconfig -o config
  expect_success
  expect_silent_stderr
  for name in first second; do
    run kubectl --kubeconfig config --context "$NAMESPACE/$name" auth whoami -o json
    expect_success
    expect_json .status.userInfo.username "$(user_of "$name")"
  done
}

client_go_uses_what_was_read() {
  inventory lister
  from_hub resolve -l only=second -o json
  expect_success
  expect_json '.items | length' 1
  expect_json '.items[0].clusterProfile.name' second
  admin -n "$NAMESPACE" get clusterprofile second -o json >profile.json
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok $(user_of second)"
  expect_silent_stderr
}

get_reads_one_by_name() {
  inventory getter
  from_hub get --name second -o token
  expect_success
  expect_stdout "$(cat tokens/second/token)"
  from_hub get --name none -o token
  expect_status 2
  expect_error_line execcred "no ClusterProfile named 'none'"
}

a_pod_s_variable_names_the_hub() {
  inventory lister
  run env KUBECONFIG=hub.json "$EXECCRED" resolve -m mapping.json --from-hub -n "$NAMESPACE" -o json
  expect_success
  expect_json '.items | length' 2
}

the_missing_rule_is_told() { # ACCOUNT
  inventory "$1"
  from_hub kubeconfig -o config
  expect_status 1
  expect_no_stdout
  expect_error_line execcred "403 Forbidden" "cannot list resource \"clusterprofiles\""
  expect_in stderr "  hint: it needs a Role with verbs [list] on resources [clusterprofiles]" \
    "apiGroups [multicluster.x-k8s.io]" "bound in namespace '$NAMESPACE'"
  [ ! -e config ] || unexpected "no file"
}

# This user may list in one namespace, so it may not list in all namespaces.
all_namespaces_need_a_cluster_role() {
  inventory lister
  run "$EXECCRED" kubeconfig -m mapping.json --from-hub --kubeconfig hub.json
  expect_status 1
  expect_in stderr "ClusterRole, bound for all namespaces"
}

# The ClusterProfiles are created without a status, which would need another request for each.
many_profiles_are_read_in_pages() {
  local namespace=$NAMESPACE-many
  admin create namespace "$namespace" >/dev/null
  jq -cn --arg namespace "$namespace" --argjson many "$MANY" '{apiVersion: "v1", kind: "List",
      items: [range($many) | {
        apiVersion: "multicluster.x-k8s.io/v1alpha1", kind: "ClusterProfile",
        metadata: {name: "many-\(.)", namespace: $namespace},
        spec: {clusterManager: {name: "e2e"}}}]}' >many.json
  curl_creates many.json
  admin -n "$namespace" create role lister --verb list \
    --resource clusterprofiles.multicluster.x-k8s.io >/dev/null
  admin -n "$namespace" create rolebinding lister --role lister \
    --serviceaccount "$NAMESPACE:lister" >/dev/null
  inventory lister
  run "$EXECCRED" lint --from-hub --kubeconfig hub.json -n "$namespace"
  expect_success
  # A warning for each, because it has no status, and one because this user may not read Secrets.
  expect_in stdout "0 errors, $((MANY + 1)) warnings in $MANY objects of the hub" \
    "hub: Secrets: warning: were not searched" "cannot list resource \"secrets\""
  expect_equal "names" "$MANY" "$(grep -c '^hub: ClusterProfile .*: warning: status.accessProviders: ' stdout)"
}

# curl, because kubectl needs half a minute for so many objects, and the API server only two seconds.
curl_creates() { # LIST
  local pki=$E2E_CLUSTER/pki namespace
  namespace=$(jq -r '.items[0].metadata.namespace' "$1")
  mkdir bodies
  jq -c '.items[]' "$1" | split -l 1 -a 4 -d - bodies/body-
  local url=$SERVER/apis/multicluster.x-k8s.io/v1alpha1/namespaces/$namespace/clusterprofiles body
  for body in bodies/*; do
    printf 'next\nurl = "%s"\ndata = "@%s"\nheader = "Content-Type: application/json"\nfail\noutput = /dev/null\n' \
      "$url" "$body"
    printf 'noproxy = "*"\ncacert = "%s"\ncert = "%s"\nkey = "%s"\n' \
      "$pki/ca.crt" "$pki/admin.crt" "$pki/admin.key"
  done | sed 1d >requests
  curl -sS --parallel --parallel-max 16 --config requests
}

# apply_here NAMESPACE: applies the manifests in stdout, but in the suite's namespace instead of this one.
apply_here() {
  expect_in stdout "  namespace: $1"
  sed "s/^  namespace: $1\$/  namespace: $NAMESPACE/" stdout >secrets.yaml
  admin apply -f secrets.yaml >/dev/null
}

istio_s_secret_works_as_a_kubeconfig() {
  inventory lister
  from_hub resolve -l only=first -o istio-secret
  expect_success
  expect_in stderr PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS=exec
  apply_here istio-system
  run kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" -n "$NAMESPACE" get secret istio-remote-secret-first -o json
  expect_json '.metadata.labels."istio/multiCluster"' true
  jq -r '.data.first | @base64d' stdout >config
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$(user_of first)"
}

# Makes a kubeconfig of the Secret, with the fields that Argo CD uses for its client (RawRestConfig).
argocd_s_secret_has_what_a_client_needs() {
  inventory lister
  from_hub resolve -o argocd-secret
  expect_success
  apply_here argocd
  run kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" -n "$NAMESPACE" get secret cluster-second -o json
  expect_json '.metadata.labels."argocd.argoproj.io/secret-type"' cluster
  expect_json '.data.name | @base64d' second
  jq '(.data | map_values(@base64d)) as $data | ($data.config | fromjson) as $config | {
      apiVersion: "v1", kind: "Config", "current-context": "c",
      clusters: [{name: "c", cluster: {
        server: $data.server, "certificate-authority-data": $config.tlsClientConfig.caData,
        extensions: [{name: "client.authentication.k8s.io/exec",
                      extension: $config.execProviderConfig.config}]}}],
      users: [{name: "u", user: {exec: ($config.execProviderConfig
        | del(.config) | .env = [] | .interactiveMode = "Never")}}],
      contexts: [{name: "c", context: {cluster: "c", user: "u"}}]}' stdout >config
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$(user_of second)"
}

lint_finds_two_secrets_of_one_cluster() {
  local name
  for name in one two; do
    jq -n --arg name "$name" '{apiVersion: "v1", kind: "Secret",
        metadata: {name: $name, labels: {"istio/multiCluster": "true"}},
        stringData: {spoke: "kubeconfig"}}' | admin -n "$NAMESPACE" apply -f - >/dev/null
  done
  inventory auditor
  run "$EXECCRED" lint --from-hub --kubeconfig hub.json -n "$NAMESPACE"
  expect_status 1
  expect_in stdout "hub: Secret $NAMESPACE/two: error: data.spoke: is cluster 'spoke'" \
    "Secret '$NAMESPACE/one'" "1 error, "
}

# A namespace for the ClusterProfiles of each version that the CRD serves.
use_versions() {
  local account=lister
  admin create namespace "$NAMESPACE-versions"
  admin -n "$NAMESPACE-versions" create role "$account" --verb list \
    --resource clusterprofiles.multicluster.x-k8s.io
  admin -n "$NAMESPACE-versions" create rolebinding "$account" --role "$account" \
    --serviceaccount "$NAMESPACE:$account"
} >/dev/null

# stored_at VERSION NAME FIELD [CLUSTER]: stores a ClusterProfile of this version in the API
# server.
stored_at() {
  write_profile "$2.json" "$2" "$3" "${4:-$(cluster_json "{\"clusterName\": \"first\"}")}"
  jq --arg version "multicluster.x-k8s.io/$1" --arg namespace "$NAMESPACE-versions" \
    --arg name "$2" '.apiVersion = $version | .metadata.namespace = $namespace |
      .metadata.labels = {only: $name}' "$2.json" >"$2-$1.json"
  NAMESPACE=$NAMESPACE-versions store_profile "$2-$1.json"
}

from_versions() { # SUBCOMMAND [ARGUMENT...]
  run "$EXECCRED" "$1" -m mapping.json --from-hub --kubeconfig hub.json -n "$NAMESPACE-versions" \
    "${@:2}"
}

objects_of_both_versions_are_read() {
  inventory lister
  stored_at v1alpha1 older accessProviders
  stored_at v1alpha2 newer accessProviders
  local name
  for name in older newer; do
    from_versions resolve -l "only=$name" -o json
    expect_success
    expect_json '.items[0].clusterProfile.name' "$name"
    expect_json '.items[0].cluster.server' "$SERVER"
  done
  from_versions kubeconfig -o config
  expect_success
  expect_silent_stderr
  run kubectl --kubeconfig config --context "$NAMESPACE-versions/newer" auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$(user_of first)"
}

# The hub also serves the ClusterProfile as v1alpha2, which has no such field.
the_deprecated_field_is_not_served_as_v1alpha2() {
  inventory lister
  stored_at v1alpha1 deprecated credentialProviders
  from_versions resolve -l only=deprecated
  expect_status 2
  expect_error_line execcred "no provider of the mapping is in the ClusterProfile"
  admin -n "$NAMESPACE-versions" get "$(profiles_of v1alpha1)" deprecated -o json >stored.json
  run "$EXECCRED" resolve -m mapping.json -f stored.json -o json
  expect_success
}

# the_crd_refuses VERSION CLUSTER TEXT...
the_crd_refuses() {
  local name=refused-$RANDOM
  jq -n --arg version "multicluster.x-k8s.io/$1" --arg name "$name" '{
      apiVersion: $version, kind: "ClusterProfile", metadata: {name: $name},
      spec: {clusterManager: {name: "e2e"}}}' | admin -n "$NAMESPACE-versions" create -f - >/dev/null
  run kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" -n "$NAMESPACE-versions" patch \
    "$(profiles_of "$1")" "$name" --subresource status --type merge \
    --patch "$(jq -cn --argjson cluster "$2" '{status: {accessProviders: [
      {name: "p", cluster: $cluster}]}}')"
  expect_status 1
  expect_in stderr "${@:3}"
}

# extended EXTENSION...: prints a cluster with these extensions, NAME=JSON.
extended() {
  local extension
  for extension in "$@"; do
    jq -cn --arg name "${extension%%=*}" --argjson value "${extension#*=}" \
      '{name: $name, extension: $value}'
  done | jq -cs '{server: "https://spoke.example.com:6443", extensions: .}'
}

# Upstream's library expects an array in these extensions, which therefore cannot be stored.
no_array_is_stored_as_an_extension() { # VERSION
  local name
  for name in clusterprofiles.multicluster.x-k8s.io/exec/additional-args \
    clusterprofiles.multicluster.x-k8s.io/exec/additional-envs client.authentication.k8s.io/exec; do
    the_crd_refuses "$1" "$(extended "$name=[\"x\"]")" "extensions[0].extension" "must be of type object"
  done
}

v1alpha2_bounds_a_cluster() {
  the_crd_refuses v1alpha2 '{"server": "spoke.example.com:6443"}' "server is no absolute URL"
  the_crd_refuses v1alpha2 '{"server": "https://s", "proxy-url": "ftp://p:1"}' \
    "proxy-url is no http, https or socks5 URL"
  the_crd_refuses v1alpha2 "$(extended 'a={}' 'a={}')" "Duplicate value" "extensions[1]"
}

# put_status NAME FILE: replaces the extension of this ClusterProfile's cluster by the JSON in the file. curl,
# because jq and kubectl do not read a document so deep.
put_status() {
  local pki=$E2E_CLUSTER/pki answer
  {
    printf '{"status":{"accessProviders":[{"name":"token-file","cluster":{"server":"%s","certificate-authority-data":"%s","extensions":[{"name":"client.authentication.k8s.io/exec","extension":{"clusterName":"first"}},{"name":"e","extension":' \
      "$SERVER" "$CA_DATA"
    cat "$2"
    printf '}]}}]}}'
  } >status.json
  # A busy API server may need longer than it gives a request (504).
  for _ in 1 2 3; do
    answer=$(curl -sS --noproxy '*' --cacert "$pki/ca.crt" --cert "$pki/admin.crt" --key "$pki/admin.key" -X PATCH \
      -H 'Content-Type: application/merge-patch+json' -o answer -w '%{http_code}' --data-binary @status.json \
      "$SERVER/apis/multicluster.x-k8s.io/v1alpha1/namespaces/$NAMESPACE-odd/clusterprofiles/$1/status")
    [ "$answer" = 504 ] || break
  done
  echo "$answer"
}

# nested DEPTH, of_size BYTES: print an object that is so deep, or so large.
nested() { python3 -c 'import sys; n = int(sys.argv[1]); print("{\"a\":" * n + "1" + "}" * n)' "$1"; }
of_size() { python3 -c 'import sys; print("{\"a\":\"" + "x" * int(sys.argv[1]) + "\"}")' "$1"; }

# greatest NAME MAKE LEAST MOST STEP: stores in this ClusterProfile the greatest that the API server accepts, and
# prints its measure.
greatest() {
  local least=$3 most=$4 middle
  while [ $((most - least)) -gt "$5" ]; do
    middle=$(((least + most) / 2))
    "$2" "$middle" >extension
    if [ "$(put_status "$1" extension)" = 200 ]; then least=$middle; else most=$middle; fi
  done
  "$2" "$least" >extension
  expect_equal "the answer" 200 "$(put_status "$1" extension)"
  echo "the greatest that the API server stores, $2: $least" >&2
}

# from_odd SUBCOMMAND [ARGUMENT...]: the good ClusterProfile is served, and the deep one is a problem.
from_odd() {
  run "$EXECCRED" "$1" --from-hub --kubeconfig hub.json -n "$NAMESPACE-odd" "${@:2}"
  expect_status 1
  cat stdout stderr >told
  expect_in told deep "is nested deeper than 32 levels"
}

# An API server stores objects that are deeper than a ClusterProfile may be. The larger ones are read.
the_greatest_objects_stop_no_others() {
  local name
  admin create namespace "$NAMESPACE-odd" >/dev/null
  admin -n "$NAMESPACE-odd" create role lister --verb list,watch \
    --resource clusterprofiles.multicluster.x-k8s.io >/dev/null
  admin -n "$NAMESPACE-odd" create rolebinding lister --role lister \
    --serviceaccount "$NAMESPACE:lister" >/dev/null
  inventory lister
  for name in deep large good; do
    write_profile "$name.json" "$name" accessProviders "$(cluster_json '{"clusterName": "first"}')"
    jq --arg namespace "$NAMESPACE-odd" '.metadata.namespace = $namespace' "$name.json" >"odd-$name.json"
    NAMESPACE=$NAMESPACE-odd store_profile "odd-$name.json"
  done
  greatest deep nested 9000 10001 1
  greatest large of_size 1400000 1700000 10000
  from_odd get --all -m mapping.json -o json
  expect_json '[.items[] | select(.result == "ok") | .name] | join(" ")' "good large"
  from_odd doctor -m mapping.json -o json
  expect_json '[.items[] | select(.name | test("good|large")) | .steps[] | select(.name == "authenticate") | .result]
    | join(" ")' "ok ok"
  from_odd resolve -m mapping.json -o json
  expect_json '.items | length' 2
  from_odd kubeconfig -m mapping.json -o config
  expect_equal "contexts" "good large" \
    "$(kubectl --kubeconfig config config get-contexts -o name | sed 's|.*/||' | paste -sd ' ')"
  from_odd lint
  mkdir -m 700 out
  from_odd sync --once -m mapping.json --to-dir=out
  expect_equal "credentials" "good large" \
    "$(find "out/$NAMESPACE-odd" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | paste -sd ' ')"
}

use_namespace from-hub
for account in first second lister getter auditor stranger; do create_account "$account"; done
allow_profiles lister list
allow_profiles getter get
allow_profiles auditor list
admin -n "$NAMESPACE" create role auditor-secrets --verb list --resource secrets >/dev/null
admin -n "$NAMESPACE" create rolebinding auditor-secrets --role auditor-secrets \
  --serviceaccount "$NAMESPACE:auditor" >/dev/null
(cd "$SUITE_DIR" && store_inventory)
use_versions

check "kubectl uses every context; the verb list on ClusterProfiles is enough" kubectl_uses_every_context
check "client-go uses the ClusterProfile that -l selects" client_go_uses_what_was_read
check "get --name needs only the verb get" get_reads_one_by_name
check "KUBECONFIG names the hub" a_pod_s_variable_names_the_hub
check "without RBAC rules, the error names the missing rule" the_missing_rule_is_told stranger
check "with only the verb get, the error names the missing verb list" the_missing_rule_is_told getter
check "all namespaces need a ClusterRole" all_namespaces_need_a_cluster_role
check "$MANY ClusterProfiles are read in pages" many_profiles_are_read_in_pages
check "the deepest and the largest object that the API server stores stop no others" \
  the_greatest_objects_stop_no_others
check "Istio's Secret works as a kubeconfig" istio_s_secret_works_as_a_kubeconfig
check "Argo CD's Secret has what a client needs" argocd_s_secret_has_what_a_client_needs
check "lint finds two Secrets of one Istio cluster" lint_finds_two_secrets_of_one_cluster
check "objects of v1alpha1 and v1alpha2 are read" objects_of_both_versions_are_read
check "credentialProviders is not served as v1alpha2" the_deprecated_field_is_not_served_as_v1alpha2
check "the CRD refuses an array as an extension, v1alpha1" no_array_is_stored_as_an_extension v1alpha1
check "the CRD refuses an array as an extension, v1alpha2" no_array_is_stored_as_an_extension v1alpha2
check "the CRD refuses an invalid cluster, v1alpha2" v1alpha2_bounds_a_cluster
