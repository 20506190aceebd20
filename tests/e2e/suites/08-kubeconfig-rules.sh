# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# client-go's rules for kubeconfigs: kubectl judges each row of the table that doctor and lint follow.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

clients_agree() {
  python3 "$EXECCRED_ROOT/tests/kubeconfig_rules/judge.py" "$EXECCRED_BIN/execcred" "$(type -P kubectl)"
}

check "doctor and lint judge each kubeconfig as kubectl does" clients_agree
