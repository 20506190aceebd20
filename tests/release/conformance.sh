# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs the conformance suite on the release binaries, those for another architecture under an
# emulator. Sourced by checks.sh.

# Sets CONFORMANCE to the suite, which is built for this machine.
build_conformance() {
  need_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
  step "building the conformance suite"
  build_preset dev conformance
  CONFORMANCE=$EXECCRED_ROOT/build/dev/bin-test/conformance
}

# Sets EXECUTABLE to a program that the suite can execute for the binary, as any user.
make_executable() {
  local emulator program
  EXECUTABLE=$1
  [ "${#RUNNER[@]}" -gt 0 ] || return 0
  emulator=$(command -v "${RUNNER[0]}")
  program=$INPUT/${1##*/}
  EXECUTABLE=$INPUT/emulated-${1##*/}
  install -m 755 "$1" "$program"
  gcc -O2 -Wall -Wextra -Werror -static "-DEMULATOR=\"$emulator\"" "-DPROGRAM=\"$program\"" \
    -o "$EXECUTABLE" "$EXECCRED_ROOT/tests/release/emulated.c"
}

# The cases that left something out, each with its reason.
cases_left_out() {
  awk '/^TEST CASE:  / { name = substr($0, 13) }
    sub(/.*MESSAGE: skipped: /, "") { print name "\t" $0 }' "$1"
}

# check_conformance NAME BINARY ARGUMENT...: the arguments with which it gives a credential.
check_conformance() {
  local name=$1 binary=$2 log=$INPUT/conformance.log status=0 left_out cases=0 good=0 bad=0
  local pattern='test cases: +([0-9]+) \| +([0-9]+) passed \| +([0-9]+) failed'
  shift 2
  make_executable "$binary"
  env -i "PATH=$PATH" "$CONFORMANCE" --rules=execcred --dt-no-colors=true -- "$EXECUTABLE" "$@" >"$log" 2>&1 || status=$?
  if [[ $(cat "$log") =~ $pattern ]]; then
    cases=${BASH_REMATCH[1]} good=${BASH_REMATCH[2]} bad=${BASH_REMATCH[3]}
  fi
  # A suite that ran nothing, or that ended in another way, has not passed.
  [ "$bad" -gt 0 ] || { [ "$status" -eq 0 ] && [ "$good" -gt 0 ]; } || bad=1
  if [ "$bad" -gt 0 ]; then
    echo "not ok $name: conformance: $cases cases, $bad failed"
    sed 's/^/  /' "$log"
  else
    echo "ok $name: conformance: $cases cases"
    while IFS= read -r left_out; do
      skip "$name: conformance: ${left_out%%$'\t'*}" "${left_out#*$'\t'}"
      good=$((good - 1))
    done < <(cases_left_out "$log")
  fi
  passed=$((passed + good)) failed=$((failed + bad))
}

# check_federation ARCH: execcred-oidc-federation, with the only flow that needs no server.
check_federation() {
  check_conformance "$1 execcred-oidc-federation" "$EXECCRED_ROOT/dist/$1/execcred-oidc-federation" \
    --flow=pass-through --subject-token-file="$INPUT/volume/token"
}
