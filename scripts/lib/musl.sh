# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The musl toolchain of the release builds: Zig's clang behind wrapper scripts, and a prefix with
# the libraries and headers built for it, in build/musl/ARCH. Sourced, after cache.sh and
# debian_source.sh.

# shellcheck source=scripts/lib/musl_tls.sh
. "$EXECCRED_ROOT/scripts/lib/musl_tls.sh"

EXPAT_VERSION=2.5.0-1+deb12u2
LIBEVENT_VERSION=2.1.12-stable-8+deb12u1
LIBYAML_VERSION=0.2.5-1
MUSL_VERSION=1.2.3-1
NGHTTP2_VERSION=1.52.0-1+deb12u3
NLOHMANN_JSON_VERSION=3.11.2
PROMETHEUS_CPP_VERSION=1.0.1-1
PROTOZERO_VERSION=1.7.1
CLI11_VERSION=2.1.2
DOCTEST_VERSION=2.4.9
# For all architectures; musl_prefix makes LIBRARY_FLAGS of them. With -Os a plugin with OpenSSL in it is
# 350 KB smaller and takes 440 KB less memory than with -O2, in the same time: the kernel maps what lies
# near what runs too. C++, whose templates want to be inlined, takes half as many instructions again.
COMMON_FLAGS=(-Os -g0 -fPIE -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
  -fno-unwind-tables -fstack-protector-strong -fstack-clash-protection -Wno-unused-value)

# musl_machine ARCH: the machine's name in a target triple.
musl_machine() {
  case $1 in
    x86_64) echo x86_64 ;;
    arm64) echo aarch64 ;;
    *) fail "unknown architecture '$1': x86_64 and arm64 are known" ;;
  esac
}

# branch_protection ARCH: the compiler's option against jumps to the middle of functions.
branch_protection() {
  case $1 in
    x86_64) echo -fcf-protection=full ;;
    arm64) echo -mbranch-protection=standard ;;
  esac
}

# compiler_wrapper TOOL TARGET: Zig refuses some arguments that change nothing here: lld separates
# code from data anyhow, and musl has no _FORTIFY_SOURCE. Paths of this machine stay out.
compiler_wrapper() {
  cat <<END
#!/bin/sh
for argument; do
  shift
  case \$argument in
    -Wp,-U_FORTIFY_SOURCE | -Wl,-z,separate-code) continue ;;
    *,-z,separate-code) argument=\${argument%,-z,separate-code} ;;
  esac
  set -- "\$@" "\$argument"
done
exec '$ZIG' $1 -target $2 '-ffile-prefix-map=$EXECCRED_ROOT=.' '-ffile-prefix-map=${ZIG%/*}=zig' "\$@"
END
}

# compile_library NAME FOLDER FLAGS...: the units in the FOLDER of SOURCE become lib<NAME>.a.
compile_library() {
  local name=$1 folder=$2 sources
  shift 2
  sources=("$SOURCE/$folder"/*.c)
  compile_units "$name" "$folder" "${sources[*]##*/}" "$@"
}

# compile_units NAME FOLDER UNITS FLAGS...: only these units, a text with their names; those in C++ end
# in .cc.
compile_units() {
  local name=$1 folder=$2 units=$3 unit compiler objects=()
  shift 3
  mkdir -p "$MUSL/include" "$MUSL/lib/pkgconfig" "$MUSL/objects/$name"
  for unit in $units; do
    objects+=("$MUSL/objects/$name/${unit%.c*}.o")
    compiler=("$MUSL/bin/cc")
    [[ $unit != *.cc ]] || compiler=("$MUSL/bin/c++" -std=c++20)
    # A relative name: what goes into the object must not tell where the cache is.
    (cd "$SOURCE" && "${compiler[@]}" "${LIBRARY_FLAGS[@]}" "$@" -c "$folder/$unit" -o "${objects[-1]}")
  done
  "$MUSL/bin/ar" rcsD "$MUSL/lib/lib$name.a" "${objects[@]}"
}

# write_pc MODULE LIBRARY VERSION [CFLAGS]
write_pc() {
  cat >"$MUSL/lib/pkgconfig/$1.pc" <<END
Name: $1
Description: $1, for the release binaries
Version: $3
Cflags: -I$MUSL/include ${4:-}
Libs: -L$MUSL/lib -l$2
END
}

# Without document types, which are refused anyhow: no entity is declared, none expanded.
build_expat() {
  local version=${EXPAT_VERSION%%-*}
  debian_source expat "$EXPAT_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/expat-$EXPAT_VERSION.sha256"
  mkdir -p "$MUSL/include" "$MUSL/objects/expat"
  printf '#define %s\n' 'BYTEORDER 1234' 'HAVE_GETRANDOM 1' 'XML_CONTEXT_BYTES 1024' \
    >"$MUSL/objects/expat/expat_config.h"
  compile_library expat expat/lib -DNDEBUG "-I$MUSL/objects/expat"
  cp "$SOURCE"/expat/lib/expat{,_external}.h "$MUSL/include/"
  write_pc expat expat "$version"
}

