# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Python's kubernetes package passes the cluster to the plugin exactly as the kubeconfig has it, and
# treats a credential as expired five minutes early. When the plugin fails, the package logs the
# reason and sends the request without a credential.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/clients.sh
. "$E2E_DIR/lib/clients.sh"

CONFIG='{"clusterName": "spoke"}'

# kubeconfig VERSION COMMAND [ARGUMENT...]
kubeconfig() {
  project_token volume "$(request_token reader)"
  write_kubeconfig config "$(exec_config "$1" "$2" --token-file "$PWD/volume/token" "${@:3}")" \
    "$(cluster_json "$CONFIG")"
}

# The cluster has its CA as a path, which is valid in a kubeconfig only.
kubeconfig_with_ca_path() {
  kubeconfig "$@"
  jq --arg ca "$CA_FILE" '.clusters[0].cluster |=
    (del(."certificate-authority-data") | ."certificate-authority" = $ca)' config >with-path
  mv with-path config
}

the_raw_cluster_is_told() { # VERSION
  recorded_plugin
  kubeconfig_with_ca_path "$1" "$RECORDED" --allow-server "$SERVER"
  ask python whoami config
  expect_answer python whoami reader
  expect_exec_info .apiVersion "client.authentication.k8s.io/$1"
  expect_exec_info .spec.interactive false
  expect_exec_info .spec.cluster.server "$SERVER"
  expect_exec_info '.spec.cluster."certificate-authority"' "$CA_FILE"
  expect_exec_info '.spec.cluster.extensions[0].extension.clusterName' spoke
  expect_exec_info .spec.cluster.config.clusterName spoke
}

the_server_is_checked() { # VERSION
  kubeconfig "$1" "$PLUGIN" --allow-server "$SERVER" --server-ca-file "$CA_FILE"
  ask python whoami config
  expect_answer python whoami reader
}

# expect_refusal TEXT...: the plugin's error is in the client's log; the request is anonymous.
expect_refusal() {
  expect_status 1
  expect_stdout "error 403 Forbidden"
  expect_in stderr "execcred-token-file: error: " "$@"
  expect_no_token
}

another_server_is_refused() { # VERSION
  kubeconfig "$1" "$PLUGIN" --allow-server https://other.example.com
  ask python namespaces config
  expect_refusal "exec: process returned 1" "'$SERVER' matches no --allow-server"
}

missing_cluster_info_is_refused() { # VERSION
  kubeconfig "$1" "$PLUGIN" --allow-server "$SERVER"
  jq '.users[0].user.exec.provideClusterInfo = false' config >without
  ask python namespaces without
  expect_refusal "exec: process returned 2" --allow-server "hint: set provideClusterInfo: true"
}

a_ca_path_cannot_be_compared() {
  kubeconfig_with_ca_path v1 "$PLUGIN" --server-ca-file "$CA_FILE"
  ask python namespaces config
  expect_refusal spec.cluster.certificate-authority-data
}

# requests_run_the_plugin N RUNS [ARGUMENT...]
requests_run_the_plugin() {
  counted_plugin
  kubeconfig v1 "$COUNTED" "${@:3}"
  run_python config whoami --requests "$1"
  expect_success
  expect_silent_stderr
  expect_equal "requests that were answered" "$1" "$(grep -cFx "ok $(user_of reader)" stdout)"
  expect_equal "runs of the plugin" "$2" "$(plugin_runs)"
}

use_namespace python
create_account reader

for version in v1 v1beta1; do
  check "the plugin gets the cluster as in the kubeconfig, with its CA's path, $version" \
    the_raw_cluster_is_told "$version"
  check "the server and its CA are checked, $version" the_server_is_checked "$version"
  check "a server that --allow-server does not name is refused, $version" \
    another_server_is_refused "$version"
  check "--allow-server without cluster information is refused, $version" \
    missing_cluster_info_is_refused "$version"
done
check "--server-ca-file refuses a cluster whose CA is a path" a_ca_path_cannot_be_compared
check "20 requests run the plugin once" requests_run_the_plugin 20 1
# One run more than requests: the package also runs the plugin when it loads the kubeconfig.
check "with --max-age 5m each request runs the plugin" requests_run_the_plugin 5 6 --max-age 5m
