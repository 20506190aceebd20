# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# OpenSSL and libcurl for the release builds, with what an HTTP client needs and no more. Building
# them takes minutes, so the result is kept in the cache. Sourced by musl.sh.

# shellcheck source=scripts/lib/crate_source.sh
. "$EXECCRED_ROOT/scripts/lib/crate_source.sh"

# Nothing that the environment or a configuration file could load (engines, modules, openssl.cnf);
# of cryptography, what TLS 1.2 and 1.3 and X.509 use; of the protocols, TLS alone.
OPENSSL_OPTIONS=(
  no-shared no-pic no-module no-dso no-engine no-autoload-config no-atexit no-ui-console
  no-sslkeylog no-apps no-docs no-demos no-tests no-filenames no-ssl-trace no-secure-memory
  no-err
  no-async no-thread-pool no-default-thread-pool
  no-legacy no-weak-ssl-ciphers no-integrity-only-ciphers no-tls-deprecated-ec no-tls1 no-tls1_1
  no-idea no-rc2 no-rc4 no-md4 no-mdc2 no-bf no-cast no-seed no-camellia no-aria no-des
  no-sm2 no-sm3 no-sm4 no-gost no-whirlpool no-rmd160 no-blake2 no-siphash no-siv no-ocb
  no-dh no-dsa no-ec2m no-ml-dsa no-slh-dsa no-lms no-multiblock
  no-argon2 no-scrypt no-krb5kdf no-sshkdf no-snmpkdf no-srtpkdf no-pvkkdf
  no-kbkdf no-sskdf no-x942kdf no-x963kdf no-hmac-drbg-kdf no-cmac
  no-comp no-zlib no-srp no-psk no-srtp no-nextprotoneg no-ech no-dtls no-sctp no-quic
  no-ct no-cms no-ts no-cmp no-http no-ocsp no-rfc3779
  enable-ec_nistp_64_gcc_128)

# HTTP and HTTPS, with http, https and socks5 proxies. Certificate authorities come from the caller
# alone. Names are resolved in a thread, and a call does not wait for it: a look-up that hangs does not
# outlive the call.
CURL_OPTIONS=(
  -DBUILD_SHARED_LIBS=OFF -DBUILD_STATIC_LIBS=ON -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF
  -DBUILD_EXAMPLES=OFF -DBUILD_LIBCURL_DOCS=OFF -DBUILD_MISC_DOCS=OFF -DENABLE_CURL_MANUAL=OFF
  # The crate has no documentation, which the build scripts make when they find Perl.
  -DCMAKE_DISABLE_FIND_PACKAGE_Perl=ON
  -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DENABLE_IPV6=ON -DENABLE_UNIX_SOCKETS=OFF
  -DENABLE_THREADED_RESOLVER=ON -DCURL_USE_PKGCONFIG=OFF
  -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none -DCURL_CA_FALLBACK=OFF
  -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DUSE_NGHTTP2=OFF
  -DCURL_USE_LIBPSL=OFF -DUSE_LIBIDN2=OFF -DCURL_USE_LIBSSH2=OFF -DCURL_USE_GSSAPI=OFF
  -DCURL_DISABLE_{ALTSVC,AWS,BINDLOCAL,COOKIES,DIGEST_AUTH,DOH,GETOPTIONS,HEADERS_API,HSTS}"=ON"
  -DCURL_DISABLE_{KERBEROS_AUTH,LIBCURL_OPTION,MIME,NEGOTIATE_AUTH,NETRC}"=ON"
  -DCURL_DISABLE_{OPENSSL_AUTO_LOAD_CONFIG,PROGRESS_METER,SHA512_256,SHUFFLE_DNS}"=ON")

# What the libraries are made of, but for the place of this tree.
tls_key() {
  {
    declare -p LIBRARY_FLAGS
    declare -f compiler_wrapper
    cat "$EXECCRED_ROOT/scripts/lib/musl_tls.sh" "$EXECCRED_ROOT/cmake/toolchains/musl.cmake" \
      "$EXECCRED_ROOT/scripts/requirements/zig.txt" "$CRATES"
  } | short_hash
}

# write_small_gcm SOURCE, in OpenSSL's build folder: AES-GCM for AVX-512 is 680 KB of unrolled code, a
# sixth of a plugin, which makes megabytes faster and not the few kilobytes of a request. OpenSSL's own
# generator leaves it out for an assembler that does not know AVX-512.
write_small_gcm() {
  mkdir -p crypto/modes
  CC='echo clang of no version #' perl "$1/crypto/modes/asm/aes-gcm-avx512.pl" elf crypto/modes/aes-gcm-avx512.s
}

