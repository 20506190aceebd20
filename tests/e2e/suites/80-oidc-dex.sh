# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Token exchange (RFC 8693) with Dex: a ServiceAccount's token, which Dex trusts by its oidc
# connector, is exchanged for an id_token of Dex, which the cluster accepts.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"

federation_start dex
use_namespace oidc-dex
create_account workload
create_account other
DEX_USER=dex:$(user_of workload)
allow_users "$DEX_USER"

# The common options of every exchange.
printf '%s\n' "$CLIENT_SECRET" >"$SUITE_DIR/secret"
EXCHANGE=(--flow=token-exchange --subject-token-type=id_token --requested-token-type=id_token
  --param=connector_id=kubernetes --client-id=plugin --client-secret-file="$SUITE_DIR/secret"
  --scope="openid profile audience:server:client_id:$FEDERATED_AUDIENCE")
DISCOVERED=("${EXCHANGE[@]}" --issuer-url="$DEX_URL")

accepted_with() { # ARGUMENT...
  subject_token workload
  use_plugin "${EXCHANGE[@]}" --subject-token-file="$PWD/volume/token" "$@"
  expect_accepted "$DEX_USER"
}

the_token_is_dexs() {
  subject_token workload
  ask "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token" \
    --expect-audience="$FEDERATED_AUDIENCE"
  expect_token
  expect_json '.status.expirationTimestamp | fromdate - now | . > 400 and . < 600' true
  jwt_claims "$(jq -r .status.token stdout)" >claims
  expect_equal "the issuer" "$DEX_URL" "$(jq -r .iss claims)"
  expect_equal "the user" "$(user_of workload)" "$(jq -r .name claims)"
}

# With Dex a scope chooses the audience. Without that scope the id_token is for the client itself.
no_scope_no_audience() {
  subject_token workload
  ask "${DISCOVERED[@]/--scope=*/--scope=openid profile}" --expect-audience="$FEDERATED_AUDIENCE" \
    --subject-token-file="$PWD/volume/token"
  expect_refused 1 "the token is for 'plugin', not for '$FEDERATED_AUDIENCE'"
}

# hub_account ACCOUNT: writes its kubeconfig to hub.json.
hub_account() {
  jq --arg token "$(request_token "$1" --audience="$ISSUER_URL")" \
    '.users[0].user = {token: $token}' "$E2E_CLUSTER/admin.kubeconfig" >hub.json
}

subject_from_the_hub() {
  admin -n "$NAMESPACE" create role token-workload --verb create --resource serviceaccounts/token \
    --resource-name workload >/dev/null
  admin -n "$NAMESPACE" create rolebinding token-workload --role token-workload \
    --serviceaccount "$NAMESPACE:other" >/dev/null
  hub_account other
  use_plugin "${DISCOVERED[@]}" --subject=kubernetes --service-account="$NAMESPACE/workload" \
    --kubeconfig="$PWD/hub.json" --subject-audience="$DEX_URL"
  expect_accepted "$DEX_USER"
}

# refused_subject TOKEN: the error is Dex's, and the second run within ten seconds makes no call.
refused_subject() {
  local before
  project_token volume "$1"
  before=$(dex_calls)
  ask "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token"
  expect_refused 1 access_denied 127.0.0.1
  ask "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token"
  expect_refused 1 access_denied
  expect_equal "the calls of Dex" $((before + 1)) "$(dex_calls)"
}

a_forged_subject() { refused_subject "$(forged_token "$(request_token workload)")"; }

an_expired_subject() {
  local before
  project_token volume "$(expired_token "$(request_token workload)")"
  before=$(dex_calls)
  ask "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token"
  expect_refused 1 expired
  expect_equal "the calls of Dex" "$before" "$(dex_calls)"
}

an_unknown_connector() {
  subject_token workload
  ask "${DISCOVERED[@]/connector_id=kubernetes/connector_id=nobody}" \
    --subject-token-file="$PWD/volume/token"
  expect_refused 1 invalid_request "Requested connector does not exist."
}

