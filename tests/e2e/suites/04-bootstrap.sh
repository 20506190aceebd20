# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-bootstrap with real kube-apiservers: it uses a bootstrap credential of each kind to get a
# ServiceAccount's token and a client certificate, with the RBAC rules of config/bootstrap. The cluster
# accepts kubectl and client-go with them.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"
# shellcheck source=tests/e2e/lib/spire.sh
. "$E2E_DIR/lib/spire.sh"
# shellcheck source=tests/e2e/lib/aws.sh
. "$E2E_DIR/lib/aws.sh"
# shellcheck source=tests/e2e/lib/bootstrap.sh
. "$E2E_DIR/lib/bootstrap.sh"
# shellcheck source=tests/e2e/lib/tutorial.sh
. "$E2E_DIR/lib/tutorial.sh"

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

# The signer of the cluster's controller manager, which does not run here.
is_approved() {
  [ "$(admin get csr bootstrapper -o jsonpath='{.status.conditions[0].type}' 2>/dev/null)" = Approved ]
}
sign_the_page_s_request() {
  wait_until 120 is_approved
  admin get csr bootstrapper -o jsonpath='{.spec.request}' | base64 -d >request.csr
  sign bootstrapper
}

# The commands of docs/execcred-bootstrap.md. One cluster is the hub and the spoke.
the_page_gives_the_first_credential() {
  local example=$EXECCRED_ROOT/config/bootstrap/token-request
  ln -s "$EXECCRED_ROOT/config" config
  cp "$E2E_CLUSTER/admin.kubeconfig" spoke-1.admin
  cp "$E2E_CLUSTER/admin.kubeconfig" hub.admin
  sed -e "s|/plugins/|$EXECCRED_BIN/|g" -e 's|https://\*.example.com:6443|https://127.0.0.1:*|' \
    "$example/mapping.json" >mapping.json
  sed -e "s|server: .*|server: $SERVER|" -e "s|certificate-authority-data: .*|certificate-authority-data: $CA_DATA|" \
    "$example/clusterprofile.yaml" >clusterprofile.yaml
  in_the_background sign_the_page_s_request
  EXECCRED_CACHE_DIR=$PWD/cache PATH=$EXECCRED_BIN:$PATH tutorial execcred-bootstrap.md 4
  jwt_claims "$(tail -n 1 stdout | jq -r .status.token)" >claims
  expect_equal "the subject" "$ACCOUNT" "$(jq -r .sub claims)"
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
  bootstrap_kubeconfig
  kubeconfig_json "$(token_user "$(forged_token "$(request_token reader)")")" >stored.json
  ask "${TOKEN[@]}"
  expect_refused_by_bootstrap 1 "401 Unauthorized"
}

# --- certificates

a_certificate_is_accepted() { # KEY_TYPE
  bootstrap_kubeconfig
  approver
  accepted_as fleet-controller "${CERTIFICATE[@]}" --key-type="$1" --timeout=60s
  run kubectl --kubeconfig config auth whoami -o json
  expect_json '.status.userInfo.groups | index("fleet") != null' true
}

a_pending_request_is_resumed() {
  local name
  bootstrap_kubeconfig
  ask "${CERTIFICATE[@]}" --timeout=5s
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
  ask "${CERTIFICATE[@]}" --timeout=5s
  expect_status 3
  name=$(sed -n 's/^  hint: kubectl certificate approve \([^;]*\);.*/\1/p' stderr)
  admin certificate deny "$name" >/dev/null
  ask "${CERTIFICATE[@]}"
  expect_refused_by_bootstrap 1 "'$name' was denied: KubectlDeny"
}

a_denial_ends_the_wait() {
  bootstrap_kubeconfig
  in_the_background deny_all
  ask "${CERTIFICATE[@]}" --timeout=60s
  expect_refused_by_bootstrap 1 "was denied: KubectlDeny"
}

