# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# SPIRE on this machine: a server, an agent, and an OpenID Connect issuer, which publishes the server's
# keys over TLS. The registration entries select a process by the path of its program. So copies of the
# plugin are different workloads.
#
#   spire_start                 the server and the issuer: SPIRE_ISSUER
#   workload NAME               makes a copy of the plugin, without an entry; prints its path
#   entry ID NAME FLAG...       gives the workload NAME the identity SPIRE_DOMAIN/ID
#   spire_agent_start           the agent with the entries so far: SPIFFE_ENDPOINT_SOCKET
#   spire_up                    starts those of the three that do not run
#
# With SPIRE_UPSTREAM=1, SPIRE's CA is an intermediate CA. SPIRE_ROOT is always the root certificate.
# Entries that are created or removed later reach the agent within about a second.

# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"

SPIRE=$SUITE_DIR/spire
# The issuer's PKI: ca.crt, server.crt, server.key. An existing one is used.
SPIRE_PKI=$SPIRE/pki
SPIRE_DOMAIN=spiffe://example.org
SPIRE_ROOT=$SPIRE/root.crt
# Other users can open this directory, except the part of the server. It is in /tmp, because a socket's
# path has at most 107 bytes.
SPIRE_OPEN=$(mktemp -d /tmp/spire.XXXXXX)
trap 'rm -rf "$SPIRE_OPEN"' EXIT
chmod 755 "$SPIRE_OPEN"
mkdir -m 700 "$SPIRE_OPEN/server"
SPIRE_SOCKET=$SPIRE_OPEN/agent/agent.sock
SPIRE_SERVER_SOCKET=$SPIRE_OPEN/server/server.sock
export SPIFFE_ENDPOINT_SOCKET=unix://$SPIRE_SOCKET

# Without these, requests to loopback would go through a proxy that the environment names.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

spire_server() { "$E2E_SPIRE/spire-server" "$@" -socketPath "$SPIRE_SERVER_SOCKET"; }
spire_agent() { "$E2E_SPIRE/spire-agent" "$@" -socketPath "$SPIRE_SOCKET"; }

spire_pki() {
  if [ ! -e "$SPIRE_PKI/ca.crt" ]; then
    mkdir -p "$SPIRE_PKI"
    certificate "$SPIRE_PKI" ca /CN=spire-issuer-ca basicConstraints=critical,CA:TRUE \
      keyUsage=critical,keyCertSign
    certificate "$SPIRE_PKI" server /CN=issuer basicConstraints=critical,CA:FALSE \
      extendedKeyUsage=serverAuth subjectAltName=IP:127.0.0.1
  fi
  mkdir -p "$SPIRE/upstream"
  certificate "$SPIRE/upstream" ca /CN=spire-upstream-ca basicConstraints=critical,CA:TRUE \
    keyUsage=critical,keyCertSign,cRLSign
}

