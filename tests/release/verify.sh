# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# scripts/verify accepts a signed release and refuses everything else. So do the tools whose formats
# the signatures have: minisign and cosign. Sourced by checks.sh, after tests/e2e/lib/parts.sh.

VERIFY_USERS=(/bin/sh bash 'busybox sh')

# verifies STATUS TEXT ARGUMENT...: that exit code, and one line that begins with the text.
verifies() {
  local wanted=$1 text=$2 status=0
  shift 2
  # shellcheck disable=SC2086
  (cd "$VERIFY_DIR" && ${VERIFY_SHELL:-/bin/sh} ./verify "$@") >"$VERIFY_DIR/output" 2>&1 ||
    status=$?
  if [ "$status" -eq "$wanted" ] && [ "$(wc -l <"$VERIFY_DIR/output")" -eq 1 ] &&
    [[ $(cat "$VERIFY_DIR/output") == "verify: $text"* ]]; then
    return
  fi
  echo "exit code $status, and it said:"
  sed 's/^/  /' "$VERIFY_DIR/output"
  return 1
}

# refused WHAT TEXT COMMAND...: a copy of the release that the command, which runs there, has
# changed. Only the key's owner can sign new sums.
refused() {
  local what=$1 text=$2 copy=$VERIFY_DIR/changed
  shift 2
  rm -rf "$copy"
  cp -a "$VERIFY_DIR/release" "$copy"
  (cd "$copy" && "$@")
  check "verify: refused: $what" verifies 1 "refused: $text" --key key.pub changed
}

change_one_byte() { printf '\x01' | dd of="$1" bs=1 seek=100 conv=notrunc status=none; }
sum_again() { sha256sum -- execcred[-_]* >SHA256SUMS; }
change_and_sum_again() { change_one_byte "$1" && sum_again; }
sign_with() { openssl pkeyutl -sign -rawin -inkey "$1" -in SHA256SUMS -out SHA256SUMS.sig; }
change_and_sign_with() { change_and_sum_again "$1" && sign_with "$2"; }
replace_by_link() { mv "$1" "$VERIFY_DIR/elsewhere" && ln -s "$VERIFY_DIR/elsewhere" "$1"; }
swap() { mv "$1" between && mv "$2" "$1" && mv between "$2"; }
# add_to_sums LINE: as the key's owner could do by mistake.
# The sums are signed again with the owner's key.
add_to_sums() { echo "$1" >>SHA256SUMS && sign_with "$VERIFY_DIR/key.pem"; }
# Renames a file, to a version that was never published.
rename_in_sums() { mv "$1" "$2" && sed -i "s/$1/$2/" SHA256SUMS; }

make_signed_release() {
  local key
  install -m 755 "$EXECCRED_ROOT/scripts/verify" "$VERIFY_DIR/verify"
  cp -r "$EXECCRED_ROOT/dist/release" "$VERIFY_DIR/release"
  for key in key other; do
    openssl genpkey -algorithm ed25519 -out "$VERIFY_DIR/$key.pem"
    openssl pkey -in "$VERIFY_DIR/$key.pem" -pubout -out "$VERIFY_DIR/$key.pub"
  done
  openssl genpkey -algorithm ed448 | openssl pkey -pubout -out "$VERIFY_DIR/ed448.pub"
  sum_and_sign "$VERIFY_DIR/release" "$VERIFY_DIR/key.pem" >/dev/null
  for key in key other; do
    python3 -B "$EXECCRED_ROOT/scripts/lib/release_signatures.py" minisign-key \
      "$VERIFY_DIR/$key.pub" >"$VERIFY_DIR/$key.minisign"
  done
}

check_genuine() {
  local first=$1 VERIFY_SHELL
  for VERIFY_SHELL in "${VERIFY_USERS[@]}"; do
    check "verify: genuine, with $VERIFY_SHELL" \
      verifies 0 'genuine: all ' --key key.pub release
  done
  unset VERIFY_SHELL
  check "verify: genuine: one file of several" verifies 0 "genuine: $first" --key key.pub release "$first"
  mkdir "$VERIFY_DIR/part"
  cp "$VERIFY_DIR"/release/{SHA256SUMS,SHA256SUMS.sig,"$first"} "$VERIFY_DIR/part/"
  check "verify: genuine: one file that was downloaded alone" \
    verifies 0 "genuine: $first" --key key.pub part "$first"
  check "verify: refused: a part, without naming its files" verifies 1 'refused: ' --key key.pub part
  check "verify: refused: a file that the release does not have" \
    verifies 1 "refused: 'nope'" --key key.pub release nope
}

