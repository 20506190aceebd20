# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2016 # jq's variables stand in single quotes
# execcred doctor against real API servers: each check makes a fault in a real component, and doctor
# must report the right cause. A wrong cause is worse than a general one.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"
# shellcheck source=tests/e2e/lib/spire.sh
. "$E2E_DIR/lib/spire.sh"
# shellcheck source=tests/e2e/lib/web.sh
. "$E2E_DIR/lib/web.sh"
trap 'cluster_stop; rm -rf "$SPIRE_OPEN"' EXIT

ISSUER_KEY=$SUITE_DIR/issuer.key
openssl genrsa -out "$ISSUER_KEY" 2048 2>/dev/null

# configuration AUDIENCE: prints the AuthenticationConfiguration of a second API server, with one issuer
# whose keys cannot be fetched. A token fails either by a rule of this file or by its signature.
configuration() {
  cat <<EOF
apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: https://idp.example.com
    audiences: [$1]
  claimMappings:
    username: {claim: sub, prefix: ""}
EOF
}

# person_token ISSUER AUDIENCE [LIFETIME]
person_token() {
  sign_jwt "$ISSUER_KEY" "$(jq -nc --arg iss "$1" --arg aud "$2" --argjson life "${3:-3600}" \
    '{iss: $iss, sub: "jane", aud: $aud, exp: (now + $life | floor), iat: (now | floor)}')"
}

# files TOKEN: writes mapping.json and profile.json of a cluster that works with a valid token.
files() {
  printf %s "$1" >token
  chmod 600 token
  write_mapping mapping.json "$(exec_config v1 "$PLUGIN" --token-file "$PWD/token")"
  write_profile profile.json spoke accessProviders "$(cluster_json)"
  change profile.json '.status.accessProviders |= map(select(.name == "token-file"))'
}

# change FILE FILTER [JQ_ARGUMENT...]
change() {
  jq "${@:3}" "$2" "$1" >changed.json
  mv changed.json "$1"
}
change_cluster() { change profile.json ".status.accessProviders[0].cluster |= ($1)" "${@:2}"; }
change_exec() { change mapping.json ".providers[0].execConfig |= ($1)" "${@:2}"; }

# --warn-before is shorter than the default, because the API server's CA expires in two days here.
doctor() {
  local warn=(--warn-before 1h)
  [[ " $* " != *" --warn-before "* ]] || warn=()
  run "${CLOCK[@]}" "$EXECCRED_BIN/execcred" doctor -m mapping.json -f profile.json -o json --timeout 5s \
    "${warn[@]}" "$@"
}

# expect_cause CAUSE STATUS
expect_cause() {
  expect_json '.items[0].cause // "none"' "$1"
  expect_status "$2"
  # The token must not be in the output.
  ! grep -qF -e "$(cat token)" stdout stderr || unexpected "no token in the output"
}

# Each fault is a function that breaks something that files() has made. It may set ARGUMENTS for doctor,
# and CLOCK, a command that runs doctor with a shifted clock.
ARGUMENTS=() CLOCK=()
fault() { # CAUSE STATUS FUNCTION [ARGUMENT...]
  files "$(request_token reader)"
  ARGUMENTS=() CLOCK=()
  "${@:3}"
  doctor "${ARGUMENTS[@]}"
  expect_cause "$1" "$2"
}

token() { printf %s "$1" >token; }
a_working_cluster() {
  files "$(request_token reader)"
  doctor --can get/namespaces
  expect_success
  expect_json '.items[0].result' ok
  expect_json '.items[0].user' "$(user_of reader)"
  expect_json '.items[0].steps | length' 12
}

