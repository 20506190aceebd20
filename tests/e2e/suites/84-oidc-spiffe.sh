# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-oidc-federation --subject=spiffe: a SPIRE agent's JWT-SVID is the subject token. The cluster
# accepts it directly, or Dex, which trusts SPIRE, exchanges it.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"
# shellcheck source=tests/e2e/lib/spire.sh
. "$E2E_DIR/lib/spire.sh"

# SPIRE's issuer has a certificate of the same CA as the other providers.
start_spire() {
  SPIRE_PKI=$FEDERATION/pki
  spire_start
  plugin_entry blue blue-hint
  plugin_entry green green-hint
  spire_agent_start
}
plugin_entry() { registered "$1" -selector "unix:path:$FEDERATION_PLUGIN" -hint "$2"; } # ID HINT

federation_start spire dex
use_namespace oidc-spiffe
BLUE=$SPIRE_DOMAIN/blue
allow_users "$BLUE" "dex:$BLUE"

printf '%s\n' "$CLIENT_SECRET" >"$SUITE_DIR/secret"
CHOSEN=(--subject=spiffe --spiffe-id="$BLUE")
EXCHANGE=(--flow=token-exchange --issuer-url="$DEX_URL" --subject-token-type=id_token
  --requested-token-type=id_token --param=connector_id=spire --client-id=plugin
  --client-secret-file="$SUITE_DIR/secret" --subject-audience="$DEX_URL"
  --scope="openid profile audience:server:client_id:$FEDERATED_AUDIENCE")

# No --ca-file, because no server is called.
PASSED=(--flow=pass-through --subject-audience="$FEDERATED_AUDIENCE")

passed_through_with() { # ARGUMENT...
  write_clients "${PASSED[@]}" --cache-dir="$PWD/cache" "$@"
  expect_accepted "$BLUE"
}
passed_through_without_variable() {
  local socket=$SPIFFE_ENDPOINT_SOCKET
  unset SPIFFE_ENDPOINT_SOCKET
  passed_through_with "${CHOSEN[@]}" --socket="$socket"
}

exchanged() {
  use_plugin "${EXCHANGE[@]}" "${CHOSEN[@]}"
  expect_accepted "dex:$BLUE"
}

# The cache keeps the token of each identity separately.
another_identity_is_another_user() {
  local id
  for id in blue green blue; do
    ask "${EXCHANGE[@]}" --subject=spiffe --hint="$id-hint"
    expect_token
    jwt_claims "$(jq -r .status.token stdout)" >claims
    expect_equal "the user" "$SPIRE_DOMAIN/$id" "$(jq -r .name claims)"
  done
}

a_second_run_makes_no_call() {
  local before
  ask "${EXCHANGE[@]}" "${CHOSEN[@]}"
  expect_token
  before=$(dex_calls)
  ask "${EXCHANGE[@]}" "${CHOSEN[@]}"
  expect_token
  expect_equal "the calls of Dex" "$before" "$(dex_calls)"
}

no_choice() {
  run "$FEDERATION_PLUGIN" "${PASSED[@]}" --no-cache --subject=spiffe
  expect_refused 1 "$SPIRE_DOMAIN/blue" "$SPIRE_DOMAIN/green"
}

no_agent() {
  run "$FEDERATION_PLUGIN" "${PASSED[@]}" --no-cache "${CHOSEN[@]}" \
    --socket="unix://$PWD/agent.sock" --timeout=1s
  expect_refused 3 "$PWD/agent.sock"
}

check "pass-through: --spiffe-id" passed_through_with "${CHOSEN[@]}"
check "pass-through: --hint" passed_through_with --subject=spiffe --hint=blue-hint
check "pass-through: --socket" passed_through_without_variable
check "token-exchange with Dex" exchanged
check "token-exchange: another identity is another user" another_identity_is_another_user
check "token-exchange: a second run makes no call" a_second_run_makes_no_call
check "several identities and no selection: the error lists all of them" no_choice
check "without an agent the error names the socket" no_agent
