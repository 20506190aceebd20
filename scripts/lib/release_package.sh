# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The published files of a release: a tarball for each architecture with its SBOMs, packages, the
# images, the documentation site, the provenance, sums of it all and their signatures. Sourced by
# scripts/release, after release_components.sh.

RELEASE_VERSION=$(sed -n 's/^project(execcred VERSION \([0-9.]*\).*/\1/p' \
  "$EXECCRED_ROOT/CMakeLists.txt")

# The commit's time, if there is a commit, so that a release has the same bytes whenever it is built.
source_time() {
  git -c safe.directory="$EXECCRED_ROOT" -C "$EXECCRED_ROOT" log -1 --format=%ct 2>/dev/null || echo 0
}

# The commit, with "-dirty" if the sources differ from it. Empty without git.
source_revision() {
  git -c safe.directory="$EXECCRED_ROOT" -C "$EXECCRED_ROOT" describe --always --dirty --abbrev=40 \
    --exclude='*' 2>/dev/null || true
}

release_name() { echo "execcred-$RELEASE_VERSION-linux-$1"; }

# The archive of an OCI image layout.
images_name() { echo "execcred-$RELEASE_VERSION-images.tar"; }

# release_images COMMAND...: the writer of the images.
release_images() { python3 -B "$EXECCRED_ROOT/scripts/lib/release_images.py" "$@"; }

# archive DIR MEMBER: an archive that does not depend on the user, time and folder of packing.
archive() {
  tar -c --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
    "--mtime=@$SOURCE_DATE_EPOCH" -C "$1" "$2" | gzip -9n
}

