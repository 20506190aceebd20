# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-bootstrap and a real kube-apiserver: a stored kubeconfig becomes a ServiceAccount's token
# and a client certificate, by the RBAC rules of config/bootstrap, and kubectl and client-go are
# accepted with them. No controller runs there, so the approver here signs too, with the cluster's CA.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

BOOTSTRAP=$EXECCRED_BIN/execcred-bootstrap
BOOTSTRAPPER=bootstrapper
ACCOUNT=system:serviceaccount:fleet:controller
TOKEN=(--via=token-request --service-account=fleet/controller)
CERTIFICATE=(--via=csr --user=fleet-controller --group=fleet)
REQUESTS=/apis/certificates.k8s.io/v1/certificatesigningrequests

# bootstrap_kubeconfig [USER]: stored.json, whose user has a client certificate of that name.
bootstrap_kubeconfig() {
  CERTIFICATE_USER=${1:-$BOOTSTRAPPER} client_certificate client extendedKeyUsage=clientAuth
  kubeconfig_json "$(jq -n --arg certificate "$(base64 -w0 client/client.crt)" \
    --arg key "$(base64 -w0 client/client.key)" \
    '{"client-certificate-data": $certificate, "client-key-data": $key}')" >stored.json
  chmod 600 stored.json
}

# arguments ARGUMENT...: prints all of them as a JSON array, with the inner plugin's.
arguments() {
  local inner
  inner=$(jq -cn '$ARGS.positional' --args -- "$STATIC_SECRET" "--kubeconfig-file=$PWD/stored.json")
  jq -cn '$ARGS.positional' --args -- "$@" "--credential=$inner" "--allow-server=$SERVER" \
    "--cache-dir=$PWD/cache"
}

# ask ARGUMENT...: runs the plugin as a client does.
ask() {
  local all
  mapfile -t all < <(arguments "$@" | jq -r '.[]')
  KUBERNETES_EXEC_INFO=$(exec_info null) run "$BOOTSTRAP" "${all[@]}"
}

expect_refused_by_bootstrap() { # STATUS TEXT...
  expect_status "$1"
  expect_no_stdout
  expect_error_line execcred-bootstrap "${@:2}"
}

# exec_of ARGUMENT...: users[].user.exec.
exec_of() { exec_config v1 "$BOOTSTRAP" | jq --argjson arguments "$(arguments "$@")" '.args = $arguments'; }

# accepted_as USER ARGUMENT...: by kubectl, and by client-go for a ClusterProfile.
accepted_as() {
  local user=$1
  shift
  write_kubeconfig config "$(exec_of "$@")"
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$user"
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  expect_in stdout namespace/fleet
  write_mapping mapping.json "$(exec_of "$@")"
  write_profile profile.json spoke accessProviders
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok $user"
}

# --- the approver

# request_of NAME: request.csr and request.json, whose requester and subject are those that it knows.
request_of() {
  admin get --raw "$REQUESTS/$1" >request.json
  jq -r .spec.request request.json | base64 -d >request.csr
  [ "$(jq -r .spec.username request.json)" = "$BOOTSTRAPPER" ] &&
    [ "$(openssl req -in request.csr -noout -subject -nameopt RFC2253)" = \
      "subject=CN=fleet-controller,O=fleet" ]
}

# sign NAME [OPTION...]: the options are those of openssl x509, for another certificate than was asked.
sign() {
  openssl x509 -req -in request.csr -CA "$E2E_CLUSTER/pki/ca.crt" -CAkey "$E2E_CLUSTER/pki/ca.key" \
    -days 1 -extfile <(echo extendedKeyUsage=clientAuth) "${@:2}" -out signed.crt 2>openssl.log
  admin get --raw "$REQUESTS/$1" | jq --arg certificate "$(base64 -w0 signed.crt)" \
    '.status.certificate = $certificate' >with-certificate.json
  admin replace --raw "$REQUESTS/$1/status" -f with-certificate.json >/dev/null
}

