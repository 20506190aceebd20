# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The cache of fetched and built parts outside the source tree, by version. Sourced, after
# common.sh.

CACHE=${EXECCRED_E2E:-$HOME/.cache/execcred-e2e}
# Another checkout may need an older version. It is kept as long as it is used.
CACHE_DAYS=14

# with_cache_lock COMMAND...: runs it with a lock, so that no other run changes the cache. May be nested.
with_cache_lock() {
  if [ -n "${cache_lock:-}" ]; then
    "$@"
    return
  fi
  local cache_lock
  mkdir -p "$CACHE"
  exec {cache_lock}>"$CACHE/lock"
  flock "$cache_lock"
  "$@"
  exec {cache_lock}>&-
}

short_hash() { sha256sum | cut -c1-12; }

# mark_used ENTRY: each run that uses an entry calls this. It has no effect for a user who may only read
# the cache.
mark_used() { touch -c "$1" 2>/dev/null || true; }

# remove_unused ENTRY NAME: removes other versions of the entry that were not used for a long time.
# Entries are called NAME-VERSION-HASH or NAME-HASH.
remove_unused() {
  local entry=$1 name=$2 other
  while IFS= read -r other; do
    [[ ${other##*/} =~ ^"$name"(-[0-9].*)?-[0-9a-f]{12}(\.partial)?$ ]] || continue
    [ "$other" != "$entry" ] || continue
    step "removing ${other##*/}, unused for $CACHE_DAYS days"
    rm -rf "$other"
  done < <(find "${entry%/*}" -mindepth 1 -maxdepth 1 -type d -mtime "+$((CACHE_DAYS - 1))")
}

# python_packages REQUIREMENTS [NAME]: sets VENV to a venv with exactly the packages that the file pins.
# Without NAME, the file's name is used.
python_packages() {
  local name=${2:-$(basename "$1" .txt)}
  VENV=$CACHE/venv/$name-$(short_hash <"$1")
  [ -e "$VENV/complete" ] || with_cache_lock install_python_packages "$1" "$name"
  mark_used "$VENV"
}

install_python_packages() {
  # Another run may have done it while this one waited for the lock.
  [ ! -e "$VENV/complete" ] || return 0
  need_packages python3-venv ca-certificates
  step "installing $2 from PyPI"
  # Debian's own Python: the pinned packages are built for its version.
  /usr/bin/python3 -m venv --clear "$VENV"
  "$VENV/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes -r "$1"
  touch "$VENV/complete"
  remove_unused "$VENV" "$2"
}
