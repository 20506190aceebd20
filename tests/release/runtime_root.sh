# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# The root and the network in which runtime.sh runs the release binaries. Sourced by it.

GOOD_DNS=127.0.0.53 BLACK_HOLE_DNS=127.0.0.54 FAILING_DNS=127.0.0.55 NO_DNS=127.0.0.56
SERVED_NAMES=(idp.fleet.test large.fleet.test six.fleet.test listed.fleet.test hub.fleet.test
  idp.fleet-system.svc login.microsoftonline.com sts.googleapis.com sts.eu-central-1.amazonaws.com)

make_zone() {
  local name host
  for name in "${SERVED_NAMES[@]}"; do
    case $name in
      listed.*) ;;
      six.*) echo "$name AAAA ::1" ;;
      *.svc) echo "$name.cluster.local A 127.0.0.1" ;;
      # More than fits into a datagram, so the question must be repeated by TCP.
      large.*) for host in $(seq 1 40); do echo "$name A 127.0.0.$host"; done ;;
      *) echo "$name A 127.0.0.1" ;;
    esac
  done
}

# make_authority NAME: NAME.crt and NAME.key, a CA.
make_authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=${1##*/}" \
    -keyout "$1.key" -out "$1.crt" 2>/dev/null
}

# A certificate for all names, signed by an intermediate CA that the server sends with it.
make_server_identity() {
  local names
  names=$(printf ',DNS:%s' "${SERVED_NAMES[@]}")
  make_authority "$RUNTIME/root-ca"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=intermediate CA" \
    -keyout "$RUNTIME/intermediate.key" -out "$RUNTIME/intermediate.csr" 2>/dev/null
  openssl x509 -req -in "$RUNTIME/intermediate.csr" -CA "$RUNTIME/root-ca.crt" \
    -CAkey "$RUNTIME/root-ca.key" -CAcreateserial -days 30 -out "$RUNTIME/intermediate.crt" \
    -extfile <(echo "basicConstraints=critical,CA:TRUE") 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=server" \
    -keyout "$RUNTIME/server.key" -out "$RUNTIME/server.csr" 2>/dev/null
  openssl x509 -req -in "$RUNTIME/server.csr" -CA "$RUNTIME/intermediate.crt" \
    -CAkey "$RUNTIME/intermediate.key" -CAcreateserial -days 30 -out "$RUNTIME/server.crt" \
    -extfile <(echo "subjectAltName=${names#,}") 2>/dev/null
  cat "$RUNTIME/server.crt" "$RUNTIME/intermediate.crt" "$RUNTIME/server.key" >"$RUNTIME/server.pem"
  # Among the authorities of a whole system, as in a container.
  cat /etc/ssl/certs/ca-certificates.crt "$RUNTIME/root-ca.crt" >"$RUNTIME/bundle.crt"
}

# The files that a plugin may need, as volumes have them.
make_inputs() {
  local root=$1
  cp "$INPUT/volume/token" "$RUNTIME/token"
  cp "$INPUT/volume/token" "$root/token"
  install -d -m 755 "$root/secret"
  cp "$INPUT/volume/token" "$root/secret/token"
  cat >"$root/google.json" <<'END'
{"type": "external_account", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
 "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
 "token_url": "https://sts.googleapis.com/v1/token", "credential_source": {"file": "/token"}}
END
  cat >"$root/hub.json" <<'END'
{"apiVersion": "v1", "kind": "Config", "current-context": "hub",
 "clusters": [{"name": "hub", "cluster": {"server": "https://hub.fleet.test"}}],
 "users": [{"name": "hub", "user": {"tokenFile": "/token"}}],
 "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "hub", "namespace": "fleet"}}]}
END
  cat >"$root/mapping.json" <<'END'
{"providers": [{"name": "token-file", "execConfig": {
  "apiVersion": "client.authentication.k8s.io/v1", "command": "/execcred-token-file",
  "args": ["--token-file=/token", "--allow-server=https://*.example.com:6443"],
  "provideClusterInfo": true, "interactiveMode": "Never"}}]}
END
  cp "$EXECCRED_ROOT/config/examples/clusterprofile-access-providers.yaml" "$root/profiles.yaml"
}

# Resets what cases change: the cache, name resolution, and the CAs that TLS trusts.
reset_root() {
  local root=$RUNTIME/rootfs
  as_root find "$RUNTIME/cache" -mindepth 1 -delete
  rm -rf "${root:?}/etc"
  install -d -m 755 "$root/etc/ssl/certs"
  printf 'nameserver %s\n' "$GOOD_DNS" >"$root/etc/resolv.conf"
  printf '127.0.0.1 localhost\n127.0.0.1 listed.fleet.test\n' >"$root/etc/hosts"
  cp "$RUNTIME/bundle.crt" "$root/etc/ssl/certs/ca-certificates.crt"
}

# use_plugin ARCH NAME: makes it the only program in the root.
use_plugin() { install -m 555 "$EXECCRED_ROOT/dist/$1/$2" "$RUNTIME/rootfs/plugin"; }

# add_program ARCH NAME...: adds programs that a plugin runs.
add_program() {
  local arch=$1
  shift
  install -m 555 -t "$RUNTIME/rootfs" "${@/#/$EXECCRED_ROOT/dist/$arch/}"
}
remove_program() { rm "${@/#/$RUNTIME/rootfs/}"; }

# The namespace exists while a pipe to it is open: at the latest until this shell ends.
start_network() {
  local seconds=20
  rm -f "$RUNTIME/network.pid"
  # shellcheck disable=SC2016
  exec {NETWORK}> >(as_root unshare --net --mount --propagation private bash -euc '
    ip link set lo up
    mount --bind "$1/rootfs" "$1/view"
    mount -o remount,bind,ro,nosuid,nodev "$1/view"
    mount --bind "$1/cache" "$1/view/cache"
    PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 "$2/network.py" "$1"
    ' network "$RUNTIME" "$EXECCRED_ROOT/tests/release" >"$RUNTIME/network.log" 2>&1)
  if ! wait_until "$seconds" test -s "$RUNTIME/network.pid"; then
    cat "$RUNTIME/network.log" >&2
    fail "the network of the runtime checks did not start"
  fi
  NETWORK_PID=$(cat "$RUNTIME/network.pid")
}

stop_network() { exec {NETWORK}>&-; }

start_agent() {
  build_preset dev spiffe-agent
  "$EXECCRED_ROOT/build/dev/bin-test/spiffe-agent" --socket "$RUNTIME/rootfs/agent.sock" &
  AGENT_PID=$!
  wait_until 20 test -S "$RUNTIME/rootfs/agent.sock" || fail "the SPIFFE agent did not start"
  chmod 777 "$RUNTIME/rootfs/agent.sock"
}

prepare_runtime() {
  RUNTIME=$INPUT/runtime
  install -d -m 755 "$RUNTIME" "$RUNTIME/view" "$RUNTIME/rootfs"
  as_root install -d -m 700 -o "$ARBITRARY_UID" -g "$ARBITRARY_UID" "$RUNTIME/cache"
  mkdir "$RUNTIME/rootfs/cache"
  : >"$RUNTIME/dns.log"
  make_zone >"$RUNTIME/zone"
  make_server_identity
  make_tls_servers
  make_inputs "$RUNTIME/rootfs"
  reset_root
  gcc -O2 -Wall -Wextra -Werror -static -o "$RUNTIME/confined" "$EXECCRED_ROOT/tests/release/confined.c"
}
