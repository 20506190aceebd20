# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The inputs of the checks: ServiceAccounts and their tokens in a namespace per suite, token
# volumes, and the files that point clients at a plugin.

SERVER=$(cat "$E2E_CLUSTER/server")
CA_FILE=$E2E_CLUSTER/pki/ca.crt
SIGNING_KEY=$E2E_CLUSTER/pki/sa.key
# The API server's audience, which is also the audience of tokens that are requested without one.
# shellcheck disable=SC2034
AUDIENCE=https://kubernetes.default.svc
PLUGIN=$EXECCRED_BIN/execcred-token-file

admin() { timeout 240 kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" "$@"; }

# have_namespace NAME: creates it, unless another suite has created it.
have_namespace() { admin create namespace "$1" >/dev/null 2>&1 || admin get namespace "$1" >/dev/null; }

# use_namespace NAME: creates it. Its ServiceAccounts may only list namespaces.
use_namespace() {
  NAMESPACE=$1
  admin create namespace "$NAMESPACE"
  admin create clusterrole "$NAMESPACE-namespaces" --verb get,list --resource namespaces
  admin create clusterrolebinding "$NAMESPACE-namespaces" \
    --clusterrole "$NAMESPACE-namespaces" --group "system:serviceaccounts:$NAMESPACE"
} >/dev/null

create_account() { admin -n "$NAMESPACE" create serviceaccount "$1" >/dev/null; }
# request_token ACCOUNT [FLAG...]: prints a token of this ServiceAccount, from the TokenRequest API.
request_token() { admin -n "$NAMESPACE" create token "$@"; }
user_of() { echo "system:serviceaccount:$NAMESPACE:$1"; }

# project_token DIR TOKEN: puts the token there as the kubelet does for a
# projected volume: a new timestamped directory, then a rename swaps ..data.
project_token() {
  local volume=$1 payload previous
  mkdir -p "$volume"
  # The kubelet's volumes are world-writable with the sticky bit, which is safe when root owns them.
  [ "$(id -u)" -ne 0 ] || chmod 1777 "$volume"
  previous=$(readlink "$volume/..data" || true)
  payload=$(mktemp -d "$volume/..$(date -u +%Y_%m_%d_%H_%M_%S).XXXXXXXXX")
  chmod 755 "$payload"
  printf %s "$2" >"$payload/token"
  chmod 644 "$payload/token"
  ln -s "${payload##*/}" "$volume/..data_tmp"
  mv -T "$volume/..data_tmp" "$volume/..data"
  [ -L "$volume/token" ] || ln -s ..data/token "$volume/token"
  [ -z "$previous" ] || rm -r "${volume:?}/$previous"
}

# project_secret DIR DATA: the same for a Secret's volume, a file for each member of the JSON object.
project_secret() {
  local volume=$1 payload name
  mkdir -p "$volume"
  [ "$(id -u)" -ne 0 ] || chmod 1777 "$volume"
  payload=$(mktemp -d "$volume/..$(date -u +%Y_%m_%d_%H_%M_%S).XXXXXXXXX")
  chmod 755 "$payload"
  for name in $(jq -r 'keys[]' <<<"$2"); do
    jq -j --arg name "$name" '.[$name]' <<<"$2" >"$payload/$name"
    chmod 644 "$payload/$name"
    ln -sfn "..data/$name" "$volume/$name"
  done
  ln -s "${payload##*/}" "$volume/..data_tmp"
  mv -T "$volume/..data_tmp" "$volume/..data"
}

base64url() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
jwt_claims() { # TOKEN
  local claims=${1#*.}
  claims=$(tr -- '-_' '+/' <<<"${claims%.*}")
  # jq 1.6 refuses base64 without its padding.
  while [ $((${#claims} % 4)) -ne 0 ]; do claims+='='; done
  base64 -d <<<"$claims"
}

# sign_jwt KEY CLAIMS: prints an RS256 token.
sign_jwt() {
  local signed
  signed=$(printf '{"alg":"RS256","typ":"JWT"}' | base64url).$(printf %s "$2" | base64url)
  printf '%s.%s' "$signed" "$(printf %s "$signed" | openssl dgst -sha256 -sign "$1" -binary | base64url)"
}

# forged_token TOKEN: the same claims, signed with another key.
forged_token() {
  [ -e forger.key ] || openssl genrsa -out forger.key 2048
  sign_jwt forger.key "$(jwt_claims "$1")"
}

# expired_token TOKEN: the same claims with the right signature, but expired ten minutes ago.
expired_token() {
  sign_jwt "$SIGNING_KEY" "$(jwt_claims "$1" |
    jq -c --argjson now "$(date +%s)" '.iat = $now - 4200 | .nbf = .iat | .exp = $now - 600')"
}

# counted_plugin: sets COUNTED to a program that notes each run, then becomes the plugin.
counted_plugin() {
  COUNTED=$PWD/counted/execcred-token-file
  mkdir -p counted
  printf '#!/bin/sh\necho run >>%q\nexec %q "$@"\n' "$PWD/runs" "$PLUGIN" >"$COUNTED"
  chmod 755 "$COUNTED"
  : >runs
}
plugin_runs() { wc -l <runs; }

# exec_config VERSION COMMAND [ARGUMENT...]: prints the JSON of users[].user.exec.
exec_config() {
  local version=$1 command=$2
  shift 2
  jq -n --arg version "client.authentication.k8s.io/$version" --arg command "$command" '{
      apiVersion: $version, command: $command, args: $ARGS.positional, env: [],
      interactiveMode: "Never", provideClusterInfo: true}' --args -- "$@"
}

# cluster_json [CONFIG]: prints a Cluster of the kubeconfig v1 format, which ClusterProfiles
# use too. CONFIG (JSON) becomes the plugin's spec.cluster.config.
# shellcheck disable=SC2120
cluster_json() {
  jq -n --arg server "$SERVER" --arg ca "$(base64 -w0 "$CA_FILE")" --argjson config "${1:-null}" '
    {server: $server, "certificate-authority-data": $ca} +
    if $config == null then {}
    else {extensions: [{name: "client.authentication.k8s.io/exec", extension: $config}]} end'
}

# write_kubeconfig FILE EXEC_CONFIG [CLUSTER]
# shellcheck disable=SC2119
write_kubeconfig() {
  jq -n --argjson exec "$2" --argjson cluster "${3:-$(cluster_json)}" '{
      apiVersion: "v1", kind: "Config", "current-context": "spoke",
      clusters: [{name: "spoke", cluster: $cluster}],
      users: [{name: "plugin", user: {exec: $exec}}],
      contexts: [{name: "spoke", context: {cluster: "spoke", user: "plugin"}}]}' >"$1"
}

# write_mapping FILE EXEC_CONFIG [FIELDS]: one provider, "token-file"; FIELDS (JSON) adds to it.
write_mapping() {
  jq -n --argjson exec "$2" --argjson fields "${3:-{\}}" \
    '{providers: [{name: "token-file", execConfig: $exec} + $fields]}' >"$1"
}

# write_profile FILE NAME FIELD [CLUSTER]: FIELD is accessProviders or credentialProviders.
# shellcheck disable=SC2119
write_profile() {
  jq -n --arg name "$2" --arg namespace "$NAMESPACE" --arg field "$3" \
    --argjson cluster "${4:-$(cluster_json)}" '{
      apiVersion: "multicluster.x-k8s.io/v1alpha1", kind: "ClusterProfile",
      metadata: {name: $name, namespace: $namespace},
      spec: {displayName: $name, clusterManager: {name: "e2e"}},
      status: {
        version: {kubernetes: "1.36.3"},
        conditions: [{type: "ControlPlaneHealthy", status: "True", reason: "Healthy", message: "",
                      lastTransitionTime: "2026-01-01T00:00:00Z"}],
        ($field): [{name: "other-provider", cluster: {server: "https://other.invalid"}},
                   {name: "token-file", cluster: $cluster}]}}' >"$1"
}

# The resource name with a version. Without a version kubectl uses the newest one, which drops fields.
profiles_of() { echo "clusterprofiles.$1.multicluster.x-k8s.io"; }

# store_profile FILE: creates it in the API server, status included.
store_profile() {
  local name version
  name=$(jq -r .metadata.name "$1")
  version=$(jq -r '.apiVersion | split("/")[1]' "$1")
  admin create -f "$1" >/dev/null
  # The API server drops the status of a create request. It must be written to the status subresource.
  admin -n "$NAMESPACE" patch "$(profiles_of "$version")" "$name" --subresource status --type merge \
    --patch "$(jq -c '{status}' "$1")" >/dev/null
}
