# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The musl toolchain of the release builds: Zig's clang behind wrapper scripts, and a prefix with
# the libraries and headers built for it, in build/musl/ARCH. Sourced, after cache.sh and
# debian_source.sh.

# shellcheck source=scripts/lib/musl_tls.sh
. "$EXECCRED_ROOT/scripts/lib/musl_tls.sh"

LIBYAML_VERSION=0.2.5-1
LIBRARY_FLAGS=(-O2 -g0 -fPIE -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
  -fno-unwind-tables -fstack-protector-strong -Wno-unused-value)

# musl_machine ARCH: the machine's name in a target triple.
musl_machine() {
  case $1 in
    x86_64) echo x86_64 ;;
    arm64) echo aarch64 ;;
    *) fail "unknown architecture '$1': x86_64 and arm64 are known" ;;
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

build_libyaml() {
  local unit objects=()
  debian_source libyaml "$LIBYAML_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/libyaml-$LIBYAML_VERSION.sha256"
  mkdir -p "$MUSL/include" "$MUSL/lib/pkgconfig" "$MUSL/objects"
  for unit in "$SOURCE"/src/*.c; do
    objects+=("$MUSL/objects/$(basename "$unit" .c).o")
    # A relative name: what goes into the object must not tell where the cache is.
    (cd "$SOURCE" && "$MUSL/bin/cc" "${LIBRARY_FLAGS[@]}" -DYAML_DECLARE_STATIC -Iinclude \
      -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 \
      '-DYAML_VERSION_STRING="0.2.5"' -c "src/${unit##*/}" -o "${objects[-1]}")
  done
  "$MUSL/bin/ar" rcsD "$MUSL/lib/libyaml.a" "${objects[@]}"
  cp "$SOURCE/include/yaml.h" "$MUSL/include/"
  cat >"$MUSL/lib/pkgconfig/yaml-0.1.pc" <<END
Name: LibYAML
Description: YAML 1.1 parser and emitter
Version: ${LIBYAML_VERSION%-*}
Cflags: -I$MUSL/include
Libs: -L$MUSL/lib -lyaml
END
}

# An object and no archive, so that the linker prefers it to what libc++abi has.
build_runtime() {
  "$MUSL/bin/c++" -std=c++20 -O2 -g0 -fPIE -ffunction-sections -fdata-sections \
    -fstack-protector-strong -Wall -Wextra -Werror \
    -c "$EXECCRED_ROOT/cmake/toolchains/musl_runtime.cpp" -o "$MUSL/lib/runtime.o"
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
  build_libyaml
  build_runtime
  tls_libraries "$1"
  printf '%s\n' "$key" >"$MUSL/key"
}
