#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes cmake/toolchains/function_order.txt anew: what the plugins execute in the rows of scripts/bench,
# in the order in which the linker shall place it. To be run when the plugins' ways have changed much;
# scripts/release has to have been run before.
set -euo pipefail

# shellcheck source=scripts/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/common.sh"
# shellcheck source=scripts/lib/cache.sh
. "$EXECCRED_ROOT/scripts/lib/cache.sh"
# shellcheck disable=SC2034
E2E_DIR=$EXECCRED_ROOT/tests/e2e
for part in e2e/lib/toolchain e2e/lib/parts e2e/lib/cluster bench/input bench/servers bench/rows \
  bench/peers; do
  # shellcheck source=/dev/null
  . "$EXECCRED_ROOT/tests/$part.sh"
done

ARCH=$(uname -m | sed 's/aarch64/arm64/')
# shellcheck disable=SC2034
BIN=$EXECCRED_ROOT/build/release-$ARCH/bin
# shellcheck disable=SC2034
subjects=()
profiles=0

# Instead of rows.sh's own: a row is profiled and not measured.
row() {
  local variables=()
  shift 2
  gives '"kind":"ExecCredential"' "$@"
  while [[ $1 =~ ^[A-Z_]+= ]]; do
    variables+=("$1")
    shift
  done
  profiles=$((profiles + 1))
  echo "${1##*/}" >"$input/profile-$profiles.program"
  env -i PATH="$PATH" HOME="$HOME" KUBERNETES_EXEC_INFO="$KUBERNETES_EXEC_INFO" "${variables[@]}" \
    valgrind --tool=callgrind --demangle=no --callgrind-out-file="$input/profile-$profiles.calls" \
    "$@" >/dev/null 2>&1
}

peer() { :; }

need_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}" valgrind binutils openssl python3 curl jq
build_parts
# set_strip ON|OFF: the profiles need the functions' names.
set_strip() {
  cmake --preset "release-$ARCH" -DEXECCRED_STRIP="$1" >/dev/null
  cmake --build --preset "release-$ARCH" --target programs -j "$EXECCRED_JOBS"
}

clean_up() {
  stop_servers
  cluster_stop
  rm -rf "$input"
  set_strip ON
}

input=$(mktemp -d)
# shellcheck disable=SC2034
cluster=$input/cluster
trap clean_up EXIT
set_strip OFF
build_preset static execcred-token-file
make_input "$input"
KUBERNETES_EXEC_INFO=$(cat "$input/exec-info.json")
export KUBERNETES_EXEC_INFO
start_servers
add_plugins
add_hub
/usr/bin/python3 -B "$EXECCRED_ROOT/tests/bench/function_order.py" "$input" "$BIN" \
  >"$input/order"
mv "$input/order" "$EXECCRED_ROOT/cmake/toolchains/function_order.txt"
