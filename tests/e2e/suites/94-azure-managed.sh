# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Managed identities with execcred-azure, compared with azure-identity: execcred-azure must send the same
# requests to the same endpoints. The endpoints check both by the rules of the instance metadata service
# and of App Service. The cluster accepts the token that they issue.

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

# Both clients repeat the request, and the second one succeeds.
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

check "the metadata service: the same request as azure-identity" managed "${IMDS[@]}" --
check "the metadata service, by client ID: the same request" \
  managed "${IMDS[@]}" -- client_id client-id client_id "$AZURE_CLIENT"
check "the metadata service, by object ID: the same request" \
  managed "${IMDS[@]}" -- object_id identity-object-id object_id "$AZURE_CLIENT"
check "the metadata service, by resource ID: the same request" \
  managed "${IMDS[@]}" -- resource_id identity-resource-id msi_res_id "$AZURE_RESOURCE"
check "App Service: the same request as azure-identity" managed "${APP_SERVICE[@]}" --
check "App Service, by client ID: the same request" \
  managed "${APP_SERVICE[@]}" -- client_id client-id client_id "$AZURE_CLIENT"
check "App Service, by resource ID: the same request" \
  managed "${APP_SERVICE[@]}" -- resource_id identity-resource-id mi_res_id "$AZURE_RESOURCE"
for status in 404 410 429 500 503; do
  check "the metadata service, status $status: both repeat the request" asked_again "$status" "${IMDS[@]}"
done
for status in 429 500 503; do
  check "App Service, status $status: both repeat the request" asked_again "$status" "${APP_SERVICE[@]}"
done
check "an identity that the machine does not have is reported" identity_is_not_there
check "a wrong password for App Service is reported" a_wrong_password

check "migrated: kubelogin msi" kubelogin_managed
check "migrated: kubelogin msi with a client id" \
  kubelogin_managed --client-id client_id "$AZURE_CLIENT"
check "migrated: kubelogin msi with a resource id" \
  kubelogin_managed --identity-resource-id msi_res_id "$AZURE_RESOURCE"
check "migrated: argocd-k8s-auth azure, msi" argo_managed
