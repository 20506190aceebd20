# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# execcred-aws, the programs that check it, and stand-ins for AWS (peers/eks): an STS for every host
# name, an instance metadata service and a container credentials agent. No other machine is called.
#
#   aws_start      starts them; the folder AWS has their files: ca.pem, requests, log
#
# A check sets ENVIRONMENT, writes the files config and credentials, and then calls:
#
#   ours OPTION...      runs execcred-aws          theirs COMMAND...   runs botocore
#   verify CLUSTER      checks the token on stdin with aws-iam-authenticator's verifier
#   asked COMMAND...    prints the requests that a command made, one per line, without the fields
#                       that differ between runs
#
# scripts/e2e builds the checkers: E2E_EKS, and E2E_BOTOCORE, a Python that has botocore.

AWS=$SUITE_DIR/aws
AWS_KEYS=(AWS_ACCESS_KEY_ID=AKIDEXAMPLE
  AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY)
AWS_SESSION=(AWS_ACCESS_KEY_ID=ASIAENVIRONMENT
  AWS_SECRET_ACCESS_KEY=0nlyKnownHere/ForEnvironment+Sessions
  "AWS_SESSION_TOKEN=FwoGZXIvYXdzEXAMPLE/+==")
OTHER_KEYS=$'aws_access_key_id = AKIAI44QH8DHBEXAMPLE
aws_secret_access_key = je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY\n'
ROLE=arn:aws:iam::123456789012:role/reader
CLUSTER=demo
ENVIRONMENT=()

aws_start() {
  mkdir -p "$AWS"
  setpriv --pdeathsig KILL "$E2E_EKS" serve "$AWS" >"$AWS/log" 2>&1 &
  wait_until 30 test -s "$AWS/address" || fail "eks serve: $(tail -n 3 "$AWS/log")"
  AWS_ADDRESS=$(cat "$AWS/address")
  INSTANCE=(AWS_EC2_METADATA_DISABLED=false
    "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://$AWS_ADDRESS/")
  CONTAINER=("AWS_CONTAINER_CREDENTIALS_FULL_URI=http://$AWS_ADDRESS/v1/credentials"
    AWS_CONTAINER_AUTHORIZATION_TOKEN=pod-identity-token)
}

# in_aws COMMAND...: runs it with the check's ENVIRONMENT, and without this machine's environment.
# If a name is set twice, env uses the last value.
in_aws() {
  set_in_aws
  "${IN_AWS[@]}" "$@"
}
# Sets IN_AWS to the beginning of that command, for functions that run only programs.
set_in_aws() {
  IN_AWS=(env -i HOME="$PWD" HTTPS_PROXY="http://$AWS_ADDRESS" AWS_CA_BUNDLE="$AWS/ca.pem"
    AWS_EC2_METADATA_DISABLED=true AWS_DEFAULT_REGION=us-west-2 "${ENVIRONMENT[@]}")
}

ours() { in_aws "$EXECCRED_BIN/execcred-aws" --cluster-id="$CLUSTER" --cache-dir="$PWD/cache" "$@"; }
theirs() { in_aws "$E2E_BOTOCORE" "$E2E_DIR/oracles/aws/oracle.py" "$@"; }

# token_of_ours OPTION...: prints the token that execcred-aws returns.
token_of_ours() { ours "$@" | jq -er .status.token; }

# url_of TOKEN: prints the presigned URL that the token encodes.
url_of() {
  local text=${1#k8s-aws-v1.}
  text=$(tr -- '-_' '+/' <<<"$text")
  while [ $((${#text} % 4)) -ne 0 ]; do text+="="; done
  base64 -d <<<"$text"
}
# token_for URL: prints the token that encodes the URL.
token_for() { printf 'k8s-aws-v1.%s\n' "$(printf %s "$1" | base64 -w 0 | tr -- '+/' '-_' | tr -d =)"; }

# parameter NAME: prints this query parameter of the URL on standard input, still percent-encoded.
parameter() { sed 's/[?&]/\n/g' | sed -n "s/^$1=//p"; }

# verify CLUSTER [PARTITION]: prints the verifier's result for the token on standard input.
verify() {
  env -i HTTPS_PROXY="http://$AWS_ADDRESS" SSL_CERT_FILE="$AWS/ca.pem" \
    "$E2E_EKS" verify "$1" "${2:-aws}"
}

# No newline at the end: botocore would send it too, and STS would refuse the token.
web_identity() { printf %s "$("$E2E_EKS" mint "$AWS" system:serviceaccount:ns:sa sts.amazonaws.com 600)"; }

# The parts of a request that must be equal for both clients: those that AWS evaluates. Other
# headers, such as User-Agent, may differ.
# shellcheck disable=SC2016
REQUEST_FILTER='
  def part(pattern): if . then (capture(pattern).x // null) else null end;
  .headers as $headers | $headers.authorization as $authorization |
  {host, method, path, query, form, why,
   content_type: $headers["content-type"],
   signed_headers: ([$authorization | part("SignedHeaders=(?<x>[^,]*)")] | first),
   signer: ([$authorization | part("Credential=(?<x>[^/]*/[0-9]*/[^,]*)")] | first
     | if . then sub("ASIA[0-9A-F]{16}"; "a session") else . end),
   session: ($headers | has("x-amz-security-token")),
   plain_authorization: (if $authorization then
     ($authorization | if startswith("AWS4") then null else . end) else null end),
   lifetime: $headers["x-aws-ec2-metadata-token-ttl-seconds"],
   metadata_token: $headers["x-aws-ec2-metadata-token"]}'

# The requests of a command that fails are printed too.
asked() {
  local before
  before=$(wc -l <"$AWS/requests")
  "$@" >asked.stdout 2>asked.stderr || true
  tail -n "+$((before + 1))" "$AWS/requests" | jq -c "$REQUEST_FILTER"
}

# same_source: botocore and execcred-aws, with the check's files and ENVIRONMENT, must make the same
# requests and sign with the same key. Sets USED to the key's ID, to "a session" if STS issued it, or
# to "" if there is no key.
same_source() {
  local signer
  rm -rf cache
  asked theirs access-key >requests.theirs
  signer=$(sed -E 's/^ASIA[0-9A-F]{16}$/a session/' asked.stdout)
  asked ours >requests
  diff requests.theirs requests
  USED=
  if [ -s asked.stdout ]; then
    USED=$(url_of "$(jq -er .status.token asked.stdout)" | parameter X-Amz-Credential)
    USED=$(sed -E 's/%2F.*//; s/^ASIA[0-9A-F]{16}$/a session/' <<<"$USED")
  fi
  expect_equal "the signer" "$signer" "$USED"
}
expect_used() { expect_equal "the signer" "$1" "$USED"; }
expect_requests() { expect_equal "the number of requests" "$1" "$(wc -l <requests)"; }

files() { # CONFIG CREDENTIALS
  mkdir -p .aws
  printf %s "$1" >.aws/config
  printf %s "$2" >.aws/credentials
}
