# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The package in a Debian that has nothing else, as apt installs it. Sourced by checks.sh.

in_chroot() {
  local root=$1
  shift
  as_root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    LC_ALL=C.UTF-8 /usr/sbin/chroot "$root" "$@"
}

# debian_mirror RELEASE: where this machine has its packages of it from.
debian_mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    sed -n "s|^Debian $1 ||p" | sort -u | head -n 1
}

installs() {
  local root=$1
  as_root cp "$DEB" "$root/tmp/"
  in_chroot "$root" apt-get install -y -qq --no-install-recommends "/tmp/${DEB##*/}" \
    >"$root.log" 2>&1 || { cat "$root.log" && return 1; }
}
runs_every_program() {
  local program
  for program in $(programs_of "$2"); do
    in_chroot "$1" "$program" --version >/dev/null || return 1
  done
}
leaves_no_file() {
  in_chroot "$1" apt-get purge -y -qq execcred >"$1.log" 2>&1 || { cat "$1.log" && return 1; }
  [ -z "$(as_root find "$1/usr" "$1/etc" "$1/var/lib/dpkg/info" -name '*execcred*')" ]
}

# check_chroot DIR PREFIX: makes a Debian in DIR. PREFIX is the unpacked package.
check_chroot() {
  local root=$1 release mirror
  step "testing in a new Debian"
  need_packages debootstrap
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  mirror=$(debian_mirror "$release")
  [ -n "$mirror" ] || fail "apt-get knows no repository of Debian $release on this machine"
  as_root debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1 || {
    tail -n 20 "$root.log"
    fail "debootstrap failed"
  }
  check "apt installs it in a new Debian" installs "$root"
  check "every program runs there" runs_every_program "$root" "$2"
  check "apt removes it whole" leaves_no_file "$root"
}
