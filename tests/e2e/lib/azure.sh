# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-azure and Microsoft's own clients, against one Entra stand-in and one set of metadata
# endpoints on loopback, which refuse every request that is not correct (peers/azure/server.py).
#
#   azure_start ACCOUNT    starts the stand-in. It issues a token of this ServiceAccount, which the cluster
#                          accepts. It trusts the same ServiceAccount's token for Entra's audience.
#
# CLUSTER_ISSUER is the cluster's, as for cluster_start.
#
# The folder CLOUD then has the server's files, pki/, and federated/, the projected token for Entra.

# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"

CLOUD=$SUITE_DIR/cloud
AZURE_PLUGIN=$EXECCRED_BIN/execcred-azure
AZURE_TENANT=11111111-2222-3333-4444-555555555555
AZURE_CLIENT=99999999-8888-7777-6666-555555555555
# shellcheck disable=SC2034
AZURE_RESOURCE=/subscriptions/0/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/app
AKS_SERVER=6dae42f8-4368-4678-94ff-3960e28e3630
ENTRA_AUDIENCE=api://AzureADTokenExchange
# Contains the characters that a shell or a header might change.
IDENTITY_PASSWORD='s3c+ret/of=the:platform'

# Without these, requests to loopback would go through a proxy that the environment names.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

azure_start() {
  local account=$1 pki=$CLOUD/pki
  mkdir -p "$pki"
  {
    certificate "$pki" ca /CN=azure-ca basicConstraints=critical,CA:TRUE \
      keyUsage=critical,keyCertSign
    certificate "$pki" server /CN=azure basicConstraints=critical,CA:FALSE \
      extendedKeyUsage=serverAuth subjectAltName=IP:127.0.0.1,DNS:token.ests.aks
  } 2>"$CLOUD/openssl.log" || fail "openssl: $(tail -n 3 "$CLOUD/openssl.log")"
  openssl pkey -in "$SIGNING_KEY" -pubout -out "$pki/issuer.pub"
  AZURE_CA=$pki/ca.crt
  : >"$CLOUD/failures"
  request_token "$account" >"$CLOUD/token"
  jq -n --arg tenant "$AZURE_TENANT" --arg client "$AZURE_CLIENT" --arg server "$AKS_SERVER" \
    --arg issuer "${CLUSTER_ISSUER:-https://kubernetes.default.svc}" --arg subject "$(user_of "$account")" \
    --arg header "$IDENTITY_PASSWORD" \
    '{$tenant, $client, $server, $issuer, $subject, $header}' >"$CLOUD/settings.json"
  project_token "$CLOUD/federated" "$(request_token "$account" --audience "$ENTRA_AUDIENCE")"
  background "$CLOUD/log" "$E2E_AZURE" "$E2E_DIR/peers/azure/server.py" "$pki/server.crt" \
    "$pki/server.key" "$pki/issuer.pub" "$CLOUD"
  wait_until 60 [ -e "$CLOUD/entra.url" ] || fail "Entra did not start: $(cat "$CLOUD/log")"
  ENTRA_URL=$(cat "$CLOUD/entra.url")
  METADATA_URL=$(cat "$CLOUD/metadata.url")
  name_variables
}

# The variables of the webhook, of the machine's metadata service, and of App Service.
# shellcheck disable=SC2034
name_variables() {
  WORKLOAD=(AZURE_CLIENT_ID="$AZURE_CLIENT" AZURE_TENANT_ID="$AZURE_TENANT"
    AZURE_FEDERATED_TOKEN_FILE="$CLOUD/federated/token" AZURE_AUTHORITY_HOST="$ENTRA_URL/")
  IMDS=(AZURE_POD_IDENTITY_AUTHORITY_HOST="$METADATA_URL")
  APP_SERVICE=(IDENTITY_ENDPOINT="$METADATA_URL/msi/token" IDENTITY_HEADER="$IDENTITY_PASSWORD")
}

# expect_identity NAME VALUE: from now on the metadata endpoints know only this identity.
expect_identity() {
  jq --arg name "$1" --arg value "$2" '.selected = {($name): $value}' "$CLOUD/settings.json" >settings
  mv settings "$CLOUD/settings.json"
}
any_identity() {
  jq 'del(.selected)' "$CLOUD/settings.json" >settings
  mv settings "$CLOUD/settings.json"
}