check_refused() {
  local first=$1 second=$2
  refused "a changed file" "$first was changed" change_one_byte "$first"
  refused "two files that swapped their names" "$first was changed" swap "$first" "$second"
  refused "an empty file" "$first was changed" truncate -s 0 "$first"
  refused "a missing file" "$first is missing" rm "$first"
  refused "a symbolic link to the same bytes" "$first is missing, or not" replace_by_link "$first"
  refused "an additional file" 'the directory has a file that is not of this release: extra' touch extra
  refused "an additional hidden file" 'the directory has a file that is not' touch .hidden
  refused "an additional folder" 'the directory has a file that is not' mkdir folder
  refused "an additional file with a line break in its name" 'the directory has a file that is not' \
    touch "$first"$'\n'"$second"
  refused "a changed file with new sums" 'the signature' change_and_sum_again "$first"
  refused "a renamed file with new sums" 'the signature' rename_in_sums "$first" execcred-9.9.9
  refused "a changed file with new sums, signed by another key" 'the signature' \
    change_and_sign_with "$first" "$VERIFY_DIR/other.pem"
  refused "sums without one line" 'the signature' sed -i 2d SHA256SUMS
  refused "no sums" 'SHA256SUMS is missing' rm SHA256SUMS
  refused "no signature" 'SHA256SUMS.sig is missing' rm SHA256SUMS.sig
  refused "an empty signature" 'the signature' truncate -s 0 SHA256SUMS.sig
  refused "a changed signature" 'the signature' dd if=/dev/zero of=SHA256SUMS.sig bs=1 count=8 \
    conv=notrunc status=none
  refused "half a signature" 'the signature' truncate -s 32 SHA256SUMS.sig
  refused "a signed sum of a file in another folder" 'SHA256SUMS has a line' \
    add_to_sums "$(printf '%064d' 0)  ../key.pem"
  refused "two signed sums of one file" 'SHA256SUMS names a file twice' \
    add_to_sums "$(printf '%064d' 0)  $first"
  check "verify: refused: another key" verifies 1 'refused: the signature' --key other.pub release
}

check_usage() {
  check "verify: exit code 2: no key" verifies 2 'error: --key is missing' release
  check "verify: exit code 2: a missing key file" verifies 2 "error: cannot read the key 'no.pub'" \
    --key no.pub release
  check "verify: exit code 2: a key of another type" verifies 2 "error: 'ed448.pub' is not an Ed25519" \
    --key ed448.pub release
  check "verify: exit code 2: a private key" verifies 2 "error: 'key.pem' is not" --key key.pem release
  check "verify: exit code 2: no directory" verifies 2 'error: the release' --key key.pub
  check "verify: exit code 2: a missing directory" verifies 2 "error: no directory 'no'" \
    --key key.pub no
  check "verify: exit code 2: an unknown option" verifies 2 "error: unknown option '--force'" \
    --force --key key.pub release
}

# Changes a letter in the middle of the signature.
change_one_letter() {
  awk 'NR == 2 {
    letter = substr($0, 41, 1) == "A" ? "B" : "A"
    $0 = substr($0, 1, 40) letter substr($0, 42)
  } 1' "$1" >"$VERIFY_DIR/letter"
  cp "$VERIFY_DIR/letter" "$1"
}

