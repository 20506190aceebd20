# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds the programs that the suites run against: etcd, kube-apiserver,
# kubectl, and cpget. Each version is built once and kept in E2E_CACHE/bin.

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
  PART=$E2E_CACHE/bin/$module-$version-$(short_hash <<<"$key")
  [ ! -d "$PART" ] || return 0
  with_cache_lock build_go_locked "$module" "$ldflags" "$@"
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
}

# module_version FILE MODULE: the version that the go.mod asks for.
module_version() {
  awk -v module="$2" '$1 == module && $2 ~ /^v/ { print substr($2, 2); exit }' "$1"
}

# Builds what is missing and puts all parts in PATH.
build_parts() {
  local kubernetes client_go package=k8s.io/component-base/version
  kubernetes=$(module_version "$E2E_DIR/kube/go.mod" k8s.io/kubernetes)
  client_go=$(module_version "$E2E_DIR/cpget/go.mod" k8s.io/client-go)

  # Without a version of its own the API server takes itself for 0.0.0.
  build_go kube "$kubernetes" \
    "-X $package.gitVersion=v$kubernetes -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$kubernetes")" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl go.etcd.io/etcd/server/v3
  PATH=$PART:$PATH
  build_go cpget "$client_go" "" .
  export PATH=$PART:$PATH
}
