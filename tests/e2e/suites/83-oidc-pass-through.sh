# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-oidc-federation --flow=pass-through: the cluster accepts a ServiceAccount's token without an
# exchange. It is from a projected file, or from a TokenRequest with the fewest RBAC rules.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"

# On the hub, the controller's ServiceAccount may request tokens of the ServiceAccount reader, and of
# no other.
store_permissions() {
  admin -n "$NAMESPACE" create role token-reader --verb create \
    --resource serviceaccounts/token --resource-name reader
  admin -n "$NAMESPACE" create rolebinding token-reader --role token-reader \
    --serviceaccount "$NAMESPACE:controller"
} >/dev/null

# hub_kubeconfig ACCOUNT: writes its kubeconfig to hub.json, and sets HUB to the arguments for it.
hub_kubeconfig() {
  jq --arg token "$(request_token "$1")" '.users[0].user = {token: $token}' \
    "$E2E_CLUSTER/admin.kubeconfig" >hub.json
  HUB=(--flow=pass-through --subject=kubernetes --kubeconfig="$PWD/hub.json"
    --cache-dir="$PWD/cache")
}

# ask ARGUMENT...: runs the plugin by itself.
ask() { run "$FEDERATION_PLUGIN" "$@"; }

accepted_with() { # ARGUMENT...
  write_clients --allow-server="$SERVER" "$@"
  expect_accepted "$(user_of reader)"
}

a_projected_token() { # [ARGUMENT...]
  project_token volume "$(request_token reader)"
  accepted_with --flow=pass-through --subject-token-file="$PWD/volume/token" "$@"
}

the_files_token_is_given() {
  project_token volume "$(request_token reader)"
  ask --flow=pass-through --subject-token-file=volume/token
  expect_success
  expect_json .status.token "$(cat volume/token)"
  project_token volume "$(request_token reader)"
  ask --flow=pass-through --subject-token-file=volume/token
  expect_json .status.token "$(cat volume/token)"
}

a_token_of_the_hub() {
  hub_kubeconfig controller
  accepted_with "${HUB[@]}" --service-account="$NAMESPACE/reader" --subject-audience="$AUDIENCE"
}

the_hubs_token_is_for_the_audience() {
  hub_kubeconfig controller
  ask "${HUB[@]}" --service-account="$NAMESPACE/reader" --subject-audience=https://elsewhere.example
  expect_success
  jwt_claims "$(jq -r .status.token stdout)" >claims
  expect_equal "the audience" https://elsewhere.example "$(jq -r '.aud[]' claims)"
  expect_equal "the user" "$(user_of reader)" "$(jq -r .sub claims)"
}

# The hub returns a different token each time, so the same token is from the cache.
the_hub_is_asked_once() {
  local arguments token
  hub_kubeconfig controller
  arguments=("${HUB[@]}" --service-account="$NAMESPACE/reader" --subject-audience="$AUDIENCE")
  ask "${arguments[@]}"
  expect_success
  token=$(jq -r .status.token stdout)
  write_clients "${arguments[@]}"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_success
  expect_stdout "$token"
}

another_account_is_forbidden() {
  hub_kubeconfig controller
  ask "${HUB[@]}" --service-account="$NAMESPACE/other" --subject-audience="$AUDIENCE"
  expect_refused 1 403 "serviceaccounts/token"
  expect_in stderr "  hint: "
}

no_such_account() {
  ask --flow=pass-through --subject=kubernetes --kubeconfig="$E2E_CLUSTER/admin.kubeconfig" \
    --cache-dir="$PWD/cache" --service-account="$NAMESPACE/nobody" --subject-audience="$AUDIENCE"
  expect_refused 1 "404 Not Found" 'serviceaccounts "nobody" not found'
}

a_token_that_ended() {
  project_token volume "$(expired_token "$(request_token reader)")"
  ask --flow=pass-through --subject-token-file=volume/token
  expect_refused 1 expired
}

a_token_for_another_audience() {
  project_token volume "$(request_token reader --audience https://elsewhere.example)"
  ask --flow=pass-through --subject-token-file=volume/token --audience="$AUDIENCE"
  expect_refused 1 https://elsewhere.example "$AUDIENCE"
}

no_jwt() {
  project_token volume opaque
  ask --flow=pass-through --subject-token-file=volume/token
  expect_refused 1 "no JWT"
  expect_in stderr execcred-token-file
}

# Here the audience is only compared, so the ClusterProfile may set it without --allow-audience.
the_profile_narrows_the_audience() {
  project_token volume "$(request_token reader)"
  write_clients --flow=pass-through --subject-token-file="$PWD/volume/token"
  write_profile profile.json spoke accessProviders "$(cluster_json "{\"audience\": \"$AUDIENCE\"}")"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok $(user_of reader)"
  write_profile profile.json spoke accessProviders "$(cluster_json '{"audience": "elsewhere"}')"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_status 1
  expect_error_line execcred-oidc-federation elsewhere
}

use_namespace oidc-pass-through
for account in reader other controller; do create_account "$account"; done
store_permissions
wait_until 120 admin -n "$NAMESPACE" auth can-i create serviceaccounts/reader -q \
  --subresource=token --as "$(user_of controller)"

check "a projected token" a_projected_token
check "a projected token with the --audience" a_projected_token --audience="$AUDIENCE"
check "the file is read at each run" the_files_token_is_given
check "a token from a TokenRequest, with the fewest RBAC rules" a_token_of_the_hub
check "a token from a TokenRequest has the --subject-audience" the_hubs_token_is_for_the_audience
check "the second run uses the cached token" the_hub_is_asked_once
check "another ServiceAccount is forbidden, and the error has a hint" another_account_is_forbidden
check "a ServiceAccount that does not exist is reported" no_such_account
check "a token that has expired is refused" a_token_that_ended
check "a token for another audience is refused" a_token_for_another_audience
check "a token that is not a JWT is refused" no_jwt
check "an audience in the ClusterProfile is compared" the_profile_narrows_the_audience