fail_next() { printf '%s\n' "$@" >"$CLOUD/failures"; } # STATUS...

# token_requests: prints the token requests since the last forget_requests, one line of JSON each. msal's
# discovery requests are left out.
token_requests() {
  jq -c 'select(.path | endswith("/openid-configuration") | not)' "$CLOUD/requests"
}
last_request() { token_requests | tail -n 1 | jq 'del(.status)'; }
forget_requests() { : >"$CLOUD/requests"; }

# with_variables NAME=VALUE... -- COMMAND...: runs it with only these variables. The metadata service of
# this machine itself must never be called.
with_variables() {
  local variables=()
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  run env -i PATH="$PATH" NO_PROXY=127.0.0.1 \
    AZURE_POD_IDENTITY_AUTHORITY_HOST=http://127.0.0.1:1 "${variables[@]}" "${@:2}"
}

# as_theirs and as_ours NAME=VALUE... -- ARGUMENT...: run client.py, and execcred-azure without a cache.
as_theirs() { azure_run "$E2E_AZURE" "$E2E_DIR/peers/azure/client.py" -- "$@"; }
as_ours() { azure_run "$AZURE_PLUGIN" --no-cache -- "$@"; }
azure_run() {
  local program=() variables=()
  while [ "$1" != -- ]; do
    program+=("$1")
    shift
  done
  shift
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  with_variables "${variables[@]}" REQUESTS_CA_BUNDLE="$AZURE_CA" EXECCRED_CA_FILE="$AZURE_CA" -- \
    "${program[@]}" "${@:2}"
}

expect_their_token() {
  expect_success
  expect_stdout "$(cat "$CLOUD/token")"
}
expect_our_token() {
  expect_success
  expect_silent_stderr
  expect_json .status.token "$(cat "$CLOUD/token")"
}

# expect_refused STATUS TEXT...: no credential, and one error line that contains each text.
expect_refused() {
  local status=$1
  shift
  expect_status "$status"
  expect_no_stdout
  expect_error_line execcred-azure "$@"
}

# same_request NAME=VALUE... -- THEIR_ARGUMENT... -- OUR_ARGUMENT...: both clients get a token with one
# request each. Method, path, query, body and headers are equal, except transport and telemetry headers.
same_request() {
  local variables=() theirs=() wanted
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  while [ "$1" != -- ]; do
    theirs+=("$1")
    shift
  done
  shift
  forget_requests
  as_theirs "${variables[@]}" -- "${theirs[@]}"
  expect_their_token
  expect_equal "their requests" 1 "$(token_requests | wc -l)"
  wanted=$(last_request)
  forget_requests
  as_ours "${variables[@]}" -- "$@"
  expect_our_token
  expect_equal "our requests" 1 "$(wc -l <"$CLOUD/requests")"
  expect_equal "our request" "$wanted" "$(last_request)"
}

# migrated COMMAND ENV ARGUMENT...: the cluster accepts the user that execcred migrate makes of this one.
migrated() {
  local command=$1 env=$2
  shift 2
  # The other plugins' users name no CA file, because the real Entra has publicly trusted certificates.
  write_kubeconfig old "$(exec_config v1beta1 "$command" "$@" | jq --argjson env "$env" '.env = $env')"
  run "$EXECCRED_BIN/execcred" migrate old --plugin-dir="$EXECCRED_BIN" -o config
  expect_success
  expect_in stdout "1 user carried over"
  # Without this variable, a migration that lost the settings would call this machine's metadata service.
  run env EXECCRED_CA_FILE="$AZURE_CA" EXECCRED_CACHE_DIR="$PWD/cache" \
    AZURE_POD_IDENTITY_AUTHORITY_HOST=http://127.0.0.1:1 kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_silent_stderr
  expect_json .status.userInfo.username "$(user_of app)"
}

env_json() {
  jq -n --args '[$ARGS.positional[] | capture("(?<name>[^=]*)=(?<value>.*)")]' "$@"
}
