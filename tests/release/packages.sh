# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The published .deb, .rpm and .apk: their content, and the first two installed, run and removed
# in a separate root by dpkg and rpm. Sourced by checks.sh, after image.sh.

# shellcheck source=scripts/lib/debian.sh
. "$EXECCRED_ROOT/scripts/lib/debian.sh"

# package_lintian: no error and no warning, except those with a reason in lintian-overrides.
package_lintian() {
  # The first release closes no Debian bug.
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$([ "$(id -u)" -ne 0 ] || echo --allow-root)" "$1"
}

# package_holds TREE ARCH: the binaries of dist/ARCH, each byte for byte, and no other program; a manual
# page and completions for each.
package_holds() {
  local tree=$1 arch=$2 program
  diff <(cd "$tree/usr/bin" && find . -printf '%P %y\n' | LC_ALL=C sort) <(
    {
      echo ' d'
      echo 'kubectl-execcred l'
      (cd "$EXECCRED_ROOT/dist/$arch" && printf '%s f\n' *)
    } | LC_ALL=C sort
  ) || return 1
  for program in "$EXECCRED_ROOT/dist/$arch"/*; do
    cmp "$program" "$tree/usr/bin/${program##*/}" || return 1
    program=${program##*/}
    [ -s "$tree/usr/share/man/man1/$program.1.gz" ] &&
      [ -s "$tree/usr/share/bash-completion/completions/$program" ] || return 1
  done
  [ "$(find "$tree" -perm /022 ! -type l)" = "" ] && [ -s "$tree/usr/share/doc/execcred/execcred.spdx.json" ]
}

# Each format has its own name for the architecture.
deb_fields() {
  diff <(dpkg-deb -f "$1" Package Version Architecture | sed 's/.*: //') \
    <(printf '%s\n' execcred "$RELEASE_VERSION-1" "${2/x86_64/amd64}")
}
rpm_fields() {
  diff <(rpm -qp --nosignature --qf '%{NAME}\n%{VERSION}-%{RELEASE}\n%{ARCH}\n%{LICENSE}\n' "$1") \
    <(printf '%s\n' execcred "$RELEASE_VERSION-1" "${2/arm64/aarch64}" Apache-2.0)
}

# An .apk is two gzip streams: the control file, which has the hash of the second, and the files.
apk_fields() {
  python3 - "$1" "$RELEASE_VERSION-r1" "${2/arm64/aarch64}" <<'END'
import hashlib, io, sys, tarfile, zlib
data = open(sys.argv[1], "rb").read()
stream = zlib.decompressobj(wbits=31)
control = stream.decompress(data)
# Its archive has no end: the files follow.
with tarfile.open(fileobj=io.BytesIO(control + bytes(1024))) as archive:
    lines = archive.extractfile(".PKGINFO").read().decode().splitlines()
fields = dict(line.split(" = ", 1) for line in lines if line and not line.startswith("#"))
assert fields["pkgname"] == "execcred" and fields["license"] == "Apache-2.0", fields
assert [fields["pkgver"], fields["arch"]] == sys.argv[2:], fields
assert fields["datahash"] == hashlib.sha256(stream.unused_data).hexdigest(), fields
END
}

# runs_programs_in ROOT ARCH
runs_programs_in() {
  local program
  for program in "$EXECCRED_ROOT/dist/$2"/*; do
    program=${program##*/}
    [ "$(as_root env -i /usr/sbin/chroot "$1" "/usr/bin/$program" --version)" = \
      "$program $RELEASE_VERSION" ] || return 1
  done
}

installs_deb() {
  as_root cp "$1" "$2/tmp/package.deb" &&
    judge in_debian "$2" apt-get install -y -qq --no-install-recommends /tmp/package.deb
}
removes_deb() {
  judge in_debian "$1" apt-get purge -y -qq execcred &&
    [ -z "$(as_root find "$1/usr" "$1/etc" "$1/var/lib/dpkg/info" -name '*execcred*')" ]
}
installs_rpm() { judge as_root rpm --root "$2" --nosignature -i "$1"; }
removes_rpm() {
  judge as_root rpm --root "$1" -e execcred && [ -z "$(as_root find "$1/usr" -name '*execcred*')" ]
}

# check_installed ARCH DIR
check_installed() {
  local arch=$1 work=$2 release=$EXECCRED_ROOT/dist/release
  if [ "${#RUNNER[@]}" -gt 0 ]; then
    skip "$arch packages: installed, run, removed" "this machine installs no packages of another one"
    return
  elif ! can_become_root; then
    skip "$arch packages: installed, run, removed" "only root may chroot"
    return
  fi
  make_debian "$work/debian"
  check "$arch .deb: apt installs it in a new Debian" \
    installs_deb "$release/$(package_name deb "$arch")" "$work/debian/root"
  check "$arch .deb: every program runs there" runs_programs_in "$work/debian/root" "$arch"
  check "$arch .deb: apt removes it completely" removes_deb "$work/debian/root"
  remove_debian "$work/debian"
  mkdir "$work/rpm-root"
  check "$arch .rpm: rpm installs it in an empty root" \
    installs_rpm "$release/$(package_name rpm "$arch")" "$work/rpm-root"
  check "$arch .rpm: every program runs there" runs_programs_in "$work/rpm-root" "$arch"
  check "$arch .rpm: rpm removes it completely" removes_rpm "$work/rpm-root"
  as_root rm -rf "$work/rpm-root"
  check "$arch .apk: every program runs from it" runs_programs_in "$work/apk" "$arch"
}

# check_packages ARCH DIR
check_packages() {
  local arch=$1 work=$2 release=$EXECCRED_ROOT/dist/release deb rpm apk
  # shellcheck disable=SC2034
  IMAGES=$work
  deb=$release/$(package_name deb "$arch") rpm=$release/$(package_name rpm "$arch")
  apk=$release/$(package_name apk "$arch")
  need_packages lintian rpm
  runner_for "$arch"
  step "testing the packages for $arch"
  install -d -m 755 "$work" "$work/deb" "$work/rpm" "$work/apk"
  dpkg-deb -x "$deb" "$work/deb"
  rpm2archive - <"$rpm" | tar -xz -C "$work/rpm"
  tar -xzf "$apk" -C "$work/apk" --exclude=.PKGINFO 2>/dev/null
  check "$arch .deb: name, version, architecture" deb_fields "$deb" "$arch"
  check "$arch .deb: lintian finds no error and no warning" package_lintian "$deb"
  check "$arch .rpm: its digests are right" judge rpm -K --nosignature "$rpm"
  check "$arch .rpm: name, version, architecture, licence" rpm_fields "$rpm" "$arch"
  check "$arch .apk: name, version, architecture, hash of the files" apk_fields "$apk" "$arch"
  check "$arch .deb: has the programs, manual pages, completions" package_holds "$work/deb" "$arch"
  check "$arch .rpm: has the programs, manual pages, completions" package_holds "$work/rpm" "$arch"
  check "$arch .apk: has the programs, manual pages, completions" package_holds "$work/apk" "$arch"
  check_installed "$arch" "$work"
}