no_providers() { change profile.json 'del(.status.accessProviders)'; }
another_provider() { change profile.json '.status.accessProviders[0].name = "other"'; }
unknown_version() { change profile.json '.apiVersion = "multicluster.x-k8s.io/v9"'; }
plain_http() { change_cluster '.server |= sub("https"; "http")'; }
unhealthy() { change profile.json '.status.conditions[0].status = "False"'; }
unsafe_policy() { change mapping.json '.providers[0].profileSourcedCLIArgsPolicy = "Append"'; }
relative_command() { change_exec '.command = "execcred-token-file"'; }
unknown_option() { change_exec '.args += ["--nope"]'; }
no_program() { change_exec '.command = "/no/such/plugin"'; }
# script BODY
script() {
  printf '#!/bin/sh\n%s\n' "$1" >plugin.sh
  chmod 755 plugin.sh
  change_exec '.command = $path | .args = []' --arg path "$PWD/plugin.sh"
}
no_interpreter() {
  printf '#!/no/such/shell\n' >plugin.sh
  chmod 755 plugin.sh
  change_exec '.command = $path' --arg path "$PWD/plugin.sh"
}
not_executable() {
  cp "$PLUGIN" plugin
  chmod 644 plugin
  change_exec '.command = $path' --arg path "$PWD/plugin"
}
other_architecture() {
  cp "$PLUGIN" plugin
  printf '\026' | dd of=plugin bs=1 seek=18 conv=notrunc status=none
  chmod 755 plugin
  change_exec '.command = $path' --arg path "$PWD/plugin"
}
no_cluster_info() {
  change_exec '.args += ["--allow-server", $server] | .provideClusterInfo = false' \
    --arg server "$SERVER"
}
other_server_allowed() { change_exec '.args += ["--allow-server", "https://other.example.com"]'; }
missing_token() { change_exec '.args[1] += ".none"'; }
shared_token() { chmod 666 token; }
expired_source() { token "$(expired_token "$(cat token)")"; }
wrong_audience_by_plugin() { change_exec '.args += ["--audience", "other"]'; }
unknown_name() { change_cluster '.server = "https://nobody.invalid:6443"'; }
closed_port() { change_cluster '.server = "https://127.0.0.1:1"'; }
closed_proxy() { change_cluster '.["proxy-url"] = "http://127.0.0.1:1"'; }
foreign_ca() {
  mkdir pki
  certificate pki ca /CN=foreign basicConstraints=critical,CA:TRUE 2>/dev/null
  change_cluster '.["certificate-authority-data"] = $ca' --arg ca "$(base64 -w0 pki/ca.crt)"
}
same_named_ca() {
  mkdir pki
  certificate pki ca /CN=e2e-ca basicConstraints=critical,CA:TRUE 2>/dev/null
  change_cluster '.["certificate-authority-data"] = $ca' --arg ca "$(base64 -w0 pki/ca.crt)"
}
wrong_server_name() { change_cluster '.["tls-server-name"] = "other.example.com"'; }
etcd_port() { change_cluster '.server = $server' --arg server "https://${ETCD#http://}"; }
insecure() {
  change_cluster 'del(.["certificate-authority-data"]) | .["insecure-skip-tls-verify"] = true'
}
forged() { token "$(forged_token "$(cat token)")"; }
foreign_issuer() {
  token "$(sign_jwt "$ISSUER_KEY" "$(jwt_claims "$(cat token)" | jq -c '.iss = "https://other"')")"
}
other_audience() { token "$(request_token reader --audience other)"; }
opaque() { token opaque-token; }
person() { token "$(person_token https://idp.example.com kubernetes)"; }
revoked() {
  create_account leaver
  token "$(request_token leaver)"
  admin -n "$NAMESPACE" delete serviceaccount leaver >/dev/null
}
forbidden() { ARGUMENTS=(--can delete/nodes); }
ca_ends_soon() { ARGUMENTS=(--warn-before 30d); }
# give_certificate NAME: makes this certificate the plugin's output.
give_certificate() {
  jq -n --rawfile certificate "$1.crt" --rawfile key "$1.key" '{
      kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
      status: {clientCertificateData: $certificate, clientKeyData: $key}}' >answer.json
  script "cat $PWD/answer.json"
}
foreign_certificate() {
  certificate . ca /CN=foreign-ca basicConstraints=critical,CA:TRUE 2>/dev/null
  certificate . jane /CN=jane extendedKeyUsage=clientAuth 2>/dev/null
  give_certificate ./jane
}
own_certificate() {
  cp "$E2E_CLUSTER"/pki/ca.{crt,key} .
  certificate . jane /CN=jane extendedKeyUsage=clientAuth 2>/dev/null
  give_certificate ./jane
}
mismatched_key() {
  own_certificate
  openssl ecparam -name prime256v1 -genkey -noout -out jane.key
  give_certificate ./jane
}
ended_certificate() {
  cp "$E2E_CLUSTER"/pki/ca.{crt,key} .
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=jane \
    -keyout jane.key -out jane.csr 2>/dev/null
  openssl x509 -req -in jane.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days -1 -out jane.crt 2>/dev/null
  give_certificate ./jane
}
an_answer_that_is_over() {
  jq -n '{kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
    status: {token: "opaque", expirationTimestamp: "2020-01-01T00:00:00Z"}}' >answer.json
  script "cat $PWD/answer.json"
}
# The same token, but valid only from one hour from now.
a_token_of_tomorrow() {
  token "$(sign_jwt "$SIGNING_KEY" "$(jwt_claims "$(cat token)" | jq -c \
    '(now + 3600 | floor) as $begin | .nbf = $begin | .iat = $begin | .exp = $begin + 3600')")"
}
a_key_for_a_token() { token "$(cat "$ISSUER_KEY")"; }
a_program_for_a_terminal() { change_exec '.interactiveMode = "Always"'; }
a_wrong_variable() { change_exec '.env = [{name: "EXECCRED_TIMEOUT", value: "forever"}]'; }
a_profile_that_names_a_file() {
  change_cluster '.extensions = [{name: "client.authentication.k8s.io/exec",
    extension: {tokenFile: "/etc/shadow"}}]'
}

