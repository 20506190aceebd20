# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# execcred-aws and aws-iam-authenticator: both sign an EKS token by the keys in the environment, and ask
# nobody. For scripts/bench-peers.

PEER="aws-iam-authenticator token (Go)"
PLUGIN=execcred-aws
# Times less wall, CPU and memory than the peer, in the rows of LIMITED; 0 is any.
LIMITS="[0, 10, 8]"
LIMITED="aws, musl"

prepare() {
  local module=peers/eks version
  version=$(module_version "$E2E_DIR/$module/go.mod" sigs.k8s.io/aws-iam-authenticator)
  build_go "$module" "$version" "" sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator
  unset KUBERNETES_EXEC_INFO
  variables=(AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE AWS_REGION=eu-central-1
    AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY)
}

is_credential() { grep -F '"token":"k8s-aws-v1.'; }

add_peer() { add "$PEER" "$PART/aws-iam-authenticator" token -i spoke-1; }

# add_build NAME DIRECTORY
add_build() { add "aws, $1" "$2/$PLUGIN" --cluster-id=spoke-1; }
