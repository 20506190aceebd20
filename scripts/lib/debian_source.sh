# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Debian's source packages, from where this machine gets its Debian packages. Sourced, after
# cache.sh.

DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Runs an apt-get that knows only the source indexes in $1, so that the machine's own
# configuration stays as it is; needs no root.
apt_sources() {
  local here=$1
  shift
  apt-get -qq -o Dir::Etc::SourceList="$here/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$here/lists" -o Dir::Cache="$here/cache" \
    -o APT::Sandbox::User="$(id -un)" "$@"
}

# A machine's sources name only binary packages, as a rule: the same places have the sources.
# apt-get itself lists them, whichever of its two formats they are written in.
source_entries() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' |
    sed -n "s|^Debian |deb-src [signed-by=$DEBIAN_KEYRING] |p" | sort -u
}

# debian_source PACKAGE VERSION SHA256SUMS: sets SOURCE to the package's unpacked source, with
# Debian's patches. SHA256SUMS is a file with the hashes of all files of the source package.
debian_source() {
  SOURCE=$CACHE/source/$1-$2-$(short_hash <"$3")
  [ -e "$SOURCE" ] || with_cache_lock fetch_debian_source "$@"
}

fetch_debian_source() {
  local package=$1 version=$2 sums=$3 work
  [ ! -e "$SOURCE" ] || return 0
  need_packages dpkg-dev patch xz-utils
  step "fetching the source of $package $version"
  work=$(mktemp -d)
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  [ -n "$(source_entries)" ] || as_root apt-get update -qq
  source_entries >"$work/sources.list"
  [ -s "$work/sources.list" ] || fail "apt-get knows no Debian repository on this machine"
  apt_sources "$work" update
  (
    cd "$work" || exit
    apt_sources "$work" source --download-only --only-source "$package=$version"
    sha256sum --check --strict --quiet "$sums"
    dpkg-source --no-check --extract "${package}_${version#*:}.dsc" unpacked >/dev/null
  )
  mkdir -p "${SOURCE%/*}"
  rm -rf "$SOURCE.partial"
  mv "$work/unpacked" "$SOURCE.partial"
  mv "$SOURCE.partial" "$SOURCE"
  rm -rf "$work"
}