a_deleted_request_is_made_again() {
  local name key
  bootstrap_kubeconfig
  ask "${CERTIFICATE[@]}" --timeout=5s
  name=$(sed -n 's/^  hint: kubectl certificate approve \([^;]*\);.*/\1/p' stderr)
  request_of "$name"
  key=$(openssl req -in request.csr -noout -pubkey)
  admin delete csr "$name" >/dev/null
  approver
  ask "${CERTIFICATE[@]}" --timeout=60s
  expect_success
  jq -r .status.clientCertificateData stdout >made.crt
  expect_equal "the key" "$key" "$(openssl x509 -in made.crt -noout -pubkey)"
}

an_approver_may_die() {
  bootstrap_kubeconfig
  approver
  kill "$!"
  wait "$!" || true
  ask "${CERTIFICATE[@]}" --timeout=5s
  expect_refused_by_bootstrap 3 "is pending: nobody has approved it yet"
  in_the_background approve_one
  wait "$!"
  ask "${CERTIFICATE[@]}" --timeout=5s
  expect_refused_by_bootstrap 3 "is approved, and its signer has issued no certificate yet"
  approver
  ask "${CERTIFICATE[@]}" --timeout=60s
  expect_success
  jq -r .status.clientCertificateData stdout >made.crt
  expect_equal "the key of the one request" "$(openssl req -in approver/request.csr -noout -pubkey)" \
    "$(openssl x509 -in made.crt -noout -pubkey)"
}

another_certificate_is_refused() { # TEXT OPTION...
  bootstrap_kubeconfig
  approver "${@:2}"
  ask "${CERTIFICATE[@]}" --timeout=60s
  expect_refused_by_bootstrap 1 "$1"
}

another_key_is_refused() {
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkey -pubout -out other.pub
  another_certificate_is_refused "is of another key than the request" -force_pubkey "$PWD/other.pub"
}

# --- a bootstrap credential of each kind

# become_stored: the bootstrap credential is a kubeconfig in a Secret of the hub, which is another cluster.
become_stored() {
  BOOTSTRAPPER=bootstrapper
  store_kubeconfig spoke
  at_hub hub_kubeconfig hub.json "$NAMESPACE" reader
  INNER=("$STATIC_SECRET" --convention=cluster-api "--kubeconfig=$PWD/hub.json")
  CONFIG='{"clusterName": "spoke"}'
}
# store_kubeconfig CLUSTER: stores a kubeconfig of the current cluster as Secret CLUSTER-kubeconfig.
store_kubeconfig() {
  local kubeconfig
  kubeconfig=$(certificate_kubeconfig)
  at_hub store_secret "$1-kubeconfig" value "$kubeconfig" "$(jq -n --arg cluster "$1" '
    {type: "cluster.x-k8s.io/secret", metadata: {labels: {"cluster.x-k8s.io/cluster-name": $cluster}}}')"
}
# at_hub COMMAND...: runs it with the first cluster as the current one.
at_hub() {
  local E2E_CLUSTER=$HUB SERVER CA_FILE=$HUB/pki/ca.crt CA_DATA
  SERVER=$(cat "$HUB/server")
  CA_DATA=$(base64 -w0 "$CA_FILE")
  "$@"
}

# The bootstrap credential is a token of Dex, exchanged for a ServiceAccount's token.
become_federated() {
  BOOTSTRAPPER=$DEX_USER
  subject_token reader
  INNER=("$FEDERATION_PLUGIN" --flow=token-exchange --issuer-url="$DEX_URL" --ca-file="$FEDERATION_CA"
    --subject-token-file="$PWD/volume/token" --subject-token-type=id_token
    --requested-token-type=id_token --param=connector_id=kubernetes --client-id=plugin
    --client-secret-file="$SUITE_DIR/secret" --cache-dir="$PWD/cache"
    --scope="openid profile audience:server:client_id:$FEDERATED_AUDIENCE")
}

become_spiffe() {
  BOOTSTRAPPER=$SPIRE_USER
  INNER=("$(workload bootstrapper)" --type=jwt --audience="$FEDERATED_AUDIENCE")
}

