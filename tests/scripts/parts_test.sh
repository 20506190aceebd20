#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/lib/parts.sh, on which .ci/run and scripts/nightly stand: order, time limits, and what is counted.
set -euo pipefail

EXECCRED_ROOT=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=scripts/lib/parts.sh
. "$EXECCRED_ROOT/scripts/lib/parts.sh"

folder=$(mktemp -d)
begin_parts "$folder/logs"
trap 'rm -rf "$folder"' EXIT

# expect WHAT GOT WANTED
expect() {
  [ "$2" = "$3" ] || { echo "not ok: $1: '$2', not '$3'" >&2 && exit 1; }
}

# suite LINE [COMMAND]: the words of a part that runs the command and prints the closing line.
suite() { printf '%s\n' bash -c "${2:-true}; status=\$?; echo '$1'; exit \$status"; }

start_suite() {
  local words
  mapfile -t words < <(suite "${@:4}")
  start_after "$1" "$2" "$3" "${words[@]}"
}

{
  start_suite '' first 60 '3 passed, 0 failed, 1 skipped' "sleep 1; touch $folder/first"
  start_suite 'first unknown' after 60 '1 passed, 0 failed' "test -e $folder/first"
  start_suite '' beside 60 '2 passed, 1 failed' false
  start_suite '' liar 60 '5 passed, 0 failed' false
  start_suite '' slow 1 '1 passed, 0 failed' 'sleep 60'
  start mute 60 echo 'no closing line'
  # shellcheck disable=SC2016
  start_suite '' busy 60 '0 passed, 0 failed' 'while [ $SECONDS -lt 2 ]; do :; done'
  for name in first after beside liar slow mute busy; do count "$name"; done
} >"$folder/out"
expect 'parts that failed' "${PARTS_BAD[*]}" 'beside liar slow mute'
expect 'passed' "$PARTS_PASSED" 11
expect 'failed' "$PARTS_FAILED" 4
expect 'skipped' "$PARTS_SKIPPED" 1
grep -q 'stopped at the time limit' "$folder/out"
expect 'the exit code of the end' "$(end_parts /dev/null >"$folder/end" && echo 0 || echo 1)" 1
grep -qE '^ +[2-9]  busy +(0\.[1-9]|1\.[01])$' "$folder/end" || expect 'the cores of a busy part' "$(cat "$folder/end")" 1.0
grep -qE '^ +[1-9]  slow +0\.[01]$' "$folder/end" || expect 'the cores of a part that sleeps' "$(cat "$folder/end")" 0.0
expect 'the closing line' "$(tail -n 1 "$folder/end")" '11 passed, 4 failed, 1 skipped'

PARTS_TIMES=('100 grown 1.0' '105 steady 1.0' '20 short 1.0' '7 new 1.0')
printf '%s\n' '100 steady 1.0' '88 grown 1.0' '50 absent 1.0' '11 short 1.0' >"$folder/times"
end_parts "$folder/times" >"$folder/end" || true
expect 'the parts that grew' "$(grep recorded "$folder/end")" \
  '   100  grown           1.0  (longer than the 88 s that are recorded)'
record_times "$folder/times"
expect 'the times that are kept' "$(awk '{ print $1, $2 }' "$folder/times" | xargs)" \
  '105 steady 100 grown 50 absent 20 short 7 new'
PARTS_TIMES=('3 first 0.1')
record_times "$folder/none"
expect 'the first times' "$(cat "$folder/none")" '3 first 0.1'