# Those without a decision, and those that are approved and have no certificate.
open_names() {
  admin get csr -o json |
    jq -r --arg user "$BOOTSTRAPPER" '.items[]
      | select(.spec.username == $user and .status.certificate == null
          and all(.status.conditions[]?; .type == "Approved"))
      | .metadata.name'
}

approve_all() { # [OPTION...]: sign's
  local name
  while sleep 0.2; do
    for name in $(open_names); do
      request_of "$name" || continue
      admin certificate approve "$name" >/dev/null
      sign "$name" "$@"
    done
  done
}

# Its end comes between the approval and the certificate.
approve_one() {
  local name
  while sleep 0.2; do
    for name in $(open_names); do
      request_of "$name" || continue
      admin certificate approve "$name" >/dev/null
      return
    done
  done
}

# approver [OPTION...]: works in a directory of its own until the check ends.
approver() { in_the_background approve_all "$@"; }
in_the_background() {
  mkdir -p approver
  (cd approver && "$@") >approver.log 2>&1 &
}

# --- tokens

a_token_is_accepted() {
  bootstrap_kubeconfig
  accepted_as "$ACCOUNT" "${TOKEN[@]}"
}

a_token_lives_as_long_as_asked() {
  bootstrap_kubeconfig
  ask "${TOKEN[@]}" --lifetime=10m --audience="$AUDIENCE"
  expect_success
  expect_silent_stderr
  jq -r .status.token stdout >token
  jwt_claims "$(cat token)" >claims
  expect_equal "the lifetime" 600 "$(jq '.exp - .iat' claims)"
  expect_equal "the audience" "[\"$AUDIENCE\"]" "$(jq -c .aud claims)"
}

another_account_is_forbidden() {
  bootstrap_kubeconfig
  ask --via=token-request --service-account=fleet/admin
  expect_refused_by_bootstrap 1 "403 Forbidden"
  expect_in stderr "  hint: it needs a Role with verbs [create] on resources [serviceaccounts/token]" \
    "resourceNames [admin]" "namespace 'fleet'"
}

revoked_rights_name_the_rule() {
  bootstrap_kubeconfig revoked
  ask "${TOKEN[@]}"
  expect_refused_by_bootstrap 1 "403 Forbidden"
  expect_in stderr "verbs [create] on resources [serviceaccounts/token]" "resourceNames [controller]"
  ask "${CERTIFICATE[@]}"
  expect_refused_by_bootstrap 1 "403 Forbidden"
  expect_in stderr "verbs [create, get] on resources [certificatesigningrequests]" \
    "apiGroups [certificates.k8s.io]"
}

an_unknown_identity_is_reported() {
  kubeconfig_json "$(token_user "$(forged_token "$(request_token reader)")")" >stored.json
  chmod 600 stored.json
  ask "${TOKEN[@]}"
  expect_refused_by_bootstrap 1 "401 Unauthorized"
}

# --- certificates

a_certificate_is_accepted() { # KEY_TYPE
  bootstrap_kubeconfig
  approver
  accepted_as fleet-controller "${CERTIFICATE[@]}" --key-type="$1" --timeout=30s
  run kubectl --kubeconfig config auth whoami -o json
  expect_json '.status.userInfo.groups | index("fleet") != null' true
}

a_pending_request_is_resumed() {
  local name
  bootstrap_kubeconfig
  ask "${CERTIFICATE[@]}" --timeout=2s
  expect_refused_by_bootstrap 3 "is pending: nobody has approved it yet"
  name=$(sed -n 's/^  hint: kubectl certificate approve \([^;]*\);.*/\1/p' stderr)
  request_of "$name"
  admin certificate approve "$name" >/dev/null
  ask "${CERTIFICATE[@]}" --timeout=5s
  expect_refused_by_bootstrap 3 "'$name' is approved, and its signer has issued no certificate yet"
  sign "$name"
  ask "${CERTIFICATE[@]}"
  expect_success
  expect_silent_stderr
  expect_json .status.clientCertificateData "$(cat signed.crt)"
}