# stage ARCH DIR: writes the files for the tarball and the images.
stage() {
  install -d -m 755 "$2" "$2/licenses"
  install -m 555 "$EXECCRED_ROOT/dist/$1"/* "$2/"
  ln -s execcred "$2/kubectl-execcred"
  licence_texts "$2/licenses"
  cp "$EXECCRED_ROOT/LICENSE" "$2/LICENSE"
  components | python3 -B "$EXECCRED_ROOT/scripts/lib/release_sbom.py" --arch "$1" \
    --build "$EXECCRED_ROOT/build/release-$1" --binaries "$EXECCRED_ROOT/dist/$1" \
    --version "$RELEASE_VERSION" --epoch "$SOURCE_DATE_EPOCH" >"$2/execcred.spdx.json"
  chmod 444 "$2/LICENSE" "$2/execcred.spdx.json" "$2"/licenses/*
}

# krew refuses an archive with a link, and needs one archive for each architecture.
krew_name() { echo "execcred-$RELEASE_VERSION-krew-linux-${1/x86_64/amd64}.tar.gz"; }

# pack_krew STAGED ARCHIVE
pack_krew() {
  local work
  work=$(mktemp -d)
  install -d -m 755 "$work/krew"
  install -m 555 "$1/execcred" "$work/krew/kubectl-execcred"
  install -m 444 "$1/LICENSE" "$work/krew/LICENSE"
  archive "$work/krew" . >"$2"
  rm -rf "$work"
}

# krew_manifest URL DIR: prints krew's manifest for the archives in DIR, which will be published at URL.
krew_manifest() {
  local arch sums=()
  for arch in amd64 arm64; do
    sums+=(-e "s/@SHA256_${arch^^}@/$(sha256sum "$2/$(krew_name "$arch")" | cut -d ' ' -f 1)/")
  done
  sed -e "s/@VERSION@/$RELEASE_VERSION/g" -e "s|@URL@|$1|g" "${sums[@]}" \
    "$EXECCRED_ROOT/config/krew/execcred.yaml"
}

conformance_name() { echo "execcred-conformance-$RELEASE_VERSION-linux-$1.tar.gz"; }

# pack_conformance ARCH STAGED INTO: packs the suite with the licences of its components.
pack_conformance() {
  local work name
  work=$(mktemp -d)
  name=$(conformance_name "$1")
  install -d -m 755 "$work/${name%.tar.gz}/licenses"
  install -m 555 -t "$work/${name%.tar.gz}" "$EXECCRED_ROOT/dist/conformance-$1/execcred-conformance"
  install -m 444 -t "$work/${name%.tar.gz}" "$2/LICENSE"
  install -m 444 -t "$work/${name%.tar.gz}/licenses" \
    "$2"/licenses/{libc++,libc++abi,libunwind,mallocng,musl,nlohmann-json,zig}.txt
  install -m 444 /usr/share/doc/doctest-dev/copyright "$work/${name%.tar.gz}/licenses/doctest.txt"
  archive "$work" "${name%.tar.gz}" >"$3/$name"
  rm -rf "$work"
}

# pack_arch ARCH STAGED INTO
pack_arch() {
  local name
  name=$(release_name "$1")
  archive "${2%/*}" "$name" >"$3/$name.tar.gz"
  pack_krew "$2" "$3/$(krew_name "$1")"
  pack_conformance "$@"
  pack_packages "$@"
  cp "$2/execcred.spdx.json" "$3/$name.spdx.json"
  python3 -B "$EXECCRED_ROOT/scripts/lib/sbom.py" "$2/execcred.spdx.json" >"$3/$name.cdx.json"
}

# pack_images WORK INTO ARCH...
pack_images() {
  local work=$1 into=$2 arch folders=()
  shift 2
  for arch in "$@"; do folders+=(--arch "$arch=$work/$(release_name "$arch")"); done
  release_images write --layout "$into/$(images_name)" --version "$RELEASE_VERSION" \
    --revision "$SOURCE_REVISION" --url "${EXECCRED_RELEASE_URL:-}" --epoch "$SOURCE_DATE_EPOCH" \
    "${folders[@]}"
}

docs_name() { echo "execcred-$RELEASE_VERSION-docs.tar.gz"; }

# pack_docs SITE INTO: packs a site that scripts/docs has built.
pack_docs() {
  local work name
  work=$(mktemp -d)
  name=$(docs_name)
  cp -r "$1" "$work/${name%.tar.gz}"
  chmod -R u=rwX,go=rX "$work/${name%.tar.gz}"
  archive "$work" "${name%.tar.gz}" >"$2/$name"
  rm -rf "$work"
}

# build_docs ROOT LOG: builds the site of that checkout. This takes seconds. An existing site may be older
# than the pages.
build_docs() {
  "$1/scripts/docs" --no-browser >"$2" 2>&1 || fail "the documentation site: $(cat "$2")"
}

# pack_all INTO ARCH...: packs the files that do not depend on a key.
pack_all() {
  local into=$1 work arch
  shift
  work=$(mktemp -d)
  for arch in "$@"; do
    stage "$arch" "$work/$(release_name "$arch")"
    pack_arch "$arch" "$work/$(release_name "$arch")" "$into"
  done
  pack_images "$work" "$into" "$@"
  build_docs "$EXECCRED_ROOT" "$work/docs.log"
  pack_docs "$EXECCRED_ROOT/build/docs/site" "$into"
  # Only if the future URL of the release is configured.
  if [ -n "${EXECCRED_RELEASE_URL:-}" ] && [ "$#" -eq 2 ]; then
    krew_manifest "$EXECCRED_RELEASE_URL" "$into" >"$into/execcred-krew.yaml"
  fi
  provenance "$into" "$@" >"$work/provenance"
  cp "$work/provenance" "$into/$(provenance_name)"
  chmod 644 "$into"/*
  rm -rf "$work"
}

provenance_name() { echo "execcred-$RELEASE_VERSION.provenance.json"; }

# provenance DIR ARCH...: prints the provenance of the files that are in DIR now.
provenance() {
  local into=$1
  shift
  components | python3 -B "$EXECCRED_ROOT/scripts/lib/release_provenance.py" \
    --root "$EXECCRED_ROOT" --release "$into" --images "$into/$(images_name)" \
    --version "$RELEASE_VERSION" --revision "$SOURCE_REVISION" --epoch "$SOURCE_DATE_EPOCH" \
    --builder "${EXECCRED_BUILDER_ID:-urn:execcred:builder:unnamed}" "${@/#/--arch=}"
}

# check_signing_key KEY: called before the build, which takes long. A key with a passphrase is refused,
# because the release would stop half-way to ask for it.
check_signing_key() {
  [ -z "$1" ] || [[ $(openssl pkey -in "$1" -passin pass: -noout -text 2>/dev/null) == ED25519* ]] ||
    fail "EXECCRED_SIGNING_KEY: '$1' is not an Ed25519 private key in PEM without passphrase;" \
      "'openssl genpkey -algorithm ed25519' makes one"
}

# sum_and_sign DIR KEY: writes the sums and their signatures. With an empty KEY there are no signatures.
sum_and_sign() {
  (cd "$1" && export LC_ALL=C && sha256sum -- execcred[-_]* >SHA256SUMS)
  if [ -z "$2" ]; then
    echo "not signed: EXECCRED_SIGNING_KEY names no key, so scripts/verify will refuse this release"
    return
  fi
  python3 -B "$EXECCRED_ROOT/scripts/lib/release_signatures.py" sign --key "$2" \
    --epoch "$SOURCE_DATE_EPOCH" "$1/SHA256SUMS" "$1/$(provenance_name)"
  echo "signed by the key $(openssl pkey -in "$2" -pubout -outform DER | tail -c 32 | base64)"
}

# pack ARCH...: replaces dist/release.
pack() {
  local release=$EXECCRED_ROOT/dist/release file
  rm -rf "$release"
  mkdir -p "$release"
  step "packing"
  pack_all "$release" "$@"
  sum_and_sign "$release" "${EXECCRED_SIGNING_KEY:-}"
  for file in "$release"/*; do
    printf 'dist/release/%-40s %9d bytes\n' "${file##*/}" "$(stat -c %s "$file")"
  done
}