a_wrong_secret() {
  subject_token workload
  echo wrong >wrong
  ask "${DISCOVERED[@]/$SUITE_DIR\/secret/$PWD/wrong}" --subject-token-file="$PWD/volume/token"
  expect_refused 1 invalid_client
  if grep -qF -e wrong stderr; then unexpected "no secret in the message"; fi
}

a_subject_type_that_dex_refuses() {
  subject_token workload
  ask "${DISCOVERED[@]/--subject-token-type=id_token/--subject-token-type=jwt}" \
    --subject-token-file="$PWD/volume/token"
  expect_refused 1 request_not_supported "Invalid subject_token_type."
}

a_second_run_makes_no_call() {
  local before token
  subject_token workload
  before=$(dex_calls)
  ask "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token"
  expect_token
  token=$(jq -r .status.token stdout)
  # execcred get is another client: if the same client asks again, the plugin assumes a refused token.
  use_plugin "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_success
  expect_stdout "$token"
  expect_equal "the calls of Dex" $((before + 1)) "$(dex_calls)"
}

# The kubelet renews the token in the file. The identity stays the same.
a_renewed_subject_makes_no_call() {
  local before
  subject_token workload
  use_plugin "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token"
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  before=$(dex_calls)
  subject_token workload --duration 20m
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  expect_equal "the calls of Dex" "$before" "$(dex_calls)"
}

another_subject_is_another_user() {
  subject_token workload
  use_plugin "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token"
  run kubectl --kubeconfig config auth whoami -o json
  expect_json .status.userInfo.username "$DEX_USER"
  subject_token other
  run kubectl --kubeconfig config auth whoami -o json
  expect_json .status.userInfo.username "dex:$(user_of other)"
}

twenty_cold_runs_make_one_call() {
  local before i pids=() token
  subject_token workload
  before=$(dex_calls)
  for i in {1..20}; do
    "$FEDERATION_PLUGIN" --ca-file="$FEDERATION_CA" --cache-dir="$PWD/cache" "${DISCOVERED[@]}" \
      --subject-token-file="$PWD/volume/token" >"run.$i" 2>"run.$i.err" &
    pids+=("$!")
  done
  for i in {1..20}; do
    wait "${pids[i - 1]}" || unexpected "a token from run $i: $(cat "run.$i.err")"
    token=$(jq -r .status.token "run.$i")
    expect_equal "the token of run $i" "$(jq -r .status.token run.1)" "$token"
  done
  expect_equal "the calls of Dex" $((before + 1)) "$(dex_calls)"
}

no_cache_asks_each_time() {
  local before
  subject_token workload
  before=$(dex_calls)
  for _ in 1 2; do
    run "$FEDERATION_PLUGIN" --ca-file="$FEDERATION_CA" --no-cache "${DISCOVERED[@]}" \
      --subject-token-file="$PWD/volume/token"
    expect_token
  done
  expect_equal "the calls of Dex" $((before + 2)) "$(dex_calls)"
}

check "--issuer-url: kubectl, client-go and execcred are accepted" \
  accepted_with --issuer-url="$DEX_URL"
check "--token-url: kubectl, client-go and execcred are accepted" \
  accepted_with --token-url="$DEX_URL/token"
check "client_secret_post" accepted_with --issuer-url="$DEX_URL" --client-auth=client_secret_post
check "the token is Dex's, and the credential expires with it" the_token_is_dexs
check "--expect-audience: without the scope the token is not for the cluster" no_scope_no_audience
check "a subject token from the hub's TokenRequest" subject_from_the_hub
check "a forged subject: Dex's error, and one call" a_forged_subject
check "a subject that is not a JWT: Dex's error, and one call" refused_subject garbage
check "an expired subject: no call" an_expired_subject
check "an unknown connector: Dex's error" an_unknown_connector
check "a wrong client secret: Dex's error, without the secret" a_wrong_secret
check "a subject token type that Dex refuses: its error" a_subject_type_that_dex_refuses
check "a second run makes no call" a_second_run_makes_no_call
check "a renewed subject token makes no call" a_renewed_subject_makes_no_call
check "another subject is another user" another_subject_is_another_user
check "20 cold runs at once make one call" twenty_cold_runs_make_one_call
check "--no-cache calls Dex each time" no_cache_asks_each_time
