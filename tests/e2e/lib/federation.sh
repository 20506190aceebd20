# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-oidc-federation with identity providers over TLS on loopback, and a cluster that trusts
# their tokens.
#
#   federation_start PROVIDER...     dex, oidc_provider, keycloak, or spire (spire.sh); or any name whose
#                                    function start_PROVIDER adds API server flags to CLUSTER_FLAGS
#
# The folder FEDERATION then has pki/ (the providers' CA, ca.crt, and the clients' keys), log/, and
# cluster/, which becomes the cluster of the suite's checks. The issuer of its ServiceAccounts is
# ISSUER_URL, a static site, which the providers trust. The providers' issuers are DEX_URL and so on.

# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"

FEDERATION=$SUITE_DIR/federation
FEDERATION_PLUGIN=$EXECCRED_BIN/execcred-oidc-federation
FEDERATION_CA=$FEDERATION/pki/ca.crt
# The audience that the cluster accepts in each provider's tokens.
# shellcheck disable=SC2034
FEDERATED_AUDIENCE=k8s
CLUSTER_FLAGS=()
# Contains the characters that form-encoding changes.
CLIENT_SECRET='s3c/ret+:% &='

# Without these, requests to loopback would go through a proxy that the environment names.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

federation_start() {
  local provider
  mkdir -p "$FEDERATION"/{log,pki,cluster/log}
  {
    federation_pki "$FEDERATION/pki"
    cluster_pki "$FEDERATION/cluster/pki"
  } 2>"$FEDERATION/log/openssl" || fail "openssl: $(tail -n 3 "$FEDERATION/log/openssl")"
  start_issuer
  for provider; do "start_$provider"; done
  authentication_config "$@" >"$FEDERATION/authentication.json"
  # If a port is taken, cluster_start stops its processes and starts again. That must not stop the providers.
  local CLUSTER_PIDS=()
  CLUSTER_ISSUER=$ISSUER_URL cluster_start "$FEDERATION/cluster" \
    --authentication-config "$FEDERATION/authentication.json" "${CLUSTER_FLAGS[@]}"
  E2E_CLUSTER=$FEDERATION/cluster
  SERVER=$(cat "$E2E_CLUSTER/server")
  CA_FILE=$E2E_CLUSTER/pki/ca.crt
  # shellcheck disable=SC2034
  SIGNING_KEY=$E2E_CLUSTER/pki/sa.key
}

federation_pki() {
  local pki=$1
  certificate "$pki" ca /CN=federation-ca basicConstraints=critical,CA:TRUE \
    keyUsage=critical,keyCertSign
  certificate "$pki" server /CN=provider basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=serverAuth subjectAltName=IP:127.0.0.1
  certificate "$pki" mtls-client /CN=mtls-client basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=clientAuth subjectAltName=DNS:mtls-client
  certificate "$pki" other-client /CN=other-client basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=clientAuth subjectAltName=DNS:other-client
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$pki/rsa.key"
  openssl req -x509 -key "$pki/rsa.key" -subj /CN=key -days 2 -out "$pki/rsa.crt"
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$pki/ec.key"
  openssl genpkey -algorithm ED25519 -out "$pki/ed25519.key"
}

# answers URL: succeeds if the URL answers over TLS, verified with the providers' CA.
answers() { curl -fsS --noproxy '*' --max-time 2 --cacert "$FEDERATION_CA" -o /dev/null "$1"; }

# started NAME COMMAND...: waits until COMMAND succeeds. Fails if the process NAME, which was started
# last, has ended, or after STARTUP seconds.
started() {
  local name=$1 pid=${CLUSTER_PIDS[-1]}
  shift
  wait_until "${STARTUP:-120}" ready_or_dead "$pid" "$@" && "$@" >/dev/null 2>&1 && return
  tail -n 15 "$FEDERATION/log/$name" >&2
  return 1
}
ready_or_dead() { "${@:2}" || ! kill -0 "$1"; }

