# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred kubeconfig: every client can use the file that it writes for an
# inventory, with each cluster of it.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/clients.sh
. "$E2E_DIR/lib/clients.sh"

# Two clusters. The ServiceAccount in the token shows for which of them a token was selected.
inventory() {
  local name
  mkdir -p profiles
  for name in first second; do
    project_token "tokens/$name" "$(request_token "$name")"
    write_profile "profiles/$name.json" "$name" accessProviders \
      "$(cluster_json "{\"clusterName\": \"$name\"}")"
  done
  write_mapping mapping.json "$(exec_config v1 "$PLUGIN" \
    --token-file "$PWD/tokens/{clusterName}/token" --allow-server "$SERVER")"
  run "$EXECCRED_BIN/execcred" kubeconfig -m mapping.json -f profiles -o config
  expect_success
  expect_silent_stderr
  expect_equal "the file's mode" 600 "$(stat -c %a config)"
}

kubectl_uses_every_context() { # KUBECTL
  local name
  inventory
  for name in first second; do
    run "$1" --kubeconfig config --context "$NAMESPACE/$name" auth whoami -o json
    expect_success
    expect_json .status.userInfo.username "$(user_of "$name")"
  done
}

clients_use_the_current_context() { # CLIENT
  inventory
  sed -i "s|^current-context:.*|current-context: $NAMESPACE/second|" config
  ask "$1" whoami "$PWD/config"
  expect_answer "$1" whoami second
}

an_unusable_profile_is_left_out() {
  inventory
  write_profile profiles/broken.json broken accessProviders \
    "$(cluster_json | jq '."certificate-authority" = "/etc/ca.crt"')"
  run "$EXECCRED_BIN/execcred" kubeconfig -m mapping.json -f profiles -o config
  expect_status 1
  expect_error_line execcred "certificate-authority"
  expect_in config "$NAMESPACE/first" "$NAMESPACE/second"
  if grep -q "$NAMESPACE/broken" config; then unexpected "no broken cluster in the file"; fi
}

use_namespace kubeconfig
for account in first second; do create_account "$account"; done

for kubectl in kubectl kubectl-old; do
  check "$kubectl uses every context" kubectl_uses_every_context "$kubectl"
done
# JavaScript sends no cluster information, which this mapping needs.
check "python uses the current context" clients_use_the_current_context python
check "an unusable ClusterProfile is reported and left out" an_unusable_profile_is_left_out