a_denied_request_has_its_reason() {
  local name
  bootstrap_kubeconfig
  ask "${CERTIFICATE[@]}" --timeout=2s
  expect_status 3
  name=$(sed -n 's/^  hint: kubectl certificate approve \([^;]*\);.*/\1/p' stderr)
  admin certificate deny "$name" >/dev/null
  ask "${CERTIFICATE[@]}"
  expect_refused_by_bootstrap 1 "'$name' was denied: KubectlDeny"
}

a_deleted_request_is_made_again() {
  local name key
  bootstrap_kubeconfig
  ask "${CERTIFICATE[@]}" --timeout=2s
  name=$(sed -n 's/^  hint: kubectl certificate approve \([^;]*\);.*/\1/p' stderr)
  request_of "$name"
  key=$(openssl req -in request.csr -noout -pubkey)
  admin delete csr "$name" >/dev/null
  approver
  ask "${CERTIFICATE[@]}" --timeout=30s
  expect_success
  jq -r .status.clientCertificateData stdout >made.crt
  expect_equal "the key" "$key" "$(openssl x509 -in made.crt -noout -pubkey)"
}

an_approver_may_die() {
  bootstrap_kubeconfig
  approver
  kill "$!"
  wait "$!" || true
  ask "${CERTIFICATE[@]}" --timeout=2s
  expect_refused_by_bootstrap 3 "is pending: nobody has approved it yet"
  in_the_background approve_one
  ask "${CERTIFICATE[@]}" --timeout=5s
  expect_refused_by_bootstrap 3 "is approved, and its signer has issued no certificate yet"
  approver
  ask "${CERTIFICATE[@]}" --timeout=30s
  expect_success
  jq -r .status.clientCertificateData stdout >made.crt
  expect_equal "the key of the one request" "$(openssl req -in approver/request.csr -noout -pubkey)" \
    "$(openssl x509 -in made.crt -noout -pubkey)"
}

another_certificate_is_refused() { # TEXT OPTION...
  bootstrap_kubeconfig
  approver "${@:2}"
  ask "${CERTIFICATE[@]}" --timeout=30s
  expect_refused_by_bootstrap 1 "$1"
}

another_key_is_refused() {
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkey -pubout -out other.pub
  another_certificate_is_refused "is of another key than the request" -force_pubkey "$PWD/other.pub"
}

use_namespace bootstrap
create_account reader
for example in token-request csr; do
  admin apply -f "$EXECCRED_ROOT/config/bootstrap/$example/rbac.yaml" >/dev/null
done
# The two examples' bindings have one name: here both users may list namespaces.
admin create clusterrolebinding bootstrap-e2e --clusterrole fleet-controller --group fleet \
  --serviceaccount fleet:controller >/dev/null
admin create serviceaccount -n fleet admin >/dev/null

check "a token of a ServiceAccount is accepted by kubectl and client-go" a_token_is_accepted
check "a token's lifetime and audience are those that were asked for" a_token_lives_as_long_as_asked
check "the rule of the example is for one ServiceAccount" another_account_is_forbidden
check "without rights, the rule that is missing is named" revoked_rights_name_the_rule
check "an identity that the cluster does not know is reported" an_unknown_identity_is_reported
for key_type in ecdsa-p256 rsa-2048 ed25519; do
  check "a certificate is accepted by kubectl and client-go, $key_type" \
    a_certificate_is_accepted "$key_type"
done
check "a pending request is resumed" a_pending_request_is_resumed
check "a denied request has its reason" a_denied_request_has_its_reason
check "a deleted request is made again with its key" a_deleted_request_is_made_again
check "an approver may die, and go on later" an_approver_may_die
check "a certificate of another key is refused" another_key_is_refused
check "a certificate of another subject is refused" \
  another_certificate_is_refused "has another subject than the request" -subj /O=fleet/CN=admin
check "a certificate that has expired is refused" \
  another_certificate_is_refused "has expired" -days -1