# Another server in place of the API server.
at_site() { change_cluster '.server = $server' --arg server "$1"; }
a_web_server() { at_site "$FOREIGN_SITE"; }
a_redirect_to_a_login() { at_site "$MOVED_SITE"; }
a_web_server_that_wants_a_login() { at_site "$LOGIN_SITE"; }
a_web_server_that_forbids() { at_site "$FORBIDDING_SITE"; }
a_server_that_breaks() { at_site "$BROKEN_SITE"; }
a_balancer_without_a_backend() { at_site "$BALANCER_SITE"; }
a_busy_server() { at_site "$BUSY_SITE"; }
a_server_of_old_tls() { at_site "$OLD_SITE"; }
a_server_without_tls() { at_site "$PLAIN_SITE"; }
a_server_that_is_silent() { at_site "$SILENT_SITE"; }

# clock SECONDS: the clock of doctor and the plugin is ahead of the server's by this time.
clock() { CLOCK=(env "LD_PRELOAD=$SUITE_DIR/shifted_clock.so" "CLOCK_AHEAD=$1"); }
clock_ahead() { clock 600; }
clock_ahead_of_the_token() { clock 10800; }
clock_behind_the_certificate() {
  clock -10800
  opaque
}
# A token that is already valid by doctor's clock, but not yet by the server's.
clock_ahead_of_the_server() {
  clock 3600
  token "$(sign_jwt "$SIGNING_KEY" "$(jwt_claims "$(cat token)" | jq -c \
    '(now + 1800 | floor) as $begin | .nbf = $begin | .iat = $begin | .exp = $begin + 7200')")"
}

# tinyproxy_start SETTING...: starts a tinyproxy, and sets PROXY to its address.
tinyproxy_start() {
  free_ports 1
  PROXY=127.0.0.1:${PORTS[0]}
  mkdir -p "$SUITE_DIR/proxy"
  printf '%s\n' "Port ${PORTS[0]}" "Listen 127.0.0.1" "Timeout 10" "LogLevel Error" "$@" \
    >"$SUITE_DIR/proxy/${PORTS[0]}.conf"
  background "$SUITE_DIR/proxy/${PORTS[0]}.log" tinyproxy -d -c "$SUITE_DIR/proxy/${PORTS[0]}.conf"
  wait_until 120 curl -sS --max-time 2 --noproxy '*' -o /dev/null "http://$PROXY" ||
    fail "tinyproxy: $(cat "$SUITE_DIR/proxy/${PORTS[0]}.log")"
}
through() { change_cluster '.["proxy-url"] = $proxy' --arg proxy "http://$1"; }
a_proxy() { through "$OPEN_PROXY"; }
a_proxy_that_refuses_the_port() { through "$STRICT_PROXY"; }
a_proxy_that_wants_a_login() { through "$LOGIN_PROXY"; }
a_proxy_with_a_wrong_login() { through "fleet:wrong@$LOGIN_PROXY"; }
a_proxy_with_a_login() { through "fleet:s3cret@$LOGIN_PROXY"; }
a_proxy_before_a_closed_port() {
  a_proxy
  closed_port
}

