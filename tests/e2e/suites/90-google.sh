# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-google compared with google-auth: with the same credentials and the same strict servers, both
# send the same requests, for each type of credentials.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"

ORACLE=$E2E_DIR/oracles/google
PKI=$SUITE_DIR/pki

google_pki() {
  mkdir -p "$PKI"
  certificate "$PKI" ca /CN=google-ca basicConstraints=critical,CA:TRUE \
    keyUsage=critical,keyCertSign
  certificate "$PKI" server /CN=google basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=serverAuth 'subjectAltName=DNS:*.googleapis.com'
}

google_pki 2>"$SUITE_DIR/openssl" || fail "openssl: $(tail -n 3 "$SUITE_DIR/openssl")"
mkdir "$SUITE_DIR/world"
# compare.py prints the lines "ok SENTENCE", "not ok SENTENCE" and "    # detail".
status=0
PYTHONDONTWRITEBYTECODE=1 "$E2E_GOOGLE" "$ORACLE/compare.py" \
  "$EXECCRED_BIN/execcred-google" "$PKI/server.crt" "$PKI/server.key" "$PKI/ca.crt" \
  "$SUITE_DIR/world" >"$SUITE_DIR/compared" || status=$?
sed -E 's/^(ok|not ok) /\1 google: sends what google-auth sends: /' "$SUITE_DIR/compared"
[ "$status" -eq 0 ] || echo "not ok google: the comparison ended early, with status $status"
