# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Every example of config/static-secret as it is shipped, with its own Secret and its own
# RBAC rules: execcred, client-go and kubectl are accepted as the user of the Secret.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

# prepare EXAMPLE: fills in its files and applies them.
prepare() {
  client_certificate client extendedKeyUsage=clientAuth
  fill_in "$1" "$(request_token reader)"
  apply_example
  case $1 in
    service-account-token) fill_in_service_account_token ;;
    mounted | mounted-certificate) mount_secret ;;
    pod-certificate) project_bundle ;;
  esac
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

# Writes the example's volume as the kubelet does.
mount_secret() {
  local volume host=${SERVER#https://}
  volume=$PWD/mounted/${host%:*}
  project_secret "$volume" "$(objects secret.yaml | jq .stringData)"
  jq --arg volume "$volume" '.providers[].execConfig.args |= if index("--convention=mounted-certificate")
      then . + ["--client-certificate=" + $volume + "/cert-chain.pem",
                "--client-key=" + $volume + "/key.pem"]
      else . end' mapping.json >mounted.json
  mv mounted.json mapping.json
}

# The same for a Pod certificate, which is not in a Secret.
project_bundle() {
  project_secret "$PWD/mounted/certificate" "$(jq -n --rawfile key client/client.key \
    --rawfile certificate client/client.crt '{"credentialbundle.pem": ($key + $certificate)}')"
}

# user EXAMPLE: prints the user of its credential.
user() {
  case $1 in
    kubeconfig | cluster-api | fleet | crossplane | certificate | mounted-certificate | \
      pod-certificate)
      echo "$CERTIFICATE_USER"
      ;;
    service-account-token) echo system:serviceaccount:fleet-system:fleet-member ;;
    *) user_of reader ;;
  esac
}

execcred_gets_it() { # EXAMPLE
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

client_go_uses_it() { # EXAMPLE
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile clusterprofile.yaml
  expect_success
  expect_stdout "ok $(user "$1")"
  expect_silent_stderr
}

kubectl_uses_it() { # EXAMPLE
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

for directory in "$EXAMPLES"/*/; do
  example=$(basename "$directory")
  check "$example: execcred, client-go and kubectl use it, and fail without its Role" \
    the_example_works "$example"
  remove_example "$example"
done