# The proxy is for the inner plugin, which calls STS. Requests to the API server do not use it.
become_eks() {
  BOOTSTRAPPER=$EKS_USER
  INNER=("$EXECCRED_BIN/execcred-aws" --cluster-id="$CLUSTER" --role-arn="$ROLE" --region=us-west-2
    --cache-dir="$PWD/cache")
  EXEC_ENV=$(jq -cn '$ARGS.positional | map(capture("(?<name>[^=]*)=(?<value>.*)"))' --args -- \
    "${AWS_KEYS[@]}" AWS_EC2_METADATA_DISABLED=true "AWS_CA_BUNDLE=$AWS/ca.pem" \
    "HTTPS_PROXY=http://$AWS_ADDRESS" NO_PROXY= no_proxy=)
}

becomes_a_token() { # KIND
  "become_$1"
  accepted_as "$ACCOUNT" "${TOKEN[@]}" --timeout=60s
}

becomes_a_certificate() { # KIND
  "become_$1"
  approver
  accepted_as fleet-controller "${CERTIFICATE[@]}" --timeout=60s
  expect_equal "the requester" "$BOOTSTRAPPER" "$(jq -r .spec.username approver/request.json)"
}

# With one mapping and one cache, each cluster gets its own credential.
two_clusters_are_told_apart() {
  become_stored
  at_hub store_kubeconfig home
  accepted_as "$ACCOUNT" "${TOKEN[@]}"
  CONFIG='{"clusterName": "home"}' at_hub accepted_as "$ACCOUNT" "${TOKEN[@]}"
  CONFIG='{"clusterName": "spoke"}' accepted_as "$ACCOUNT" "${TOKEN[@]}"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_success
  mv stdout token
  expect_equal "the spoke's answer" 201 "$(answer_to token)"
  expect_equal "the hub's answer" 401 "$(at_hub answer_to token)"
}
# answer_to TOKEN_FILE: prints the current cluster's HTTP status for a SelfSubjectReview.
answer_to() {
  curl -sS --noproxy '*' --cacert "$CA_FILE" -H "Authorization: Bearer $(cat "$1")" -o /dev/null \
    -w '%{http_code}' --json '{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}' \
    "$SERVER/apis/authentication.k8s.io/v1/selfsubjectreviews"
}

# --- a thousand at once