build_libyaml() {
  debian_source libyaml "$LIBYAML_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/libyaml-$LIBYAML_VERSION.sha256"
  compile_library yaml src -DYAML_DECLARE_STATIC -Iinclude -DYAML_VERSION_MAJOR=0 \
    -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 '-DYAML_VERSION_STRING="0.2.5"'
  cp "$SOURCE/include/yaml.h" "$MUSL/include/"
  write_pc yaml-0.1 yaml "${LIBYAML_VERSION%-*}"
}

# Its version's header is the only file that its configure script would have to make.
build_nghttp2() {
  local version=${NGHTTP2_VERSION%%-*} numbers
  debian_source nghttp2 "$NGHTTP2_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/nghttp2-$NGHTTP2_VERSION.sha256"
  mkdir -p "$MUSL/include/nghttp2"
  cp "$SOURCE/lib/includes/nghttp2/nghttp2.h" "$MUSL/include/nghttp2/"
  IFS=. read -ra numbers <<<"$version"
  sed -e "s/@PACKAGE_VERSION@/$version/" \
    -e "s/@PACKAGE_VERSION_NUM@/0x$(printf %02x "${numbers[@]}")/" \
    "$SOURCE/lib/includes/nghttp2/nghttp2ver.h.in" >"$MUSL/include/nghttp2/nghttp2ver.h"
  compile_library nghttp2 lib -DNGHTTP2_STATICLIB -DHAVE_ARPA_INET_H -DHAVE_CLOCK_GETTIME \
    -DHAVE_NETINET_IN_H -DHAVE_TIME_H \
    "-I$MUSL/include"
  write_pc libnghttp2 nghttp2 "$version" -DNGHTTP2_STATICLIB
}

# What libevent's configure script finds on Linux with musl, of what its event loop and its HTTP server
# ask for. No threads: each loop is one thread's.
LIBEVENT_HAS=(ACCEPT4 ARPA_INET_H CLOCK_GETTIME DECL_CTL_KERN=0 EPOLL EPOLL_CREATE1 EPOLL_CTL ERRNO_H
  EVENTFD FCNTL FCNTL_H GETADDRINFO GETEGID GETEUID GETNAMEINFO GETTIMEOFDAY INET_NTOP INET_PTON
  INTTYPES_H ISSETUGID=0 MEMORY_H MMAP NANOSLEEP NETDB_H NETINET_IN_H NETINET_TCP_H PIPE PIPE2 POLL_H
  SA_FAMILY_T SETENV SETFD SIGACTION SIGNAL SOCKETPAIR STDARG_H STDDEF_H STDINT_H STDLIB_H STRING_H
  STRLCPY STRSEP STRTOK_R STRTOLL STRUCT_ADDRINFO STRUCT_IN6_ADDR STRUCT_SOCKADDR_IN6
  STRUCT_SOCKADDR_STORAGE STRUCT_SOCKADDR_STORAGE_SS_FAMILY STRUCT_SOCKADDR_UN SYS_EPOLL_H
  SYS_EVENTFD_H SYS_IOCTL_H SYS_MMAN_H SYS_QUEUE_H=0 SYS_RESOURCE_H SYS_SELECT_H SYS_SOCKET_H
  SYS_STAT_H SYS_TIME_H SYS_TYPES_H SYS_UIO_H SYS_UN_H SYS_WAIT_H TIMERADD TIMERCLEAR TIMERCMP
  TIMERISSET UINT16_T UINT32_T UINT64_T UINT8_T UINTPTR_T UMASK UNISTD_H UNSETENV USLEEP VASPRINTF)

build_libevent() {
  local version=${LIBEVENT_VERSION%%-*} config=$MUSL/include/event2/event-config.h has
  debian_source libevent "$LIBEVENT_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/libevent-$LIBEVENT_VERSION.sha256"
  mkdir -p "$MUSL/include" "$MUSL/objects/event"
  cp -r "$SOURCE/include/event2" "$MUSL/include/"
  {
    printf '#define EVENT__%s\n' 'DISABLE_THREAD_SUPPORT 1' 'NUMERIC_VERSION 0x02010c00' \
      "VERSION \"$version\"" 'SIZEOF_INT 4' 'SIZEOF_LONG 8' 'SIZEOF_LONG_LONG 8' 'SIZEOF_OFF_T 8' \
      'SIZEOF_SHORT 2' 'SIZEOF_SIZE_T 8' 'SIZEOF_SSIZE_T 8' 'SIZEOF_VOID_P 8' 'SIZEOF_TIME_T 8' \
      'SIZEOF_PTHREAD_T 8' 'TIME_WITH_SYS_TIME 1'
    for has in "${LIBEVENT_HAS[@]}"; do
      case $has in
        DECL_*=0) echo "#define EVENT__HAVE_${has%=0} 0" ;;
        *=0) ;;
        *) echo "#define EVENT__HAVE_$has 1" ;;
      esac
    done
  } >"$config"
  : >"$MUSL/objects/event/evconfig-private.h"
  compile_units event . "buffer.c bufferevent.c bufferevent_filter.c bufferevent_pair.c \
    bufferevent_ratelim.c bufferevent_sock.c epoll.c event.c evmap.c evthread.c evutil.c evutil_rand.c \
    evutil_time.c http.c listener.c log.c signal.c" -D_GNU_SOURCE -DNDEBUG -Wno-tautological-compare \
    "-I$MUSL/include" "-I$MUSL/objects/event" -Iinclude -Icompat
  write_pc libevent_core event "$version"
  write_pc libevent_extra event "$version"
}