# build_openssl MACHINE SOURCE WORK INTO. The compiler's command line becomes part of the library, so
# it names no folder; the sources' names stay out because of no-filenames.
build_openssl() {
  local source=$2 work=$3/openssl into=$4 environment
  mkdir -p "$work/build"
  (
    cd "$work/build" || exit
    PATH=$MUSL/bin:$PATH
    environment=(env SOURCE_DATE_EPOCH=0 CC=cc AR=ar RANLIB=ranlib "CFLAGS=${LIBRARY_FLAGS[*]}")
    "${environment[@]}" perl "$source/openssl/Configure" "linux-$1" --prefix=/nonexistent \
      --openssldir=/nonexistent --libdir=lib "${OPENSSL_OPTIONS[@]}" &&
      { [ "$1" != x86_64 ] || write_small_gcm "$source/openssl"; } &&
      "${environment[@]}" make -j "$EXECCRED_JOBS" build_libs &&
      "${environment[@]}" make install_dev "DESTDIR=$work/installed"
  ) >"$work/log" 2>&1 || fail "cannot build OpenSSL; see $work/log"
  cp -r "$work/installed/nonexistent/include" "$work/installed/nonexistent/lib" "$into/"
  rm -rf "$into/lib/cmake"
}

# build_curl MACHINE SOURCE WORK INTO: INTO has OpenSSL already.
build_curl() {
  local machine=$1 source=$2 work=$3/curl into=$4
  mkdir -p "$work"
  {
    cmake -G Ninja -S "$source/curl" -B "$work/build" \
      -DCMAKE_TOOLCHAIN_FILE="$EXECCRED_ROOT/cmake/toolchains/musl.cmake" \
      -DEXECCRED_MUSL="$MUSL" -DEXECCRED_MUSL_MACHINE="$machine" \
      -DCMAKE_C_FLAGS="${LIBRARY_FLAGS[*]}" -DOPENSSL_INCLUDE_DIR="$into/include" \
      -DOPENSSL_SSL_LIBRARY="$into/lib/libssl.a" \
      -DOPENSSL_CRYPTO_LIBRARY="$into/lib/libcrypto.a" "${CURL_OPTIONS[@]}" &&
      cmake --build "$work/build" -j "$EXECCRED_JOBS"
  } >"$work/log" 2>&1 || fail "cannot build curl; see $work/log"
  mkdir "$into/include/curl"
  cp "$source"/curl/include/curl/*.h "$into/include/curl/"
  cp "$work/build/lib/libcurl.a" "$into/lib/"
}

# Curl's own file would name the libraries once more, and this build's folders.
write_curl_pc() {
  local version
  version=$(crate_version curl-sys)
  cat <<END
prefix=/nonexistent

Name: libcurl
Description: Library to transfer files with HTTP
Version: ${version#*curl-}
Requires: openssl
Libs: -L\${prefix}/lib -lcurl
Cflags: -I\${prefix}/include -DCURL_STATICLIB
END
}

build_tls() {
  local arch=$1 machine=$2 openssl_source=$3 curl_source=$4 work
  [ ! -e "$TLS" ] || return 0
  need_packages cmake ninja-build make perl
  step "building OpenSSL and curl for $arch, once for these versions"
  work=$(mktemp -d)
  rm -rf "$TLS.partial"
  mkdir -p "$TLS.partial"
  build_openssl "$machine" "$openssl_source" "$work" "$TLS.partial"
  build_curl "$machine" "$curl_source" "$work" "$TLS.partial"
  write_curl_pc >"$TLS.partial/lib/pkgconfig/libcurl.pc"
  mv "$TLS.partial" "$TLS"
  remove_unused "$TLS" "$arch"
  rm -rf "$work"
}

# tls_libraries ARCH: puts them into MUSL, which has the compiler already.
tls_libraries() {
  local openssl_source file
  TLS=$CACHE/tls/$1-$(tls_key)
  if [ ! -e "$TLS" ]; then
    crate_source openssl-src
    openssl_source=$SOURCE
    crate_source curl-sys
    with_cache_lock build_tls "$1" "$(musl_machine "$1")" "$openssl_source" "$SOURCE"
  fi
  mark_used "$TLS"
  mkdir -p "$MUSL/include" "$MUSL/lib/pkgconfig"
  cp -r "$TLS/include/." "$MUSL/include/"
  cp "$TLS"/lib/*.a "$MUSL/lib/"
  for file in "$TLS"/lib/pkgconfig/*.pc; do
    sed "s|^prefix=.*|prefix=$MUSL|" "$file" >"$MUSL/lib/pkgconfig/${file##*/}"
  done
}
