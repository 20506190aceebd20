# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Compares the servers that the release binaries trust, with a system's whole bundle, with those that
# OpenSSL's own client trusts, which loads all of it. The release's OpenSSL has only what TLS needs, so each
# type of key and signature is tested. (Only execcred ignores common names; tests/library/http tests it.)
# Sourced by runtime.sh.

TLS_DOMAIN=tls.test
tls_names=()

# new_key FILE KIND
new_key() {
  case $2 in
    rsa-pss*) openssl genpkey -algorithm RSA-PSS -pkeyopt "rsa_keygen_bits:${2#rsa-pss}" ;;
    rsa*) openssl genpkey -algorithm RSA -pkeyopt "rsa_keygen_bits:${2#rsa}" ;;
    ed25519) openssl genpkey -algorithm ED25519 ;;
    *) openssl genpkey -algorithm EC -pkeyopt "ec_paramgen_curve:$2" ;;
  esac >"$1" 2>/dev/null
}

# new_ca NAME KIND [OPTION...]: a root among those of the system.
new_ca() {
  local path=$RUNTIME/tls/ca-$1
  new_key "$path.key" "$2"
  openssl req -x509 -config "$RUNTIME/tls/request.cnf" -key "$path.key" -subj "/CN=${CA_NAME:-$1} CA" \
    -days 30 -addext "basicConstraints=critical,CA:${IS_CA:-TRUE}" -addext subjectKeyIdentifier=hash \
    -out "$path.crt" "${@:3}"
  cat "$path.crt" >>"$RUNTIME/bundle.crt"
}

# new_server NAME CA KIND [OPTION...]: a server with a certificate for NAME.tls.test, unless
# EXTENSIONS says otherwise. `-` makes it self-signed.
new_server() {
  local host=$1.$TLS_DOMAIN path=$RUNTIME/tls/$1 signer=(-signkey "$RUNTIME/tls/$1.key") identifier=''
  if [ "$2" != - ]; then
    signer=(-CA "$RUNTIME/tls/ca-$2.crt" -CAkey "$RUNTIME/tls/ca-$2.key")
    identifier=authorityKeyIdentifier=keyid:always
  fi
  new_key "$path.key" "$3"
  openssl req -new -config "$RUNTIME/tls/request.cnf" -key "$path.key" -subj "/CN=$host" -out "$path.csr"
  openssl x509 -req -in "$path.csr" "${signer[@]}" -set_serial "0x$(openssl rand -hex 8)" -days 20 \
    -extfile <(printf '%s\n' "$identifier" "${EXTENSIONS-subjectAltName=DNS:$host}") \
    -out "$path.crt" "${@:4}" 2>/dev/null
  cat "$path.crt" "$path.key" >"$RUNTIME/tls/$host.pem"
  tls_names+=("$1")
}

make_good_servers() {
  local kind digest
  new_ca ec prime256v1
  new_ca ec384 secp384r1 -sha384
  new_ca rsa rsa2048
  new_ca rsa4096 rsa4096 -sha512
  new_ca ed25519 ed25519
  for kind in prime256v1 secp384r1 secp521r1 rsa2048 rsa3072 rsa-pss2048 ed25519; do
    new_server "ec-$kind" ec "$kind"
  done
  for digest in sha256 sha384 sha512; do
    new_server "rsa-$digest" rsa rsa2048 "-$digest"
    new_server "ec384-$digest" ec384 prime256v1 "-$digest"
  done
  new_server rsa-pss-signed rsa rsa2048 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest
  new_server rsa4096 rsa4096 prime256v1
  new_server by-ed25519 ed25519 prime256v1
  CA_NAME=ec new_ca renewed prime256v1
  new_server namesake renewed prime256v1
  EXTENSIONS="subjectAltName=DNS:*.$TLS_DOMAIN" new_server wildcard ec prime256v1
  new_ca here prime256v1 -addext "nameConstraints=critical,permitted;DNS:$TLS_DOMAIN"
  new_server constrained here prime256v1
}

