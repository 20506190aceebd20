# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The other flows with npm's oidc-provider, whose access tokens are JWTs for the cluster: client
# credentials with each client authentication method, RFC 8693 and RFC 7523, refresh tokens.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"

federation_start oidc_provider
use_namespace oidc-provider
create_account workload
BASIC_CLIENT="basic client+1"
WORKLOAD=$(user_of workload)
KEYS=$FEDERATION/pki
CLIENTS=("$BASIC_CLIENT" post key-{RS256,PS256,ES256,EdDSA} mtls federated)
allow_users "${CLIENTS[@]/#/op:}" "op:$WORKLOAD" op:person

printf '%s\n' "$CLIENT_SECRET" >"$SUITE_DIR/secret"
DISCOVERED=(--issuer-url="$OIDC_PROVIDER_URL")
CREDENTIALS=(--flow=client-credentials "${DISCOVERED[@]}")
BASIC=(--client-id="$BASIC_CLIENT" --client-secret-file="$SUITE_DIR/secret")

# --- client credentials

client_is() { # CLIENT ARGUMENT...
  use_plugin "${CREDENTIALS[@]}" --client-id="$1" "${@:2}"
  expect_accepted "op:$1"
}

client_secret() { # CLIENT [ARGUMENT...]
  client_is "$1" --client-secret-file="$SUITE_DIR/secret" "${@:2}"
}

# Each run must make a new assertion, because the provider refuses one that it has already received.
private_key() { # ALG KEY [ARGUMENT...]
  client_is "key-$1" --private-key-file="$KEYS/$2.key" --signing-alg="$1" --key-id=first "${@:3}"
  run "$FEDERATION_PLUGIN" --ca-file="$FEDERATION_CA" --no-cache "${CREDENTIALS[@]}" \
    --client-id="key-$1" --private-key-file="$KEYS/$2.key" --signing-alg="$1" "${@:3}"
  expect_token
}

certificate_client() { # CERTIFICATE
  printf '%s\n' --client-id=mtls --client-certificate="$KEYS/$1.crt" --client-key="$KEYS/$1.key"
}

certificate_is_accepted() {
  mapfile -t arguments < <(certificate_client mtls-client)
  use_plugin "${CREDENTIALS[@]}" "${arguments[@]}" "$@"
  expect_accepted op:mtls
}

another_certificate_is_refused() {
  mapfile -t arguments < <(certificate_client other-client)
  ask "${CREDENTIALS[@]}" "${arguments[@]}"
  expect_refused 1 invalid_client
}

# assertion CLIENT: prints a client assertion, signed with a key that the provider knows.
assertion() {
  sign_jwt "$KEYS/rsa.key" "$(jq -cn --arg client "$1" --arg audience "$OIDC_PROVIDER_URL" \
    --arg id "$RANDOM$RANDOM$RANDOM" '{iss: $client, sub: $client, aud: $audience, jti: $id,
      iat: (now | floor), exp: (now + 300 | floor)}')"
}

federated_assertion() {
  project_token volume "$(assertion federated)"
  use_plugin "${CREDENTIALS[@]}" --client-auth=federated --subject-token-file="$PWD/volume/token"
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username op:federated
  # The provider accepts an assertion only once, so this credential is from the cache.
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  expect_in stdout "namespace/$NAMESPACE"
}

federated_assertion_of_another_type() {
  project_token volume "$(assertion federated)"
  ask "${CREDENTIALS[@]}" --client-auth=federated --subject-token-file="$PWD/volume/token" \
    --client-assertion-type=jwt-spiffe
  expect_refused 1 "client_assertion_type must have value"
}

a_wrong_secret() {
  local before
  before=$(oidc_provider_calls)
  echo wrong-secret >wrong
  ask "${CREDENTIALS[@]}" --client-id="$BASIC_CLIENT" --client-secret-file="$PWD/wrong"
  expect_refused 1 invalid_client
  ask "${CREDENTIALS[@]}" --client-id="$BASIC_CLIENT" --client-secret-file="$PWD/wrong"
  expect_refused 1 invalid_client
  if grep -qF -e wrong-secret stderr; then unexpected "no secret in the message"; fi
  expect_equal "the provider's calls" $((before + 1)) "$(oidc_provider_calls)"
}

another_resource() {
  client_is "$BASIC_CLIENT" --client-secret-file="$SUITE_DIR/secret" \
    --resource=https://k8s-es256.example
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_equal "the token's algorithm" ES256 "$(cut -d. -f1 stdout | base64 -d 2>/dev/null | jq -r .alg)"
}

an_unknown_resource() {
  ask "${CREDENTIALS[@]}" "${BASIC[@]}" --resource=https://unknown.example
  expect_refused 1 invalid_target
}

# --- tokens of another issuer

