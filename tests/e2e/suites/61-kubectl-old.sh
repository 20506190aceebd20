# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# kubectl 1.29, which is older than any supported Kubernetes: it passes all the cluster
# information that the plugin needs to check the server.

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

it_is_older() {
  run kubectl-old version --client -o json
  expect_success
  expect_json .clientVersion.gitVersion v1.29.6
}

the_server_is_checked() { # VERSION
  recorded_plugin
  kubeconfig "$1" "$RECORDED" --allow-server "$SERVER" --server-ca-file "$CA_FILE"
  ask kubectl-old whoami config
  expect_answer kubectl-old whoami reader
  expect_exec_info .apiVersion "client.authentication.k8s.io/$1"
  expect_exec_info .spec.cluster.server "$SERVER"
  expect_exec_info .spec.cluster.config.clusterName spoke
}

another_server_is_refused() { # VERSION
  kubeconfig "$1" "$PLUGIN" --allow-server https://other.example.com
  ask kubectl-old whoami config
  expect_status 1
  expect_no_stdout
  expect_error_line execcred-token-file "'$SERVER' matches no --allow-server"
  expect_in stderr "executable $PLUGIN failed with exit code 1"
  expect_no_token
}

missing_cluster_info_is_refused() { # VERSION
  kubeconfig "$1" "$PLUGIN" --allow-server "$SERVER"
  jq '.users[0].user.exec.provideClusterInfo = false' config >without
  ask kubectl-old whoami without
  expect_status 1
  expect_error_line execcred-token-file --allow-server
  expect_in stderr "  hint: set provideClusterInfo: true" \
    "executable $PLUGIN failed with exit code 2"
}

the_plugin_runs_once() {
  counted_plugin
  kubeconfig v1 "$COUNTED"
  # Discovery, then the list: several requests of one process.
  ask kubectl-old namespaces config
  expect_answer kubectl-old namespaces reader
  expect_equal "runs of the plugin" 1 "$(plugin_runs)"
}

use_namespace kubectl-old
create_account reader

check "the version is 1.29.6" it_is_older
for version in v1 v1beta1; do
  check "the server and its CA are checked, $version" the_server_is_checked "$version"
  check "a server that --allow-server does not name is refused, $version" \
    another_server_is_refused "$version"
  check "--allow-server without cluster information is refused, $version" \
    missing_cluster_info_is_refused "$version"
done
check "one command that sends several requests runs the plugin once" the_plugin_runs_once
