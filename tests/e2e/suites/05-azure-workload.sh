# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Workload identity with execcred-azure, compared with azure-identity and msal: execcred-azure must send
# the same requests to the same server. The server checks both by Entra's rules. The cluster accepts the
# token that it issues, so kubectl works from end to end.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/azure.sh
. "$E2E_DIR/lib/azure.sh"

use_namespace azure-workload
create_account app
create_account other
azure_start app

workload_by_variables() { same_request "${WORKLOAD[@]}" -- workload "$AKS_SERVER" --; }

workload_by_flags() {
  local flags=(--identity=workload --client-id="$AZURE_CLIENT" --tenant-id="$AZURE_TENANT"
    --federated-token-file="$CLOUD/federated/token" --authority-host="$ENTRA_URL")
  same_request "${WORKLOAD[@]}" -- workload "$AKS_SERVER" -- "${flags[@]}"
}

another_server() {
  jq '.server = "api://other.example/x_y"' "$CLOUD/settings.json" >settings
  cp "$CLOUD/settings.json" saved
  mv settings "$CLOUD/settings.json"
  trap 'mv saved "$CLOUD/settings.json"' EXIT
  same_request "${WORKLOAD[@]}" -- workload api://other.example/x_y -- \
    --server-id=api://other.example/x_y
}

# The entry "azure" of the guide for EKS, GKE and AKS: one request, which is that of azure-identity.
the_guides_entry() {
  local wanted
  jq --arg plugin "$AZURE_PLUGIN" --arg token "$CLOUD/federated/token" '.providers |= (
    map(select(.name == "azure")) | map(.execConfig |= (.command = $plugin
      | .args |= map(sub("^--federated-token-file=.*"; "--federated-token-file=" + $token)))))' \
    "$EXECCRED_ROOT/config/clouds/mapping.json" >mapping.json
  forget_requests
  as_theirs "${WORKLOAD[@]}" -- workload "$AKS_SERVER"
  expect_their_token
  wanted=$(last_request)
  forget_requests
  with_variables AZURE_AUTHORITY_HOST="$ENTRA_URL/" EXECCRED_CA_FILE="$AZURE_CA" EXECCRED_NO_CACHE=true -- \
    "$EXECCRED_BIN/execcred" get -m mapping.json -f "$EXECCRED_ROOT/config/clouds/clusterprofiles.yaml" \
    --name fleet/aks-1 -o token
  expect_success
  expect_stdout "$(cat "$CLOUD/token")"
  expect_equal "our request" "$wanted" "$(last_request)"
}

form_fields() { jq -r .body | tr '&' '\n' | grep -v '^client_info=' | sort; }

# msal first discovers the endpoint, and sends the fields in another order.
workload_by_msal() {
  local wanted
  forget_requests
  as_theirs "${WORKLOAD[@]}" -- msal "$AKS_SERVER"
  expect_their_token
  wanted=$(last_request)
  as_ours "${WORKLOAD[@]}" --
  expect_our_token
  expect_equal "our fields" "$(form_fields <<<"$wanted")" "$(last_request | form_fields)"
  expect_equal "our path" "$(jq -r .path <<<"$wanted")" "$(last_request | jq -r .path)"
}

# The request goes to the proxy of the binding, never to the authority. same_request allows one request.
identity_binding() {
  local proxy=("${WORKLOAD[@]}" AZURE_AUTHORITY_HOST=https://login.microsoftonline.com/
    AZURE_KUBERNETES_TOKEN_PROXY="$ENTRA_URL" REQUESTS_CA_BUNDLE= EXECCRED_CA_FILE=)
  same_request "${proxy[@]}" AZURE_KUBERNETES_CA_FILE="$AZURE_CA" -- binding "$AKS_SERVER" --
  same_request "${proxy[@]}" AZURE_KUBERNETES_CA_DATA="$(cat "$AZURE_CA")" \
    AZURE_KUBERNETES_SNI_NAME=token.ests.aks -- binding "$AKS_SERVER" --
}

# refused_binding NAME=VALUE...: azure-identity and execcred-azure refuse these variables.
refused_binding() {
  as_theirs "${WORKLOAD[@]}" "$@" -- binding "$AKS_SERVER"
  expect_failure
  expect_in stderr "ValueError"
  as_ours "${WORKLOAD[@]}" "$@" --
  expect_refused 2
  expect_in stderr AZURE_KUBERNETES_
}

