# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The tokens of execcred-aws: aws-iam-authenticator's verifier accepts them with every source of
# credentials, and the signers of the AWS SDKs for Python and Go make the same tokens.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/aws.sh
. "$E2E_DIR/lib/aws.sh"

# takes CLUSTER ARN [PARTITION]: the verifier accepts execcred-aws's token as this identity.
takes() {
  ours >stdout
  jq -er .status.token stdout | verify "$1" "${3:-aws}" >identity
  expect_equal "the identity" "$2" "$(jq -r .ARN identity)"
}

keys_are_taken() {
  ENVIRONMENT=("${AWS_KEYS[@]}")
  takes demo arn:aws:iam::123456789012:user/tester
  ENVIRONMENT=("${AWS_SESSION[@]}")
  takes demo arn:aws:iam::123456789012:user/tester
}

roles_are_taken() {
  ENVIRONMENT=("${AWS_KEYS[@]}" EXECCRED_ROLE_ARN="$ROLE" EXECCRED_SESSION_NAME=me)
  takes demo arn:aws:sts::123456789012:assumed-role/reader/me
  web_identity >token
  ENVIRONMENT=(AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/token" AWS_ROLE_ARN="$ROLE")
  takes demo arn:aws:sts::123456789012:assumed-role/reader/execcred-aws
  ENVIRONMENT+=(EXECCRED_ROLE_ARN=arn:aws:iam::123456789012:role/second)
  takes demo arn:aws:sts::123456789012:assumed-role/second/execcred-aws
}

# One mapping, which allows many roles, and a ClusterProfile for each of 50: the requests are those that
# botocore sends for this role, and the verifier reports this role.
choices_are_taken() {
  local i role
  web_identity >token
  for i in $(seq 10 59); do
    role=arn:aws:iam::1234567890$i:role/fleet-$i
    ENVIRONMENT=(AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/token" AWS_ROLE_ARN="$role"
      AWS_ROLE_SESSION_NAME=me)
    asked theirs access-key >wanted
    ENVIRONMENT+=(AWS_ROLE_ARN="$ROLE" KUBERNETES_EXEC_INFO="$(jq -cn --arg role "$role" '{
      kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1",
      spec: {interactive: false, cluster: {server: "https://h", config: {roleArn: $role}}}}')")
    asked ours '--allow-role=arn:aws:iam::1234567890*' >requests
    expect_equal "the requests" "$(cat wanted)" "$(cat requests)"
    jq -er .status.token asked.stdout | verify demo >identity
    expect_equal "the identity" "arn:aws:sts::123456789012:assumed-role/fleet-$i/me" \
      "$(jq -r .ARN identity)"
  done
}

# The entry "eks" of the guide for EKS, GKE and AKS, with its cluster.
the_guides_entry_is_taken() {
  web_identity >token
  jq --arg plugin "$EXECCRED_BIN/execcred-aws" --arg token "$PWD/token" '.providers |= (map(select(.name == "eks"))
    | map(.execConfig.command = $plugin
      | (.execConfig.env[] | select(.name == "AWS_WEB_IDENTITY_TOKEN_FILE").value) = $token))' \
    "$EXECCRED_ROOT/config/clouds/mapping.json" >mapping.json
  ENVIRONMENT=()
  in_aws "$EXECCRED_BIN/execcred" get -m mapping.json -f "$EXECCRED_ROOT/config/clouds/clusterprofiles.yaml" \
    --name fleet/eks-1 -o token >token.eks
  verify eks-1 <token.eks >identity
  expect_equal "the identity" arn:aws:sts::123456789012:assumed-role/fleet-controller/execcred-aws \
    "$(jq -r .ARN identity)"
  refused "got 403" gke-1 <token.eks
}

platforms_are_taken() {
  ENVIRONMENT=("${INSTANCE[@]}")
  takes demo arn:aws:iam::123456789012:user/tester
  expect_equal "the signer" ASIAINSTANCE "$(jq -r .AccessKeyID identity)"
  ENVIRONMENT=("${CONTAINER[@]}")
  takes demo arn:aws:iam::123456789012:user/tester
  expect_equal "the signer" ASIACONTAINER "$(jq -r .AccessKeyID identity)"
}

hosts_are_taken() {
  local region
  for region in us-east-1 eu-west-1 ap-south-1; do
    ENVIRONMENT=("${AWS_KEYS[@]}" AWS_REGION="$region")
    takes demo arn:aws:iam::123456789012:user/tester
    ENVIRONMENT+=(AWS_USE_FIPS_ENDPOINT=true)
    [ "$region" != us-east-1 ] || takes demo arn:aws:iam::123456789012:user/tester
    ENVIRONMENT=("${AWS_KEYS[@]}" AWS_REGION="$region" AWS_USE_DUALSTACK_ENDPOINT=true)
    takes demo arn:aws:iam::123456789012:user/tester
  done
  ENVIRONMENT=("${AWS_KEYS[@]}" AWS_REGION=cn-north-1)
  takes demo arn:aws:iam::123456789012:user/tester aws-cn
  ENVIRONMENT=("${AWS_KEYS[@]}" AWS_REGION=us-gov-west-1)
  takes demo arn:aws:iam::123456789012:user/tester aws-us-gov
}

