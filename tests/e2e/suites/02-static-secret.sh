# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Every row of the table in config/static-secret, with its own Secret and its own RBAC rules:
# execcred, client-go and kubectl are accepted as the user of the Secret.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

# prepare PROVIDER: fills in its files and applies them.
prepare() {
  client_certificate client extendedKeyUsage=clientAuth
  fill_in "$1" "$(request_token reader)"
  # The hub's token controller, which does not run here, needs this ServiceAccount.
  [ "$1" != service-account-token ] || have_service_account fleet-system fleet-member
  apply_example
  case $1 in
    service-account-token) fill_in_service_account_token ;;
    mounted-secret) mount_secret ;;
    mounted-certificate) mount_certificate ;;
    pod-certificate) mount_bundle ;;
  esac
}

have_service_account() { # NAMESPACE NAME
  have_namespace "$1"
  admin -n "$1" create serviceaccount "$2" --dry-run=client -o json | admin apply -f - >/dev/null
}

# Does the work of the hub's token controller, which does not run here.
fill_in_service_account_token() {
  local uid claims
  uid=$(admin -n fleet-system get serviceaccount fleet-member -o jsonpath='{.metadata.uid}')
  claims=$(jq -cn --arg uid "$uid" '"kubernetes.io/serviceaccount/" as $claim | {
    iss: "kubernetes/serviceaccount", sub: "system:serviceaccount:fleet-system:fleet-member",
    ($claim + "namespace"): "fleet-system", ($claim + "secret.name"): "fleet-member-token",
    ($claim + "service-account.name"): "fleet-member", ($claim + "service-account.uid"): $uid}')
  admin -n fleet-system patch secret fleet-member-token --patch \
    "$(jq -cn --arg token "$(sign_jwt "$SIGNING_KEY" "$claims")" '{stringData: {token: $token}}')" \
    >/dev/null
}

# Writes the row's volume as the kubelet does.
mount_secret() {
  local host=${SERVER#https://}
  project_secret "$PWD/mounted/${host%:*}" "$(objects secret.yaml | jq .stringData)"
}

# The convention's own paths are outside of this directory.
mount_certificate() {
  local volume=$PWD/mounted/certificate
  project_secret "$volume" "$(jq --rawfile certificate client/client.crt --rawfile key client/client.key \
    '{(.keys[0]): $certificate, (.keys[1]): $key}' row.json)"
  jq --arg volume "$volume" --slurpfile row row.json '.providers[].execConfig.args +=
    ["--client-certificate=\($volume)/\($row[0].keys[0])", "--client-key=\($volume)/\($row[0].keys[1])"]' \
    mapping.json >mounted.json
  mv mounted.json mapping.json
}

# A Pod certificate is not in a Secret.
mount_bundle() {
  project_secret "$PWD/mounted/certificate" "$(jq --rawfile key client/client.key \
    --rawfile certificate client/client.crt '{(.keys[0]): ($key + $certificate)}' row.json)"
}

# user PROVIDER: prints the user of its credential.
user() {
  if [ "$1" = service-account-token ]; then
    echo system:serviceaccount:fleet-system:fleet-member
  elif grep -qsE '^ +client-certificate-data:|tls.crt:' secret.yaml || [[ "$1" = *-certificate ]]; then
    echo "$CERTIFICATE_USER"
  else
    user_of reader
  fi
}

execcred_gets_it() { # PROVIDER
  run "$EXECCRED_BIN/execcred" lint --no-files mapping.json clusterprofile.yaml
  expect_success
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f clusterprofile.yaml -o exec-credential
  expect_success
  expect_silent_stderr
  expect_json '.status.expirationTimestamp | fromdate - now | . > 500 and . <= 600' true
  if [ "$(user "$1")" = "$CERTIFICATE_USER" ]; then
    expect_json '.status | keys | join(" ")' \
      "clientCertificateData clientKeyData expirationTimestamp"
    expect_json .status.clientCertificateData "$(cat client/client.crt)"
  else
    expect_json '.status | keys | join(" ")' "expirationTimestamp token"
  fi
}

client_go_uses_it() { # PROVIDER
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile clusterprofile.yaml
  expect_success
  expect_stdout "ok $(user "$1")"
  expect_silent_stderr
}

kubectl_uses_it() { # PROVIDER
  run "$EXECCRED_BIN/execcred" kubeconfig -m mapping.json -f clusterprofile.yaml -o config
  expect_success
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$(user "$1")"
}

# The example's only rule is necessary, and the error names it when it is missing.
nothing_without_its_role() {
  jq 'select(.kind == "RoleBinding")' rbac.json | admin delete --wait=false -f - >/dev/null
  wait_until 120 the_role_is_gone
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f clusterprofile.yaml -o token
  expect_status 1
  expect_no_stdout
  expect_error_line execcred "403 Forbidden" "secrets "
  expect_in stderr "  hint: " "verbs [$(jq -r 'select(.kind == "Role").rules[0].verbs[0]' rbac.json)]" \
    "resources [secrets]" "namespace '$(jq -r 'select(.kind == "Role").metadata.namespace' rbac.json)'"
}
the_role_is_gone() { ! the_role_is_known; }

the_example_works() {
  prepare "$1"
  execcred_gets_it "$1"
  client_go_uses_it "$1"
  kubectl_uses_it "$1"
  [ ! -e rbac.yaml ] || nothing_without_its_role
}

use_namespace static-secret
create_account reader

mapfile -t providers < <(row)
[ "${#providers[@]}" -ge 20 ] || fail "the table has ${#providers[@]} rows"
for provider in "${providers[@]}"; do
  check "$provider: execcred, client-go and kubectl use it, and fail without its Role" \
    the_example_works "$provider"
  remove_example "$provider"
done
