# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Checks of the installed Debian package. Sourced, after common.sh.

# shellcheck source=tests/bench/input.sh
. "$EXECCRED_ROOT/tests/bench/input.sh"
# shellcheck source=tests/package/manual.sh
. "$EXECCRED_ROOT/tests/package/manual.sh"
# shellcheck source=tests/package/library.sh
. "$EXECCRED_ROOT/tests/package/library.sh"
# shellcheck source=tests/package/chroot.sh
. "$EXECCRED_ROOT/tests/package/chroot.sh"

CHECK_PACKAGES=(bash-completion bsdextrautils fish lintian man-db mandoc openssl zsh)
# The shared libraries that the programs of this package use, by their packages.
SHARED_LIBRARIES=(libc6 libcurl4 libexpat1 libnghttp2-14 libssl3 libyaml-0-2)
# The first release closes no Debian bug.
LINTIAN_SUPPRESSED=initial-upload-closes-no-bugs
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

# Names the programs of an installed tree.
programs_of() {
  local binary
  for binary in "$1"/bin/*; do echo "${binary##*/}"; done
}

version_is() { [ "$(dpkg-deb -f "$DEB" Version)" = "$1-1" ]; }
is_for_this_machine() { [ "$(dpkg-deb -f "$DEB" Architecture)" = "$(dpkg --print-architecture)" ]; }
depends_on() { dpkg-deb -f "$DEB" Depends | tr ',' '\n' | grep -qE "^ *$1( |\$)"; }
lintian_finds_nothing() {
  lintian --fail-on error,warning --suppress-tags "$LINTIAN_SUPPRESSED" \
    "$([ "$(id -u)" -ne 0 ] || echo --allow-root)" "$DEB"
}
has_all_programs() { [ "$(programs_of "$1")" = "$(cd "$BUILD/bin" && printf '%s\n' execcred* kubectl-execcred)" ]; }
tells_version() { [ "$("$1/bin/$2" --version)" = "${2#kubectl-} $3" ]; }

gives_token() {
  "$1" --token-file="$2/volume/token" >"$2/stdout" 2>"$2/stderr" &&
    [ ! -s "$2/stderr" ] && grep -qF "\"token\":\"$(cat "$2/volume/token")\"" "$2/stdout"
}

# A second run of cpack, at another time.
packs_to_same_bytes() {
  (cd "$1" && cpack --config "$BUILD/CPackConfig.cmake" -B "$1") >"$1.log" 2>&1 ||
    { cat "$1.log" && return 1; }
  cmp "$DEB" "$1/${DEB##*/}"
}

# check_deb SCRATCH: leaves the unpacked package in SCRATCH/tree.
check_deb() {
  local tree=$1/tree version library program
  need_packages "${CHECK_PACKAGES[@]}"
  step "testing ${DEB##*/}"
  version=$("$BUILD/bin/execcred" --version)
  version=${version#* }
  check "its version is that of the programs" version_is "$version"
  check "it is for this machine's architecture" is_for_this_machine
  for library in "${SHARED_LIBRARIES[@]}"; do
    check "it depends on $library" depends_on "$library"
  done
  check "lintian finds no error and no warning" lintian_finds_nothing
  mkdir -p "$1/again"
  check "packing it again gives the same bytes" packs_to_same_bytes "$1/again"
  dpkg-deb -x "$DEB" "$tree"
  check "it has all programs, and no other" has_all_programs "$tree/usr"
  for program in $(programs_of "$tree/usr"); do
    check "$program --version" tells_version "$tree/usr" "$program" "$version"
  done
  mkdir -p "$1/input"
  make_input "$1/input"
  check "execcred-token-file gives the token" \
    gives_token "$tree/usr/bin/execcred-token-file" "$1/input"
}
