#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-oidc-federation, which passes a projected token through: the
# only flow that needs no server.
#
#   oidc_federation.sh CONFORMANCE PLUGIN [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

# shellcheck source=tests/conformance/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mount_token "$(unsigned_token '"aud":["server"],"sub":"conformance"')"
env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" -- "$plugin" --flow=pass-through \
  "--subject-token-file=$folder/token"
