# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs execcred install as an init container does: into a volume, from a read-only root that has the
# release's binaries, without /proc and HOME, as a user without a name or capabilities, under
# confined.c's filter. Sourced by checks.sh.

INSTALL_PACKAGES=(gcc libc6-dev util-linux coreutils)
# The limit of the manifests in config/consumers, here of address space.
INSTALL_MEMORY_KIB=65536

# Arguments: the folder with root, view and confined; a uid; the memory; the volume's size; the mode
# of the volume; then commands. The status of a failed command is printed, and at the end the
# files of the volume. All mounts end with the namespace.
# shellcheck disable=SC2016
INIT_CONTAINER='
  folder=$1 uid=$2 memory=$3
  mount --bind "$folder/rootfs" "$folder/view"
  mount -o remount,bind,ro,nosuid,nodev "$folder/view"
  mount -t tmpfs -o "size=$4,mode=$5" volume "$folder/view/plugins"
  for command in "${@:6}"; do
    read -ra words <<<"$command"
    env -i "$folder/confined" "$folder/view" "$uid" "$memory" "${words[@]}" </dev/null ||
      echo "status $?"
  done
  cd "$folder/view/plugins"
  find . -type f -printf "file %m %U %P\n" | sort'

# in_init_container SIZE MODE COMMAND...: its output is in INPUT/stdout and INPUT/stderr.
in_init_container() {
  as_root unshare --mount --propagation private bash -euc "$INIT_CONTAINER" init-container \
    "$INPUT/install" "$ARBITRARY_UID" "$INSTALL_MEMORY_KIB" "$@" >"$INPUT/stdout" 2>"$INPUT/stderr"
}

# The plugins of the release as the volume must have them.
installed_files() {
  local file
  for file in "$EXECCRED_ROOT/dist/$1"/execcred-*; do
    echo "file 555 $ARBITRARY_UID ${file##*/}"
  done
}

# installed_report DONE ARCH: execcred's report on all plugins.
installed_report() {
  (cd "$EXECCRED_ROOT/dist/$2" && for file in execcred-*; do
    echo "$1 $file $(stat -c %s "$file") $(sha256sum <"$file" | cut -d ' ' -f 1)"
  done)
}

installs_all() {
  in_init_container 96m 1777 '/execcred install /plugins' '/execcred install /plugins' \
    '/plugins/execcred-token-file --version' '/plugins/execcred-aws --version' || return 1
  [ ! -s "$INPUT/stderr" ] && diff <(tr -s ' ' <"$INPUT/stdout") <(
    for state in installed unchanged; do
      echo DONE PLUGIN BYTES SHA256
      installed_report "$state" "$1"
    done
    "$EXECCRED_ROOT/dist/$1/execcred-token-file" --version
    "$EXECCRED_ROOT/dist/$1/execcred-aws" --version
    installed_files "$1"
  )
}

# An installed plugin gives a token.
installed_plugin_works() {
  local token=execcred-token-file
  in_init_container 96m 1777 "/execcred install --plugin=$token /plugins" \
    "/plugins/$token --token-file=/token" || return 1
  [ ! -s "$INPUT/stderr" ] && grep -qF "\"token\":\"$(cat "$INPUT/volume/token")\"" "$INPUT/stdout" &&
    [ "$(grep -c '^file ' "$INPUT/stdout")" -eq 1 ]
}

# install_is_refused SIZE MODE TEXT: the install fails, and the volume stays empty.
install_is_refused() {
  in_init_container "$1" "$2" '/execcred install /plugins' || return 1
  [ "$(cat "$INPUT/stdout")" = "status 2" ] &&
    grep -qE "^execcred: error: cannot write '/plugins/execcred-[a-z-]+': $3$" "$INPUT/stderr" &&
    grep -q '^  hint: ' "$INPUT/stderr"
}

prepare_install() {
  need_packages "${INSTALL_PACKAGES[@]}"
  mkdir -p "$INPUT/install/rootfs/plugins" "$INPUT/install/view"
  install -m 555 -t "$INPUT/install/rootfs" "$EXECCRED_ROOT/dist/$1"/execcred*
  install -m 444 "$INPUT/volume/token" "$INPUT/install/rootfs/token"
  chmod 755 "$INPUT/install/rootfs"
  gcc -O2 -Wall -Wextra -Werror -static -o "$INPUT/install/confined" \
    "$EXECCRED_ROOT/tests/release/confined.c"
}

# check_install ARCH: after checks.sh has set RUNNER and INPUT.
check_install() {
  local arch=$1 name="$1 execcred install, alone in a read-only root, as uid $ARBITRARY_UID"
  if [ "${#RUNNER[@]}" -gt 0 ]; then
    skip "$name" "the emulator would be a second file"
    return
  elif ! can_become_root; then
    skip "$name" "only root may mount"
    return
  fi
  prepare_install "$arch"
  check "$name: installs all plugins as 0555, and changes nothing the second time" installs_all "$arch"
  check "$name: a plugin in the volume gives a token" installed_plugin_works
  check "$name: a full volume stays empty" \
    install_is_refused 6m 1777 'No space left on device'
  check "$name: a volume of another user is not changed" \
    install_is_refused 96m 0755 'Permission denied'
}