# The keys and entries are kept on disk when the server ends, as in production.
server_config() {
  cat <<END
server {
  bind_address = "127.0.0.1"
  bind_port = "${PORTS[0]}"
  socket_path = "$SPIRE_SERVER_SOCKET"
  trust_domain = "${SPIRE_DOMAIN#spiffe://}"
  data_dir = "$SPIRE/server"
  jwt_issuer = "$SPIRE_ISSUER"
  default_x509_svid_ttl = "1h"
  default_jwt_svid_ttl = "10m"
  experimental { cache_reload_interval = "200ms" }
}
plugins {
  DataStore "sql" {
    plugin_data {
      database_type = "sqlite3"
      connection_string = "$SPIRE/server/datastore.sqlite3"
    }
  }
  NodeAttestor "join_token" { plugin_data {} }
  KeyManager "disk" { plugin_data { keys_path = "$SPIRE/server/keys.json" } }
END
  [ -z "${SPIRE_UPSTREAM:-}" ] || cat <<END
  UpstreamAuthority "disk" {
    plugin_data {
      cert_file_path = "$SPIRE/upstream/ca.crt"
      key_file_path = "$SPIRE/upstream/ca.key"
    }
  }
END
  echo "}"
}

issuer_config() {
  cat <<END
domains = ["127.0.0.1"]
jwt_issuer = "$SPIRE_ISSUER"
jwks_uri = "$SPIRE_ISSUER/keys"
serving_cert_file {
  cert_file_path = "$SPIRE_PKI/server.crt"
  key_file_path = "$SPIRE_PKI/server.key"
  addr = "${SPIRE_ISSUER#https://}"
}
server_api {
  address = "unix://$SPIRE_SERVER_SOCKET"
  poll_interval = "1s"
}
END
}

agent_config() {
  cat <<END
agent {
  data_dir = "$SPIRE/agent"
  server_address = "127.0.0.1"
  server_port = "${SPIRE_PORTS[0]}"
  socket_path = "$SPIRE_SOCKET"
  trust_domain = "${SPIRE_DOMAIN#spiffe://}"
  trust_bundle_path = "$SPIRE/bootstrap.crt"
  experimental { sync_interval = "300ms" }
}
plugins {
  NodeAttestor "join_token" { plugin_data {} }
  KeyManager "disk" { plugin_data { directory = "$SPIRE/agent" } }
  WorkloadAttestor "unix" {
    plugin_data {
      discover_workload_path = true
      # The hash of a program takes longer than all the rest.
      workload_size_limit = -1
    }
  }
}
END
}

# spire_process NAME COMMAND...: starts one of them. A process that a check starts ends with the check.
spire_process() {
  background "$SPIRE/log/$1" "${@:2}"
  echo "${CLUSTER_PIDS[-1]} $BASHPID" >"$SPIRE/$1.pid"
}
pid_of() { cut -d' ' -f1 "$SPIRE/$1.pid"; }
alive() { [ -e "$SPIRE/$1.pid" ] && kill -0 "$(pid_of "$1")" 2>/dev/null; }
dead() { ! alive "$1"; }

# ready NAME COMMAND...: waits until the command succeeds or the process NAME has ended.
ready() {
  wait_until 120 true_or_dead "$@" && "${@:2}" >/dev/null 2>&1
}
true_or_dead() { "${@:2}" || dead "$1"; }

# stop NAME: ends it with SIGTERM, and after 20 s with SIGKILL.
stop() {
  alive "$1" || return 0
  kill "$(pid_of "$1")"
  wait_until 20 dead "$1" || kill -KILL "$(pid_of "$1")"
  wait_until 120 dead "$1"
}

issuer_answers() {
  curl -fsS --noproxy '*' --max-time 2 --cacert "$SPIRE_PKI/ca.crt" -o /dev/null \
    "$SPIRE_ISSUER/keys"
}

spire_start() {
  local attempt
  mkdir -p "$SPIRE"/{log,server,agent}
  spire_pki 2>"$SPIRE/log/openssl" || fail "openssl: $(tail -n 3 "$SPIRE/log/openssl")"
  for attempt in 1 2 3 4 5; do
    free_ports 2
    SPIRE_PORTS=("${PORTS[@]}")
    SPIRE_ISSUER=https://127.0.0.1:${SPIRE_PORTS[1]}
    server_config >"$SPIRE/server.conf"
    issuer_config >"$SPIRE/issuer.conf"
    if spire_server_start && issuer_start; then
      bundle >"$SPIRE/bootstrap.crt"
      cp "$SPIRE/bootstrap.crt" "$SPIRE_ROOT"
      return
    fi
    grep -q 'address already in use' "$SPIRE"/log/* || break
    echo "# a port was taken by another process (attempt $attempt)" >&2
    stop server
    rm -rf "$SPIRE/server"/*
  done
  tail -n 15 "$SPIRE"/log/{server,issuer} >&2
  fail "SPIRE did not become ready"
}

spire_server_start() {
  spire_process server "$E2E_SPIRE/spire-server" run -config "$SPIRE/server.conf"
  ready server spire_server healthcheck
}

issuer_start() {
  spire_process issuer "$E2E_SPIRE/oidc-discovery-provider" -config "$SPIRE/issuer.conf"
  ready issuer issuer_answers
}

# Prints the CA certificates of the trust domain.
bundle() { spire_server bundle show; }

# The agent keeps its key and certificate on disk, so only its first start needs a join token.
spire_agent_start() {
  local token=()
  if [ ! -e "$SPIRE/agent.conf" ]; then
    agent_config >"$SPIRE/agent.conf"
    token=(-joinToken "$(spire_server token generate -spiffeID "$SPIRE_DOMAIN/node" |
      sed -n 's/^Token: //p')")
  fi
  spire_process agent "$E2E_SPIRE/spire-agent" run -config "$SPIRE/agent.conf" "${token[@]}"
  ready agent spire_agent healthcheck && return
  tail -n 15 "$SPIRE/log/agent" >&2
  fail "the SPIRE agent did not become ready"
}

spire_up() {
  is_ours server || spire_server_start
  is_ours issuer || issuer_start
  is_ours agent || spire_agent_start
}
# A process that an earlier check started is about to end: this waits for its end.
is_ours() {
  local pid starter
  alive "$1" && read -r pid starter <"$SPIRE/$1.pid" || return
  [ "$starter" -ne "$$" ] && [ "$starter" -ne "$BASHPID" ] || return 0
  wait_until 120 dead "$1" || fail "the process $pid of $1 does not end"
  return 1
}

# --- workloads and their entries

workload() {
  local plugin=$SPIRE_OPEN/$1/execcred-spiffe
  if [ ! -e "$plugin" ]; then
    mkdir -p "${plugin%/*}"
    install -m 755 "$EXECCRED_BIN/execcred-spiffe" "$plugin"
  fi
  echo "$plugin"
}
selector() { echo "unix:path:$(workload "$1")"; }

# entry ID WORKLOAD FLAG...: prints nothing; the entry's own id is ID.
entry() {
  local id=$1 workload=$2
  shift 2
  registered "$id" -selector "$(selector "$workload")" "$@"
}
# registered ID FLAG...: creates an entry with these selectors.
registered() {
  spire_server entry create -entryID "$1" -parentID "$SPIRE_DOMAIN/node" \
    -spiffeID "$SPIRE_DOMAIN/$1" "${@:2}" >"$SPIRE/log/entry" || fail "$(cat "$SPIRE/log/entry")"
}
forget() { spire_server entry delete -entryID "$1" >/dev/null; }