make_bad_servers() {
  new_server expired ec prime256v1 -days -1
  new_server self-signed - prime256v1
  new_server short-key ec rsa1024
  new_server sha1 rsa rsa2048 -sha1
  EXTENSIONS=subjectAltName=DNS:other.test new_server other-name ec prime256v1
  EXTENSIONS="subjectAltName=DNS:client.$TLS_DOMAIN
extendedKeyUsage=clientAuth" new_server client ec prime256v1
  new_ca there prime256v1 -addext "nameConstraints=critical,permitted;DNS:there.test"
  new_server constrained-away there prime256v1
  IS_CA=FALSE new_ca leaf prime256v1
  new_server by-leaf leaf prime256v1
  new_ca weak rsa1024
  new_server by-weak weak prime256v1
  cp "$RUNTIME/bundle.crt" "$RUNTIME/bundle.known"
  new_ca unknown prime256v1
  mv "$RUNTIME/bundle.known" "$RUNTIME/bundle.crt"
  new_server unknown unknown prime256v1
}

make_tls_servers() {
  local name
  mkdir "$RUNTIME/tls"
  printf '[req]\ndistinguished_name = none\n[none]\n' >"$RUNTIME/tls/request.cnf"
  make_good_servers
  make_bad_servers
  for name in "${tls_names[@]}"; do echo "$name.$TLS_DOMAIN A 127.0.0.1"; done >>"$RUNTIME/zone"
}

# The verdict of OpenSSL's client by the same rules, with the same bundle loaded whole.
openssl_believes() {
  as_root nsenter --target "$NETWORK_PID" --net openssl s_client -connect 127.0.0.1:443 \
    -servername "$1" -verify_hostname "$1" -CAfile "$RUNTIME/bundle.crt" -no-CApath \
    -no-CAstore -partial_chain -trusted_first -auth_level 2 -verify_return_error -brief \
    </dev/null >"$RUNTIME/judge" 2>&1
}

# Succeeds if both give the same verdict.
agrees_with_openssl() {
  local host=$1.$TLS_DOMAIN
  if openssl_believes "$host"; then
    believed=$((believed + 1))
    asks "$host"
  else
    refused=$((refused + 1))
    grep -q 'verify error' "$RUNTIME/judge" || { cat "$RUNTIME/judge" && return 1; }
    fails_with 3 "cannot verify https://$host:443" -- "${FEDERATION[@]}" "--token-url=https://$host/token"
  fi
}

# talks_to CODE TEXT OPTION...: to OpenSSL's own server, which supports only what the options say. Its
# page is not a discovery document.
talks_to() {
  local code=$1 text=$2 server url=https://wildcard.$TLS_DOMAIN:4443 path=$RUNTIME/tls/wildcard.$TLS_DOMAIN.pem
  local log=$RUNTIME/narrow-server status=0
  as_root nsenter --target "$NETWORK_PID" --net timeout 20 openssl s_server -www -naccept 1 \
    -accept 127.0.0.1:4443 -cert "$path" -key "$path" "${@:3}" </dev/null >"$log" 2>&1 &
  server=$!
  wait_until 20 grep -q ACCEPT "$log" || { cat "$log" && return 1; }
  fails_with "$code" "$text" -- "${FEDERATION[@]}" "--issuer-url=$url" || status=1
  # Its exit code does not matter, except 124: timeout ended a server without a connection.
  wait "$server" || [ "$?" -ne 124 ] || status=1
  return "$status"
}

# The groups and cipher suites that the release's OpenSSL must support.
check_narrow_servers() {
  local name="$1 execcred-oidc-federation, confined: a server that supports only" options
  for options in '-tls1_3 -groups '{X25519,P-256,P-384,P-521} '-tls1_2 -groups '{X25519,P-256,P-384} \
    '-tls1_3 -ciphersuites TLS_'{AES_128_GCM_SHA256,AES_256_GCM_SHA384,CHACHA20_POLY1305_SHA256} \
    '-tls1_2 -cipher ECDHE-ECDSA-'{AES128-GCM-SHA256,AES256-GCM-SHA384,CHACHA20-POLY1305}; do
    # shellcheck disable=SC2086
    check "$name $options" talks_to 1 'is no valid JSON' $options
  done
  check "$name a group that execcred lacks" talks_to 3 'refused TLS: handshake failure' -tls1_3 -groups X448
}

# Both verdicts must occur: otherwise the comparison would prove nothing.
judged_both_ways() { [ "$believed" -gt 15 ] && [ "$refused" -gt 8 ]; }

check_tls() {
  local name="$1 execcred-oidc-federation, confined: same verdict as OpenSSL with the whole bundle"
  local server believed=0 refused=0
  use_plugin "$1" execcred-oidc-federation
  for server in "${tls_names[@]}"; do check "$name: $server" agrees_with_openssl "$server"; done
  check "$name: $believed trusted, $refused refused" judged_both_ways
  check_narrow_servers "$1"
}
