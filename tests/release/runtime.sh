# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs the release binaries as the strictest cluster would: each alone in a read-only root, without
# /proc, /dev and HOME, as a user without a name or capabilities, with little memory, under a seccomp
# filter, in a network where only the servers of network.py answer. Sourced by checks.sh.

# shellcheck source=tests/release/runtime_root.sh
. "$EXECCRED_ROOT/tests/release/runtime_root.sh"
# shellcheck source=tests/release/runtime_dns.sh
. "$EXECCRED_ROOT/tests/release/runtime_dns.sh"
# shellcheck source=tests/release/runtime_roots.sh
. "$EXECCRED_ROOT/tests/release/runtime_roots.sh"
# shellcheck source=tests/release/runtime_tls.sh
. "$EXECCRED_ROOT/tests/release/runtime_tls.sh"

RUNTIME_PACKAGES=(gcc libc6-dev util-linux iproute2 python3 openssl ca-certificates)
# Of address space, which exceeds the resident memory. The largest binary takes 6 MiB of it.
MEMORY_KIB=16384

# confined [VARIABLE=VALUE]... -- ARGUMENT...: runs the plugin in the root. Sets STATUS and
# ELAPSED, in milliseconds.
confined() {
  local variables=() started
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  STATUS=0
  started=$(date +%s%3N)
  as_root nsenter --target "$NETWORK_PID" --mount --net \
    env -i "KUBERNETES_EXEC_INFO=$(cat "$INPUT/exec-info.json")" "${variables[@]}" \
    "${CONFINE[@]}" "$PLUGIN" "$@" </dev/null >"$INPUT/stdout" 2>"$INPUT/stderr" || STATUS=$?
  ELAPSED=$(($(date +%s%3N) - started))
}

# Succeeds if the condition holds; else prints the result of the program.
verdict() {
  ! "$@" || return 0
  echo "  exit code $STATUS after $ELAPSED ms; not so: $*"
  sed 's/^/  /' "$INPUT/stdout" "$INPUT/stderr" | cut -c -400
  return 1
}

is_silent_success() { [ "$STATUS" -eq 0 ] && [ ! -s "$INPUT/stderr" ] && [ -s "$INPUT/stdout" ]; }
has_failed_with() { [ "$STATUS" -eq "$1" ] && [ ! -s "$INPUT/stdout" ]; }
prints() { grep -qF -e "$1" "$INPUT/stdout"; }
says() { grep -qF -e "$1" "$INPUT/stderr"; }
took_at_most() { [ "$ELAPSED" -le "$1" ]; }

# gives TEXT [VARIABLE=VALUE]... -- ARGUMENT...: exits with 0, and prints the text and no error.
gives() {
  local text=$1
  shift
  confined "$@"
  verdict is_silent_success && verdict prints "$text"
}

# gives_credential [VARIABLE=VALUE]... -- ARGUMENT...
gives_credential() { gives '"kind":"ExecCredential"' "$@"; }

# fails_with CODE TEXT [VARIABLE=VALUE]... -- ARGUMENT...
fails_with() {
  local code=$1 text=$2
  shift 2
  confined "$@"
  verdict has_failed_with "$code" && verdict says "$text"
}

# The federation plugin gets a token of the token endpoint on this host.
asks() { gives_credential "${@:2}" -- "${FEDERATION[@]}" "--token-url=https://$1/token"; }
FEDERATION=(--flow=token-exchange --subject-token-file=/token --no-cache)

