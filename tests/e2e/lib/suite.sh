# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What a suite is made of. A suite is a script in suites/ that sources this
# file, defines its checks as functions and runs each under a sentence:
#
#   check "kubectl is accepted, v1" kubectl_is_accepted v1
#
# A check runs in a shell and a directory of its own; the first command that
# fails fails it, and what it printed is shown. scripts/e2e starts the suites,
# gives them a cluster (E2E_CLUSTER), a directory (E2E_RUN) and our programs
# (EXECCRED_BIN), and counts the lines "ok", "not ok" and "skip".
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
# kubectl keeps its discovery cache and reads its preferences there.
export HOME=$SUITE_DIR
unset KUBECONFIG "${!EXECCRED_ALLOW_@}"

# check SENTENCE FUNCTION [ARGUMENT...]
check() {
  local sentence=$1 directory status
  shift
  directory=$(mktemp -d "$SUITE_DIR/check.XXXXXX")
  # No "if": bash ignores "set -e" in all that a condition calls.
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

# skip SENTENCE REASON: for what this machine cannot check.
skip() { echo "skip $SUITE: $1 ($2)"; }

stop_background_jobs() {
  local pids
  pids=$(jobs -p)
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill $pids 2>/dev/null || true
}