# The text format alone, of which the figures are given.
build_prometheus_cpp() {
  debian_source prometheus-cpp "$PROMETHEUS_CPP_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/prometheus-cpp-$PROMETHEUS_CPP_VERSION.sha256"
  cp -r "$SOURCE/core/include/prometheus" "$MUSL/include/"
  echo '#define PROMETHEUS_CPP_CORE_EXPORT' >"$MUSL/include/prometheus/detail/core_export.h"
  compile_units prometheus-cpp-core core/src 'serializer.cc text_serializer.cc' "-I$MUSL/include"
}

# copy_headers NAME VERSION PACKAGE FOLDER: headers alone, the same for every architecture, are those
# of Debian's package.
copy_headers() {
  need_packages "$3"
  (cd /usr/include && sha256sum --check --strict --quiet \
    "$EXECCRED_ROOT/scripts/requirements/$1-$2.sha256")
  cp -r "/usr/include/$4" "$MUSL/include/"
}

# build_runtime: objects and no archive, so that the linker prefers them to what Zig's libraries have.
build_runtime() {
  "$MUSL/bin/c++" -std=c++20 "${LIBRARY_FLAGS[@]}" -O2 -Wall -Wextra -Werror \
    -c "$EXECCRED_ROOT/cmake/toolchains/musl_runtime.cpp" -o "$MUSL/lib/runtime.o"
  debian_source musl "$MUSL_VERSION" "$EXECCRED_ROOT/scripts/requirements/musl-$MUSL_VERSION.sha256"
  # calloc must not be taken for a place to call calloc.
  "$MUSL/bin/cc" "${LIBRARY_FLAGS[@]}" -O2 -fno-builtin-malloc -iquote "$SOURCE/src/malloc" \
    -iquote "$SOURCE/src/internal" -c "$EXECCRED_ROOT/cmake/toolchains/musl_malloc.c" \
    -o "$MUSL/lib/malloc.o"
}

# musl_prefix ARCH: sets MUSL to the prefix, made anew when anything that it is made of changed. What
# was built with the former one goes too: ninja cannot see a change behind the wrapper scripts.
musl_prefix() {
  local machine key
  machine=$(musl_machine "$1")
  MUSL=$EXECCRED_ROOT/build/musl/$1
  python_packages "$EXECCRED_ROOT/scripts/requirements/zig.txt"
  ZIG=$(echo "$VENV"/lib/python3*/site-packages/ziglang/zig)
  export ZIG_GLOBAL_CACHE_DIR=$CACHE/zig-cache

  key=$(
    echo "$ZIG"
    cat "$EXECCRED_ROOT"/scripts/lib/{musl,musl_tls,crate_source,debian_source}.sh \
      "$EXECCRED_ROOT"/cmake/toolchains/* "$EXECCRED_ROOT"/scripts/requirements/*
  )
  [ "$(cat "$MUSL/key" 2>/dev/null)" != "$key" ] || return 0
  step "preparing the musl prefix for $1"
  rm -rf "$MUSL" "$EXECCRED_ROOT/build/release-$1"
  mkdir -p "$MUSL/bin"
  compiler_wrapper cc "$machine-linux-musl" >"$MUSL/bin/cc"
  compiler_wrapper c++ "$machine-linux-musl" >"$MUSL/bin/c++"
  printf "#!/bin/sh\nexec '%s' ar \"\$@\"\n" "$ZIG" >"$MUSL/bin/ar"
  printf "#!/bin/sh\nexec '%s' ranlib \"\$@\"\n" "$ZIG" >"$MUSL/bin/ranlib"
  chmod 755 "$MUSL"/bin/*
  LIBRARY_FLAGS=("${COMMON_FLAGS[@]}" "$(branch_protection "$1")")
  echo "${LIBRARY_FLAGS[*]}" >"$MUSL/library_flags"
  build_expat
  build_libyaml
  build_nghttp2
  build_libevent
  build_prometheus_cpp
  copy_headers protozero "$PROTOZERO_VERSION" libprotozero-dev protozero
  copy_headers nlohmann-json "$NLOHMANN_JSON_VERSION" nlohmann-json3-dev nlohmann
  copy_headers cli11 "$CLI11_VERSION" libcli11-dev CLI
  copy_headers doctest "$DOCTEST_VERSION" doctest-dev doctest
  build_runtime
  tls_libraries "$1"
  printf '%s\n' "$key" >"$MUSL/key"
}
