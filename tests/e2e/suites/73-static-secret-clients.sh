# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The other clients can use the credentials of execcred-static-secret: an old kubectl, Python, and
# JavaScript, which passes no cluster information to the plugin.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/clients.sh
. "$E2E_DIR/lib/clients.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

# kubeconfig VERSION ARGUMENT...: writes the client's config; the plugin gets KUBECONFIG for the hub.
kubeconfig() {
  hub_kubeconfig hub.json "$NAMESPACE" controller
  write_kubeconfig config "$(exec_config "$1" "$STATIC_SECRET" "${@:2}" |
    jq --arg hub "$PWD/hub.json" '.env = [{name: "KUBECONFIG", value: $hub}]')" \
    "$(cluster_json '{"clusterName": "spoke"}')"
}

# token_kubeconfig CLIENT VERSION: here the hub is the cluster too. A plugin that JavaScript runs does not
# know that, because it gets no server.
token_kubeconfig() {
  local more=()
  [ "$1" != javascript ] || more=(--allow-hub-token)
  kubeconfig "$2" --convention=secretreader --cluster=spoke "${more[@]}"
}

expect_user() { # CLIENT USER
  expect_success
  case $1 in
    javascript | python) expect_stdout "ok $2" ;;
    *) expect_json .status.userInfo.username "$2" ;;
  esac
}

a_token() { # CLIENT VERSION
  token_kubeconfig "$1" "$2"
  ask "$1" whoami config
  expect_user "$1" "$(user_of reader)"
}

a_certificate() { # CLIENT
  kubeconfig v1 --secret-name=certificate --format=certificate
  ask "$1" whoami config
  expect_user "$1" "$CERTIFICATE_USER"
}

a_token_of_a_kubeconfig() { # CLIENT
  kubeconfig v1 --secret-name=kubeconfig --format=kubeconfig
  ask "$1" whoami config
  expect_user "$1" "$(user_of reader)"
}

javascript_cannot_use_what_is_bound() {
  kubeconfig v1 --secret-name=kubeconfig --format=kubeconfig
  ask javascript whoami config
  expect_status 1
  expect_in stdout "error execcred-static-secret: error: " "hint: set provideClusterInfo: true"
}

javascript_gets_no_token_of_the_hub() {
  kubeconfig v1 --convention=secretreader --cluster=spoke
  ask javascript whoami config
  expect_status 1
  expect_in stdout "error execcred-static-secret: error: " "the hub's own" --allow-hub-token
}

javascript_shows_the_reason() {
  kubeconfig v1 --convention=secretreader --cluster=nowhere
  ask javascript whoami config
  expect_status 1
  expect_in stdout "error execcred-static-secret: error: " "'$NAMESPACE/nowhere' does not exist"
}

parallel_requests_are_answered() {
  token_kubeconfig javascript v1
  run_javascript config whoami --requests 5 --parallel
  expect_success
  expect_equal "requests that were answered" 5 "$(grep -cFx "ok $(user_of reader)" stdout)"
}

use_namespace static-secret-clients
for account in reader controller; do create_account "$account"; done
allow controller get
TOKEN=$(request_token reader)
store_secret spoke token "$TOKEN"
store_secret kubeconfig kubeconfig "$(kubeconfig_json "$(token_user "$TOKEN")")"
client_certificate "$SUITE_DIR/client" extendedKeyUsage=clientAuth
admin -n "$NAMESPACE" create secret tls certificate --cert "$SUITE_DIR/client/client.crt" \
  --key "$SUITE_DIR/client/client.key" >/dev/null
wait_until 120 admin -n "$NAMESPACE" auth can-i get secrets -q \
  --as "system:serviceaccount:$NAMESPACE:controller"

for client in kubectl-old python javascript; do
  for version in v1 v1beta1; do
    check "$client: a token, $version" a_token "$client" "$version"
  done
  check "$client: a certificate" a_certificate "$client"
done
for client in kubectl-old python; do
  check "$client: a kubeconfig's token" a_token_of_a_kubeconfig "$client"
done
check "javascript: a kubeconfig's token is refused, with a hint" javascript_cannot_use_what_is_bound
check "javascript: a token of the hub is refused, because the server is unknown" \
  javascript_gets_no_token_of_the_hub
check "javascript: the error's text has the reason" javascript_shows_the_reason
check "javascript: 5 parallel requests succeed" parallel_requests_are_answered