# from_subject FLOW ARGUMENT...: runs the flow with a projected token for the provider.
from_subject() {
  subject_token workload --audience "$OIDC_PROVIDER_URL"
  use_plugin --flow="$1" "${DISCOVERED[@]}" --subject-token-file="$PWD/volume/token" "${@:2}"
  expect_accepted "op:$WORKLOAD"
}

without_discovery() { # FLOW
  subject_token workload --audience "$OIDC_PROVIDER_URL"
  use_plugin --flow="$1" --token-url="$OIDC_PROVIDER_URL/token" "${BASIC[@]}" \
    --subject-token-file="$PWD/volume/token"
  expect_accepted "op:$WORKLOAD"
}

subject_from_the_environment() {
  EXEC_ENV=$(jq -n --arg token "$(request_token workload --audience "$OIDC_PROVIDER_URL")" \
    '[{name: "SUBJECT", value: $token}]')
  use_plugin --flow=token-exchange "${DISCOVERED[@]}" "${BASIC[@]}" --subject-token-env=SUBJECT
  expect_accepted "op:$WORKLOAD"
}

subject_from_a_command() {
  subject_token workload --audience "$OIDC_PROVIDER_URL"
  use_plugin --flow=jwt-bearer "${DISCOVERED[@]}" "${BASIC[@]}" \
    --subject-token-command="$(jq -cn --arg file "$PWD/volume/token" '["/bin/cat", $file]')"
  expect_accepted "op:$WORKLOAD"
}

# Without --subject-audience the subject token is requested for the issuer.
subject_from_the_hub() {
  use_plugin --flow=token-exchange "${DISCOVERED[@]}" "${BASIC[@]}" --subject=kubernetes \
    --service-account="$NAMESPACE/workload" --kubeconfig="$E2E_CLUSTER/admin.kubeconfig"
  expect_accepted "op:$WORKLOAD"
}

exchange_for() { # AUDIENCE
  subject_token workload --audience "$OIDC_PROVIDER_URL"
  ask --flow=token-exchange "${DISCOVERED[@]}" "${BASIC[@]}" --audience="$1" \
    --subject-token-file="$PWD/volume/token" --expect-audience="$1"
  expect_token
}

# An audience in the ClusterProfile needs --allow-audience in the mapping.
audience_of_the_profile() {
  subject_token workload --audience "$OIDC_PROVIDER_URL"
  use_plugin --flow=token-exchange "${DISCOVERED[@]}" "${BASIC[@]}" \
    --subject-token-file="$PWD/volume/token"
  write_profile profile.json spoke accessProviders \
    "$(cluster_json "{\"audience\": \"$FEDERATED_AUDIENCE\"}")"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_status 2
  expect_no_stdout
  expect_in stderr --allow-audience
  jq --arg allow "--allow-audience=$FEDERATED_AUDIENCE" \
    '.providers[0].execConfig.args += [$allow]' mapping.json >allowed.json
  run cpget -clusterprofile-provider-file allowed.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok op:$WORKLOAD"
}

a_subject_for_another_audience() { # FLOW ERROR TEXT
  subject_token workload
  ask --flow="$1" "${DISCOVERED[@]}" "${BASIC[@]}" --subject-token-file="$PWD/volume/token"
  expect_refused 1 "$2" "$3"
}

# --- refresh tokens

# refresh_token: writes a new refresh token to the file refresh-token, as a login would.
refresh_token() {
  curl -fsS --noproxy '*' --cacert "$FEDERATION_CA" -G "$OIDC_PROVIDER_URL/e2e/refresh-token" \
    --data-urlencode "client=$BASIC_CLIENT" --data-urlencode account=person >refresh-token
  chmod 600 refresh-token
  use_plugin --flow=refresh-token "${DISCOVERED[@]}" "${BASIC[@]}" \
    --subject-token-file="$PWD/refresh-token"
}

