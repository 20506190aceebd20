# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Tokens that are replaced, revoked or forged while a client runs.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

# client_go_files [ARGUMENT...]: writes mapping.json and profile.json for a counted plugin with volume/token.
client_go_files() {
  counted_plugin
  write_mapping mapping.json "$(exec_config v1 "$COUNTED" --token-file "$PWD/volume/token" "$@")"
  write_profile profile.json spoke accessProviders
}

# start_client: sends requests until it is killed, and writes a line for each to the file requests.
start_client() {
  cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json \
    -requests 0 -interval 50ms -timeout 400s >requests 2>requests.stderr &
}

# await_line SECONDS LINE: waits until the client has printed this whole line, after line number AFTER.
AFTER=0
printed() { tail -n "+$((AFTER + 1))" requests | grep -qFx -e "$1"; }
await_line() {
  wait_until "$1" printed "$2" && return
  sort requests | uniq -c
  cat requests.stderr
  fail "no request printed '$2' within $1 seconds"
}

# refused TOKEN: succeeds if the API server answers 401.
refused() {
  [ 401 = "$(curl -s --noproxy '*' --max-time 5 --cacert "$CA_FILE" -o /dev/null -w '%{http_code}' \
    -H "Authorization: Bearer $1" "$SERVER/api/v1/namespaces")" ]
}

# revoked_token ACCOUNT: sets TOKEN to a token whose ServiceAccount has been deleted.
revoked_token() {
  create_account "$1"
  TOKEN=$(request_token "$1")
  admin -n "$NAMESPACE" delete serviceaccount "$1" >/dev/null
  # The API server caches the result for a token for ten seconds.
  wait_until 120 refused "$TOKEN"
}

a_new_token_is_used_after_expiry() {
  project_token volume "$(request_token first)"
  client_go_files --max-age 1s
  start_client
  await_line 120 "ok $(user_of first)"

  project_token volume "$(request_token second)"
  await_line 120 "ok $(user_of second)"
  kill %1
  if grep -v '^ok ' requests; then fail "requests failed while the token was replaced"; fi
  if sed "1,/$(user_of second)/d" requests | grep "$(user_of first)"; then
    fail "the old token came back"
  fi
  [ "$(plugin_runs)" -ge 2 ] || fail "the plugin ran $(plugin_runs) times"
}

a_credential_is_kept_until_it_expires() {
  project_token volume "$(request_token first)"
  client_go_files
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json -requests 20
  expect_success
  expect_equal "requests that were answered" 20 "$(grep -cFx "ok $(user_of first)" stdout)"
  expect_equal "runs of the plugin" 1 "$(plugin_runs)"
}

# One run for the request, and perhaps one more because client-go runs the plugin again after a 401.
expect_one_or_two_runs() {
  [[ $(plugin_runs) == [12] ]] || unexpected "one or two runs of the plugin, not $(plugin_runs)"
}

unauthorized_in_client_go() { # TOKEN
  project_token volume "$1"
  client_go_files
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_status 1
  expect_stdout "error Unauthorized"
  expect_one_or_two_runs
}

unauthorized_in_kubectl() { # TOKEN KUBECTL_ARGUMENT...
  project_token volume "$1"
  counted_plugin
  write_kubeconfig config "$(exec_config v1 "$COUNTED" --token-file "$PWD/volume/token")"
  run kubectl --kubeconfig config "${@:2}"
  expect_status 1
  expect_no_stdout
  expect_in stderr "Unauthorized"
  expect_one_or_two_runs
}

unauthorized_when_forged() { # CHECK [ARGUMENT...]
  local token
  token=$(forged_token "$(request_token first)")
  refused "$token" || fail "the API server takes the forged token"
  "$1" "$token" "${@:2}"
}

unauthorized_when_revoked() { # ACCOUNT CHECK [ARGUMENT...]
  revoked_token "$1"
  "$2" "$TOKEN" "${@:3}"
}

a_client_recovers_from_a_revoked_token() {
  create_account leaving
  project_token volume "$(request_token leaving)"
  client_go_files
  start_client
  await_line 120 "ok $(user_of leaving)"
  admin -n "$NAMESPACE" delete serviceaccount leaving >/dev/null
  await_line 120 "error Unauthorized"

  # The credential expires only in ten minutes, so the client runs the plugin again because of the 401.
  AFTER=$(wc -l <requests)
  project_token volume "$(request_token second)"
  await_line 120 "ok $(user_of second)"
}

use_namespace rotation
create_account first
create_account second

check "client-go uses the new token after expirationTimestamp" a_new_token_is_used_after_expiry
check "client-go runs the plugin once while its credential is valid" a_credential_is_kept_until_it_expires
check "a forged token is Unauthorized in client-go, after at most two runs" \
  unauthorized_when_forged unauthorized_in_client_go
check "a forged token is Unauthorized in kubectl auth whoami, after at most two runs" \
  unauthorized_when_forged unauthorized_in_kubectl auth whoami
check "a forged token is Unauthorized in kubectl get namespaces, after at most two runs" \
  unauthorized_when_forged unauthorized_in_kubectl get namespaces
check "a revoked token is Unauthorized in client-go, after at most two runs" \
  unauthorized_when_revoked gone-1 unauthorized_in_client_go
check "a revoked token is Unauthorized in kubectl auth whoami, after at most two runs" \
  unauthorized_when_revoked gone-2 unauthorized_in_kubectl auth whoami
check "client-go recovers when a revoked token is replaced" a_client_recovers_from_a_revoked_token
