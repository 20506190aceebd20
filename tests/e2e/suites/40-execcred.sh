# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The execcred command: clients can use the output of execcred resolve and execcred get.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

CONFIG='{"clusterName": "spoke"}'

# files [VERSION]: writes mapping.json, profile.json, and the volume with the token.
files() {
  project_token volume "$(request_token reader)"
  write_mapping mapping.json "$(exec_config "${1:-v1}" "$PLUGIN" \
    --token-file "$PWD/volume/token" --allow-server "$SERVER")"
  write_profile profile.json spoke accessProviders "$(cluster_json "$CONFIG")"
}

# execcred SUBCOMMAND OUTPUT [PROFILE]
execcred() {
  run "$EXECCRED_BIN/execcred" "$1" -m mapping.json -f "${3:-profile.json}" -o "$2"
  expect_success
  expect_silent_stderr
}

get_prints_the_token() {
  files
  execcred get token
  expect_stdout "$(cat volume/token)"
}

get_prints_a_credential() { # VERSION
  files "$1"
  execcred get exec-credential
  expect_json .apiVersion "client.authentication.k8s.io/$1"
  expect_json .kind ExecCredential
  expect_json .status.token "$(cat volume/token)"
  expect_json '.status.expirationTimestamp | fromdate - now | . > 500 and . <= 600' true
}

curl_uses_the_header() {
  files
  execcred get header
  mv stdout header
  run curl -sS --noproxy '*' --cacert "$CA_FILE" -H @header -w '\n%{http_code}\n' "$SERVER/api/v1/namespaces"
  expect_success
  expect_equal "the HTTP status" 200 "$(tail -n 1 stdout)"
  expect_in stdout "\"name\": \"$NAMESPACE\""
}

kubectl_runs_the_exec_config() { # PROFILE
  execcred resolve exec-config "$1"
  expect_json '.items[0].command' "$PLUGIN"
  expect_json '.items[0].provideClusterInfo' true
  jq '.items[0]' stdout >exec.json
  write_kubeconfig config "$(cat exec.json)" "$(cluster_json "$CONFIG")"
  run kubectl --kubeconfig config auth whoami -o json
  expect_success
  expect_json .status.userInfo.username "$(user_of reader)"
}

exec_config_fits_a_kubeconfig() { # VERSION
  files "$1"
  kubectl_runs_the_exec_config profile.json
}

resolve_names_what_would_run() {
  files
  execcred resolve text
  expect_in stdout token-file "$PLUGIN" "$SERVER"
  execcred resolve json
  expect_json '.items | length' 1
  expect_json '.items[0].provider' token-file
  expect_json '.items[0].exec.command' "$PLUGIN"
  expect_json '.items[0].cluster.server' "$SERVER"
  expect_json '.items[0].cluster.config.clusterName' spoke
}

a_stored_profile_is_read() { # NAME FIELD FORMAT
  files
  write_profile new.json "$1" "$2" "$(cluster_json "$CONFIG")"
  store_profile new.json
  admin -n "$NAMESPACE" get "$(profiles_of v1alpha1)" "$1" -o "$3" >"stored.$3"
  execcred get token "stored.$3"
  expect_stdout "$(cat volume/token)"
  kubectl_runs_the_exec_config "stored.$3"
}

a_list_with_one_profile_is_read() {
  files
  jq '.metadata |= (.name = "listed" | .labels = {only: "this"})' profile.json >new.json
  store_profile new.json
  admin -n "$NAMESPACE" get "$(profiles_of v1alpha1)" -l only=this -o json >list.json
  execcred get token list.json
  expect_stdout "$(cat volume/token)"
}

get_fails_as_the_plugin_does() {
  files
  jq '.providers[0].execConfig.args += ["--audience", "other"]' mapping.json >other.json
  run "$EXECCRED_BIN/execcred" get -m other.json -f profile.json -o token
  expect_status 1
  expect_no_stdout
  expect_error_line execcred "execcred-token-file: the token is for '$AUDIENCE'"
}

# lint_sarif STATUS FILE...: validates lint's report with OASIS's schema of SARIF 2.1.0.
lint_sarif() {
  run "$EXECCRED_BIN/execcred" lint -o sarif "${@:2}"
  expect_status "$1"
  cp stdout report.json
  is_sarif report.json || unexpected "a report by the schema: $(cat problems)"
}
is_sarif() { /usr/bin/python3 -W ignore -m jsonschema -i "$1" "$E2E_SARIF_SCHEMA" >problems 2>&1; }

lint_writes_sarif() {
  files
  lint_sarif 0 --no-files mapping.json profile.json
  # Findings of each severity, with and without a location, and a finding for a missing file.
  jq '.providers[0].execConfig |= (.command = "relative/execcred-token-file" | .args += ["--nope", "--debug"])
    | .providers[0].profileSourcedEnvVarsPolicy = "Replace" | .extra = 1' mapping.json >'a "b" %.json'
  jq 'del(.status) | .metadata.name = "No Name"' profile.json >bad-profile.json
  echo '{' >broken.json
  lint_sarif 1 'a "b" %.json' bad-profile.json broken.json profile.json no-such-file.json
  expect_json '[.runs[0].results[] | .level] | unique | length > 1' true
  jq '.runs[0].results[0].level = "severe"' report.json >changed.json
  ! is_sarif changed.json || unexpected "a schema that refuses an unknown level"
}

use_namespace execcred
create_account reader

check "get -o token prints the file's token" get_prints_the_token
for version in v1 v1beta1; do
  check "get -o exec-credential, $version" get_prints_a_credential "$version"
  check "resolve -o exec-config works in a kubeconfig, $version" exec_config_fits_a_kubeconfig "$version"
done
check "curl is accepted with the output of get -o header" curl_uses_the_header
check "resolve names the provider, the command and the server" resolve_names_what_would_run
for format in json yaml; do
  check "a ClusterProfile from the API server with accessProviders, $format" \
    a_stored_profile_is_read "new-$format" accessProviders "$format"
  check "a ClusterProfile from the API server with credentialProviders, $format" \
    a_stored_profile_is_read "old-$format" credentialProviders "$format"
done
check "a List with one ClusterProfile" a_list_with_one_profile_is_read
check "the output of lint -o sarif is valid by the SARIF 2.1.0 schema" lint_writes_sarif
check "get fails with the plugin's error and exit code" get_fails_as_the_plugin_does
