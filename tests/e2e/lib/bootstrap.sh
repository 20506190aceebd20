# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-bootstrap with a real kube-apiserver, and an approver for its certificate signing requests. No
# controller runs there, so the approver here also signs, with the cluster's CA. Sourced after suite.sh.
#
# A check sets INNER, the command of the plugin that returns the bootstrap credential, and BOOTSTRAPPER,
# the user as which the cluster authenticates this credential.

# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

BOOTSTRAP=$EXECCRED_BIN/execcred-bootstrap
BOOTSTRAPPER=bootstrapper
INNER=()
# shellcheck disable=SC2034
ACCOUNT=system:serviceaccount:fleet:controller
# shellcheck disable=SC2034
TOKEN=(--via=token-request --service-account=fleet/controller)
# shellcheck disable=SC2034
CERTIFICATE=(--via=csr --user=fleet-controller --group=fleet)
REQUESTS=/apis/certificates.k8s.io/v1/certificatesigningrequests

# bootstrap_rules USER...: applies the RBAC rules of config/bootstrap, for these bootstrap users.
bootstrap_rules() {
  local example
  have_namespace fleet
  for example in token-request csr; do
    admin apply -f "$EXECCRED_ROOT/config/bootstrap/$example/rbac.yaml"
  done
  # The bindings of the two examples have the same name. This one lets both users list namespaces.
  admin create clusterrolebinding bootstrap-e2e --clusterrole fleet-controller --group fleet \
    --serviceaccount fleet:controller
  [ "$#" -eq 0 ] || admin -n fleet create rolebinding bootstrap-e2e --role bootstrap-controller \
    "${@/#/--user=}"
  [ "$#" -eq 0 ] || admin create clusterrolebinding bootstrap-e2e-certificate \
    --clusterrole bootstrap-certificate "${@/#/--user=}"
} >/dev/null

# certificate_kubeconfig [USER]: prints a kubeconfig whose user has a client certificate of that name.
certificate_kubeconfig() {
  CERTIFICATE_USER=${1:-$BOOTSTRAPPER} client_certificate client extendedKeyUsage=clientAuth
  kubeconfig_json "$(jq -n --arg certificate "$(base64 -w0 client/client.crt)" \
    --arg key "$(base64 -w0 client/client.key)" \
    '{"client-certificate-data": $certificate, "client-key-data": $key}')"
}

# bootstrap_kubeconfig [USER]: makes such a kubeconfig, in a file, the bootstrap credential.
bootstrap_kubeconfig() {
  certificate_kubeconfig "$@" >stored.json
  chmod 600 stored.json
  INNER=("$STATIC_SECRET" "--kubeconfig-file=$PWD/stored.json")
}

# arguments ARGUMENT...: prints all of them as a JSON array, with the inner plugin's.
arguments() {
  local inner
  inner=$(jq -cn '$ARGS.positional' --args -- "${INNER[@]}")
  jq -cn '$ARGS.positional' --args -- "$@" "--credential=$inner" "--allow-server=https://127.0.0.1:*" \
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

# exec_of ARGUMENT...: prints the JSON of users[].user.exec. EXEC_ENV is a JSON array of variables.
exec_of() {
  exec_config v1 "$BOOTSTRAP" | jq --argjson arguments "$(arguments "$@")" \
    --argjson env "${EXEC_ENV:-[]}" '.args = $arguments | .env = $env'
}

# accepted_as USER ARGUMENT...: the cluster accepts kubectl, and client-go with a ClusterProfile, as this
# user. CONFIG is the inner plugin's spec.cluster.config.
accepted_as() {
  local user=$1 exec cluster
  shift
  exec=$(exec_of "$@")
  cluster=$(cluster_json "${CONFIG:-null}")
  write_kubeconfig config "$exec" "$cluster"
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$user"
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  expect_in stdout namespace/fleet
  write_mapping mapping.json "$exec"
  write_profile profile.json spoke accessProviders "$cluster"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok $user"
}

# --- the approver

# request_of NAME: writes request.csr and request.json. Fails if requester or subject is not the expected
# one.
request_of() {
  admin get --raw "$REQUESTS/$1" >request.json
  jq -r .spec.request request.json | base64 -d >request.csr
  [ "$(jq -r .spec.username request.json)" = "$BOOTSTRAPPER" ] &&
    [ "$(openssl req -in request.csr -noout -subject -nameopt RFC2253)" = \
      "subject=CN=fleet-controller,O=fleet" ]
}

# sign NAME [OPTION...]: options of openssl x509 make a certificate that differs from the requested one.
sign() {
  openssl x509 -req -in request.csr -CA "$E2E_CLUSTER/pki/ca.crt" -CAkey "$E2E_CLUSTER/pki/ca.key" \
    -days 1 -extfile <(echo extendedKeyUsage=clientAuth) "${@:2}" -out signed.crt 2>openssl.log
  admin get --raw "$REQUESTS/$1" | jq --arg certificate "$(base64 -w0 signed.crt)" \
    '.status.certificate = $certificate' >with-certificate.json
  admin replace --raw "$REQUESTS/$1/status" -f with-certificate.json >/dev/null
}

# Prints the requests without a decision, and the approved ones without a certificate.
open_names() {
  admin get csr -o json |
    jq -r --arg user "$BOOTSTRAPPER" '.items[]
      | select(.spec.username == $user and .status.certificate == null
          and all(.status.conditions[]?; .type == "Approved"))
      | .metadata.name'
}

approve_all() { # [OPTION...]: those of sign
  local name
  while sleep 0.2; do
    for name in $(open_names); do
      request_of "$name" || continue
      admin certificate approve "$name" >/dev/null
      sign "$name" "$@"
    done
  done
}

# Ends after the approval and before the certificate.
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

deny_all() {
  local name
  while sleep 0.2; do
    for name in $(open_names); do
      request_of "$name" || continue
      admin certificate deny "$name" >/dev/null
    done
  done
}

# approver [OPTION...]: runs in its own directory, in the background, until the check ends.
approver() { in_the_background approve_all "$@"; }
in_the_background() {
  mkdir -p approver
  (cd approver && "$@") >approver.log 2>&1 &
}
