# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Checks of the release binaries: each must work as the only file of an image. Sourced,
# after common.sh.

# shellcheck source=tests/bench/input.sh
. "$EXECCRED_ROOT/tests/bench/input.sh"
# shellcheck source=tests/release/conformance.sh
. "$EXECCRED_ROOT/tests/release/conformance.sh"
# shellcheck source=tests/release/hardening.sh
. "$EXECCRED_ROOT/tests/release/hardening.sh"
# shellcheck source=tests/release/runtime.sh
. "$EXECCRED_ROOT/tests/release/runtime.sh"
# shellcheck source=tests/release/install.sh
. "$EXECCRED_ROOT/tests/release/install.sh"
# shellcheck source=tests/release/package.sh
. "$EXECCRED_ROOT/tests/release/package.sh"
# shellcheck source=tests/release/image.sh
. "$EXECCRED_ROOT/tests/release/image.sh"
# shellcheck source=tests/release/docs.sh
. "$EXECCRED_ROOT/tests/release/docs.sh"
# shellcheck source=tests/release/packages.sh
. "$EXECCRED_ROOT/tests/release/packages.sh"
# shellcheck source=tests/release/provenance.sh
. "$EXECCRED_ROOT/tests/release/provenance.sh"
# shellcheck source=tests/release/verify.sh
. "$EXECCRED_ROOT/tests/release/verify.sh"

CHECK_PACKAGES=(binutils openssl coreutils)
MAX_TOKEN_FILE_BYTES=1200000
# A user without an entry in /etc/passwd, as Kubernetes' runAsUser may be.
ARBITRARY_UID=61234
passed=0 failed=0 skipped=0

# check WHAT COMMAND...
check() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
    echo "ok $what"
  else
    failed=$((failed + 1))
    echo "not ok $what"
  fi
}

# skip WHAT REASON
skip() {
  skipped=$((skipped + 1))
  echo "skip $1: $2"
}

# Sets RUNNER to the emulator that runs the architecture's binaries on this machine, if one is needed. It
# is static, so it reads no more of the environment than the binaries themselves.
runner_for() {
  local machine
  machine=$(musl_machine "$1")
  RUNNER=()
  [ "$machine" != "$(uname -m)" ] || return 0
  need_packages qemu-user-static
  RUNNER=("qemu-$machine-static")
}

is_for() {
  readelf -hW "$2" | grep -qE "Machine:.*$(case $1 in x86_64) echo X86-64 ;; *) echo AArch64 ;; esac)"
}
# An interpreter or a needed library would be a second file that the image must have.
is_self_contained() { ! readelf -lWd "$1" | grep -qE 'INTERP|\(NEEDED\)'; }
has_no_symbols() { ! readelf -SW "$1" | grep -qE '\.(symtab|debug_)'; }
# A path would show who built it, and would differ in another build.
names_no_path_of() { ! grep -qaF -e "$EXECCRED_ROOT" -e "$CACHE" "$1"; }
is_at_most() { [ "$(stat -c %s "$2")" -le "$1" ]; }
tells_version() {
  local name=${1##*/}
  [[ $("${RUNNER[@]}" "$1" --version) =~ ^"$name "[0-9]+\.[0-9]+\.[0-9]+$ ]]
}

# gives_token COMMAND...: the whole credential on standard output, and no other output.
gives_token() {
  local token
  token=$(cat "$INPUT/volume/token")
  "$@" >"$INPUT/stdout" 2>"$INPUT/stderr" || return 1
  [ ! -s "$INPUT/stderr" ] && [ "$(wc -l <"$INPUT/stdout")" -eq 1 ] &&
    grep -qF '"kind":"ExecCredential"' "$INPUT/stdout" &&
    grep -qF "\"token\":\"$token\"" "$INPUT/stdout"
}

refuses_missing_file() {
  local status=0
  "${CLEAN[@]}" "${RUNNER[@]}" "$1" --token-file="$INPUT/nope" >"$INPUT/stdout" 2>"$INPUT/stderr" ||
    status=$?
  [ "$status" -ne 0 ] && [ ! -s "$INPUT/stdout" ] &&
    grep -qF "cannot read '$INPUT/nope': No such file or directory" "$INPUT/stderr"
}

# A root directory with only the binary and the token: no /dev, no /etc, no /proc.
gives_token_in_empty_root() {
  local root=$INPUT/rootfs
  mkdir -p "$root"
  cp "$1" "$root/plugin"
  cp "$INPUT/volume/token" "$root/token"
  chmod 755 "$root"
  gives_token as_root "${CLEAN[@]}" /usr/sbin/chroot \
    --userspec="$ARBITRARY_UID:$ARBITRARY_UID" "$root" /plugin --token-file=/token
}

check_token_file() {
  local arch=$1 binary=$2 name=$1\ ${2##*/}
  check "$name: at most $MAX_TOKEN_FILE_BYTES bytes" is_at_most "$MAX_TOKEN_FILE_BYTES" "$binary"
  check "$name: gives the token" \
    gives_token "${CLEAN[@]}" "${RUNNER[@]}" "$binary" --token-file="$INPUT/volume/token"
  check "$name: names a missing file, and prints no document" refuses_missing_file "$binary"
  check_conformance "$name" "$binary" --token-file="$INPUT/volume/token"
  local alone="$name: gives the token alone in an empty root, as uid $ARBITRARY_UID, without HOME"
  if [ "${#RUNNER[@]}" -gt 0 ]; then
    skip "$alone" "the emulator would be a second file"
  elif can_become_root; then
    check "$alone" gives_token_in_empty_root "$binary"
  else
    skip "$alone" "only root may chroot"
  fi
}

# check_binaries ARCH DIR PROGRAM: dist/ARCH, which has only this program or, with *, all of them.
check_binaries() {
  local arch=$1 program=$3 binary name
  INPUT=$2
  need_packages "${CHECK_PACKAGES[@]}"
  runner_for "$arch"
  step "testing dist/$arch${RUNNER[0]:+ under ${RUNNER[0]}}"
  install -d -m 755 "$INPUT"
  make_input "$INPUT"
  CLEAN=(env -i "KUBERNETES_EXEC_INFO=$(cat "$INPUT/exec-info.json")")
  for binary in "$EXECCRED_ROOT/dist/$arch"/*; do
    name="$arch ${binary##*/}"
    check "$name: is for $arch" is_for "$arch" "$binary"
    check "$name: needs no other file" is_self_contained "$binary"
    check "$name: is stripped" has_no_symbols "$binary"
    check_hardening "$name" "$binary"
    check "$name: contains no path of the build" names_no_path_of "$binary"
    check "$name: --version" tells_version "$binary"
  done
  check_archives "$arch"
  check_allocator "$arch" "$INPUT"
  # shellcheck disable=SC2053
  [[ execcred-token-file != $program ]] ||
    check_token_file "$arch" "$EXECCRED_ROOT/dist/$arch/execcred-token-file"
  # shellcheck disable=SC2053
  [[ execcred-oidc-federation != $program ]] || check_federation "$arch"
}

# check_release ARCH: the checks that need all binaries. After check_binaries.
check_release() {
  check_runtime "$1"
  check_install "$1"
  check_package "$1"
}
