#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-spiffe, once for each type of SVID, with its own agent, which
# answers at once.
#
#   spiffe.sh CONFORMANCE PLUGIN AGENT [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

# shellcheck source=tests/conformance/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

socket=$folder/agent.sock
start "$socket" "$1" --socket "$socket"
shift
for type in "jwt --audience=conformance" x509; do
  # shellcheck disable=SC2086
  env -i "PATH=$PATH" "SPIFFE_ENDPOINT_SOCKET=unix://$socket" \
    "$conformance" --rules=execcred "$@" -- "$plugin" --type=$type
done