# refused REASON CLUSTER: the verifier refuses the token on standard input for this reason.
refused() {
  if verify "$2" aws >identity 2>refusal; then unexpected "the verifier to refuse"; fi
  expect_in refusal "$1"
}

others_are_refused() {
  local token url
  ENVIRONMENT=("${AWS_KEYS[@]}")
  token=$(token_of_ours)
  verify demo <<<"$token"
  refused "got 403" other <<<"$token"
  url=$(url_of "$token")
  token_for "${url/X-Amz-Expires=60/X-Amz-Expires=901}" | refused "invalid X-Amz-Expires" demo
  token_for "${url/X-Amz-Expires=60/X-Amz-Expires=61}" | refused "got 403" demo
  token_for "${url/us-west-2.amazonaws.com/us-west-2.evil.example}" | refused "unexpected hostname" demo
  token_for "$url&x-amz-expires=60" | refused "duplicate" demo
  ENVIRONMENT=(AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=another)
  token_of_ours | refused "got 403" demo
  ENVIRONMENT=("${AWS_SESSION[@]}" AWS_SESSION_TOKEN=another)
  token_of_ours | refused "got 403" demo
}

sorted() { sed 's/[?&]/\n/g' | sort; }

botocore_signs_the_same() {
  local region token when
  ENVIRONMENT=("${AWS_KEYS[@]}")
  for region in us-west-2 cn-north-1 us-gov-west-1 eusc-de-east-1; do
    token=$(token_of_ours --region="$region")
    when=$(url_of "$token" | parameter X-Amz-Date)
    expect_equal "the token" "$(theirs token demo "$region" "$when")" "$token"
  done
  # With a session token, botocore puts the query parameters in another order.
  ENVIRONMENT=("${AWS_SESSION[@]}")
  token=$(token_of_ours)
  when=$(url_of "$token" | parameter X-Amz-Date)
  url_of "$(theirs token demo us-west-2 "$when")" | sorted >wanted
  url_of "$token" | sorted >signed
  diff wanted signed
}

go_signs_the_same() {
  local kind region token url
  for kind in keys session; do
    ENVIRONMENT=("${AWS_KEYS[@]}")
    [ "$kind" = keys ] || ENVIRONMENT=("${AWS_SESSION[@]}")
    in_aws jq -n 'env | {AccessKeyId: .AWS_ACCESS_KEY_ID, SecretAccessKey: .AWS_SECRET_ACCESS_KEY,
      SessionToken: (.AWS_SESSION_TOKEN // "")}' >keys
    for region in us-west-2 cn-north-1; do
      token=$(CLUSTER=name.of_A-cluster token_of_ours --region="$region")
      url=$(url_of "$token")
      expect_equal "the token" "$token" "$("$E2E_EKS" sign "$(cut -d/ -f3 <<<"$url")" "$region" \
        name.of_A-cluster "$(parameter X-Amz-Date <<<"$url")" <keys)"
    done
  done
}

botocore_knows_the_same_hosts() {
  local region fips dual_stack host count=0
  ENVIRONMENT=()
  theirs hosts >known
  while read -r region fips dual_stack host; do
    ENVIRONMENT=("${AWS_KEYS[@]}" AWS_USE_FIPS_ENDPOINT="$fips"
      AWS_USE_DUALSTACK_ENDPOINT="$dual_stack")
    expect_equal "the host in $region" "$host" \
      "$(url_of "$(token_of_ours --region="$region")" | cut -d/ -f3)"
    count=$((count + 1))
  done <known
  [ "$count" -ge 150 ] || unexpected "150 hosts, not $count"
}

aws_start

check "the verifier accepts a token signed with access keys or a session" keys_are_taken
check "the verifier accepts a token of a role, of a web identity, and of both" roles_are_taken
check "50 roles of ClusterProfiles, one mapping: botocore's requests, and valid tokens" \
  choices_are_taken
check "the verifier accepts the token of config/clouds for its cluster, and for no other" \
  the_guides_entry_is_taken
check "the verifier accepts a token of an instance, and of a container" platforms_are_taken
check "the verifier accepts the hosts of regions, FIPS, dual stack and partitions" hosts_are_taken
check "the verifier refuses another cluster, a changed token and wrong keys" others_are_refused
check "botocore's presigner makes the same tokens" botocore_signs_the_same
check "the presigner of the SDK for Go makes the same tokens" go_signs_the_same
check "the STS hosts are those of botocore" botocore_knows_the_same_hosts