gives_cached_credential() {
  local cached=(--flow=token-exchange --subject-token-file=/token --cache-dir=/cache
    --token-url=https://idp.fleet.test/token)
  gives_credential -- "${cached[@]}" || return 1
  printf 'nameserver %s\n' "$NO_DNS" >"$RUNTIME/rootfs/etc/resolv.conf"
  gives_credential -- "${cached[@]}"
}

check_each_plugin() {
  local arch=$1 aws=(--cluster-id=spoke-1 --region=eu-central-1 --no-cache) keys
  keys=(AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY)
  use_plugin "$arch" execcred-token-file
  check "$arch execcred-token-file, confined" gives_credential -- --token-file=/token
  use_plugin "$arch" execcred-static-secret
  check "$arch execcred-static-secret, confined: a mounted Secret" \
    gives_credential -- --secret-dir=/secret --allow-insecure
  check "$arch execcred-static-secret, confined: the hub's Secret" \
    gives_credential -- --kubeconfig=/hub.json --secret-name=spoke-1 --allow-insecure
  use_plugin "$arch" execcred-google
  check "$arch execcred-google, confined: workload identity federation" \
    gives_credential -- --credentials-file=/google.json --no-cache
  use_plugin "$arch" execcred-azure
  check "$arch execcred-azure, confined: workload identity" gives_credential -- --identity=workload \
    --client-id=a2ae11b6-9d2b-4d37-a5d3-2bd8cd4c5a9e --tenant-id=contoso.example \
    --federated-token-file=/token --no-cache
  use_plugin "$arch" execcred-aws
  check "$arch execcred-aws, confined: access keys" gives_credential "${keys[@]}" -- "${aws[@]}"
  check "$arch execcred-aws, confined: a web identity" gives_credential \
    AWS_ROLE_ARN=arn:aws:iam::111122223333:role/fleet AWS_WEB_IDENTITY_TOKEN_FILE=/token -- "${aws[@]}"
}

check_federation_confined() {
  local name="$1 execcred-oidc-federation, confined"
  use_plugin "$1" execcred-oidc-federation
  check "$name: a token exchange" asks idp.fleet.test
  check "$name: from its cache, on a volume" gives_cached_credential
  reset_root
  add_program "$1" execcred execcred-token-file
  check "$name: a command's subject token" gives_credential -- --flow=pass-through \
    '--subject-token-command=["/execcred","get","-m","/mapping.json","-f","/profiles.yaml","-o","token"]'
  remove_program execcred execcred-token-file
}

# The bootstrap credential comes from a plugin beside it, and hub.fleet.test is the cluster.
check_bootstrap_confined() {
  local name="$1 execcred-bootstrap, confined" info options
  info=$(printf '{"spec":{"cluster":{"server":"%s","certificate-authority-data":"%s"}}}' \
    https://hub.fleet.test "$(base64 -w0 "$RUNTIME/root-ca.crt")")
  options=('--credential=["/execcred-token-file","--token-file=/token"]'
    --allow-server=https://hub.fleet.test --no-cache)
  use_plugin "$1" execcred-bootstrap
  add_program "$1" execcred-token-file
  check "$name: a service account's token" gives_credential "KUBERNETES_EXEC_INFO=$info" -- \
    "${options[@]}" --via=token-request --service-account=fleet/controller
  check "$name: a client certificate" gives clientCertificateData "KUBERNETES_EXEC_INFO=$info" -- \
    "${options[@]}" --via=csr --user=controller
  remove_program execcred-token-file
}

check_spiffe_confined() {
  local arch=$1 type
  start_agent
  use_plugin "$arch" execcred-spiffe
  for type in "jwt --audience=kubernetes" "x509 --allow-empty-cn"; do
    # shellcheck disable=SC2086
    check "$arch execcred-spiffe, confined: ${type%% *}" \
      gives_credential -- --socket=unix:///agent.sock --type=$type
  done
  kill "$AGENT_PID"
  wait "$AGENT_PID" || true
}

check_execcred_confined() {
  local arch=$1 from=(-m /mapping.json -f /profiles.yaml)
  use_plugin "$arch" execcred
  check "$arch execcred, confined: resolve" gives '/execcred-token-file' -- resolve "${from[@]}"
  add_program "$arch" execcred-token-file
  check "$arch execcred, confined: get runs a plugin" \
    gives "$(cat "$RUNTIME/token")" -- get "${from[@]}" -o token
  remove_program execcred-token-file
}

# Shows that the filter works: otherwise the other checks would prove nothing.
stops_other_calls() {
  local PLUGIN=--try
  confined --
  verdict [ "$STATUS" -eq $((128 + $(kill -l SYS))) ]
}

check_confined() {
  PLUGIN=/plugin
  CONFINE=("$RUNTIME/confined" "$RUNTIME/view" "$ARBITRARY_UID" "$MEMORY_KIB")
  check "$1, confined: other system calls are stopped" stops_other_calls
  check_each_plugin "$1"
  check_federation_confined "$1"
  check_bootstrap_confined "$1"
  check_spiffe_confined "$1"
  check_execcred_confined "$1"
  check_dns "$1"
  check_roots "$1"
  check_tls "$1"
}

# The emulator is a second file in the root. A filter or a limit would apply to the emulator.
check_emulated() {
  skip "$1, confined: system calls, little memory, each plugin" "they would be the emulator's"
  install -m 555 "$(command -v "${RUNNER[0]}")" "$RUNTIME/rootfs/emulator"
  PLUGIN=/plugin
  CONFINE=(/usr/sbin/chroot "--userspec=$ARBITRARY_UID:$ARBITRARY_UID" "$RUNTIME/view" /emulator)
  use_plugin "$1" execcred-oidc-federation
  check "$1 execcred-oidc-federation, confined: a token exchange" asks idp.fleet.test
  check_dns "$1"
  check_tls "$1"
}

# check_runtime ARCH
check_runtime() {
  local arch=$1
  if ! can_become_root || ! as_root unshare --net --mount true 2>/dev/null; then
    skip "$arch: all checks that run confined" "namespaces of its own need root"
    return
  fi
  need_packages "${RUNTIME_PACKAGES[@]}"
  step "running dist/$arch confined"
  prepare_runtime
  start_network
  if [ "${#RUNNER[@]}" -gt 0 ]; then check_emulated "$arch"; else check_confined "$arch"; fi
  stop_network
  # It belongs to another user.
  as_root rm -rf "$RUNTIME/cache"
}
