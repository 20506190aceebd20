# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The third-party components in the release binaries: pinned versions and hashes, and the licences.
# Sourced by scripts/release, after musl.sh.

# Prints for each component, separated by tabs: name, version, licence, vendor and product in the CPE
# dictionary, the address of its source, the SHA-256 of that, and how a build's inputs show that a
# binary contains it (the end of a file name, or part of a header's path; * for all binaries).
component() {
  local IFS=$'\t'
  printf '%s\n' "$*"
}

crate_purl() { echo "pkg:cargo/$1@$(crate_version "$1" | sed 's/+/%2B/g')"; }
crate_sum() { sed -n "s|^\([0-9a-f]\{64\}\)  $1-[0-9].*|\1|p" "$CRATES"; }

# debian_component NAME LICENCE CPE PACKAGE VERSION EVIDENCE. The .dsc has the hashes of all other files.
debian_component() {
  local sums=$EXECCRED_ROOT/scripts/requirements/$4-$5.sha256
  component "$1" "${5%%-*}" "$2" "$3" "pkg:deb/debian/$4@${5//+/%2B}?arch=source" \
    "$(sed -n 's/^\([0-9a-f]\{64\}\)  .*\.dsc$/\1/p' "$sums")" "$6"
}

# libcxx_version LIB: prints 22.1.8 for the number 220108.
libcxx_version() {
  local number
  number=$(sed -n 's/^#  *define _LIBCPP_VERSION \([0-9]*\)$/\1/p' "$1/libcxx/include/__config")
  echo "$((number / 10000)).$((number / 100 % 100)).$((number % 100))"
}

# zig_component NAME VERSION LICENCE CPE: a part of Zig's package, which exists once for each kind of
# machine that builds.
zig_component() {
  local pins=$EXECCRED_ROOT/scripts/requirements/zig.txt version
  version=$(sed -n 's/^ziglang==\([0-9.]*\).*/\1/p' "$pins")
  component "$1" "${2:-$version}" "$3" "$4" "pkg:pypi/ziglang@$version" \
    "$(sed -n 's/.*--hash=sha256:\([0-9a-f]\{64\}\).*/\1/p' "$pins" | paste -sd,)" '*'
}

# components: prints the components of all binaries. Needs ZIG, which musl_prefix sets.
components() {
  local zig=${ZIG%/*}/lib openssl curl llvm
  openssl=$(crate_version openssl-src)
  curl=$(crate_version curl-sys)
  llvm=$(libcxx_version "$zig")
  component OpenSSL "${openssl#*+}" Apache-2.0 openssl:openssl "$(crate_purl openssl-src)" \
    "$(crate_sum openssl-src)" /libcrypto.a
  component libcurl "${curl#*+curl-}" curl haxx:libcurl "$(crate_purl curl-sys)" \
    "$(crate_sum curl-sys)" /libcurl.a
  debian_component Expat MIT libexpat_project:libexpat expat "$EXPAT_VERSION" /libexpat.a
  debian_component nghttp2 MIT nghttp2:nghttp2 nghttp2 "$NGHTTP2_VERSION" /libnghttp2.a
  debian_component libevent BSD-3-Clause libevent_project:libevent libevent "$LIBEVENT_VERSION" \
    /libevent.a
  debian_component prometheus-cpp MIT - prometheus-cpp "$PROMETHEUS_CPP_VERSION" \
    /libprometheus-cpp-core.a
  debian_component LibYAML MIT pyyaml:libyaml libyaml "$LIBYAML_VERSION" /libyaml.a
  component nlohmann-json "$NLOHMANN_JSON_VERSION" MIT - \
    "pkg:deb/debian/nlohmann-json3-dev@$NLOHMANN_JSON_VERSION" - /include/nlohmann/
  component protozero "$PROTOZERO_VERSION" BSD-2-Clause - \
    "pkg:deb/debian/libprotozero-dev@$PROTOZERO_VERSION" - /include/protozero/
  component CLI11 "$CLI11_VERSION" BSD-3-Clause - \
    "pkg:deb/debian/libcli11-dev@$CLI11_VERSION" - /include/CLI/
  debian_component mallocng MIT - musl "$MUSL_VERSION" '*'
  zig_component musl "$(sed -n 's/.*"\([0-9.]*\)".*/\1/p' "$zig/libc/musl/src/internal/version.h")" \
    MIT musl-libc:musl
  zig_component libc++ "$llvm" 'Apache-2.0 WITH LLVM-exception' -
  zig_component libc++abi "$llvm" 'Apache-2.0 WITH LLVM-exception' -
  zig_component libunwind "$llvm" 'Apache-2.0 WITH LLVM-exception' -
  zig_component zig '' MIT -
}

# licence_texts DIR: writes the licence text of each component, from its source.
licence_texts() {
  local into=$1 zig=${ZIG%/*}
  crate_source openssl-src
  cp "$SOURCE/openssl/LICENSE.txt" "$into/OpenSSL.txt"
  crate_source curl-sys
  cp "$SOURCE/curl/COPYING" "$into/libcurl.txt"
  debian_source nghttp2 "$NGHTTP2_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/nghttp2-$NGHTTP2_VERSION.sha256"
  cp "$SOURCE/COPYING" "$into/nghttp2.txt"
  debian_source expat "$EXPAT_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/expat-$EXPAT_VERSION.sha256"
  cp "$SOURCE/COPYING" "$into/Expat.txt"
  debian_source libevent "$LIBEVENT_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/libevent-$LIBEVENT_VERSION.sha256"
  cp "$SOURCE/LICENSE" "$into/libevent.txt"
  debian_source prometheus-cpp "$PROMETHEUS_CPP_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/prometheus-cpp-$PROMETHEUS_CPP_VERSION.sha256"
  cp "$SOURCE/LICENSE" "$into/prometheus-cpp.txt"
  debian_source libyaml "$LIBYAML_VERSION" \
    "$EXECCRED_ROOT/scripts/requirements/libyaml-$LIBYAML_VERSION.sha256"
  cp "$SOURCE/License" "$into/LibYAML.txt"
  cp /usr/share/doc/nlohmann-json3-dev/copyright "$into/nlohmann-json.txt"
  debian_source musl "$MUSL_VERSION" "$EXECCRED_ROOT/scripts/requirements/musl-$MUSL_VERSION.sha256"
  cp "$SOURCE/COPYRIGHT" "$into/mallocng.txt"
  cp /usr/share/doc/libprotozero-dev/copyright "$into/protozero.txt"
  cp /usr/share/doc/libcli11-dev/copyright "$into/CLI11.txt"
  cp "$zig/lib/libc/musl/COPYRIGHT" "$into/musl.txt"
  cp "$zig/lib/libcxx/LICENSE.TXT" "$into/libc++.txt"
  cp "$zig/lib/libcxxabi/LICENSE.TXT" "$into/libc++abi.txt"
  cp "$zig/lib/libunwind/LICENSE.TXT" "$into/libunwind.txt"
  cp "$zig/LICENSE" "$into/zig.txt"
}
