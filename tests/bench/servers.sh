# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The servers on loopback that plugins call in scripts/bench, which sources this file after common.sh.
# Each answers at once. $input is a directory for their files.

SERVERS=$EXECCRED_ROOT/build/release/bin-test
server_pids=()

start_servers() {
  build_preset release loopback-token-server loopback-api-server spiffe-agent
  "$SERVERS/loopback-token-server" "$input/server-ca.pem" "$input/token-url" &
  server_pids+=($!)
  # A cluster that accepts the bootstrap credential of execcred-token-file.
  echo "$(cat "$input/volume/token"),bootstrap,1" >"$input/api-users"
  "$SERVERS/loopback-api-server" --token-auth-file "$input/api-users" \
    --ca-file "$input/api-ca.pem" --url-file "$input/api-url" &
  server_pids+=($!)
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=cluster \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$input/signer-key.pem" -out "$input/signer-ca.pem" \
    2>/dev/null
  /usr/bin/python3 "$EXECCRED_ROOT/tests/bench/signing_cluster.py" "$input/volume/token" \
    "$input"/signer-{ca,key}.pem "$input/signer-url" &
  server_pids+=($!)
  "$SERVERS/spiffe-agent" --socket "$input/agent.sock" &
  server_pids+=($!)
  wait_until 20 test -s "$input/token-url" || fail "the token server did not start"
  wait_until 20 test -s "$input/api-url" || fail "the API server did not start"
  wait_until 20 test -s "$input/signer-url" || fail "the signing cluster did not start"
  wait_until 20 test -S "$input/agent.sock" || fail "the SPIFFE agent did not start"
}

stop_servers() { kill "${server_pids[@]}" 2>/dev/null || true; }

# Adds the token server's CA to the system's CAs, for this process and its children only: scripts/bench
# runs itself in its own mount namespace.
trust_as_system() {
  local bundle=/etc/ssl/certs/ca-certificates.crt
  [ -n "${EXECCRED_BENCH_NAMESPACE:-}" ] || return 1
  cat "$bundle" "$input/server-ca.pem" >"$input/bundle.pem"
  mount -t tmpfs none /etc/ssl/certs 2>/dev/null || return 1
  cp "$input/bundle.pem" "$bundle"
}
