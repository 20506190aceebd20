# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# @kubernetes/client-node passes no cluster information to the plugin (no KUBERNETES_EXEC_INFO),
# puts its standard error into the text of an Error, and runs it several times in parallel.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/clients.sh
. "$E2E_DIR/lib/clients.sh"

# kubeconfig VERSION COMMAND [ARGUMENT...]
kubeconfig() {
  project_token volume "$(request_token reader)"
  write_kubeconfig config "$(exec_config "$1" "$2" --token-file "$PWD/volume/token" "${@:3}")" \
    "$(cluster_json '{"clusterName": "spoke"}')"
}

# expect_error TEXT...: the one line that the client prints contains each text.
expect_error() {
  expect_status 1
  expect_equal "lines on stdout" 1 "$(wc -l <stdout)"
  expect_in stdout "error execcred-token-file: error: " "$@"
  expect_no_token
}

the_plugin_is_told_nothing() { # VERSION
  recorded_plugin
  kubeconfig "$1" "$RECORDED"
  ask javascript whoami config
  expect_answer javascript whoami reader
  expect_equal "KUBERNETES_EXEC_INFO" unset "$(cat exec-info)"
}

allow_server_is_refused() { # VERSION
  kubeconfig "$1" "$PLUGIN" --allow-server "$SERVER"
  ask javascript whoami config
  expect_error --allow-server "hint: set provideClusterInfo: true"

  kubeconfig "$1" "$PLUGIN"
  ask javascript whoami config
  expect_answer javascript whoami reader
}

# The client passes on the KUBERNETES_EXEC_INFO that it inherited, which is of another cluster.
an_inherited_server_is_refused() {
  local info
  info=$(jq -cn '{kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
    spec: {interactive: false, cluster: {server: "https://other.example.com", config: null}}}')
  export KUBERNETES_EXEC_INFO=$info
  kubeconfig v1 "$PLUGIN" --allow-server "$SERVER"
  ask javascript whoami config
  expect_error "'https://other.example.com' matches no --allow-server"

  kubeconfig v1 "$PLUGIN"
  ask javascript whoami config
  expect_answer javascript whoami reader
}

the_cluster_is_named_by_a_flag() {
  project_token volumes/spoke "$(request_token reader)"
  kubeconfig v1 "$PLUGIN"
  jq --arg token "--token-file=$PWD/volumes/{clusterName}/token" \
    '.users[0].user.exec.args = [$token]' config >unnamed
  ask javascript whoami unnamed
  expect_error "{clusterName}"

  jq '.users[0].user.exec.args += ["--cluster=spoke"]' unnamed >named
  ask javascript whoami named
  expect_answer javascript whoami reader
}

an_expired_token_is_explained() {
  kubeconfig v1 "$PLUGIN"
  project_token volume "$(expired_token "$(cat volume/token)")"
  ask javascript whoami config
  expect_error "the token has expired" "while reading the token in '$PWD/volume/token'"
}

# expect_all_answered N
expect_all_answered() {
  expect_success
  expect_silent_stderr
  expect_equal "requests that were answered" "$1" "$(grep -cFx "ok $(user_of reader)" stdout)"
}

parallel_requests_are_answered() { # VERSION
  counted_plugin
  kubeconfig "$1" "$COUNTED"
  run_javascript config whoami --requests 5 --parallel
  expect_all_answered 5
  expect_equal "runs of the plugin" 5 "$(plugin_runs)"
}

a_credential_is_kept_until_it_expires() {
  counted_plugin
  kubeconfig v1 "$COUNTED"
  run_javascript config whoami --requests 5
  expect_all_answered 5
  expect_equal "runs of the plugin" 1 "$(plugin_runs)"
}

an_ended_credential_is_renewed() {
  counted_plugin
  kubeconfig v1 "$COUNTED" --max-age 1s
  run_javascript config whoami --requests 2 --interval 1500
  expect_all_answered 2
  expect_equal "runs of the plugin" 2 "$(plugin_runs)"
}

use_namespace javascript
create_account reader

for version in v1 v1beta1; do
  check "the plugin gets no cluster information, $version" the_plugin_is_told_nothing "$version"
  check "with --allow-server it fails with a hint, without it works, $version" \
    allow_server_is_refused "$version"
  check "5 parallel requests run the plugin 5 times, and all succeed, $version" \
    parallel_requests_are_answered "$version"
done
check "an inherited KUBERNETES_EXEC_INFO of another server is refused" an_inherited_server_is_refused
check "{clusterName} needs --cluster" the_cluster_is_named_by_a_flag
check "the error's text reports an expired token" an_expired_token_is_explained
check "5 requests one after the other run the plugin once" a_credential_is_kept_until_it_expires
check "the plugin runs again after expirationTimestamp" an_ended_credential_is_renewed
