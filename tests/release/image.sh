# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The root file system that is published, and the image that config/image/Dockerfile makes of it.
# Sourced by checks.sh.

IMAGE_UID=65532

# in_image ROOT COMMAND...: as the image would run it, without an environment.
in_image() {
  local root=$1
  shift
  as_root env -i /usr/sbin/chroot --userspec="$IMAGE_UID:$IMAGE_UID" "$root" \
    ${IMAGE_EMULATOR:+"$IMAGE_EMULATOR"} "$@"
}

# unpack_rootfs ARCHIVE ROOT EMULATOR: as root, who owns an image's files. An emulator is one file
# more.
unpack_rootfs() {
  as_root install -d -m 755 "$2"
  as_root tar -xpzf "$1" -C "$2" --same-owner
  IMAGE_EMULATOR=
  [ -n "$3" ] || return 0
  as_root install -m 555 "$(command -v "$3")" "$2/emulator"
  IMAGE_EMULATOR=/emulator
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

# Not even with write permission on a folder.
can_write_nothing() {
  [ -z "$(as_root setpriv --reuid="$IMAGE_UID" --regid="$IMAGE_UID" --clear-groups \
    find "$1" -writable)" ]
}

check_rootfs() {
  local arch=$1 root=$INPUT/rootfs
  local what="$arch rootfs: every binary tells its version in it as uid $IMAGE_UID"
  if ! can_become_root; then
    skip "$what" "only root may chroot"
    return
  fi
  unpack_rootfs "$EXECCRED_ROOT/dist/release/$(rootfs_name "$arch")" "$root" "${RUNNER[0]:-}"
  check "$what" tells_versions_in_image "$root"
  check "$arch rootfs: uid $IMAGE_UID can write nothing in it" can_write_nothing "$root"
  as_root rm -rf "$root"
}

# buildah builds without a daemon, and without a kernel that mounts overlays.
image_builder() {
  as_root buildah --root "$INPUT/images" --runroot "$INPUT/images-run" --storage-driver vfs "$@"
}

builds_image() {
  build_image "$1" >"$INPUT/image.log" 2>&1 || {
    cat "$INPUT/image.log"
    return 1
  }
}

build_image() {
  image_builder build --quiet --isolation chroot --platform "linux/${1/x86_64/amd64}" \
    --build-arg "VERSION=$RELEASE_VERSION" --timestamp "$SOURCE_DATE_EPOCH" --tag execcred \
    --file "$EXECCRED_ROOT/config/image/Dockerfile" "$EXECCRED_ROOT/dist/release" &&
    image_builder push --quiet execcred "dir:$INPUT/image" &&
    as_root chown -R "$(id -u)" "$INPUT/image"
}

# What the image's configuration says, and the file of its only layer.
read_image() {
  python3 - "$1" <<'END'
import json, sys
def blob(digest):
    return f"{sys.argv[1]}/{digest.removeprefix('sha256:')}"
manifest = json.load(open(f"{sys.argv[1]}/manifest.json"))
image = json.load(open(blob(manifest["config"]["digest"])))
(layer,) = manifest["layers"]
print(image["os"], image["architecture"], image["config"]["User"],
      json.dumps(image["config"]["Entrypoint"]), image["config"].get("Cmd"), sep="\n")
print(blob(layer["digest"]))
END
}

has_configuration() {
  diff <(read_image "$INPUT/image" | head -n -1) \
    <(printf '%s\n' linux "${1/x86_64/amd64}" 65532:65532 '["/execcred"]' None)
}

has_files_of_rootfs() {
  local layer rootfs
  rootfs=$EXECCRED_ROOT/dist/release/$(rootfs_name "$1")
  layer=$(read_image "$INPUT/image" | tail -n 1)
  mkdir "$INPUT/image/rootfs" "$INPUT/image/layer"
  tar -xzf "$rootfs" -C "$INPUT/image/rootfs"
  tar -xzf "$layer" -C "$INPUT/image/layer"
  diff -r "$INPUT/image/rootfs" "$INPUT/image/layer" &&
    diff <(listing "$rootfs" | sed 's|\./||;/ $/d') <(listing "$layer")
}

check_image() {
  local arch=$1
  if ! can_become_root; then
    skip "$arch image: builds from config/image/Dockerfile" "only root may unpack an image's files"
    return
  fi
  need_packages buildah
  check "$arch image: builds from config/image/Dockerfile" builds_image "$arch"
  check "$arch image: platform, user, entry point" has_configuration "$arch"
  check "$arch image: holds the rootfs, nothing else" has_files_of_rootfs "$arch"
  as_root rm -rf "$INPUT/images" "$INPUT/images-run" "$INPUT/image"
}