# svid_of WORKLOAD ARGUMENT...: the plugin is execcred-spiffe. Its time limit is shorter than doctor's.
svid_of() {
  change mapping.json '.providers[0].execConfig = $exec
    | .providers[0].execConfig.env = [{name: "SPIFFE_ENDPOINT_SOCKET", value: $socket}]' \
    --argjson exec "$(exec_config v1 "$(workload "$1")" --type=jwt --audience=k8s --timeout=2s "${@:2}")" \
    --arg socket "$SPIFFE_ENDPOINT_SOCKET"
}
an_agent_without_an_entry() { svid_of stranger; }
an_agent_without_that_identity() { svid_of controller "--spiffe-id=$SPIRE_DOMAIN/other"; }
an_agent_of_another_trust_domain() { svid_of controller --trust-domain=other.example; }
# The cluster does not know SPIRE.
an_svid_of_an_unknown_issuer() { svid_of controller; }
no_agent() {
  svid_of controller
  change_exec '.env[0].value += ".gone"'
}
an_agent_that_hangs() {
  svid_of controller
  kill -STOP "$(pid_of agent)"
}

# dex_token: the plugin is execcred-oidc-federation, which exchanges a token of an issuer that Dex trusts.
dex_token() {
  sign_jwt "$FEDERATION/cluster/pki/sa.key" "$(jq -nc --arg iss "$ISSUER_URL" \
    '{iss: $iss, sub: "jane", aud: $iss, exp: (now + 3600 | floor), iat: (now | floor)}')" >subject
  printf '%s\n' "$CLIENT_SECRET" >secret
  chmod 600 subject secret
  change mapping.json '.providers[0].execConfig = $exec' --argjson exec "$(exec_config v1 \
    "$FEDERATION_PLUGIN" --flow=token-exchange --issuer-url="$DEX_URL" \
    --ca-file="${DEX_CA:-$FEDERATION_CA}" --subject-token-file="$PWD/subject" \
    --subject-token-type=id_token --requested-token-type=id_token --param=connector_id=kubernetes \
    --client-id=plugin --client-secret-file="$PWD/secret" \
    --scope="openid audience:server:client_id:$FEDERATED_AUDIENCE" --no-cache --timeout=3s)"
}
# The cluster does not know Dex.
a_token_of_an_unknown_provider() { dex_token; }
a_provider_that_refuses_the_client() {
  dex_token
  echo wrong >secret
}
a_provider_that_refuses_the_subject() {
  dex_token
  forged_token "$(cat subject)" >forged
  cat forged >subject
}
a_provider_of_another_ca() { DEX_CA=$CA_FILE dex_token; }
a_provider_that_hangs() {
  dex_token
  kill -STOP "$DEX_PID"
}

# The plugin is execcred-static-secret, which authenticates to the hub as this ServiceAccount.
secret_as() { # ACCOUNT
  hub_kubeconfig hub.json "$NAMESPACE" "$1"
  change mapping.json '.providers[0].execConfig = $exec' --argjson exec "$(exec_config v1 \
    "$STATIC_SECRET" --kubeconfig="$PWD/hub.json" --secret-name=spoke --allow-server="$SERVER")"
}
a_hub_that_forbids_the_secret() { secret_as reader; }
a_hub_without_the_secret() { secret_as fetcher; }
a_hub_that_does_not_know_us() {
  secret_as fetcher
  change hub.json '.users[0].user.token = $token' --arg token "$(forged_token "$(cat token)")"
}

