# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Installs the package by apt in a minimal Debian. Sourced by checks.sh.

installs() {
  local root=$1
  as_root cp "$DEB" "$root/tmp/"
  in_debian "$root" apt-get install -y -qq --no-install-recommends "/tmp/${DEB##*/}" \
    >"$root.log" 2>&1 || { cat "$root.log" && return 1; }
}
runs_every_program() {
  local program
  for program in $(programs_of "$2"); do
    in_debian "$1" "$program" --version >/dev/null || return 1
  done
}
leaves_no_file() {
  in_debian "$1" apt-get purge -y -qq execcred >"$1.log" 2>&1 || { cat "$1.log" && return 1; }
  [ -z "$(as_root find "$1/usr" "$1/etc" "$1/var/lib/dpkg/info" -name '*execcred*')" ]
}

# check_chroot DIR PREFIX: makes a Debian in DIR. PREFIX is the unpacked package.
check_chroot() {
  local root=$1/root
  step "testing in a new Debian"
  make_debian "$1"
  check "apt installs it in a new Debian" installs "$root"
  check "every program runs there" runs_every_program "$root" "$2"
  check "apt removes it completely" leaves_no_file "$root"
  remove_debian "$1"
}
