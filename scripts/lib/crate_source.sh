# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C libraries whose whole source a crate carries, fetched by cargo. Sourced, after cache.sh.

CRATES=$EXECCRED_ROOT/scripts/requirements/crates.sha256

# Before 1.70 cargo clones the registry's whole index by git. On Debian 12, cargo is older than that
# and cargo-web is not.
need_cargo() {
  local version
  version=$(cargo --version 2>/dev/null | cut -d' ' -f2) || true
  printf '1.70\n%s\n' "${version:-0}" | sort -V -C || need_packages cargo-web ca-certificates
}

# crate_version NAME: the one that is pinned.
crate_version() { sed -n "s|^[0-9a-f]\{64\}  $1-\([0-9].*\)\.crate$|\1|p" "$CRATES"; }

# crate_source NAME: sets SOURCE to the unpacked crate.
crate_source() {
  SOURCE=$CACHE/source/$1-$(crate_version "$1")-$(grep -F "  $1-" "$CRATES" | short_hash)
  [ -e "$SOURCE" ] || with_cache_lock fetch_crate "$1"
  mark_used "$SOURCE"
}

fetch_crate() {
  local name=$1 version crate work downloads=${CARGO_HOME:-$HOME/.cargo}/registry/cache
  [ ! -e "$SOURCE" ] || return 0
  need_cargo
  version=$(crate_version "$name")
  step "fetching the crate $name $version"
  work=$(mktemp -d)
  mkdir "$work/src"
  touch "$work/src/lib.rs"
  cat >"$work/Cargo.toml" <<END
[package]
name = "sources"
version = "0.0.0"
[dependencies]
$name = "=${version%%+*}"
END
  # With a target, what the crate needs on other systems is left out.
  (cd "$work" && cargo fetch --quiet --target x86_64-unknown-linux-gnu)
  crate=$(find "$downloads" -name "$name-$version.crate" -print -quit)
  [ -n "$crate" ] || fail "cargo did not fetch $name $version"
  (cd "${crate%/*}" && grep -F "  ${crate##*/}" "$CRATES" | sha256sum --check --strict --quiet)
  mkdir -p "${SOURCE%/*}"
  rm -rf "$SOURCE.partial"
  mkdir "$SOURCE.partial"
  tar -xzf "$crate" -C "$SOURCE.partial" --strip-components=1 --no-same-owner
  mv "$SOURCE.partial" "$SOURCE"
  remove_unused "$SOURCE" "$name"
  rm -rf "$work"
}
