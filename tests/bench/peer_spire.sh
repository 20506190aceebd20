# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# execcred-spiffe and "spire-agent api fetch jwt", which a script around it takes the token from: both
# ask the same agent of SPIRE, for the same identity and audience. For scripts/bench-peers.

PEER="spire-agent api fetch jwt (Go)"
PLUGIN=execcred-spiffe
# Times less wall, CPU and memory than the peer, in the rows of LIMITED; 0 is any.
LIMITS="[0, 15, 0]"
LIMITED="spiffe, jwt"

prepare() {
  # What tests/e2e/lib/spire.sh is made for is a suite.
  SUITE_DIR=$work
  # shellcheck source=tests/e2e/lib/spire.sh
  . "$E2E_DIR/lib/spire.sh"
  trap clean_up EXIT
  step "starting SPIRE"
  spire_start
  registered bench -selector "unix:uid:$(id -u)" -dns bench.example.org
  spire_agent_start
  # The entry has to reach the agent.
  wait_until 30 spire_agent api fetch jwt -audience k8s || fail "the agent gives no identity"
  unset KUBERNETES_EXEC_INFO
  variables=(SPIFFE_ENDPOINT_SOCKET="$SPIFFE_ENDPOINT_SOCKET")
}

# Of the peer, which prints it for people, or of ours.
is_credential() { grep -E "^(token\(|SPIFFE ID:\s+)$SPIRE_DOMAIN/bench|\"(token|clientKeyData)\":\"[^\"]"; }

add_peer() {
  add "$PEER" "$E2E_SPIRE/spire-agent" api fetch jwt -audience k8s -socketPath "$SPIRE_SOCKET"
  add "spire-agent api fetch x509 (Go)" "$E2E_SPIRE/spire-agent" api fetch x509 \
    -socketPath "$SPIRE_SOCKET" -write "$work"
}

# add_build NAME DIRECTORY
add_build() {
  add "spiffe, jwt, $1" "$2/$PLUGIN" --type=jwt --audience=k8s
  add "spiffe, x509, $1" "$2/$PLUGIN" --type=x509
}