identity_binding_refused() {
  local binding="AZURE_KUBERNETES_TOKEN_PROXY=https://127.0.0.1" url
  forget_requests
  refused_binding AZURE_KUBERNETES_SNI_NAME=token.ests.aks
  refused_binding AZURE_KUBERNETES_CA_FILE="$AZURE_CA"
  refused_binding AZURE_KUBERNETES_CA_DATA=x
  refused_binding "$binding" AZURE_KUBERNETES_CA_FILE="$AZURE_CA" AZURE_KUBERNETES_CA_DATA=x
  refused_binding "$binding" AZURE_KUBERNETES_CA_FILE="$PWD/none"
  : >empty
  refused_binding "$binding" AZURE_KUBERNETES_CA_FILE="$PWD/empty"
  for url in http://h https://u@h https://u:p@h 'https://h?a=b' 'https://h#f'; do
    refused_binding AZURE_KUBERNETES_TOKEN_PROXY="$url"
  done
  expect_equal "requests" 0 "$(wc -l <"$CLOUD/requests")"
}

# One mapping, which allows many client IDs, and a ClusterProfile for each of 50: each request is the one
# that azure-identity sends for this client ID.
choices_of_client() {
  local i client wanted
  cp "$CLOUD/settings.json" saved
  trap 'mv saved "$CLOUD/settings.json"' EXIT
  for i in $(seq 10 59); do
    client=aaaaaaaa-0000-4000-8000-0000000000$i
    jq --arg client "$client" '.client = $client' saved >settings
    mv settings "$CLOUD/settings.json"
    forget_requests
    as_theirs "${WORKLOAD[@]}" AZURE_CLIENT_ID="$client" -- workload "$AKS_SERVER"
    expect_their_token
    wanted=$(last_request)
    forget_requests
    as_ours "${WORKLOAD[@]}" KUBERNETES_EXEC_INFO="$(jq -cn --arg client "$client" '{
      kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
      spec: {interactive: false, cluster: {server: "https://h", config: {clientId: $client}}}}')" -- \
      '--allow-client-id=aaaaaaaa-*'
    expect_our_token
    expect_equal "our request" "$wanted" "$(last_request)"
  done
}

a_trailing_newline() {
  printf '%s\n' "$(cat "$CLOUD/federated/token")" >token
  forget_requests
  as_ours "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/token" --
  expect_our_token
  expect_equal "line breaks that were sent" 0 "$(grep -c '%0A' "$CLOUD/requests" || true)"
}

no_federated_token() {
  forget_requests
  : >empty
  as_ours "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/empty" --
  expect_refused 1 "the token is empty"
  as_ours "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/missing" --
  expect_refused 2 "$PWD/missing"
  expect_equal "requests" 0 "$(wc -l <"$CLOUD/requests")"
}

# refusal CODE EXIT NAME=VALUE... -- SERVER_ID: azure-identity and execcred-azure report the same code.
refusal() {
  local code=$1 status=$2 variables=()
  shift 2
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  as_theirs "${variables[@]}" -- workload "${1:-$AKS_SERVER}"
  expect_failure
  expect_in stderr "AADSTS$code"
  as_ours "${variables[@]}" -- --server-id="${1:-$AKS_SERVER}"
  expect_refused "$status" "AADSTS$code" "$ENTRA_URL"
  if grep -qF -e "$(cut -d. -f2 "$CLOUD/federated/token")" stderr; then
    unexpected "no token in the message"
  fi
}

other_account() {
  project_token volume "$(request_token other --audience "$ENTRA_AUDIENCE")"
  refusal 700213 1 "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/volume/token" --
}

other_audience() {
  project_token volume "$(request_token app --audience api://another)"
  refusal 700212 1 "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/volume/token" --
}

forged_assertion() {
  project_token volume "$(forged_token "$(cat "$CLOUD/federated/token")")"
  refusal 50027 1 "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/volume/token" --
}

unknown_client() {
  refusal 700016 1 "${WORKLOAD[@]}" AZURE_CLIENT_ID=00000000-0000-0000-0000-000000000000 --
}

unknown_tenant() {
  refusal 90002 1 "${WORKLOAD[@]}" AZURE_TENANT_ID=00000000-0000-0000-0000-000000000000 --
}

