# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Managed identities by execcred-azure, beside azure-identity: the same endpoints are asked, and what
# ours sends must be what theirs sends. The endpoints judge both, by the rules of the machine's metadata
# service and of App Service. The token that they give is taken by the cluster.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/azure.sh
. "$E2E_DIR/lib/azure.sh"

use_namespace azure-managed
create_account app
azure_start app

managed() { # NAME=VALUE... -- [THEIR_NAME OUR_OPTION PARAMETER VALUE]
  local variables=()
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  any_identity
  if [ "$#" -eq 0 ]; then
    same_request "${variables[@]}" -- managed "$AKS_SERVER" -- --identity=managed
    return
  fi
  expect_identity "$3" "$4"
  same_request "${variables[@]}" -- managed "$AKS_SERVER" "$1" "$4" -- --identity=managed "--$2=$4"
  any_identity
}

identity_is_not_there() {
  any_identity
  expect_identity client_id 00000000-0000-0000-0000-000000000000
  as_theirs "${IMDS[@]}" -- managed "$AKS_SERVER" client_id "$AZURE_CLIENT"
  expect_failure
  as_ours "${IMDS[@]}" -- --identity=managed --client-id="$AZURE_CLIENT"
  expect_refused 1 "Identity not found"
  any_identity
}

# Both ask again, and are given the token by the second request.
asked_again() { # STATUS NAME=VALUE...
  any_identity
  fail_next "$1"
  forget_requests
  as_theirs "${@:2}" -- managed "$AKS_SERVER"
  expect_their_token
  expect_equal "their requests" 2 "$(wc -l <"$CLOUD/requests")"
  fail_next "$1"
  forget_requests
  as_ours "${@:2}" -- --identity=managed
  expect_our_token
  expect_equal "our requests" 2 "$(wc -l <"$CLOUD/requests")"
}

a_wrong_password() {
  as_ours "${APP_SERVICE[@]}" IDENTITY_HEADER=wrong-password -- --identity=managed
  expect_refused 1 401 "bad header"
  if grep -qF wrong-password stderr; then unexpected "no password in the message"; fi
}

# --- users of other plugins

kubelogin_managed() { # FLAG PARAMETER VALUE
  any_identity
  [ "$#" -eq 0 ] || expect_identity "$2" "$3"
  migrated kubelogin "$(env_json "${IMDS[@]}")" get-token --login msi --server-id "$AKS_SERVER" \
    ${1:+"$1" "$3"}
  any_identity
}

argo_managed() {
  any_identity
  migrated argocd-k8s-auth "$(env_json "${IMDS[@]}" AAD_LOGIN_METHOD=msi)" azure
}

check "the machine's managed identity: the request is azure-identity's" managed "${IMDS[@]}" --
check "by client id: the same" managed "${IMDS[@]}" -- client_id client-id client_id "$AZURE_CLIENT"
check "by object id: the same" \
  managed "${IMDS[@]}" -- object_id identity-object-id object_id "$AZURE_CLIENT"
check "by resource id: the same" \
  managed "${IMDS[@]}" -- resource_id identity-resource-id msi_res_id "$AZURE_RESOURCE"
check "App Service: the request is azure-identity's" managed "${APP_SERVICE[@]}" --
check "App Service, by client id: the same" \
  managed "${APP_SERVICE[@]}" -- client_id client-id client_id "$AZURE_CLIENT"
check "App Service, by resource id: the same" \
  managed "${APP_SERVICE[@]}" -- resource_id identity-resource-id mi_res_id "$AZURE_RESOURCE"
for status in 404 410 429 500 503; do
  check "the metadata service's $status: both ask again" asked_again "$status" "${IMDS[@]}"
done
for status in 429 500 503; do
  check "App Service's $status: both ask again" asked_again "$status" "${APP_SERVICE[@]}"
done
check "an identity that the machine does not have" identity_is_not_there
check "a wrong password for App Service" a_wrong_password

check "migrated: kubelogin msi" kubelogin_managed
check "migrated: kubelogin msi with a client id" \
  kubelogin_managed --client-id client_id "$AZURE_CLIENT"
check "migrated: kubelogin msi with a resource id" \
  kubelogin_managed --identity-resource-id msi_res_id "$AZURE_RESOURCE"
check "migrated: argocd-k8s-auth azure, msi" argo_managed
