# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The same kubeconfig file works in every client: a new and an old kubectl, JavaScript
# and Python. The suites 61 to 63 check how the clients differ.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/clients.sh
. "$E2E_DIR/lib/clients.sh"

client_is_answered() { # CLIENT VERSION QUESTION
  ask "$1" "$3" "$SUITE_DIR/kubeconfig-$2"
  expect_answer "$1" "$3" reader
}

use_namespace clients
create_account reader
project_token "$SUITE_DIR/volume" "$(request_token reader)"
for version in v1 v1beta1; do
  write_kubeconfig "$SUITE_DIR/kubeconfig-$version" \
    "$(exec_config "$version" "$PLUGIN" --token-file "$SUITE_DIR/volume/token" --audience "$AUDIENCE")" \
    "$(cluster_json '{"clusterName": "spoke"}')"
done

for client in kubectl kubectl-old javascript python; do
  for version in v1 v1beta1; do
    for question in whoami namespaces; do
      check "$client: $question, $version" client_is_answered "$client" "$version" "$question"
    done
  done
done