# Lets anonymous callers read the cluster's issuer discovery and get ServiceAccounts.
open_discovery() {
  admin create clusterrolebinding "$NAMESPACE-discovery" --group system:unauthenticated \
    --clusterrole system:service-account-issuer-discovery
  admin -n "$NAMESPACE" create role see-accounts --verb get --resource serviceaccounts
  admin -n "$NAMESPACE" create rolebinding see-accounts --role see-accounts \
    --group system:unauthenticated
} >/dev/null

use_namespace doctor
create_account reader
open_discovery
ETCD=$(tr '\0' '\n' <"/proc/$(pgrep -n -f -- "--data-dir $E2E_CLUSTER/etcd" || echo self)/cmdline" |
  grep -m1 -A1 -e --listen-client-urls | tail -n 1 || true)

tinyproxy_start
OPEN_PROXY=$PROXY
tinyproxy_start "ConnectPort 563"
STRICT_PROXY=$PROXY
tinyproxy_start "BasicAuth fleet s3cret"
LOGIN_PROXY=$PROXY
mkdir -p "$FEDERATION"/{log,pki,cluster/pki}
{
  federation_pki "$FEDERATION/pki"
  cluster_pki "$FEDERATION/cluster/pki"
} 2>"$FEDERATION/log/openssl" || fail "openssl: $(tail -n 3 "$FEDERATION/log/openssl")"
start_issuer
start_dex
DEX_PID=${CLUSTER_PIDS[-1]}
create_account fetcher
allow fetcher get
web_start "$SUITE_DIR/web" "$E2E_CLUSTER/pki"
silent_port "$SUITE_DIR/silent"
spire_start
entry controller controller
spire_agent_start

check "a working cluster has no cause" a_working_cluster

# rows: makes the fault of each line of standard input: fault, cause, exit status.
rows() {
  local name cause status
  while read -r name cause status; do
    check "$name is $cause" fault "$cause" "$status" "$name"
  done
}

# The faults of tests/doctor in which no real server has a part.
repeated_rows() {
  rows <<'EOF'
no_providers no-provider 1
another_provider provider-unknown 1
unknown_version profile-invalid 1
plain_http profile-invalid 1
unhealthy profile-unhealthy 0
unsafe_policy mapping-unsafe 1
relative_command mapping-invalid 1
unknown_option mapping-invalid 1
no_program program-missing 1
no_interpreter program-missing 1
not_executable program-not-executable 1
other_architecture program-wrong-architecture 1
no_cluster_info cluster-info-missing 1
other_server_allowed server-not-allowed 1
missing_token source-missing 1
shared_token source-forbidden 1
expired_source source-expired 1
wrong_audience_by_plugin credential-wrong-audience 1
mismatched_key credential-key-mismatch 1
unknown_name name-unknown 3
closed_port connect-refused 3
closed_proxy proxy-failed 3
an_answer_that_is_over credential-expired 1
a_token_of_tomorrow credential-not-yet-valid 1
a_key_for_a_token source-refused 1
a_program_for_a_terminal interaction-needed 1
a_wrong_variable config-refused 1
a_profile_that_names_a_file config-refused 1
EOF
  local body line cause status
  for body in 'kill -SEGV $$|program-crashed|1' 'exec sleep 60|program-timeout|3' \
    'echo hello|program-output-invalid|1' 'echo no >&2; exit 1|program-failed|1'; do
    IFS='|' read -r line cause status <<<"$body"
    check "a program that does '$line' is $cause" fault "$cause" "$status" script "$line"
  done
}
if [ -n "${EXECCRED_E2E_NIGHT:-}" ]; then
  repeated_rows
else
  skip "the faults that tests/doctor has too" "scripts/e2e $SUITE or EXECCRED_E2E_NIGHT=1 runs them"
fi

