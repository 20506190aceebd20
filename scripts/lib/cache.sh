# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What is fetched once and kept outside the source tree, by version. Sourced, after common.sh.

CACHE=${EXECCRED_E2E:-$HOME/.cache/execcred-e2e}

# with_cache_lock COMMAND...: runs it while no other run changes the cache.
with_cache_lock() {
  local lock
  mkdir -p "$CACHE"
  exec {lock}>"$CACHE/lock"
  flock "$lock"
  "$@"
  exec {lock}>&-
}

short_hash() { sha256sum | cut -c1-12; }

# python_packages REQUIREMENTS: sets VENV to a venv that holds exactly what the file pins.
python_packages() {
  local name=${1##*/}
  VENV=$CACHE/venv/${name%.txt}-$(short_hash <"$1")
  [ -e "$VENV/complete" ] || with_cache_lock install_python_packages "$1"
}

install_python_packages() {
  # Another run may have done it while this one waited for the lock.
  [ ! -e "$VENV/complete" ] || return 0
  need_packages python3-venv ca-certificates
  step "installing ${1##*/} from PyPI"
  python3 -m venv --clear "$VENV"
  "$VENV/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes -r "$1"
  touch "$VENV/complete"
}
