#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-aws, with the keys of a session in the environment, which
# needs no server.
#
#   aws.sh CONFORMANCE PLUGIN [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

# shellcheck source=tests/conformance/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

env -i "PATH=$PATH" AWS_ACCESS_KEY_ID=ASIACONFORMANCE \
  AWS_SECRET_ACCESS_KEY=c0nformance/s3cret+key-0123456789 \
  AWS_SESSION_TOKEN=c0nformance/s3ssion+token-0123456789== \
  "$conformance" --rules=execcred "$@" -- "$plugin" --cluster-id=conformance --region=us-west-2