# forget_credentials: removes the cached credentials, as if they had expired.
forget_credentials() { rm cache/*.credential; }

# The provider replaces the refresh token at each use. If a used one is sent again, it revokes all of them.
a_rotated_token_is_kept() {
  local before
  refresh_token
  before=$(oidc_provider_calls)
  expect_accepted op:person
  expect_equal "the provider's calls" $((before + 1)) "$(oidc_provider_calls)"
  for _ in 2 3 4; do
    forget_credentials
    run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
    expect_success
    expect_stdout "ok op:person"
  done
  expect_equal "the provider's calls" $((before + 4)) "$(oidc_provider_calls)"
  expect_equal "the file's mode" 600 "$(stat -c %a refresh-token)"
}

a_new_login_replaces_the_rotated_token() {
  refresh_token
  expect_accepted op:person
  forget_credentials
  refresh_token
  expect_accepted op:person
}

a_used_token_is_refused() {
  refresh_token
  expect_accepted op:person
  # With another cache, as on another machine, the plugin sends the used token again.
  run "$FEDERATION_PLUGIN" --ca-file="$FEDERATION_CA" --cache-dir="$PWD/other" \
    --flow=refresh-token "${DISCOVERED[@]}" "${BASIC[@]}" --subject-token-file="$PWD/refresh-token"
  expect_refused 1 invalid_grant
}

a_refresh_token_needs_the_cache() {
  refresh_token
  run "$FEDERATION_PLUGIN" --ca-file="$FEDERATION_CA" --no-cache --flow=refresh-token \
    "${DISCOVERED[@]}" "${BASIC[@]}" --subject-token-file="$PWD/refresh-token"
  expect_refused 2 "--flow=refresh-token needs the cache"
}

# --- a token that the cluster refuses

answers_so_far() { grep -c "^$1" answers || true; }
has_answer() { [ "$(answers_so_far "$1")" -gt "$2" ]; }

# A controller sends requests all the time. Then its cluster refuses all tokens that were issued so far.
a_revoked_token_recovers() {
  local before refused
  use_plugin "${CREDENTIALS[@]}" "${BASIC[@]}"
  before=$(oidc_provider_calls)
  cpget -requests 0 -interval 200ms -timeout 400s -clusterprofile-provider-file mapping.json \
    -clusterprofile profile.json >answers 2>&1 &
  wait_until 120 has_answer "ok op:$BASIC_CLIENT" 0 || unexpected "an answer: $(cat answers)"
  ISSUED_AFTER=$(date +%s) authentication_config oidc_provider >"$FEDERATION/new.json"
  mv "$FEDERATION/new.json" "$FEDERATION/authentication.json"
  wait_until 120 has_answer "error Unauthorized" 0 ||
    unexpected "a refusal: $(sort answers | uniq -c)"
  refused=$(answers_so_far ok)
  wait_until 120 has_answer ok "$refused" || unexpected "a recovery: $(sort answers | uniq -c)"
  expect_equal "the provider's calls" $((before + 2)) "$(oidc_provider_calls)"
}

check "client_secret_basic, form-encoded" client_secret "$BASIC_CLIENT"
check "client_secret_post" client_secret post --client-auth=client_secret_post
check "private_key_jwt RS256" private_key RS256 rsa
check "private_key_jwt PS256" private_key PS256 rsa
check "private_key_jwt ES256" private_key ES256 ec
check "private_key_jwt EdDSA" private_key EdDSA ed25519
check "private_key_jwt with the token endpoint as audience" private_key RS256 rsa \
  --client-assertion-audience="$OIDC_PROVIDER_URL/token"
check "tls_client_auth with mtls_endpoint_aliases" certificate_is_accepted
check "tls_client_auth with --client-auth" certificate_is_accepted --client-auth=tls_client_auth
check "tls_client_auth with another certificate is refused" another_certificate_is_refused
check "federated: an assertion from a file" federated_assertion
check "federated: another --client-assertion-type is refused" federated_assertion_of_another_type
check "a wrong secret: the provider's error, and one call" a_wrong_secret
check "--resource chooses the token" another_resource
check "--resource that the provider does not know is refused" an_unknown_resource
check "token-exchange, client_secret_basic" from_subject token-exchange "${BASIC[@]}"
check "token-exchange, private_key_jwt" from_subject token-exchange --client-id=key-ES256 \
  --private-key-file="$KEYS/ec.key"
check "token-exchange, public client" from_subject token-exchange --client-id=public
check "token-exchange for a jwt, which the provider answers as N_A" \
  from_subject token-exchange "${BASIC[@]}" --requested-token-type=jwt
check "token-exchange with --token-url" without_discovery token-exchange
check "token-exchange for an audience" exchange_for "$FEDERATED_AUDIENCE"
check "token-exchange for another audience" exchange_for elsewhere
check "token-exchange: the profile's audience needs --allow-audience" audience_of_the_profile
check "token-exchange: a subject for another audience is refused" a_subject_for_another_audience \
  token-exchange invalid_request ERR_JWT_CLAIM_VALIDATION_FAILED
check "jwt-bearer, client_secret_basic" from_subject jwt-bearer "${BASIC[@]}"
check "jwt-bearer, public client" from_subject jwt-bearer --client-id=public
check "jwt-bearer with --token-url" without_discovery jwt-bearer
check "jwt-bearer: a subject for another audience is refused" a_subject_for_another_audience \
  jwt-bearer invalid_grant "grant request is invalid"
check "--subject-token-env" subject_from_the_environment
check "--subject-token-command" subject_from_a_command
check "--subject=kubernetes, with the issuer as audience" subject_from_the_hub
check "refresh-token: the rotated token is kept" a_rotated_token_is_kept
check "refresh-token: a new login replaces the rotated token" a_new_login_replaces_the_rotated_token
check "refresh-token: a used token is refused" a_used_token_is_refused
check "refresh-token: --no-cache is an error" a_refresh_token_needs_the_cache
# This check must be the last one, because afterwards the cluster refuses earlier tokens.
check "a client recovers from a revoked token, with one more call" a_revoked_token_recovers
