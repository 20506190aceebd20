# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The functions of every suite. A suite is a script in suites/ that sources this
# file, defines its checks as functions, and gives each one a title:
#
#   check "kubectl is accepted, v1" kubectl_is_accepted v1
#
# A check runs in its own shell and its own directory. It fails at the first command that
# fails, and then its output is shown. scripts/e2e starts the suites, gives them a cluster
# (E2E_CLUSTER), a directory (E2E_RUN) and execcred's programs (EXECCRED_BIN), and counts the
# lines "ok", "not ok" and "skip".
set -euo pipefail

E2E_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$E2E_DIR/../../scripts/lib/common.sh"
# shellcheck source=tests/e2e/lib/expect.sh
. "$E2E_DIR/lib/expect.sh"
# shellcheck source=tests/e2e/lib/fixtures.sh
. "$E2E_DIR/lib/fixtures.sh"

SUITE=$(basename "$0" .sh)
SUITE=${SUITE#[0-9][0-9]-}
SUITE_DIR=$(mktemp -d "$E2E_RUN/$SUITE.XXXXXX")
# kubectl keeps its discovery cache in HOME and reads its preferences from there.
export HOME=$SUITE_DIR
unset KUBECONFIG "${!EXECCRED_ALLOW_@}"

# check SENTENCE FUNCTION [ARGUMENT...]
check() {
  local sentence=$1 directory status
  shift
  directory=$(mktemp -d "$SUITE_DIR/check.XXXXXX")
  # Not in an "if": bash ignores "set -e" in everything that a condition calls.
  set +e
  (
    set -eE
    trap 'echo "failed: $BASH_COMMAND (${BASH_SOURCE[0]##*/}:$LINENO)" >&2' ERR
    trap stop_background_jobs EXIT
    cd "$directory"
    "$@"
  ) >"$directory.log" 2>&1
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    echo "ok $SUITE: $sentence"
  else
    echo "not ok $SUITE: $sentence"
    sed 's/^/    # /' "$directory.log"
  fi
}

# skip SENTENCE REASON: reports a check that this machine cannot run.
skip() { echo "skip $SUITE: $1 ($2)"; }

# alone: waits until all other suites have ended or wait here too, which then go on one after the other. A
# check that starts a thousand processes calls it, so that no check of another suite runs into a deadline of
# its own.
alone() {
  : >"$E2E_RUN/$SUITE.waits"
  wait_until 800 all_have_ended_or_wait
  exec 8>"$E2E_RUN/alone"
  flock --wait 800 8
}
all_have_ended_or_wait() {
  [ "$(find "$E2E_RUN" -maxdepth 1 \( -name '*.status' -o -name '*.waits' \) -printf '%f\n' |
    sed 's/\.[a-z]*$//' | sort -u | wc -l)" -ge "$E2E_SUITES" ]
}

stop_background_jobs() {
  local pids
  pids=$(jobs -p)
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill $pids 2>/dev/null || true
}
