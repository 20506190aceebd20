# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The programs that execcred sync writes for can read its Secrets and files: the code of Argo CD, Flux
# and Cluster API, kubectl, and client-go for the token file. A real kube-apiserver accepts each of
# them, before and after a rotation.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/sync.sh
. "$E2E_DIR/lib/sync.sh"

READER=system:serviceaccount:fleet:reader
HUB=$E2E_CLUSTER/admin.kubeconfig

# Argo CD's code needs its settings to read a cluster.
make_argocd_settings() {
  admin -n "$TO" create configmap argocd-cm --dry-run=client -o json |
    jq '.metadata.labels = {"app.kubernetes.io/part-of": "argocd"}' | admin apply -f - >/dev/null
  admin -n "$TO" create secret generic argocd-secret --from-literal=server.secretkey=unused \
    --dry-run=client -o json |
    jq '.metadata.labels = {"app.kubernetes.io/part-of": "argocd"}' | admin apply -f - >/dev/null
}

# whoami_of READER ARGUMENT...: sets CREDENTIAL to the ID of the credential that the cluster accepts.
whoami_of() {
  run "$E2E_SYNCREADERS" "$@"
  expect_success
  expect_equal "the user" "$READER" "$(cut -d' ' -f1 stdout)"
  CREDENTIAL=$(cut -d' ' -f2 stdout)
  [ -n "$CREDENTIAL" ] || unexpected "the ID of a credential"
}

# whoami_of_token SECRET: uses its keys server, ca.crt and token, as other programs do.
whoami_of_token() {
  value_of "$1" ca.crt >ca.pem
  run kubectl --server "$(value_of "$1" server)" --certificate-authority ca.pem \
    --token "$(value_of "$1" token)" auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$READER"
}

# Cluster API reads only the Secret a-kubeconfig, so the Secret for Flux has another name.
read_all() {
  whoami_of flux "$HUB" "$TO" a-for-kubeconfig
  IDS=("$CREDENTIAL")
  whoami_of argocd "$HUB" "$TO" fleet/a
  IDS+=("$CREDENTIAL")
  whoami_of cluster-api "$HUB" "$TO" a
  IDS+=("$CREDENTIAL")
  whoami_of_token a-for-token
}

secrets_are_read() {
  clean
  make_argocd_settings
  store a
  local before token secret i
  echo 20 >"$SUITE_DIR/lifetime"
  start sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --kubeconfig "$SUITE_DIR/sync.json" \
    --to-secret=kubeconfig,argocd,cluster-api,token --secret-name='{name}-for-{format}' \
    --secret-namespace="$TO"
  for secret in a-for-kubeconfig a-for-argocd a-kubeconfig a-for-token; do
    wait_until 120 is_there "$secret"
  done
  expect_equal "the type" cluster.x-k8s.io/secret "$(admin -n "$TO" get secret a-kubeconfig -o jsonpath='{.type}')"
  read_all
  before=("${IDS[@]}")
  token=$(value_of a-for-token token)
  for secret in a-for-kubeconfig/value a-for-argocd/config a-kubeconfig/value a-for-token/token; do
    wait_until 120 changed_from "${secret%/*}" "${secret#*/}" "$(value_of "${secret%/*}" "${secret#*/}")"
  done
  read_all
  for i in "${!before[@]}"; do
    [ "${IDS[i]}" != "${before[i]}" ] || unexpected "another credential than '${before[i]}'"
  done
  [ "$(value_of a-for-token token)" != "$token" ] || unexpected "another token"
  end
}

# Istio's Secret needs a credential that is valid for a day. A changed mapping makes sync get a new one.
istio_s_secret_is_read() {
  clean
  store a
  local before
  once --to-secret=istio
  expect_status 1
  expect_in stderr "the credential lives for"
  echo 90000 >"$SUITE_DIR/lifetime"
  once --to-secret=istio
  expect_success
  before=$(value_of istio-remote-secret-a a)
  echo "$before" >kubeconfig
  accepted_with kubeconfig
  expect_equal "the label" true "$(admin -n "$TO" get secret istio-remote-secret-a -o json |
    jq -r '.metadata.labels["istio/multiCluster"]')"
  expect_equal "the cluster ID" a "$(admin -n "$TO" get secret istio-remote-secret-a -o json |
    jq -r '.metadata.annotations["networking.istio.io/cluster"]')"
  write_mapping "$SUITE_DIR/mapping.json" "$(exec_config v1 "$SUITE_DIR/issue" again)"
  once --to-secret=istio
  expect_success
  changed_from istio-remote-secret-a a "$before" || unexpected "another kubeconfig"
  value_of istio-remote-secret-a a >kubeconfig
  accepted_with kubeconfig
}

# client-go reads the token file again after a minute.
a_client_follows_the_token_file() {
  clean
  store a
  mkdir -m 700 out
  echo 40 >"$SUITE_DIR/lifetime"
  start sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --kubeconfig "$SUITE_DIR/sync.json" --to-dir=out
  wait_until 120 test -e out/fleet/a/kubeconfig
  "$E2E_SYNCREADERS" token-file out/fleet/a/kubeconfig >seen
  expect_equal "the user" "$READER" "$(cut -d' ' -f1 seen)"
  end
}

check "Argo CD, Flux and Cluster API are accepted, before and after a rotation" secrets_are_read
check "Istio's Secret is accepted, before and after a rotation" istio_s_secret_is_read
check "client-go uses the new token in the token file" a_client_follows_the_token_file
