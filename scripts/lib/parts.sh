# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The parts of .ci/run and scripts/nightly: each is a command with a time limit and a log, and a suite
# adds the numbers of its closing line. Sourced, after common.sh.

PARTS_PASSED=0 PARTS_FAILED=0 PARTS_SKIPPED=0
PARTS_BAD=() PARTS_TIMES=()
declare -A PARTS_RUNNING=()

# begin_parts DIR: keeps the logs there.
begin_parts() {
  PARTS_LOGS=$1
  rm -rf "$PARTS_LOGS"
  mkdir -p "$PARTS_LOGS"
  trap 'kill "${PARTS_RUNNING[@]}" 2>/dev/null || true' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

# start NAME SECONDS COMMAND...: runs it in the background, and stops it at the time limit.
start() { start_after '' "$@"; }

# start_after PARTS NAME SECONDS COMMAND...: the same as soon as those of the parts that run have ended.
start_after() {
  local name=$2 part after='' processes=''
  for part in $1; do
    [ -n "${PARTS_RUNNING[$part]:-}" ] || continue
    after+=" $part" processes+="${PARTS_RUNNING[$part]} "
  done
  echo "running${after:+ after$after}: ${*:4}" | sed "s|$EXECCRED_ROOT/||g"
  run_part "$processes" "${@:2}" &
  PARTS_RUNNING[$name]=$!
}

# run_part PROCESSES NAME SECONDS COMMAND...: waits for the processes. Keeps the output of the command, how
# long it took, and how many cores it used on average.
run_part() {
  local process name=$2 limit=$3 status=0 began child
  trap 'kill "${child:-}" 2>/dev/null; exit 143' TERM
  for process in $1; do
    tail --pid="$process" -f /dev/null &
    child=$!
    wait "$child" || true
  done
  shift 3
  began=$SECONDS
  timeout --kill-after=10 "$limit" "$@" >"$PARTS_LOGS/$name.log" 2>&1 &
  child=$!
  wait "$child" || status=$?
  # Not in a pipe, whose processes have no children of their own.
  times >"$PARTS_LOGS/$name.times"
  awk -F '[ms ]+' -v seconds="$((SECONDS - began))" 'END {
    printf "%d %.1f\n", seconds, ($1 * 60 + $2 + $3 * 60 + $4) / (seconds > 0 ? seconds : 1)
  }' "$PARTS_LOGS/$name.times" >"$PARTS_LOGS/$name.seconds"
  exit "$status"
}

# finish NAME: waits for a part, and prints its output and result. Sets PART_STATUS to its exit code.
finish() {
  local name=$1 seconds cores
  PART_STATUS=0
  wait "${PARTS_RUNNING[$name]}" || PART_STATUS=$?
  unset "PARTS_RUNNING[$name]"
  read -r seconds cores <"$PARTS_LOGS/$name.seconds"
  printf '\n======== %s\n' "$name"
  cat "$PARTS_LOGS/$name.log"
  [ "$PART_STATUS" -ne 124 ] || echo "stopped at the time limit"
  PARTS_TIMES+=("$seconds $name $cores")
  printf '======== %s: exit code %d after %d s\n\n' "$name" "$PART_STATUS" "$seconds"
}

# count NAME: waits for a suite and adds the numbers of its closing line. A suite without that line counts
# as one failure, and so does one with an exit code other than 0 and no failed check.
count() {
  local name=$1 here=1 line
  local pattern='^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'
  finish "$name"
  line=$(grep -E "$pattern" "$PARTS_LOGS/$name.log" | tail -n 1) || true
  if [[ $line =~ $pattern ]]; then
    PARTS_PASSED=$((PARTS_PASSED + BASH_REMATCH[1]))
    PARTS_SKIPPED=$((PARTS_SKIPPED + ${BASH_REMATCH[4]:-0}))
    here=${BASH_REMATCH[2]}
    [ "$PART_STATUS" -eq 0 ] || [ "$here" -gt 0 ] || here=1
  fi
  PARTS_FAILED=$((PARTS_FAILED + here))
  [ "$here" -eq 0 ] || PARTS_BAD+=("$name")
}

# record_times KEPT: writes the seconds and cores of the parts that ran into that file, longest first. Those of the
# other parts stay.
record_times() {
  local kept=''
  [ ! -e "$1" ] || kept=$(cat "$1")
  printf '%s\n' "${PARTS_TIMES[@]}" "$kept" | awk 'NF && !told[$2]++' | sort -rn >"$1"
}

# end_parts KEPT: prints the seconds and cores of each part, longest first, and the closing line. Names a part that
# took a tenth longer, and more than ten seconds longer, than in the file KEPT. Fails if a check failed.
end_parts() {
  echo "seconds of each part, longest first ($SECONDS in all), and the cores that it used:"
  printf '%s\n' "${PARTS_TIMES[@]}" | sort -rn | awk -v kept="$1" '
    BEGIN { while ((getline line < kept) > 0) { split(line, field, " "); before[field[2]] = field[1] } }
    {
      grown = $2 in before && $1 > before[$2] * 1.1 && $1 > before[$2] + 10
      printf "%6d  %-14s %4.1f%s\n", $1, $2, $3, grown ? "  (longer than the " before[$2] " s that are recorded)" : ""
    }'
  [ "${#PARTS_BAD[@]}" -eq 0 ] ||
    echo "failed: ${PARTS_BAD[*]} (logs in ${PARTS_LOGS#"$EXECCRED_ROOT/"}/)"
  printf '%d passed, %d failed' "$PARTS_PASSED" "$PARTS_FAILED"
  [ "$PARTS_SKIPPED" -eq 0 ] || printf ', %d skipped' "$PARTS_SKIPPED"
  echo
  [ "$PARTS_FAILED" -eq 0 ]
}