rows <<'EOF'
foreign_ca tls-wrong-ca 1
same_named_ca tls-wrong-ca 1
wrong_server_name tls-wrong-name 1
insecure tls-insecure 0
forged unauthorized-unknown-issuer 1
foreign_issuer unauthorized-other 1
other_audience unauthorized-other 1
opaque unauthorized-other 1
person unauthorized-other 1
revoked unauthorized-revoked 1
foreign_certificate unauthorized-unknown-ca 1
own_certificate none 0
ended_certificate certificate-expired 1
a_web_server not-a-kubernetes-api 1
a_redirect_to_a_login not-a-kubernetes-api 1
a_web_server_that_wants_a_login not-a-kubernetes-api 1
a_web_server_that_forbids not-a-kubernetes-api 1
a_server_that_breaks server-error 3
a_balancer_without_a_backend server-error 3
a_busy_server server-throttled 3
a_server_of_old_tls tls-protocol 3
a_server_without_tls tls-no-https 1
a_server_that_is_silent connect-timeout 3
forbidden forbidden 1
ca_ends_soon ca-expires-soon 0
a_proxy none 0
a_proxy_with_a_login none 0
a_proxy_that_refuses_the_port proxy-refused 1
a_proxy_that_wants_a_login proxy-refused 1
a_proxy_with_a_wrong_login proxy-refused 1
a_proxy_before_a_closed_port proxy-failed 3
an_agent_without_an_entry source-forbidden 1
an_agent_without_that_identity source-forbidden 1
an_agent_of_another_trust_domain source-refused 1
an_svid_of_an_unknown_issuer unauthorized-other 1
no_agent source-unavailable 3
an_agent_that_hangs source-unavailable 3
a_token_of_an_unknown_provider unauthorized-other 1
a_provider_that_refuses_the_client source-refused 1
a_provider_that_refuses_the_subject source-refused 1
a_provider_of_another_ca source-unavailable 3
a_provider_that_hangs source-unavailable 3
a_hub_that_forbids_the_secret source-forbidden 1
a_hub_without_the_secret source-missing 1
a_hub_that_does_not_know_us source-refused 1
EOF
kill -CONT "$(pid_of agent)"

# LD_PRELOAD has no effect on a static program.
gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$SUITE_DIR/shifted_clock.so" \
  "$E2E_DIR/lib/shifted_clock.c"
while read -r name cause status; do
  if ldd "$EXECCRED_BIN/execcred" >/dev/null 2>&1; then
    check "$name is $cause" fault "$cause" "$status" "$name"
  else
    skip "$name is $cause" "the programs are static"
  fi
done <<'EOF'
clock_ahead none 0
clock_ahead_of_the_token source-expired 1
clock_ahead_of_the_server clock-skew 1
clock_behind_the_certificate tls-expired 1
EOF
# etcd closes the connection without an answer, so the protocol that it expects is unknown.
[ -z "$ETCD" ] || check "a server that closes in the handshake is tls-failed" fault tls-failed 3 etcd_port

# A kubeconfig's user, as FILTER changes that of ACCOUNT: doctor and kubectl must agree.
kubeconfig_user() { # ACCOUNT FILTER
  jq --arg token "$(request_token "$1")" ".users[0].user = {token: \$token} | .users[0].user |= ($2)" \
    "$E2E_CLUSTER/admin.kubeconfig" >kubeconfig.json
  chmod 600 kubeconfig.json
  run "$EXECCRED_BIN/execcred" doctor --kubeconfig kubeconfig.json -o json --warn-before 1m
}
same_user() { # ACCOUNT FILTER USER
  kubeconfig_user "$1" "$2"
  expect_success
  expect_json '.items[0].user' "$3"
  run kubectl --kubeconfig kubeconfig.json auth whoami -o json
  expect_json '.status.userInfo.username' "$3"
}
nobody_acts_as() { # ACCOUNT FILTER
  kubeconfig_user "$1" "$2"
  expect_json '.items[0].cause' forbidden
  run kubectl --kubeconfig kubeconfig.json auth whoami -o json
  [ "$STATUS" -ne 0 ] || unexpected "kubectl acts as nobody else"
}
create_account actor
admin create clusterrole "$NAMESPACE-actor" --verb impersonate --resource users,groups >/dev/null
admin create clusterrolebinding "$NAMESPACE-actor" --clusterrole "$NAMESPACE-actor" \
  --serviceaccount "$NAMESPACE:actor" >/dev/null
