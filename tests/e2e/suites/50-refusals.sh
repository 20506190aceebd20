# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# When a plugin refuses to return a credential, every client shows the reason: the
# plugin's one error line, on the client's stderr, and its exit code.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

# A case sets: arguments (the plugin's, without --token-file), cluster (the client's), status (the
# plugin's exit code), error (a part of the error line), details (texts of other lines on stderr).
reset_case() {
  arguments=()
  cluster=$(cluster_json)
  provide_cluster_info=true
  status=1
  error=
  details=()
  project_token volume "$(request_token reader)"
  token_file=$PWD/volume/token
}

case_server() {
  arguments=(--allow-server https://other.example.com)
  error="'$SERVER' matches no --allow-server"
  details=("  hint: allowed: 'https://other.example.com'")
}

case_cluster_info() {
  arguments=(--allow-server "$SERVER")
  provide_cluster_info=false
  status=2
  error=--allow-server
  details=("  hint: set provideClusterInfo: true")
}

case_ca() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -subj /CN=other-ca -keyout other.key -out other.crt
  arguments=(--server-ca-file "$PWD/other.crt")
  error=spec.cluster.certificate-authority-data
  details=("--server-ca-file '$PWD/other.crt'")
}

case_insecure() {
  arguments=(--allow-server "$SERVER")
  cluster=$(cluster_json | jq 'del(."certificate-authority-data") | ."insecure-skip-tls-verify" = true')
  error=spec.cluster.insecure-skip-tls-verify
}

case_proxy() {
  arguments=(--allow-server "$SERVER")
  cluster=$(cluster_json | jq '."proxy-url" = "http://proxy.invalid:3128"')
  error="spec.cluster.proxy-url 'http://proxy.invalid:3128' matches no --allow-proxy"
}

case_audience() {
  arguments=(--audience other)
  error="the token is for '$AUDIENCE'"
  details=("while reading the token in '$token_file'" "it must be for other")
}

case_profile_audience() {
  case_audience
  arguments=()
  cluster=$(cluster_json '{"audience": "other"}')
}

case_profile_setting() {
  cluster=$(cluster_json '{"tokenFile": "/etc/passwd"}')
  status=2
  error=spec.cluster.config.tokenFile
}

case_expired() {
  project_token volume "$(expired_token "$(cat volume/token)")"
  error="the token has expired"
  details=("while reading the token in '$token_file'")
}

case_missing() {
  token_file=$PWD/nowhere/token
  status=2
  error="cannot read '$token_file': No such file or directory"
}

case_key() {
  project_token volume "$(openssl ecparam -name prime256v1 -genkey -noout)"
  error="PEM"
  details=("while reading the token in '$token_file'")
}

expect_refusal() { # PROGRAM
  expect_error_line "$1" "$error"
  expect_in stderr "${details[@]}"
  if [ -e "$token_file" ] && grep -qF -f "$token_file" stderr; then
    unexpected "no secret on stderr"
  fi
}

the_exec_config() {
  exec_config v1 "$PLUGIN" --token-file "$token_file" "${arguments[@]}" |
    jq --argjson provide "$provide_cluster_info" '.provideClusterInfo = $provide'
}

in_kubectl() {
  write_kubeconfig config "$(the_exec_config)" "$cluster"
  run kubectl --kubeconfig config auth whoami
  expect_status 1
  expect_no_stdout
  expect_refusal execcred-token-file
  expect_in stderr "executable $PLUGIN failed with exit code $status"
}

in_client_go() {
  write_mapping mapping.json "$(the_exec_config)"
  write_profile profile.json spoke accessProviders "$cluster"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_status 1
  expect_in stdout "error " "executable $PLUGIN failed with exit code $status"
  expect_refusal execcred-token-file
}

in_execcred() {
  write_mapping mapping.json "$(the_exec_config)"
  write_profile profile.json spoke accessProviders "$cluster"
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_status "$status"
  expect_no_stdout
  expect_refusal execcred
}

refused() { # CASE CLIENT
  reset_case
  "case_$1"
  "in_$2"
}

use_namespace refusals
create_account reader

# refusal CASE SENTENCE: runs the same case with every client.
refusal() {
  local client
  for client in kubectl client_go execcred; do
    check "$2 (${client/_/-})" refused "$1" "$client"
  done
}

refusal server "a server that --allow-server does not name"
refusal cluster_info "--allow-server without cluster information"
refusal ca "a CA other than --server-ca-file's"
refusal insecure "--allow-server with insecure-skip-tls-verify"
refusal proxy "--allow-server with a proxy-url"
refusal audience "--audience that the token does not have"
refusal profile_audience "an audience in the cluster's extension that the token does not have"
refusal profile_setting "a setting that the cluster's extension may not contain"
refusal expired "an expired token"
refusal missing "a token file that does not exist"
refusal key "a private key in place of a token"
