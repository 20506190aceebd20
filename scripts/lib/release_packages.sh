# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The .deb, .rpm and .apk of the static binaries. nfpm makes them; it is built from its Go module, pinned
# by version and hash. Sourced by scripts/release, after release_package.sh and tests/e2e/lib/parts.sh.

# Sets NFPM to the program, which is built if necessary.
find_nfpm() {
  local module=../../scripts/packaging/nfpm package=github.com/goreleaser/nfpm/v2
  build_go "$module" "$(module_version "$EXECCRED_ROOT/scripts/packaging/nfpm/go.mod" "$package")" "" \
    "$package/cmd/nfpm"
  NFPM=$PART/nfpm
}

# Sets RUNS to the command that runs a program for ARCH on this machine.
find_runner() {
  local machine
  machine=$(musl_machine "$1")
  RUNS=()
  [ "$machine" = "$(uname -m)" ] || {
    need_packages qemu-user-static
    RUNS=("qemu-$machine-static")
  }
}

# package_texts ARCH DIR: writes manual pages and completions, the same for every architecture.
package_texts() {
  local arch=$1 into=$2 build=$EXECCRED_ROOT/build/release-$1 shell
  find_runner "$arch"
  mkdir -p "$into/man"
  cmake --build "$build" --target plugin-facts >/dev/null
  printf '#!/bin/sh\nexec %s "$@"\n' "${RUNS[*]} '$build/facts/plugin-facts'" >"$into/facts"
  chmod 755 "$into/facts"
  python3 -B "$EXECCRED_ROOT/scripts/packaging/generate.py" "$into/facts" man --into "$into/man" \
    --date "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)"
  for shell in bash zsh fish; do
    "${RUNS[@]}" "$EXECCRED_ROOT/dist/$arch/execcred" completion "$shell" >"$into/execcred.$shell"
  done
}

# put MODE SOURCE TARGET
put() { install -D -m "$1" "$2" "$3"; }

# The zsh folder differs between formats: Debian's zsh reads completions from a vendor folder.
zsh_folder() {
  case $1 in
    deb) echo vendor-completions ;;
    *) echo site-functions ;;
  esac
}

debian_changelog() {
  sed -e "s/@EXECCRED_DEBIAN_VERSION@/$RELEASE_VERSION-1/" -e "s/@PROJECT_VERSION@/$RELEASE_VERSION/" \
    -e "s/@EXECCRED_MAINTAINER@/$PACKAGE_MAINTAINER/" \
    -e "s/@EXECCRED_DEBIAN_DATE@/$(date -u -R -d "@$SOURCE_DATE_EPOCH")/" \
    "$EXECCRED_ROOT/scripts/packaging/debian/changelog.in"
}

# stage_package FORMAT ARCH STAGED TEXTS INTO: writes the files that the package installs. Each format has
# its own rules for documents.
stage_package() {
  local format=$1 arch=$2 staged=$3 texts=$4 into=$5 program page
  for program in "$EXECCRED_ROOT/dist/$arch"/*; do
    put 755 "$program" "$into/usr/bin/${program##*/}"
    put 644 "$texts/execcred.bash" "$into/usr/share/bash-completion/completions/${program##*/}"
    put 644 "$texts/execcred.fish" "$into/usr/share/fish/vendor_completions.d/${program##*/}.fish"
  done
  ln -s execcred "$into/usr/bin/kubectl-execcred"
  put 644 "$texts/execcred.zsh" "$into/usr/share/zsh/$(zsh_folder "$format")/_execcred"
  for page in "$texts"/man/*.1; do
    gzip -9nc "$page" >"$into/page"
    put 644 "$into/page" "$into/usr/share/man/man1/${page##*/}.gz"
  done
  ln -s execcred.1.gz "$into/usr/share/man/man1/kubectl-execcred.1.gz"
  rm "$into/page"
  mkdir -p "$into/usr/share/doc/execcred"
  (cd "$staged" && find licenses -type f -exec install -D -m 644 {} \
    "$into/usr/share/doc/execcred/{}" \;)
  put 644 "$staged/execcred.spdx.json" "$into/usr/share/doc/execcred/execcred.spdx.json"
  if [ "$format" = deb ]; then
    put 644 "$EXECCRED_ROOT/scripts/packaging/debian/copyright" \
      "$into/usr/share/doc/execcred/copyright"
    debian_changelog | gzip -9n >"$into/usr/share/doc/execcred/changelog.Debian.gz"
    gzip -9nc "$EXECCRED_ROOT/CHANGELOG.md" >"$into/usr/share/doc/execcred/changelog.gz"
    put 644 "$EXECCRED_ROOT/scripts/packaging/debian/lintian-overrides" \
      "$into/usr/share/lintian/overrides/execcred"
  else
    put 644 "$staged/LICENSE" "$into/usr/share/licenses/execcred/LICENSE"
  fi
  find "$into" -type d -exec chmod 755 {} +
  chmod -R go=rX "$into"
  find "$into" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# The first line is the summary. Alpine's index has only that line.
package_description() {
  echo "credential plugins for multi-cluster Kubernetes controllers"
  [ "$1" = apk ] || cat <<END
Small programs that give a Kubernetes client a short-lived credential for
one cluster, by the exec credential protocol: from token files, Secrets of
a hub, OAuth 2.0 servers, SPIFFE agents, Google Cloud, Azure and AWS.

The command execcred shows what a provider mapping file and a ClusterProfile
lead to, runs it, writes kubeconfigs for a whole inventory, and checks all of
these files.
END
}

# package_name FORMAT ARCH: prints the file name, in the convention of the format.
package_name() {
  case $1 in
    deb) echo "execcred_$RELEASE_VERSION-1_${2/x86_64/amd64}.deb" ;;
    rpm) echo "execcred-$RELEASE_VERSION-1.${2/arm64/aarch64}.rpm" ;;
    apk) echo "execcred-$RELEASE_VERSION-r1.${2/arm64/aarch64}.apk" ;;
  esac
}

# pack_packages ARCH STAGED INTO
pack_packages() {
  local arch=$1 staged=$2 into=$3 work format
  PACKAGE_MAINTAINER="${DEBFULLNAME:-execcred maintainers} <${DEBEMAIL:-maintainers@execcred.invalid}>"
  find_nfpm
  work=$(mktemp -d)
  package_texts "$arch" "$work/texts"
  for format in deb rpm apk; do
    mkdir -m 755 "$work/$format"
    stage_package "$format" "$arch" "$staged" "$work/texts" "$work/$format"
    package_description "$format" | sed 's/^./  &/' >"$work/description"
    sed -e "s|@ARCH@|${arch/x86_64/amd64}|" -e "s|@VERSION@|$RELEASE_VERSION|" \
      -e "s|@MAINTAINER@|$PACKAGE_MAINTAINER|" -e "s|@HOMEPAGE@|${EXECCRED_RELEASE_URL:-}|" \
      -e "s|@STAGED@|$work/$format|" \
      -e "/@DESCRIPTION@/{r $work/description" -e "d}" \
      -e "s|@TIME@|$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)|" \
      "$EXECCRED_ROOT/scripts/packaging/nfpm.yaml.in" >"$work/nfpm.yaml"
    "$NFPM" package --config "$work/nfpm.yaml" --packager "$format" \
      --target "$into/$(package_name "$format" "$arch")" >"$work/log" 2>&1 ||
      fail "nfpm: $(cat "$work/log")"
  done
  rm -rf "$work"
}