# creations RESOURCE [SUBRESOURCE]: prints how many POST requests the API server has counted so far.
creations() {
  admin get --raw /metrics | awk -v resource="resource=\"$1\"" -v subresource="subresource=\"${2:-}\"" '
    /^apiserver_request_total\{/ && /verb="POST"/ && index($0, resource) && index($0, subresource) {
      sum += $2
    }
    END { print sum + 0 }'
}

# herd COUNT ARGUMENT...: runs this many processes at once, which must all get the same credential. They
# start together, when the pipe "gate" is opened for writing.
herd() {
  local all count=$1 i pids=() failed=0
  mapfile -t all < <(arguments "${@:2}" | jq -r '.[]')
  KUBERNETES_EXEC_INFO=$(exec_info null)
  export KUBERNETES_EXEC_INFO
  mkfifo gate
  mkdir herd
  : >waiting
  for ((i = 0; i < count; ++i)); do
    (
      echo >>waiting
      : <gate
      exec "$BOOTSTRAP" "${all[@]}"
    ) >"herd/$i.out" 2>"herd/$i.err" &
    pids+=("$!")
  done
  wait_until 120 all_wait "$count"
  exec 9>gate
  for i in "${!pids[@]}"; do
    wait "${pids[i]}" || { failed=$((failed + 1)) && cat "herd/$i.err"; }
  done
  exec 9>&-
  expect_equal "the number that failed" 0 "$failed"
  expect_equal "the number of credentials" 1 "$(cat herd/*.out | sort -u | wc -l)"
  expect_equal "the number of answers" "$count" "$(cat herd/*.out | wc -l)"
}
all_wait() { [ "$(wc -l <waiting)" -eq "$1" ]; }

a_herd_makes_one_token() {
  local before
  bootstrap_kubeconfig
  before=$(creations serviceaccounts token)
  herd 1000 "${TOKEN[@]}" --timeout=60s
  expect_equal "the number of requests" 1 "$(($(creations serviceaccounts token) - before))"
}

a_herd_makes_one_request() {
  local before
  bootstrap_kubeconfig
  approver
  before=$(creations certificatesigningrequests)
  herd 1000 "${CERTIFICATE[@]}" --timeout=60s
  expect_equal "the number of requests" 1 "$(($(creations certificatesigningrequests) - before))"
}

use_namespace bootstrap
create_account reader
bootstrap_rules
admin create serviceaccount -n fleet admin >/dev/null

check "a token of a ServiceAccount is accepted by kubectl and client-go" a_token_is_accepted
check "a token has the requested lifetime and audience" a_token_lives_as_long_as_asked
check "the example's RBAC rule allows only one ServiceAccount" another_account_is_forbidden
check "without RBAC rules, the error names the missing rule" revoked_rights_name_the_rule
check "an identity that the cluster does not know is reported" an_unknown_identity_is_reported
check "the page's commands give the first credential" the_page_gives_the_first_credential
for key_type in ecdsa-p256 rsa-2048 ed25519; do
  check "a certificate is accepted by kubectl and client-go, $key_type" \
    a_certificate_is_accepted "$key_type"
done
check "a pending request is resumed" a_pending_request_is_resumed
check "a denied request is reported with its reason" a_denied_request_has_its_reason
check "a denial while the plugin waits ends the wait" a_denial_ends_the_wait
check "a deleted request is created again with the same key" a_deleted_request_is_made_again
check "a request is completed after its approver was stopped and restarted" an_approver_may_die
check "a certificate of another key is refused" another_key_is_refused
check "a certificate of another subject is refused" \
  another_certificate_is_refused "has another subject than the request" -subj /O=fleet/CN=admin
check "a certificate that has expired is refused" \
  another_certificate_is_refused "has expired" -days -1

# A second cluster, which trusts SPIRE, Dex, and AWS tokens in the same way as EKS.
start_spire() {
  SPIRE_PKI=$FEDERATION/pki
  spire_start
  entry bootstrapper bootstrapper
  spire_agent_start
}

start_eks() {
  local kubeconfig=$FEDERATION/webhook.json
  aws_start
  background "$FEDERATION/log/eks" env -i HTTPS_PROXY="http://$AWS_ADDRESS" SSL_CERT_FILE="$AWS/ca.pem" \
    "$E2E_EKS" review "$AWS" "$CLUSTER" aws
  started eks test -s "$AWS/review" || fail "the webhook did not start"
  jq -n --arg server "http://$(cat "$AWS/review")" '{apiVersion: "v1", kind: "Config",
    clusters: [{name: "eks", cluster: {server: $server}}], users: [{name: "eks", user: {}}],
    contexts: [{name: "eks", context: {cluster: "eks", user: "eks"}}], "current-context": "eks"}' \
    >"$kubeconfig"
  CLUSTER_FLAGS+=(--authentication-token-webhook-config-file "$kubeconfig"
    --authentication-token-webhook-version v1)
}

HUB=$E2E_CLUSTER
allow reader get
federation_start spire dex eks
CA_DATA=$(base64 -w0 "$CA_FILE")
use_namespace bootstrap
create_account reader
printf '%s\n' "$CLIENT_SECRET" >"$SUITE_DIR/secret"
DEX_USER=dex:$(user_of reader)
SPIRE_USER=$SPIRE_DOMAIN/bootstrapper
EKS_USER=arn:aws:iam::123456789012:role/reader
bootstrap_rules "$DEX_USER" "$SPIRE_USER" "$EKS_USER"

for kind in stored federated spiffe eks; do
  check "a second cluster: a bootstrap credential that is $kind becomes a token" becomes_a_token "$kind"
  check "a second cluster: a bootstrap credential that is $kind becomes a certificate" \
    becomes_a_certificate "$kind"
done
check "one mapping and one cache work for two clusters" two_clusters_are_told_apart

alone
check "1,000 processes at once make one TokenRequest" a_herd_makes_one_token
check "1,000 processes at once make one CertificateSigningRequest" a_herd_makes_one_request
