# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guides of docs/: their commands, in order, with real servers.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/spiffe.sh
. "$E2E_DIR/lib/spiffe.sh"
trap 'cluster_stop; rm -rf "$SPIRE_OPEN"' EXIT
# shellcheck source=tests/e2e/lib/tutorial.sh
. "$E2E_DIR/lib/tutorial.sh"

# The fault that the guide finds is an expired token.
exit_code_1() {
  export KUBECONFIG=$E2E_CLUSTER/admin.kubeconfig
  umask 077
  expired_token "$(request_token controller)" >token
  write_mapping mapping.json "$(exec_config v1 "$PLUGIN" --token-file "$PWD/token")"
  write_profile profile.json spoke-1 accessProviders "$(cluster_json)"
  tutorial exit-code-1.md 8 "s|fleet/spoke-1|$NAMESPACE/spoke-1|g" "s|-n fleet|-n $NAMESPACE|"
}

# The workload "guide" stands for the controller's plugin. curl and kubectl are configured for this cluster.
spire_in_five_steps() {
  export KUBECONFIG=$E2E_CLUSTER/admin.kubeconfig CURL_CA_BUNDLE=$SPIRE_PKI/ca.crt
  mkdir bin
  printf '#!/bin/sh\nexec %q "$@" -socketPath %q\n' "$E2E_SPIRE/spire-server" "$SPIRE_SERVER_SOCKET" \
    >bin/spire-server
  chmod 755 bin/spire-server
  PATH=$PWD/bin:$PATH
  cp "$SPIFFE_EXAMPLES/jwt/rbac.yaml" .
  jq --arg parent "$SPIRE_DOMAIN/node" --arg path "path:$(workload guide)" '
    .entries[] |= (.parent_id = $parent | .selectors = [{type: "unix", value: $path}])' \
    "$SPIFFE_EXAMPLES/entries.json" >entries.json
  fill_in jwt guide
  mv profile.yaml clusterprofile.yaml
  tutorial spire-in-five-steps.md 4 "s|https://oidc.example.org|$SPIRE_ISSUER|"
}

export PATH=$EXECCRED_BIN:$PATH
use_namespace tutorials
create_account controller
check "from exit code 1 to its cause" exit_code_1
spire_start
entry other other
spire_agent_start
spiffe_cluster
expect_trust other
check "SPIRE to Kubernetes in five steps" spire_in_five_steps