# node_server NAME FILE ARGUMENT...: starts a server of idp/node and sets NODE_URL.
node_server() {
  local name=$1 sources=$FEDERATION/node url_file=$FEDERATION/$1.url
  if [ ! -d "$sources" ]; then
    # An ES module looks for packages in node_modules of its own directory and of those above it.
    mkdir "$sources"
    cp "$E2E_DIR"/idp/node/*.mjs "$sources"
    ln -s "$E2E_OIDC_PROVIDER/node_modules" "$sources/node_modules"
  fi
  background "$FEDERATION/log/$name" env NODE_EXTRA_CA_CERTS="$FEDERATION_CA" \
    "$E2E_NODE" "$sources/$2" "$FEDERATION/pki/server.crt" "$FEDERATION/pki/server.key" \
    "${@:3}" "$url_file"
  started "$name" [ -e "$url_file" ] || fail "$name did not start"
  NODE_URL=$(cat "$url_file")
}

start_issuer() {
  node_server issuer issuer.mjs "$FEDERATION/cluster/pki/sa.key"
  ISSUER_URL=$NODE_URL
}

start_oidc_provider() {
  node_server oidc-provider oidc_provider.mjs "$FEDERATION_CA" "$FEDERATION/pki" "$ISSUER_URL"
  OIDC_PROVIDER_URL=$NODE_URL
}

# oidc_provider_calls: prints the number of token requests so far.
oidc_provider_calls() { grep -cE '^[0-9]{3} ' "$FEDERATION/log/oidc-provider" || true; }

start_dex() {
  local attempt
  for attempt in 1 2 3 4 5; do
    free_ports 2
    DEX_URL=https://127.0.0.1:${PORTS[0]}/dex
    DEX_METRICS=http://127.0.0.1:${PORTS[1]}/metrics
    dex_config >"$FEDERATION/dex.json"
    background "$FEDERATION/log/dex" "$E2E_DEX" serve "$FEDERATION/dex.json"
    ! started dex answers "$DEX_URL/healthz" || return 0
    grep -q 'address already in use' "$FEDERATION/log/dex" || break
    echo "# a port was taken by another process (attempt $attempt)" >&2
  done
  fail "Dex did not become ready"
}

# The audience of Dex's token is the client k8s, which trusts the client plugin; the scope is
# audience:server:client_id:k8s. Dex trusts SPIRE too, if that was started before.
dex_config() {
  jq -n --arg url "$DEX_URL" --arg metrics "${DEX_METRICS#http://}" --arg issuer "$ISSUER_URL" \
    --arg spire "${SPIRE_ISSUER:-}" --arg pki "$FEDERATION/pki" --arg secret "$CLIENT_SECRET" '
    {issuer: $url, storage: {type: "memory"},
     web: {https: ($url | ltrimstr("https://") | rtrimstr("/dex")),
           tlsCert: ($pki + "/server.crt"), tlsKey: ($pki + "/server.key")},
     telemetry: {http: ($metrics | rtrimstr("/metrics"))},
     expiry: {idTokens: "10m"},
     oauth2: {grantTypes: ["urn:ietf:params:oauth:grant-type:token-exchange"]},
     staticClients: [{id: "plugin", secret: $secret, name: "plugin"},
                     {id: "k8s", secret: "unused", name: "k8s", trustedPeers: ["plugin"]}],
     connectors: [{kubernetes: $issuer, spire: $spire} | to_entries[] | select(.value != "")
       | {type: "oidc", id: .key, name: .key, config: {
          issuer: .value, clientID: "unused", clientSecret: "unused", rootCAs: [$pki + "/ca.crt"],
          redirectURI: ($url + "/callback"), scopes: ["openid"], userNameKey: "sub",
          insecureSkipEmailVerified: true}}]}'
}

# dex_calls: prints the number of token requests so far.
dex_calls() {
  curl -fsS --noproxy '*' --max-time 5 "$DEX_METRICS" |
    awk '/^http_requests_total\{.*handler="\/token"/ { sum += $2 } END { print sum + 0 }'
}

# authentication_config PROVIDER...: prints the cluster's AuthenticationConfiguration. With
# ISSUED_AFTER=TIME the cluster refuses tokens that were issued earlier.
authentication_config() {
  local issuers=() provider
  for provider; do
    case $provider in
      dex) issuers+=("$(trusted_issuer "$DEX_URL" name dex:)") ;;
      oidc_provider) issuers+=("$(trusted_issuer "$OIDC_PROVIDER_URL" sub op:)") ;;
      keycloak) issuers+=("$(trusted_issuer "$KEYCLOAK_URL" preferred_username keycloak:)") ;;
      spire) issuers+=("$(trusted_issuer "$SPIRE_ISSUER" sub "")") ;;
    esac
  done
  jq -n '{apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration",
          jwt: $ARGS.positional}' --jsonargs "${issuers[@]}"
}

trusted_issuer() { # URL CLAIM PREFIX
  jq -n --arg url "$1" --arg claim "$2" --arg prefix "$3" --rawfile ca "$FEDERATION_CA" \
    --arg audience "$FEDERATED_AUDIENCE" --argjson after "${ISSUED_AFTER:-null}" '
    {issuer: {url: $url, audiences: [$audience], certificateAuthority: $ca},
     claimMappings: {username: {claim: $claim, prefix: $prefix}}} +
    if $after == null then {}
    else {claimValidationRules: [{expression: "claims.iat > \($after)", message: "revoked"}]} end'
}

# allow_users USER...: lets them list namespaces, as the suite's ServiceAccounts may.
allow_users() {
  admin create clusterrolebinding "$NAMESPACE-users" --clusterrole "$NAMESPACE-namespaces" \
    "${@/#/--user=}" >/dev/null
}

# write_clients ARGUMENT...: writes config, mapping.json and profile.json, which run the plugin with
# these arguments and the variables of EXEC_ENV, a JSON array.
write_clients() {
  local exec
  exec=$(exec_config v1 "$FEDERATION_PLUGIN" "$@" |
    jq --argjson env "${EXEC_ENV:-[]}" '.env = $env')
  write_kubeconfig config "$exec"
  write_mapping mapping.json "$exec"
  write_profile profile.json spoke accessProviders
}

# use_plugin ARGUMENT...: the same, with the providers' CA and a cache of this check's own.
use_plugin() {
  write_clients --ca-file="$FEDERATION_CA" --cache-dir="$PWD/cache" "$@"
}

# expect_accepted USER: the cluster accepts kubectl, client-go and execcred with the files of write_clients.
expect_accepted() {
  run kubectl --kubeconfig config get namespaces -o name
  expect_success
  expect_in stdout "namespace/$NAMESPACE"
  expect_silent_stderr
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
  expect_success
  expect_stdout "ok $1"
  expect_silent_stderr
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json -o token
  expect_success
  expect_silent_stderr
  run curl -fsS --noproxy '*' --cacert "$CA_FILE" -H "Authorization: Bearer $(cat stdout)" \
    "$SERVER/api/v1/namespaces" -o namespaces.json
  expect_success
}

# ask ARGUMENT...: runs the plugin by itself, with the cache of this check.
ask() {
  run "$FEDERATION_PLUGIN" --ca-file="$FEDERATION_CA" --cache-dir="$PWD/cache" "$@"
}

expect_token() {
  expect_success
  expect_silent_stderr
  expect_json '.status.token | type' string
}

# expect_refused STATUS TEXT...: no credential, and one error line that contains each text.
expect_refused() {
  local status=$1
  shift
  expect_status "$status"
  expect_no_stdout
  expect_error_line execcred-oidc-federation "$@"
}

# subject_token ACCOUNT [FLAG...]: projects a token of this ServiceAccount to volume/token.
subject_token() { project_token volume "$(request_token "$@")"; }