unknown_server() { refusal 500011 1 "${WORKLOAD[@]}" -- api://unknown.example; }

# azure-identity sends it. execcred-azure sees that it has expired.
expired_assertion() {
  project_token volume "$(expired_token "$(cat "$CLOUD/federated/token")")"
  as_theirs "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/volume/token" -- workload "$AKS_SERVER"
  expect_failure
  expect_in stderr AADSTS700024
  forget_requests
  as_ours "${WORKLOAD[@]}" AZURE_FEDERATED_TOKEN_FILE="$PWD/volume/token" --
  expect_refused 1 expired
  expect_equal "requests" 0 "$(wc -l <"$CLOUD/requests")"
}

# --- the cluster

# Writes config, mapping.json and profile.json, which run the plugin.
plugin_config() {
  local exec
  exec=$(exec_config v1 "$AZURE_PLUGIN" --cache-dir="$PWD/cache" --ca-file="$AZURE_CA" \
    --allow-server="$SERVER" |
    jq --args '.env = [$ARGS.positional[] | capture("(?<name>[^=]*)=(?<value>.*)")]' "${WORKLOAD[@]}")
  write_kubeconfig config "$exec"
  write_mapping mapping.json "$exec"
  write_profile profile.json spoke accessProviders "$(cluster_json "{\"tenantId\": \"$AZURE_TENANT\"}")"
}

kubectl_is_served() {
  forget_requests
  plugin_config
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_silent_stderr
  expect_json .status.userInfo.username "$(user_of app)"
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  expect_in stdout "namespace/$NAMESPACE"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok $(user_of app)"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_success
  expect_stdout "$(cat "$CLOUD/token")"
  expect_equal "requests, for all of them" 1 "$(wc -l <"$CLOUD/requests")"
}

another_server_is_refused() {
  forget_requests
  plugin_config
  jq '.clusters[0].cluster.server = "https://127.0.0.1:1"' config >other
  run kubectl --kubeconfig other get namespaces
  expect_failure
  expect_in stderr "matches no --allow-server"
  expect_equal "requests" 0 "$(wc -l <"$CLOUD/requests")"
}

another_tenant_is_refused() {
  forget_requests
  plugin_config
  write_profile profile.json spoke accessProviders \
    "$(cluster_json '{"tenantId": "00000000-0000-0000-0000-000000000000"}')"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_status 2
  expect_in stderr "--allow-tenant="
  expect_equal "requests" 0 "$(wc -l <"$CLOUD/requests")"
}

# --- users of other plugins

kubelogin_workload() {
  migrated kubelogin "$(env_json "${WORKLOAD[@]}")" get-token --login workloadidentity \
    --server-id "$AKS_SERVER"
}

kubelogin_flags() {
  migrated kubelogin '[]' get-token -l workloadidentity --server-id "$AKS_SERVER" \
    --client-id "$AZURE_CLIENT" -t "$AZURE_TENANT" --authority-host "$ENTRA_URL/" \
    --federated-token-file "$CLOUD/federated/token" --token-cache-dir "$PWD/theirs"
}

# In kubelogin the environment overrides the flags.
kubelogin_environment() {
  migrated kubelogin "$(env_json "${WORKLOAD[@]}" AAD_LOGIN_METHOD=workloadidentity)" get-token \
    --login devicecode --server-id "$AKS_SERVER" --client-id 00000000-0000-0000-0000-000000000000
}

argo_workload() { migrated argocd-k8s-auth "$(env_json "${WORKLOAD[@]}")" azure; }

check "workload identity with the webhook's variables: the same request as azure-identity" \
  workload_by_variables
check "workload identity with flags: the same request" workload_by_flags
check "the entry of config/clouds for AKS: the same request" the_guides_entry
check "another server ID: the same request" another_server
check "workload identity: the same fields as msal" workload_by_msal
check "an identity binding: the same request to the proxy as azure-identity" identity_binding
check "an identity binding: refused in the same cases as azure-identity" identity_binding_refused
check "50 client IDs of ClusterProfiles, one mapping: the same requests" choices_of_client
check "a line break after the federated token is not sent" a_trailing_newline
check "without a federated token no request is sent" no_federated_token
for refused in other_account other_audience forged_assertion unknown_client unknown_tenant \
  unknown_server; do
  check "refused like azure-identity: ${refused//_/ }" "$refused"
done
check "an expired federated token is not sent" expired_assertion

check "one request is enough for kubectl, client-go and execcred" kubectl_is_served
check "another server is refused without a request to Entra" another_server_is_refused
check "another tenant in a ClusterProfile is refused" another_tenant_is_refused

check "migrated: kubelogin with variables" kubelogin_workload
check "migrated: kubelogin with flags" kubelogin_flags
check "migrated: kubelogin with variables that override its flags" kubelogin_environment
check "migrated: argocd-k8s-auth azure" argo_workload
