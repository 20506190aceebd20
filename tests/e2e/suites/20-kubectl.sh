# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# kubectl gets a projected ServiceAccount token from execcred-token-file
# through users[].user.exec of a kubeconfig.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

expect_accepted() { # KUBECONFIG
  run kubectl --kubeconfig "$1" auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$(user_of reader)"
  expect_silent_stderr
}

# kubeconfig VERSION [ARGUMENT...]: the plugin, its token volume and further arguments.
kubeconfig() {
  project_token volume "$(request_token reader)"
  write_kubeconfig config "$(exec_config "$1" "$PLUGIN" --token-file "$PWD/volume/token" "${@:2}")"
}

whoami_with() { # VERSION [ARGUMENT...]
  kubeconfig "$@"
  expect_accepted config
}

whoami_without_cluster_info() {
  kubeconfig "$1"
  jq '.users[0].user.exec.provideClusterInfo = false' config >without
  expect_accepted without
}

namespaces_are_listed() {
  kubeconfig "$1" --allow-server "$SERVER"
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  expect_in stdout "namespace/$NAMESPACE"
  expect_silent_stderr
}

a_token_for_an_audience_is_accepted() {
  project_token volume "$(request_token reader --audience "$AUDIENCE" --audience other)"
  write_kubeconfig config \
    "$(exec_config v1 "$PLUGIN" --token-file "$PWD/volume/token" --audience "$AUDIENCE")"
  expect_accepted config
}

settings_come_from_the_environment() {
  project_token volume "$(request_token reader)"
  write_kubeconfig config "$(exec_config v1 "$PLUGIN" | jq --arg token "$PWD/volume/token" --arg server "$SERVER" '
    .env = [{name: "EXECCRED_TOKEN_FILE", value: $token}, {name: "EXECCRED_ALLOW_SERVER", value: $server}]')"
  expect_accepted config
}

the_extension_names_the_cluster() {
  project_token volumes/spoke-1 "$(request_token reader)"
  write_kubeconfig config \
    "$(exec_config v1 "$PLUGIN" --token-file "$PWD/volumes/{clusterName}/token")" \
    "$(cluster_json '{"clusterName": "spoke-1"}')"
  expect_accepted config
}

use_namespace kubectl
create_account reader

for version in v1 v1beta1; do
  check "auth whoami, $version" whoami_with "$version"
  check "auth whoami without cluster information, $version" whoami_without_cluster_info "$version"
  check "get namespaces, $version" namespaces_are_listed "$version"
done
check "--allow-server that names the server" whoami_with v1 --allow-server "$SERVER"
check "--allow-server with any port" whoami_with v1 --allow-server "https://127.0.0.1:*"
check "--allow-server with a CIDR" whoami_with v1 --allow-server "https://[127.0.0.0/8]:*"
check "--server-ca-file with the cluster's CA" whoami_with v1 --server-ca-file "$CA_FILE"
check "--audience that the token has" whoami_with v1 --audience "$AUDIENCE"
check "--audience that is one of the token's audiences" a_token_for_an_audience_is_accepted
check "all checks together, v1beta1" whoami_with v1beta1 --allow-server "$SERVER" \
  --server-ca-file "$CA_FILE" --audience "$AUDIENCE"
check "settings from exec.env" settings_come_from_the_environment
check "{clusterName} from the cluster's extension" the_extension_names_the_cluster
