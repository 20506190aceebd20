# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Keycloak: standard token exchange (version 2), and the client authentication that only Keycloak
# supports among these providers: the key of a certificate, and a ServiceAccount's token as assertion.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

# Keycloak needs Java, a download of 180 MB, 600 MB of memory, and up to two minutes to start.
if [ -z "${EXECCRED_E2E_NIGHT:-}" ]; then
  skip "all of Keycloak" "scripts/e2e $SUITE or EXECCRED_E2E_NIGHT=1 runs it"
  exit
fi

# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"
# shellcheck source=tests/e2e/lib/keycloak.sh
. "$E2E_DIR/lib/keycloak.sh"

KEYCLOAK_SUB=system:serviceaccount:oidc-keycloak:workload
federation_start keycloak
use_namespace oidc-keycloak
create_account workload
allow_users keycloak:service-account-{plugin,caller,key,federated}

printf '%s\n' "$CLIENT_SECRET" >"$SUITE_DIR/secret"
DISCOVERED=(--issuer-url="$KEYCLOAK_URL")
CREDENTIALS=(--flow=client-credentials "${DISCOVERED[@]}")
SECRET=(--client-secret-file="$SUITE_DIR/secret")

client_is() { # CLIENT ARGUMENT...
  use_plugin "${CREDENTIALS[@]}" --client-id="$1" "${@:2}"
  expect_accepted "keycloak:service-account-$1"
}

private_key() { # [ARGUMENT...]
  client_is key --private-key-file="$FEDERATION/pki/rsa.key" "$@"
}

# The subject token is an access token of the client "caller", for the client that exchanges it.
exchange() {
  ask "${CREDENTIALS[@]}" --client-id=caller "${SECRET[@]}"
  expect_token
  project_token volume "$(jq -r .status.token stdout)"
  EXCHANGE=(--flow=token-exchange "${DISCOVERED[@]}" --client-id=plugin "${SECRET[@]}"
    --subject-token-file="$PWD/volume/token")
}

exchanged_token_is_accepted() {
  exchange
  use_plugin "${EXCHANGE[@]}" --subject-token-type=access_token --audience="$FEDERATED_AUDIENCE"
  expect_accepted keycloak:service-account-caller
}

# The id_token is in the field "access_token", and its audience is the requesting client.
an_id_token() {
  exchange
  ask "${EXCHANGE[@]}" --subject-token-type=access_token --requested-token-type=id_token \
    --scope=openid --expect-audience=plugin
  expect_token
}

a_subject_type_that_keycloak_refuses() {
  exchange
  ask "${EXCHANGE[@]}" --audience="$FEDERATED_AUDIENCE"
  expect_refused 1 invalid_request "supports access tokens only"
}

an_audience_that_keycloak_refuses() {
  exchange
  ask "${EXCHANGE[@]}" --subject-token-type=access_token --audience=nobody
  expect_refused 1 invalid_client "Audience not found"
}

a_wrong_secret() {
  echo wrong >wrong
  ask "${CREDENTIALS[@]}" --client-id=plugin --client-secret-file="$PWD/wrong"
  expect_refused 1 unauthorized_client
}

FEDERATED=("${CREDENTIALS[@]}" --client-auth=federated)

a_service_account_is_a_client() {
  subject_token workload --audience "$KEYCLOAK_URL"
  use_plugin "${FEDERATED[@]}" --subject-token-file="$PWD/volume/token"
  expect_accepted keycloak:service-account-federated
}

a_service_account_of_the_hub_is_a_client() {
  use_plugin "${FEDERATED[@]}" --subject=kubernetes --service-account="$NAMESPACE/workload" \
    --kubeconfig="$E2E_CLUSTER/admin.kubeconfig"
  expect_accepted keycloak:service-account-federated
}

another_type_of_assertion() {
  subject_token workload --audience "$KEYCLOAK_URL"
  ask "${FEDERATED[@]}" --subject-token-file="$PWD/volume/token" --client-assertion-type=jwt-spiffe
  expect_refused 1 invalid_client
}

an_assertion_for_another_audience() {
  subject_token workload
  ask "${FEDERATED[@]}" --subject-token-file="$PWD/volume/token"
  expect_refused 1 invalid_client "Invalid token audience"
}

check "client_secret_basic, form-encoded" client_is plugin "${SECRET[@]}"
check "client_secret_post" client_is plugin "${SECRET[@]}" --client-auth=client_secret_post
check "private_key_jwt" private_key
check "private_key_jwt with the token endpoint as audience" private_key \
  --client-assertion-audience="$KEYCLOAK_URL/protocol/openid-connect/token"
check "a wrong secret: Keycloak's error" a_wrong_secret
check "token-exchange for an audience" exchanged_token_is_accepted
check "token-exchange for an id_token" an_id_token
check "token-exchange: Keycloak refuses another subject token type" \
  a_subject_type_that_keycloak_refuses
check "token-exchange: Keycloak refuses an unknown audience" an_audience_that_keycloak_refuses
check "federated: a ServiceAccount's token is the client's assertion" a_service_account_is_a_client
check "federated: a token from the hub's TokenRequest is the client's assertion" \
  a_service_account_of_the_hub_is_a_client
check "federated: another --client-assertion-type is refused" another_type_of_assertion
check "federated: an assertion for another audience is refused" an_assertion_for_another_audience
