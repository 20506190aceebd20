# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds or installs what the suites run against: etcd, kube-apiserver, kubectl
# of two minor versions, cpget, a peer plugin, and the JavaScript and Python
# clients. Each version is built once and kept in CACHE.

# build_go MODULE VERSION LDFLAGS PACKAGE...: sets PART to the directory with
# the packages' programs. The directory's name covers all that decides what
# they are, so a change of the module is built again and never overwrites.
build_go() {
  local module=$1 version=$2 ldflags=$3
  shift 3
  local key
  key=$(
    printf '%s\n' "$ldflags" "$@" "$(uname -m)"
    find "$E2E_DIR/$module" -type f -print0 | sort -z | xargs -0 cat
  )
  PART=$CACHE/bin/${module##*/}-$version-$(short_hash <<<"$key")
  [ -d "$PART" ] || with_cache_lock build_go_locked "$module" "$ldflags" "$@"
  mark_used "$PART"
}

build_go_locked() {
  local module=$1 ldflags=$2
  shift 2
  # Another run may have built it while this one waited for the lock.
  [ ! -d "$PART" ] || return 0

  find_go
  step "building ${PART##*/} with $(go_version "$GO")"
  rm -rf "$PART.partial"
  mkdir -p "$PART.partial"
  # Other builds and checks may run beside this one: two cores are enough for it.
  (
    cd "$E2E_DIR/$module" || exit
    GOTOOLCHAIN=local CGO_ENABLED=0 "$GO" build -p 2 -trimpath -buildvcs=false \
      -ldflags "-s -w $ldflags" -o "$PART.partial/" "$@"
  )
  # Go names a program after its package's folder, and etcd's is called server.
  [ ! -e "$PART.partial/server" ] || mv "$PART.partial/server" "$PART.partial/etcd"
  mv "$PART.partial" "$PART"
  remove_unused "$PART" "${module##*/}"
}

# module_version FILE MODULE: the version that the go.mod asks for.
module_version() {
  awk -v module="$2" '$1 == module && $2 ~ /^v/ { print substr($2, 2); exit }' "$1"
}

# kubernetes_ldflags VERSION: without it the programs take themselves for 0.0.0.
kubernetes_ldflags() {
  local package=k8s.io/component-base/version
  echo "-X $package.gitVersion=v$1 -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$1")"
}

# Builds what is missing, puts all programs in PATH, and exports where the clients are.
build_parts() {
  local kubernetes client_go old_kubectl
  kubernetes=$(module_version "$E2E_DIR/kube/go.mod" k8s.io/kubernetes)
  client_go=$(module_version "$E2E_DIR/cpget/go.mod" k8s.io/client-go)
  # The module k8s.io/kubectl counts v0.29.6 what Kubernetes counts 1.29.6.
  old_kubectl=1.$(module_version "$E2E_DIR/kubectl-old/go.mod" k8s.io/kubectl | cut -d. -f2-)

  build_go kube "$kubernetes" "$(kubernetes_ldflags "$kubernetes")" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl go.etcd.io/etcd/server/v3
  PATH=$PART:$PATH
  build_go cpget "$client_go" "" .
  PATH=$PART:$PATH
  build_go kubectl-old "$old_kubectl" "$(kubernetes_ldflags "$old_kubectl")" .
  export PATH=$PART:$PATH
  build_secretreader

  install_python_client
  with_cache_lock install_javascript_client
}

# Exports where the peer is: it is measured and compared, never found in PATH by chance.
build_secretreader() {
  local module=peers/secretreader
  build_go "$module" "$(module_version "$E2E_DIR/$module/go.mod" k8s.io/client-go)" "" .
  export E2E_SECRETREADER=$PART/secretreader
}

install_python_client() {
  python_packages "$E2E_DIR/clients/python/requirements.txt" python-client
  export E2E_PYTHON=$VENV/bin/python3
}

install_javascript_client() {
  local source=$E2E_DIR/clients/javascript
  find_node
  E2E_NODE=$NODE
  E2E_JAVASCRIPT=$CACHE/npm/javascript-client-$(
    cat "$source"/{package.json,package-lock.json,.npmrc} | short_hash
  )
  export E2E_NODE E2E_JAVASCRIPT
  if [ -e "$E2E_JAVASCRIPT/complete" ]; then
    mark_used "$E2E_JAVASCRIPT"
    return
  fi

  step "installing the JavaScript client with npm"
  rm -rf "$E2E_JAVASCRIPT"
  mkdir -p "$E2E_JAVASCRIPT"
  cp "$source"/{package.json,package-lock.json,.npmrc} "$E2E_JAVASCRIPT"
  (
    cd "$E2E_JAVASCRIPT" || exit
    "${NPM[@]}" ci --loglevel error >&2
  )
  touch "$E2E_JAVASCRIPT/complete"
  remove_unused "$E2E_JAVASCRIPT" javascript-client
}
