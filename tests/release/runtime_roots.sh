# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Where CA certificates are searched for, and the error if there are none. Sourced by runtime.sh.

# Below the root; docs/ca-certificates.md has the same list.
BUNDLE_PATHS=(etc/ssl/certs/ca-certificates.crt etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem
  etc/pki/tls/certs/ca-bundle.crt etc/pki/tls/cacert.pem etc/ssl/ca-bundle.pem
  var/lib/ca-certificates/ca-bundle.pem etc/ssl/cert.pem)
NO_ROOTS="the system has no CA certificates to verify servers with"

# place FILE PATH: the one CA file of the root.
place() {
  remove_roots
  install -D -m 644 "$1" "$RUNTIME/rootfs/$2"
}
remove_roots() { rm -rf "$RUNTIME/rootfs/etc/ssl" "$RUNTIME/rootfs/etc/pki" "$RUNTIME/rootfs/var"; }

uses_bundle_at() {
  place "$RUNTIME/bundle.crt" "$1"
  asks idp.fleet.test
}

# uses_hash_links_in DIRECTORY: as c_rehash makes them.
uses_hash_links_in() {
  local directory=$RUNTIME/rootfs/$1
  remove_roots
  install -D -m 644 "$RUNTIME/root-ca.crt" "$directory/root-ca.pem"
  ln -s root-ca.pem "$directory/$(openssl x509 -noout -hash -in "$RUNTIME/root-ca.crt").0"
  asks idp.fleet.test
}

# As in SUSE and Fedora: links to a directory that is elsewhere.
uses_linked_directory() {
  remove_roots
  install -D -m 644 "$RUNTIME/bundle.crt" "$RUNTIME/rootfs/etc/pki/tls/certs/ca-bundle.crt"
  install -d "$RUNTIME/rootfs/etc/ssl"
  ln -s ../pki/tls/certs "$RUNTIME/rootfs/etc/ssl/certs"
  asks idp.fleet.test
}

uses_given_file() {
  remove_roots
  cp "$RUNTIME/root-ca.crt" "$RUNTIME/rootfs/etc/ca.pem"
  gives_credential -- "${FEDERATION[@]}" --token-url=https://idp.fleet.test/token --ca-file=/etc/ca.pem
}

# fails_for_roots CODE TEXT [VARIABLE=VALUE]...
fails_for_roots() {
  fails_with "$1" "$2" "${@:3}" -- "${FEDERATION[@]}" --token-url=https://idp.fleet.test/token
}

names_all_paths() {
  local path
  remove_roots
  fails_for_roots 2 "$NO_ROOTS" || return 1
  for path in "${BUNDLE_PATHS[@]}" etc/ssl/certs etc/pki/tls/certs; do
    verdict says "'/$path'" || return 1
  done
}

# says_no_roots CONTENT FOUND: with a bundle of that content.
says_no_roots() {
  printf '%b' "$1" >"$RUNTIME/no-roots"
  place "$RUNTIME/no-roots" "${BUNDLE_PATHS[0]}"
  fails_for_roots 2 "$NO_ROOTS" && verdict says "looked into '/${BUNDLE_PATHS[0]}' ($2)"
}
MALFORMED='-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'

cannot_read_bundle() {
  place "$RUNTIME/bundle.crt" "${BUNDLE_PATHS[0]}"
  chmod 600 "$RUNTIME/rootfs/${BUNDLE_PATHS[0]}"
  as_root chown root "$RUNTIME/rootfs/${BUNDLE_PATHS[0]}"
  fails_for_roots 2 "$NO_ROOTS" && verdict says "'/${BUNDLE_PATHS[0]}' (not readable)"
}

passes_over_garbage() {
  {
    printf '%b' "\0\0 no text -----BEGIN\n$MALFORMED"
    cat "$RUNTIME/root-ca.crt"
    printf '%b' "$MALFORMED-----BEGIN CERTIFICATE-----\n"
  } >"$RUNTIME/garbage"
  place "$RUNTIME/garbage" "${BUNDLE_PATHS[0]}"
  asks idp.fleet.test
}

tells_of_garbage() {
  {
    printf '%b' "$MALFORMED"
    cat /etc/ssl/certs/ca-certificates.crt
    printf '%b' "$MALFORMED"
  } >"$RUNTIME/garbage"
  place "$RUNTIME/garbage" "${BUNDLE_PATHS[0]}"
  fails_for_roots 3 "cannot verify https://idp.fleet.test" &&
    verdict says "'/${BUNDLE_PATHS[0]}' (" && verdict says "certificates, 2 malformed)" &&
    verdict says "do not know 'CN=root-ca'"
}

ignores_variables() {
  remove_roots
  install -d "$RUNTIME/rootfs/etc/mine"
  cp "$RUNTIME/root-ca.crt" "$RUNTIME/rootfs/etc/mine/ca.pem"
  fails_for_roots 2 "$NO_ROOTS" SSL_CERT_FILE=/etc/mine/ca.pem SSL_CERT_DIR=/etc/mine \
    CURL_CA_BUNDLE=/etc/mine/ca.pem
}

# check_roots_case WHAT COMMAND...: after which the root is as before.
check_roots_case() {
  check "$@"
  rm -rf "$RUNTIME/rootfs/var"
  reset_root
}

check_roots() {
  local name="$1 execcred-oidc-federation, confined" path
  use_plugin "$1" execcred-oidc-federation
  for path in "${BUNDLE_PATHS[@]}"; do
    check_roots_case "$name: the bundle at /$path" uses_bundle_at "$path"
  done
  check_roots_case "$name: hash links in /etc/ssl/certs" uses_hash_links_in etc/ssl/certs
  check_roots_case "$name: hash links in /etc/pki/tls/certs" uses_hash_links_in etc/pki/tls/certs
  check_roots_case "$name: /etc/ssl/certs is a link" uses_linked_directory
  check_roots_case "$name: --ca-file, if the system has no CA certificates" uses_given_file
  check_roots_case "$name: no CA certificates: all paths are named" names_all_paths
  check_roots_case "$name: an empty bundle is named" says_no_roots '' "no certificates"
  check_roots_case "$name: a bundle of garbage is named" \
    says_no_roots "$MALFORMED" "no certificates, 1 malformed"
  check_roots_case "$name: a bundle that only root may read is named" cannot_read_bundle
  check_roots_case "$name: garbage between certificates is skipped" passes_over_garbage
  check_roots_case "$name: garbage is reported if a CA is missing" tells_of_garbage
  check_roots_case "$name: SSL_CERT_FILE and similar variables have no effect" ignores_variables
}