check "as and as-groups are the user that kubectl acts as" \
  same_user actor '.as = "bob" | .["as-groups"] = ["team a", "b"]' bob
check "a user that may not act as another is forbidden" nobody_acts_as reader '.as = "bob"'
check "a user that may not set the extra field of another is forbidden" \
  nobody_acts_as actor '.as = "bob" | .["as-user-extra"] = {"Example.com/Team%": ["x"]}'
check "the token beside a tokenFile that is not there is the one that kubectl sends" \
  same_user reader '.tokenFile = "/no/such/file"' "$(user_of reader)"

# A program beside the kubeconfig, and in the current directory: doctor runs it exactly if kubectl does.
same_program() { # COMMAND PATH yes|no
  local kubectl client
  kubectl=$(command -v kubectl)
  request_token reader >token
  chmod 600 token
  printf '#!/bin/sh\n: >"%s/ran"\nexec "%s" --token-file "%s/token"\n' "$PWD" "$PLUGIN" "$PWD" >tool
  chmod 755 tool
  mkdir bin
  cp tool bin
  jq --arg command "$1" '.users[0].user = {exec: {apiVersion: "client.authentication.k8s.io/v1",
    command: $command, interactiveMode: "Never"}}' "$E2E_CLUSTER/admin.kubeconfig" >kubeconfig.json
  chmod 600 kubeconfig.json
  for client in "$kubectl get --raw /version" "$EXECCRED_BIN/execcred doctor"; do
    rm -f ran
    # shellcheck disable=SC2086 # words
    run /usr/bin/env "PATH=${2/HERE/$PWD}" $client --kubeconfig kubeconfig.json
    expect_equal "$client has run it" "$3" "$([ -e ran ] && echo yes || echo no)"
  done
}
while read -r command path runs; do
  check "the command $command with PATH=$path is run: $runs" same_program "$command" "$path" "$runs"
done <<'PATHS'
tool /usr/bin no
tool : no
tool :/usr/bin no
tool . no
tool bin no
tool bin:HERE/bin no
tool HERE/bin yes
./tool /usr/bin yes
bin/tool /usr/bin yes
PATHS

# A second API server, which also accepts the tokens of another issuer.
configuration kubernetes >"$SUITE_DIR/authentication.yaml"
CLUSTER_ISSUER=https://second.example.com \
  cluster_start "$SUITE_DIR/second" --authentication-config "$SUITE_DIR/authentication.yaml"
SERVER=$(cat "$SUITE_DIR/second/server")
CA_FILE=$SUITE_DIR/second/pki/ca.crt
kubectl --kubeconfig "$SUITE_DIR/second/admin.kubeconfig" create clusterrolebinding discovery \
  --group system:unauthenticated --clusterrole system:service-account-issuer-discovery >/dev/null

# with_config FUNCTION [ARGUMENT...]
with_config() {
  "$@"
  ARGUMENTS+=(--authentication-config "$SUITE_DIR/authentication.yaml")
}
person_of() { token "$(person_token "$@")"; }
without_request() {
  "$@"
  ARGUMENTS+=(--no-request)
}

check "another cluster's ServiceAccount, which the server's file could trust" \
  fault unauthorized-other 1 true
check "another cluster's ServiceAccount, which the server's file does not trust" \
  fault unauthorized-unknown-issuer 1 with_config true
check "an issuer that the file lacks" \
  fault unauthorized-unknown-issuer 1 with_config person_of https://other.example.com kubernetes
check "an audience that the file lacks" \
  fault unauthorized-audience 1 with_config person_of https://idp.example.com other
check "a token that fits the file, and whose key nobody can fetch, is not explained" \
  fault unauthorized-other 1 with_config person_of https://idp.example.com kubernetes
check "an issuer that the file lacks, without a request" \
  fault credential-wrong-issuer 1 without_request with_config person_of https://other kubernetes
check "an audience that the file lacks, without a request" \
  fault credential-wrong-audience 1 without_request with_config person_of https://idp.example.com x