# With a key in minisign's format, the same script runs minisign to check the other signature.
check_minisign() {
  local change
  check "verify: genuine, by minisign" verifies 0 'genuine: all ' --key key.minisign release
  check "verify: refused by minisign: another key" \
    verifies 1 'refused: the signature' --key other.minisign release
  for change in "changed sums:sed -i 2d SHA256SUMS" \
    "a changed signature:change_one_letter SHA256SUMS.minisig" \
    "a changed trusted comment:sed -i 3s/SHA256SUMS/SHA512SUMS/ SHA256SUMS.minisig" \
    "another format:cp SHA256SUMS.sig SHA256SUMS.minisig"; do
    rm -rf "$VERIFY_DIR/changed"
    cp -a "$VERIFY_DIR/release" "$VERIFY_DIR/changed"
    # shellcheck disable=SC2086
    (cd "$VERIFY_DIR/changed" && ${change#*:})
    check "verify: refused by minisign: ${change%%:*}" \
      verifies 1 'refused: the signature' --key key.minisign changed
  done
  refused_without_minisig
}

refused_without_minisig() {
  rm -rf "$VERIFY_DIR/changed"
  cp -a "$VERIFY_DIR/release" "$VERIFY_DIR/changed"
  rm "$VERIFY_DIR/changed/SHA256SUMS.minisig"
  check "verify: refused by minisign: no signature" \
    verifies 1 'refused: SHA256SUMS.minisig is missing' --key key.minisign changed
}

# Building cosign takes minutes, so it is built only on request. Once built, it is kept.
find_cosign() {
  local module=../release/cosign version
  version=$(module_version "$EXECCRED_ROOT/tests/release/cosign/go.mod" github.com/sigstore/cosign/v2)
  [ -n "${EXECCRED_COSIGN:-}" ] || has_go_part "$module" "$version" "" "$COSIGN_PACKAGE" || return 1
  build_go "$module" "$version" "" "$COSIGN_PACKAGE"
  COSIGN=$PART/cosign
}
COSIGN_PACKAGE=github.com/sigstore/cosign/v2/cmd/cosign

# cosign ARGUMENT...: without a transparency log, because a reproducible build uses none.
cosign() {
  env -i "HOME=$VERIFY_DIR" "$COSIGN" "$@" --insecure-ignore-tlog=true >"$VERIFY_DIR/cosign.log" 2>&1
}

cosign_accepts() { cosign "$@" || { cat "$VERIFY_DIR/cosign.log" && return 1; }; }

# cosign_refuses TEXT ARGUMENT...
cosign_refuses() {
  local text=$1
  shift
  ! cosign "$@" && grep -qi -e "$text" "$VERIFY_DIR/cosign.log"
}

check_cosign() {
  local first=$1 second=$2 release=$VERIFY_DIR/release blob provenance changed=$VERIFY_DIR/envelope
  if ! find_cosign; then
    skip "cosign: verify-blob, verify-blob-attestation" "it is not built; EXECCRED_COSIGN=1 builds it"
    return
  fi
  blob=(verify-blob --signature "$release/SHA256SUMS.sig")
  provenance=(verify-blob-attestation --type slsaprovenance1 --check-claims
    --key "$VERIFY_DIR/key.pub")
  check "cosign: accepts SHA256SUMS" \
    cosign_accepts "${blob[@]}" --key "$VERIFY_DIR/key.pub" "$release/SHA256SUMS"
  check "cosign: refuses another key" cosign_refuses 'failed to verify signature' \
    "${blob[@]}" --key "$VERIFY_DIR/other.pub" "$release/SHA256SUMS"
  check "cosign: refuses another file" cosign_refuses 'failed to verify signature' \
    "${blob[@]}" --key "$VERIFY_DIR/key.pub" "$release/$first"
  check "cosign: accepts the provenance of a file" cosign_accepts "${provenance[@]}" \
    --signature "$release/provenance.intoto.jsonl" "$release/$first"
  check "cosign: refuses the provenance for a file that it does not name" cosign_refuses digest \
    "${provenance[@]}" --signature "$release/provenance.intoto.jsonl" "$release/SHA256SUMS"
  sed 's/"payload": "./"payload": "A/' "$release/provenance.intoto.jsonl" >"$changed"
  check "cosign: refuses a changed provenance" cosign_refuses signature \
    "${provenance[@]}" --signature "$changed" "$release/$second"
}

# check_verify DIR
check_verify() {
  local first second
  VERIFY_DIR=$1
  need_packages busybox dash minisign openssl
  step "testing scripts/verify"
  mkdir "$VERIFY_DIR"
  make_signed_release
  { read -r first && read -r second; } < <(cd "$VERIFY_DIR/release" && ls -- *.gz)
  check_genuine "$first"
  check_refused "$first" "$second"
  check_usage
  check_minisign
  check_cosign "$first" "$second"
}
