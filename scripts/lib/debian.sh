# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A new Debian of this machine's release in a folder, with only the minimal base, like a new machine.
# Needs root or sudo. Sourced, after common.sh and cache.sh.

# debian_mirror RELEASE: the mirror from which this machine gets its packages.
debian_mirror() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
    sed -n "s|^Debian $1 ||p" | sort -u | head -n 1
}

# Sets DEBIAN_BASE to a minimal Debian that is never changed.
debian_base() {
  local release mirror
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  mirror=$(debian_mirror "$release")
  [ -n "$mirror" ] || fail "apt-get knows no repository of Debian $release on this machine"
  DEBIAN_BASE=$CACHE/debian/$release-$(short_hash <<<"minbase $(dpkg --print-architecture) $mirror")
  [ -e "$DEBIAN_BASE.complete" ] || with_cache_lock make_debian_base "$release" "$mirror"
}

make_debian_base() {
  [ ! -e "$DEBIAN_BASE.complete" ] || return 0
  need_packages debootstrap
  step "making a minimal Debian with debootstrap"
  as_root rm -rf "$DEBIAN_BASE"
  mkdir -p "${DEBIAN_BASE%/*}"
  as_root debootstrap --variant=minbase "$1" "$DEBIAN_BASE" "$2" >"$DEBIAN_BASE.log" 2>&1 || {
    tail -n 20 "$DEBIAN_BASE.log"
    fail "debootstrap failed"
  }
  touch "$DEBIAN_BASE.complete"
}

# make_debian DIR [plain]: mounts a new Debian at DIR/root; remove_debian removes it. It shares this
# machine's kernel, network and apt settings. With "plain", its root is a folder and no mount point.
make_debian() {
  local root=$1/root
  debian_base
  mkdir -p "$root"
  if [ "${2:-}" = plain ]; then
    as_root cp -a "$DEBIAN_BASE/." "$root/"
  else
    mount_debian "$1"
  fi
  as_root mount -t proc proc "$root/proc"
  as_root mount --rbind /dev "$root/dev"
  as_root mount --make-rslave "$root/dev"
  copy_network_settings "$root"
  # As in Debian's container images: it need not survive a crash.
  as_root tee "$root/etc/dpkg/dpkg.cfg.d/unsafe-io" >/dev/null <<<force-unsafe-io
  in_debian "$root" apt-get update -qq
}

mount_debian() {
  local root=$1/root
  mkdir -p "$1/upper" "$1/work"
  as_root mount -t overlay -o "lowerdir=$DEBIAN_BASE,upperdir=$1/upper,workdir=$1/work" \
    execcred-debian "$root" 2>/dev/null || {
    as_root cp -a "$DEBIAN_BASE/." "$root/"
    as_root mount --bind "$root" "$root"
  }
}

# Copies only apt's sources and proxies, and no other setting.
copy_network_settings() {
  local file
  as_root rm -f "$1/etc/apt/sources.list"
  for file in /etc/resolv.conf /etc/hosts /etc/apt/sources.list /etc/apt/sources.list.d \
    /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/apt/trusted.gpg.d; do
    [ ! -e "$file" ] || as_root cp -rL "$file" "$1${file%/*}/"
  done
  for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
    if grep -qsE '^[[:space:]]*Acquire' "$file"; then as_root cp -L "$file" "$1$file"; fi
  done
}

# in_debian ROOT COMMAND...: runs it there as root. Of this machine's variables it gets only the
# proxies.
in_debian() {
  local name settings=()
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!name:-}" ] || settings+=("$name=${!name}")
  done
  as_root env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
    DEBIAN_FRONTEND=noninteractive "${settings[@]}" "${CONFINED[@]}" /usr/sbin/chroot "$@"
}
CONFINED=()

# in_container ROOT COMMAND...: as in_debian, with what an ordinary container has: no CAP_SYS_ADMIN and no
# CAP_SYS_PTRACE, a /dev/shm of 64 MB, and no network but an IPv4 loopback.
in_container() {
  # shellcheck disable=SC2016
  local CONFINED=(unshare --net --mount bash -euc '
    mount -t tmpfs -o size=64m,mode=1777 shm "$1/dev/shm"
    echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
    python3 -c "
import fcntl, socket, struct
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
fcntl.ioctl(socket.socket(), SIOCSIFFLAGS, struct.pack(\"16sh22x\", b\"lo\", IFF_UP))"
    shift
    exec setpriv --bounding-set=-sys_admin,-sys_ptrace "$@"' confine "$1")
  in_debian "$@"
}

# mounts_in DIR: prints what is mounted in it, the deepest first.
mounts_in() { awk -v dir="$1/" 'index($5, dir) == 1 { print $5 }' /proc/self/mountinfo | sort -r; }

# remove_debian DIR: removes everything in it, including mounts that were added later. A process that
# still runs there keeps its files until it ends. Nothing is removed while something is mounted: the
# folders of this machine that are mounted there would be emptied too.
remove_debian() {
  local mounted
  for mounted in $(mounts_in "$1"); do
    as_root umount "$mounted" 2>/dev/null || as_root umount -l "$mounted" || true
  done
  [ -z "$(mounts_in "$1")" ] || fail "cannot unmount all of '$1'"
  as_root rm -rf --one-file-system "$1"
}
