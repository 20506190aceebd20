#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-static-secret, with its own mounted Secret.
#
#   static_secret.sh CONFORMANCE PLUGIN [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

# shellcheck source=tests/conformance/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mount_token c0nformance-s3cret-token-0123456789
# One of the documents that known clients send has insecure-skip-tls-verify.
env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" -- "$plugin" "--secret-dir=$folder" --allow-insecure
