# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions for all scripts: messages, Debian packages, builds. Sourced, never run.

EXECCRED_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
EXECCRED_JOBS=${EXECCRED_JOBS:-$(nproc)}

# execcred, and a plugin for each folder of plugins/ that is built.
SHIPPED_PROGRAMS=("$EXECCRED_ROOT"/plugins/*/CMakeLists.txt)
SHIPPED_PROGRAMS=("${SHIPPED_PROGRAMS[@]%/CMakeLists.txt}")
SHIPPED_PROGRAMS=(execcred "${SHIPPED_PROGRAMS[@]/#*\//execcred-}")

step() { printf '\n==> %s\n' "$*"; }
fail() {
  printf '%s: error: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

can_become_root() { [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "'$*' needs root; run as root or install sudo"
  fi
}

# Installs missing Debian packages with apt-get and APT_OPTIONS. Does not run apt-get if all are
# installed.
APT_OPTIONS=()
need_packages() {
  local package missing=()
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  can_become_root || fail "packages are missing, and there is no sudo to install them with: run" \
    "'apt-get install ${missing[*]}' as root"
  step "installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "${APT_OPTIONS[@]}" \
    "${missing[@]}" >/dev/null
}

# shellcheck disable=SC2034
BUILD_PACKAGES=(g++ cmake ninja-build pkg-config python3 libcli11-dev libcurl4-openssl-dev libevent-dev
  libexpat1-dev libnghttp2-dev libprotozero-dev libssl-dev libyaml-dev nlohmann-json3-dev
  prometheus-cpp-dev)
# Tests of the system's CA certificates need ca-certificates. mold links, if it is there (cmake/Compiler.cmake).
# shellcheck disable=SC2034
TEST_PACKAGES=(ca-certificates doctest-dev libsimdjson-dev mold python3-jsonschema python3-yaml)
# The package of promtool has a service that apt starts. So only CI installs it, where no service starts.
[ "${CI:-}" != true ] || TEST_PACKAGES+=(prometheus)

# Compiles through ccache if it is installed. Paths are taken relative to the checkout, so that
# another checkout can reuse the objects of this one.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$EXECCRED_ROOT CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime,locale
fi

# build_preset PRESET [TARGET...]: configures and builds into build/PRESET. Parts that run at the same
# time wait for each other here: two builds in one folder would break both.
build_preset() {
  local preset=$1
  shift
  local targets=() lock=$EXECCRED_ROOT/build/$preset.lock
  [ "$#" -eq 0 ] || targets=(--target "$@")
  mkdir -p "${lock%/*}"
  flock --close "$lock" cmake --preset "$preset" -S "$EXECCRED_ROOT" -B "$EXECCRED_ROOT/build/$preset" \
    >/dev/null
  flock --close "$lock" cmake --build "$EXECCRED_ROOT/build/$preset" -j "$EXECCRED_JOBS" "${targets[@]}"
}

# Puts temporary files into memory, if it has room and programs may run there: tests make thousands of small files,
# and a disk makes them wait. TMPDIR may name another folder.
scratch_in_memory() {
  local room memory
  [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] || return 0
  room=$(df --output=avail --block-size=1G /dev/shm | sed 1d)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  [ "$room" -ge 3 ] && [ "$memory" -ge 6 ] || return 0
  ! findmnt --noheadings --output OPTIONS --target /dev/shm | grep -qw noexec || return 0
  export TMPDIR=/dev/shm
}

# wait_until SECONDS COMMAND...: polls until the command succeeds; fails at the deadline.
wait_until() {
  local deadline=$(($(date +%s%3N) + $1 * 1000))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s%3N)" -lt "$deadline" ] || return 1
    sleep 0.05
  done
}
