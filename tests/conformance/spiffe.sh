#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-spiffe, once for each type of SVID, with its own agent, which
# answers at once.
#
#   spiffe.sh CONFORMANCE PLUGIN AGENT [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

conformance=$1 plugin=$(realpath "$2") agent=$3
shift 3

folder=$(mktemp -d)
agent_pid=
finish() {
  [ -z "$agent_pid" ] || kill "$agent_pid" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
# The suite runs the plugin as other users too.
chmod 755 "$folder"

"$agent" --socket "$folder/agent.sock" &
agent_pid=$!
until [ -S "$folder/agent.sock" ]; do
  kill -0 "$agent_pid" 2>/dev/null || {
    echo "spiffe.sh: the agent has ended" >&2
    exit 1
  }
  sleep 0.05
done

for type in "jwt --audience=conformance" x509; do
  # shellcheck disable=SC2086
  env -i "PATH=$PATH" "SPIFFE_ENDPOINT_SOCKET=unix://$folder/agent.sock" \
    "$conformance" --rules=execcred "$@" -- "$plugin" --type=$type
done
