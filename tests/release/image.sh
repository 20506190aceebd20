# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The published images, as other projects' tools read them: skopeo copies them, as to a registry, and
# checks each digest; umoci unpacks them as a container runtime does. Sourced by checks.sh.

IMAGE_PACKAGES=(skopeo umoci)
IMAGE_UID=65532

# in_image ROOT COMMAND...: as a runtime would run it, without an environment.
in_image() {
  local root=$1
  shift
  as_root env -i /usr/sbin/chroot --userspec="$IMAGE_UID:$IMAGE_UID" "$root" \
    ${IMAGE_EMULATOR:+"$IMAGE_EMULATOR"} "$@"
}

tells_versions_in_image() {
  local binary said
  for binary in "$1"/execcred{,-*}; do
    [ -x "$binary" ] || continue
    said=$(in_image "$1" "/${binary##*/}" --version)
    [ "$said" = "${binary##*/} $RELEASE_VERSION" ] || {
      echo "${binary##*/} said: $said"
      return 1
    }
  done
}

# Not even a folder may be writable.
can_write_nothing() {
  local writable
  writable=$(as_root setpriv --reuid="$IMAGE_UID" --regid="$IMAGE_UID" --clear-groups \
    find "$1" -writable) && [ -z "$writable" ]
}

# As the manifests of config/consumers run it.
installs_from_image() {
  as_root install -d -m 1777 "$1/plugins"
  in_image "$1" /execcred install --plugin=execcred-token-file /plugins >"$IMAGES/stdout" &&
    cmp "$1/execcred-token-file" "$1/plugins/execcred-token-file" &&
    as_root rm -r "$1/plugins"
}

# programs_of_image NAME ARCH: the programs that the image of this name must have.
programs_of_image() {
  case $1 in
    execcred) (cd "$EXECCRED_ROOT/dist/$2" && printf '%s\n' * kubectl-execcred) ;;
    execcred-cli) printf '%s\n' execcred kubectl-execcred ;;
    *) echo "$1" ;;
  esac | LC_ALL=C sort
}

# judge COMMAND...: prints its output only if it fails.
judge() {
  "$@" >"$IMAGES/log" 2>&1 || {
    cat "$IMAGES/log"
    return 1
  }
}

image_names() { release_images list --layout "$1" | cut -d ' ' -f 1; }

# The names that users copy; each stands for all architectures.
has_every_image() {
  local arch programs
  programs=$(cd "$EXECCRED_ROOT/dist/$1" && echo *)
  # shellcheck disable=SC2086
  diff <(image_names "$ARCHIVE" | LC_ALL=C sort) \
    <(for name in execcred-cli $programs; do
      echo "$name"
      for arch in "$@"; do echo "$name-${arch/x86_64/amd64}"; done
    done | LC_ALL=C sort)
}

# Into one layout, so that the blobs that images share are copied once.
copies_every_image() {
  local name
  while read -r name; do
    skopeo copy --quiet --all "oci-archive:$ARCHIVE:$name" "oci:$IMAGES/copied:$name" || return 1
  done < <(image_names "$ARCHIVE")
}

has_the_same_digests() {
  local name digest
  while read -r name digest; do
    [ "sha256:$(skopeo inspect --raw "oci:$IMAGES/copied:$name" | sha256sum | cut -d ' ' -f 1)" = \
      "$digest" ] || return 1
  done < <(release_images list --layout "$ARCHIVE")
}

# Shows that the tool checks digests: otherwise its success would prove nothing.
is_refused_when_changed() {
  local layout=$IMAGES/changed blob
  cp -r "$IMAGES/layout" "$layout"
  blob=$(find "$layout/blobs" -type f -size +100k | sort | head -n 1)
  printf '\x01' | dd of="$blob" bs=1 seek=5000 conv=notrunc status=none
  ! skopeo copy --quiet --all "oci:$layout:execcred" "dir:$IMAGES/refused" 2>"$IMAGES/log" &&
    grep -qi 'digest' "$IMAGES/log"
}

# chooses ARCH: from an image for several architectures.
chooses() {
  [ "$(skopeo --override-os linux --override-arch "${1/x86_64/amd64}" inspect --format \
    '{{.Architecture}}' "oci:$IMAGES/layout:execcred")" = "${1/x86_64/amd64}" ]
}

# describes NAME ARCH
describes() {
  local entry=execcred said tag=${2/x86_64/amd64}
  [[ $1 = execcred || $1 = execcred-cli ]] || entry=$1
  skopeo inspect --raw --config "oci:$IMAGES/copied:$1-$tag" >"$IMAGES/config.json"
  skopeo inspect --raw "oci:$IMAGES/copied:$1-$tag" >"$IMAGES/manifest.json"
  said=$(python3 -B "$EXECCRED_ROOT/tests/release/image_facts.py" config "$IMAGES/config.json" \
    "$IMAGES/manifest.json") || return 1
  [ "$said" = "linux $tag $IMAGE_UID:$IMAGE_UID /$entry $RELEASE_VERSION $1" ] || {
    echo "it says: $said"
    return 1
  }
}

unpacks() {
  judge as_root umoci unpack --image "$IMAGES/copied:$1-${2/x86_64/amd64}" "$IMAGES/bundle" &&
    as_root chmod 755 "$IMAGES/bundle"
}

