# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A real etcd and kube-apiserver on loopback, with a PKI of their own.
#
#   cluster_start DIR [KUBE_APISERVER_FLAG...]
#
# leaves in DIR: server (its URL), pki/ (ca.crt, sa.key, ...), log/ and
# admin.kubeconfig. cluster_stop ends all clusters that this process started.
# No controller runs: nothing fills Secrets or finishes deleted namespaces.
# An existing pki/ is used. CLUSTER_ISSUER=URL sets the issuer of ServiceAccount tokens.
# CERTIFICATE_DAYS is how long its certificates are valid: doctor warns of a CA that ends within 30 days.

CLUSTER_PIDS=()

# certificate DIR NAME SUBJECT EXTENSION...: signed by DIR/ca, or by itself when it is the ca.
certificate() {
  local base=$1/$2 subject=$3 signer=() extensions=() extension
  [ "$2" = ca ] || signer=(-CA "$1/ca.crt" -CAkey "$1/ca.key")
  for extension in "${@:4}"; do
    extensions+=(-addext "$extension")
  done
  # The almost empty configuration replaces the machine's openssl.cnf, whose defaults make CA certificates.
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -sha256 \
    -days "${CERTIFICATE_DAYS:-2}" \
    -config <(printf '[req]\ndistinguished_name = dn\n[dn]\n') \
    -subj "$subject" "${signer[@]}" "${extensions[@]}" -keyout "$base.key" -out "$base.crt"
}

cluster_pki() {
  local pki=$1
  mkdir -p "$pki"
  certificate "$pki" ca /CN=e2e-ca basicConstraints=critical,CA:TRUE \
    keyUsage=critical,keyCertSign
  certificate "$pki" server /CN=kube-apiserver basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=serverAuth subjectAltName=IP:127.0.0.1,DNS:localhost
  certificate "$pki" admin /O=system:masters/CN=admin basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=clientAuth
  # RSA, so that a shell script can sign tokens: openssl prints RS256 signatures in the form of JWTs.
  openssl genrsa -out "$pki/sa.key" 2048
}

# free_ports N: sets PORTS. They are below the range that the kernel uses for
# outgoing connections. Another process may still take one first: then retry.
free_ports() {
  local port
  PORTS=()
  while [ "${#PORTS[@]}" -lt "$1" ]; do
    port=$((20000 + RANDOM % 12000))
    [[ " ${PORTS[*]} " != *" $port "* ]] || continue
    ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
    PORTS+=("$port")
  done
}

# background LOG COMMAND...: a process that does not outlive this shell.
background() {
  setpriv --pdeathsig KILL "${@:2}" >"$1" 2>&1 &
  CLUSTER_PIDS+=("$!")
}

start_etcd() {
  local dir=$1 client=http://127.0.0.1:${PORTS[0]} peer=http://127.0.0.1:${PORTS[1]}
  background "$dir/log/etcd" etcd --name e2e --data-dir "$dir/etcd" --unsafe-no-fsync \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
    --initial-cluster "e2e=$peer" --log-level warn
}

start_apiserver() {
  local dir=$1 pki=$1/pki
  background "$dir/log/kube-apiserver" kube-apiserver \
    --etcd-servers "http://127.0.0.1:${PORTS[0]}" \
    --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "${PORTS[2]}" \
    --endpoint-reconciler-type none --service-cluster-ip-range 10.0.0.0/24 \
    --tls-cert-file "$pki/server.crt" --tls-private-key-file "$pki/server.key" \
    --client-ca-file "$pki/ca.crt" --authorization-mode RBAC \
    --service-account-issuer "${CLUSTER_ISSUER:-https://kubernetes.default.svc}" \
    --service-account-signing-key-file "$pki/sa.key" --service-account-key-file "$pki/sa.key" \
    --disable-admission-plugins ServiceAccount --enable-priority-and-fairness=false \
    --profiling=false "${@:2}"
}

cluster_is_ready() {
  curl -fsS --noproxy '*' --max-time 2 --cacert "$1/pki/ca.crt" "$(cat "$1/server")/readyz"
}

cluster_is_ready_or_dead() {
  cluster_is_ready "$1" || ! kill -0 "${CLUSTER_PIDS[@]: -2:1}" || ! kill -0 "${CLUSTER_PIDS[@]: -1}"
}

cluster_start() {
  local dir=$1 attempt
  mkdir -p "$dir/log"
  [ -e "$dir/pki/ca.crt" ] || cluster_pki "$dir/pki" 2>"$dir/log/openssl" ||
    fail "openssl: $(tail -n 3 "$dir/log/openssl")"
  for attempt in 1 2 3 4 5; do
    rm -rf "$dir/etcd"
    free_ports 3
    echo "https://127.0.0.1:${PORTS[2]}" >"$dir/server"
    start_etcd "$dir"
    start_apiserver "$dir" "${@:2}"
    if wait_until 120 cluster_is_ready_or_dead "$dir" && cluster_is_ready "$dir" >/dev/null 2>&1; then
      admin_kubeconfig "$dir" >"$dir/admin.kubeconfig"
      return
    fi
    cluster_stop
    grep -q 'address already in use' "$dir"/log/{etcd,kube-apiserver} || break
    echo "# a port was taken by another process (attempt $attempt)" >&2
  done
  tail -n 15 "$dir"/log/{etcd,kube-apiserver} >&2
  fail "kube-apiserver did not become ready"
}

# stop_apiserver, restart_apiserver: for the cluster that was started last, whose directory is E2E_CLUSTER.
# The process may be another shell's child, which "wait" refuses: so this waits until its port is free.
stop_apiserver() {
  kill -KILL "${CLUSTER_PIDS[@]: -1}"
  wait_until 120 port_is_free "${PORTS[2]}"
}
port_is_free() { ! (: <>"/dev/tcp/127.0.0.1/$1"); }
restart_apiserver() {
  start_apiserver "$E2E_CLUSTER"
  wait_until 120 cluster_is_ready "$E2E_CLUSTER" || fail "$(tail -n 3 "$E2E_CLUSTER/log/kube-apiserver")"
}

# SIGKILL, because the state is deleted anyway: an orderly stop would only take longer.
cluster_stop() {
  [ "${#CLUSTER_PIDS[@]}" -gt 0 ] || return 0
  kill -KILL "${CLUSTER_PIDS[@]}" 2>/dev/null || true
  wait "${CLUSTER_PIDS[@]}" 2>/dev/null || true
  CLUSTER_PIDS=()
}

admin_kubeconfig() {
  local pki=$1/pki
  jq -n --arg server "$(cat "$1/server")" --arg ca "$(base64 -w0 "$pki/ca.crt")" \
    --arg certificate "$(base64 -w0 "$pki/admin.crt")" --arg key "$(base64 -w0 "$pki/admin.key")" '{
      apiVersion: "v1", kind: "Config", "current-context": "admin",
      clusters: [{name: "e2e", cluster: {server: $server, "certificate-authority-data": $ca}}],
      users: [{name: "admin",
               user: {"client-certificate-data": $certificate, "client-key-data": $key}}],
      contexts: [{name: "admin", context: {cluster: "e2e", user: "admin"}}]}'
}