# An image has its programs, with the same bytes, the licences, and no other file.
holds() {
  local name=$1 arch=$2 root=$IMAGES/bundle/rootfs program
  diff <(cd "$root" && find . -mindepth 1 -printf '%P %M %U:%G\n' | LC_ALL=C sort) <(
    {
      echo "LICENSE -r--r--r-- 0:0"
      echo "licenses drwxr-xr-x 0:0"
      (cd "$IMAGES/tarball-$arch" && find licenses -type f -printf '%p -r--r--r-- 0:0\n')
      programs_of_image "$name" "$arch" | sed -e '/^kubectl-/s/$/ lrwxrwxrwx 0:0/' \
        -e '/^execcred/s/$/ -r-xr-xr-x 0:0/'
    } | LC_ALL=C sort
  ) || return 1
  for program in $(programs_of_image "$name" "$arch" | grep -v '^kubectl-'); do
    cmp "$root/$program" "$EXECCRED_ROOT/dist/$arch/$program" || return 1
  done
  diff -r "$root/licenses" "$IMAGES/tarball-$arch/licenses" && cmp "$root/LICENSE" "$EXECCRED_ROOT/LICENSE"
}

# Leaves the SBOMs in a folder by the image's name and architecture.
has_sboms() {
  local name=$1 folder=$IMAGES/sbom/$1-$2
  mkdir -p "$folder/programs"
  python3 -B "$EXECCRED_ROOT/tests/release/image_facts.py" sboms "$IMAGES/layout" \
    "$name-${2/x86_64/amd64}" "$folder" >"$IMAGES/stdout" || return 1
  find "$IMAGES/bundle/rootfs" -maxdepth 1 -type f -name 'execcred*' -exec cp -t "$folder/programs" {} +
  diff <(sort "$IMAGES/stdout") <(printf '%s\n' "$folder/$name".{cdx,spdx}.json) &&
    has_sums_of "$folder/$name.spdx.json" "$folder/programs" &&
    has_cyclonedx_sums_of "$folder/$name.cdx.json" "$folder/programs" &&
    names_the_same_components "$folder/$name.spdx.json" "$folder/$name.cdx.json"
}

# check_image NAME ARCH
check_image() {
  local name=$1 arch=$2 what="$2 image $1" root=$IMAGES/bundle/rootfs
  check "$what: platform, user, entry point, labels" describes "$name" "$arch"
  check "$what: umoci unpacks it" unpacks "$name" "$arch"
  check "$what: has only its programs and the licences" holds "$name" "$arch"
  check "$what: its SBOMs have the hashes of these programs" has_sboms "$name" "$arch"
  IMAGE_EMULATOR=
  if [ "${#RUNNER[@]}" -gt 0 ]; then
    as_root install -m 555 "$(command -v "${RUNNER[0]}")" "$root/emulator"
    IMAGE_EMULATOR=/emulator
  fi
  check "$what: every program prints its version as uid $IMAGE_UID" tells_versions_in_image "$root"
  check "$what: uid $IMAGE_UID can write to no file in it" can_write_nothing "$root"
  [ "$name" != execcred ] ||
    check "$what: installs a plugin into a volume" installs_from_image "$root"
  as_root rm -rf "$IMAGES/bundle"
}

# check_images DIR ARCH...
check_images() {
  local arch name
  # shellcheck disable=SC2034
  IMAGES=$1 INPUT=$1 ARCHIVE=$EXECCRED_ROOT/dist/release/$(images_name)
  shift
  need_packages "${IMAGE_PACKAGES[@]}"
  step "testing the images"
  mkdir -p "$IMAGES/layout"
  tar -xf "$ARCHIVE" -C "$IMAGES/layout"
  check "images: one of all programs, one of execcred, one of each plugin" has_every_image "$@"
  check "images: each blob has its digest, and is referenced" \
    judge python3 -B "$EXECCRED_ROOT/tests/release/image_facts.py" blobs "$IMAGES/layout"
  check "images: skopeo copies all of them" judge copies_every_image
  check "images: a copy has the same digests" has_the_same_digests
  check "images: skopeo refuses an image with a changed byte" is_refused_when_changed
  check "packing again gives the same bytes" packs_the_same "$IMAGES/again" "$@"
  for arch in "$@"; do
    check "$arch images: skopeo chooses the one for $arch" chooses "$arch"
    if ! can_become_root; then
      skip "$arch images: unpacked and run" "only root may unpack an image's files, and chroot"
      continue
    fi
    runner_for "$arch"
    mkdir -p "$IMAGES/tarball-$arch"
    tar -xzf "$EXECCRED_ROOT/dist/release/$(release_name "$arch").tar.gz" -C "$IMAGES/tarball-$arch" \
      --strip-components=1
    for name in $(image_names "$ARCHIVE" | grep -vE -e '-(amd64|arm64)$'); do
      check_image "$name" "$arch"
    done
    check "$arch images: all SBOMs are valid SPDX 2.3" \
      judge is_valid_spdx "$IMAGES"/sbom/*-"$arch"/*.spdx.json
    check "$arch images: all SBOMs are valid CycloneDX 1.6" \
      judge is_valid_cyclonedx "$IMAGES"/sbom/*-"$arch"/*.cdx.json
  done
}
