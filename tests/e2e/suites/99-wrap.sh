# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-wrap around real programs: aws and aws-iam-authenticator, whose tokens the verifier of
# aws-iam-authenticator accepts, kubelogin of int128 and az, whose tokens a cluster accepts, and oci, whose
# token is a signed request.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/aws.sh
. "$E2E_DIR/lib/aws.sh"
# shellcheck source=tests/e2e/lib/federation.sh
. "$E2E_DIR/lib/federation.sh"
# shellcheck source=tests/e2e/lib/azure.sh
. "$E2E_DIR/lib/azure.sh"

WRAP=$EXECCRED_BIN/execcred-wrap
AWS_COMMAND=("$E2E_AWS_CLI" eks get-token --cluster-name '{clusterName}' --output json)
IAM_COMMAND=("$E2E_AWS_IAM_AUTHENTICATOR" token -i '{clusterName}')

# command_of PROGRAM ARGUMENT...: prints the value of --command.
command_of() { jq -cn '$ARGS.positional' --args -- "$@"; }

# exec_info VERSION [SERVER]: prints the client's document, for the cluster demo.
exec_info() {
  jq -cn --arg version "$1" --arg server "${2:-https://a.eks.amazonaws.com}" '{
    kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/\($version)",
    spec: {interactive: false, cluster: {server: $server, config: {clusterName: "demo"}}}}'
}

# wrapped OPTION...: runs execcred-wrap as a client does, with a cache of this check's own.
wrapped() {
  set_in_aws
  run "${IN_AWS[@]}" KUBERNETES_EXEC_INFO="${INFO:-$(exec_info v1)}" "$WRAP" \
    --allow-server='https://*.eks.amazonaws.com' --timeout=60s "$@"
}

# is_taken ARN: the verifier accepts the token on stdout as this identity, and for no other cluster.
is_taken() {
  expect_success
  expect_silent_stderr
  jq -er .status.token stdout >token
  verify demo <token >identity
  expect_equal "the identity" "$1" "$(jq -r .ARN identity)"
  if verify other <token >identity 2>refusal; then unexpected "the verifier to refuse"; fi
}

signed_tokens_are_taken() { # PROGRAM ARGUMENT...
  local version
  for version in v1 v1beta1; do
    INFO=$(exec_info "$version")
    ENVIRONMENT=("${AWS_KEYS[@]}")
    wrapped --command="$(command_of "$@")"
    is_taken arn:aws:iam::123456789012:user/tester
    expect_json .apiVersion "client.authentication.k8s.io/$version"
    ENVIRONMENT=("${AWS_SESSION[@]}")
    wrapped --command="$(command_of "$@")"
    is_taken arn:aws:iam::123456789012:user/tester
  done
}

the_profile_is_the_identity() { # PROGRAM ARGUMENT...
  files "" "[default]
aws_access_key_id = AKIDEXAMPLE
aws_secret_access_key = wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY
"
  ENVIRONMENT=()
  wrapped --command="$(command_of "$@")" --cache --cache-dir="$PWD/cache" \
    --identity-file="$PWD/.aws/credentials"
  is_taken arn:aws:iam::123456789012:user/tester
  cp token first
  wrapped --command="$(command_of "$@")" --cache --cache-dir="$PWD/cache" \
    --identity-file="$PWD/.aws/credentials"
  cmp first <(jq -er .status.token stdout)
  files "" "[default]
$OTHER_KEYS"
  wrapped --command="$(command_of "$@")" --cache --cache-dir="$PWD/cache" \
    --identity-file="$PWD/.aws/credentials"
  expect_success
  expect_equal "the signer" AKIAI44QH8DHBEXAMPLE \
    "$(url_of "$(jq -er .status.token stdout)" | parameter X-Amz-Credential | sed 's/%2F.*//')"
}

# The error has the last line that the program wrote, and the program's own exit code is no result.
its_own_words_are_quoted() { # TEXT PROGRAM ARGUMENT...
  ENVIRONMENT=(AWS_PROFILE=nobody)
  wrapped --command="$(command_of "${@:2}")"
  expect_status 1
  expect_no_stdout
  expect_error_line execcred-wrap "$2" "ended with exit code"
  grep -qE "while the program wrote: .*$1" stderr || unexpected "'$1' in the program's line"
}

# counted PROGRAM: sets COUNTED to a program that notes each run, and then becomes this one.
counted() {
  COUNTED=$PWD/counted
  printf '#!/bin/sh\necho run >>%q\nexec %q "$@"\n' "$PWD/runs" "$1" >"$COUNTED"
  chmod 755 "$COUNTED"
  : >runs
}

another_server_starts_nothing() {
  ENVIRONMENT=("${AWS_KEYS[@]}")
  counted "$E2E_AWS_CLI"
  INFO=$(exec_info v1 https://evil.example.com)
  wrapped --command="$(command_of "$COUNTED" "${AWS_COMMAND[@]:1}")"
  expect_status 1
  expect_no_stdout
  expect_error_line execcred-wrap evil.example.com
  expect_equal "the program's runs" 0 "$(wc -l <runs)"
}

all_wait() { [ "$(wc -l <waiting)" -eq "$1" ]; }

# All processes exist before one of them becomes execcred-wrap.
a_herd_runs_it_once() {
  local i pids=() failed=0
  counted "$E2E_AWS_CLI"
  ENVIRONMENT=("${AWS_KEYS[@]}" KUBERNETES_EXEC_INFO="$(exec_info v1)")
  mkfifo gate
  mkdir herd
  : >waiting
  for ((i = 0; i < 1000; ++i)); do
    (
      echo >>waiting
      : <gate
      exec env -i HOME="$PWD" AWS_DEFAULT_REGION=us-west-2 "${ENVIRONMENT[@]}" "$WRAP" \
        --command="$(<command.json)" --allow-server='https://*.eks.amazonaws.com' --cache \
        --cache-dir="$PWD/cache" --timeout=60s
    ) >"herd/$i.out" 2>"herd/$i.err" &
    pids+=("$!")
  done
  command_of "$COUNTED" "${AWS_COMMAND[@]:1}" >command.json
  wait_until 120 all_wait 1000
  exec 9>gate
  for i in "${!pids[@]}"; do
    wait "${pids[i]}" || failed=$((failed + 1))
  done
  exec 9>&-
  [ "$failed" -eq 0 ] || sort herd/*.err | uniq -c
  expect_equal "the number that failed" 0 "$failed"
  expect_equal "the different answers" 1 "$(sort -u herd/*.out | wc -l)"
  expect_equal "the program's runs" 1 "$(wc -l <runs)"
}

# Its token is accepted as that of our own plugin, for the same client. It needs nothing of the cluster, and
# fails on a document that has spec.cluster.config.
the_cluster_accepts_kubelogin() {
  local before command
  # shellcheck disable=SC2153
  write_clients --ca-file="$FEDERATION_CA" --cache-dir="$PWD/own-cache" --flow=client-credentials \
    --issuer-url="$OIDC_PROVIDER_URL" --client-id="$CLIENT" --client-secret-file="$SUITE_DIR/secret"
  expect_accepted "op:$CLIENT"
  command=$(command_of "$E2E_KUBELOGIN_INT128" get-token --grant-type=client-credentials \
    --oidc-issuer-url="$OIDC_PROVIDER_URL" --oidc-client-id="$CLIENT" \
    --oidc-client-secret="$CLIENT_SECRET" --oidc-use-access-token \
    --certificate-authority="$FEDERATION_CA" --token-cache-storage=none)
  before=$(oidc_provider_calls)
  FEDERATION_PLUGIN=$WRAP write_clients --command="$command" --cache --cache-dir="$PWD/cache" \
    --allow-server="$SERVER" --expect-audience="$FEDERATED_AUDIENCE" --pass-cluster=false
  write_profile profile.json spoke accessProviders "$(cluster_json '{"team": "fleet"}')"
  expect_accepted "op:$CLIENT"
  expect_equal "the provider's calls" $((before + 1)) "$(oidc_provider_calls)"
}

kubelogin_fails_with_its_words() {
  # shellcheck disable=SC2153
  run "$WRAP" --command="$(command_of "$E2E_KUBELOGIN_INT128" get-token \
    --grant-type=client-credentials --oidc-issuer-url="$OIDC_PROVIDER_URL" --oidc-client-id="$CLIENT" \
    --oidc-client-secret=wrong-secret --oidc-use-access-token \
    --certificate-authority="$FEDERATION_CA" --token-cache-storage=none)"
  expect_status 1
  expect_no_stdout
  expect_error_line execcred-wrap "ended with exit code 1"
  expect_in stderr "while the program wrote: " invalid_client
  if grep -qF -e wrong-secret stderr; then unexpected "no secret in the message"; fi
}

# The request that oci's token encodes, and its signature (HTTP Signatures: date, request target and host).
# shellcheck disable=SC2016
OCI_REQUEST='
import base64, re, sys, urllib.parse
url = urllib.parse.urlsplit(base64.b64decode(sys.argv[1]).decode())
values = dict(urllib.parse.parse_qsl(url.query))
parts = dict(re.findall(r"(\w+)=\"([^\"]*)\"", values["authorization"]))
assert parts["algorithm"] == "rsa-sha256" and parts["headers"] == "date (request-target) host", parts
with open("signed", "w") as file:
    file.write("date: %s\n(request-target): get %s\nhost: %s" % (values["date"], url.path, url.netloc))
with open("signature", "wb") as file:
    file.write(base64.b64decode(parts["signature"]))
print(url.netloc, url.path, parts["keyId"])'

# The cluster is a field of the ClusterProfile.
oci_signs_for_the_cluster() {
  local cluster=ocid1.cluster.oc1.iad.spoke user=ocid1.user.oc1..u tenancy=ocid1.tenancy.oc1..t
  local fingerprint=20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34
  openssl genrsa -out key.pem 2048
  openssl rsa -in key.pem -pubout -out public.pem
  printf '%s\n' '[DEFAULT]' "user=$user" "tenancy=$tenancy" region=us-ashburn-1 \
    "fingerprint=$fingerprint" "key_file=$PWD/key.pem" >config
  chmod 600 config key.pem
  run env -i HOME="$PWD" OCI_CLI_CONFIG_FILE="$PWD/config" \
    KUBERNETES_EXEC_INFO="$(exec_info v1 | jq -c --arg id "$cluster" '.spec.cluster.config = {clusterOcid: $id}')" \
    "$WRAP" --timeout=60s --allow-server='https://*.eks.amazonaws.com' \
    --command="$(command_of "$E2E_OCI_CLI" ce cluster generate-token --cluster-id '{config.clusterOcid}')" \
    --allow-config='clusterOcid=ocid1.cluster.oc1.*'
  expect_success
  expect_silent_stderr
  /usr/bin/python3 -c "$OCI_REQUEST" "$(jq -er .status.token stdout)" >request
  expect_equal "the request" \
    "containerengine.us-ashburn-1.oraclecloud.com /cluster_request/$cluster $tenancy/$user/$fingerprint" \
    "$(cat request)"
  openssl dgst -sha256 -verify public.pem -signature signature signed
}

AZ_COMMAND=(account get-access-token --resource "$AKS_SERVER" -o json)
# az runs with these variables alone: they name a cloud of its own, in which nobody has logged in.
az_variables() {
  AZ_VARIABLES=(AZURE_CONFIG_DIR="$PWD/az" AZURE_CORE_COLLECT_TELEMETRY=false
    AZURE_CORE_INSTANCE_DISCOVERY=false REQUESTS_CA_BUNDLE="$AZURE_CA")
}
az() { env -i HOME="$PWD" NO_PROXY=127.0.0.1 "${AZ_VARIABLES[@]}" "$E2E_AZURE_CLI" "$@"; }

log_in_to_entra() {
  jq -n --arg url "$ENTRA_URL" --arg server "$AKS_SERVER" '{endpoints: {activeDirectory: $url,
    resourceManager: $url, activeDirectoryResourceId: $server}}' >cloud.json
  az cloud register --name local --skip-endpoint-discovery --cloud-config @cloud.json
  az cloud set --name local
  az login --service-principal -u "$AZURE_CLIENT" -t "$AZURE_TENANT" \
    --federated-token "$(cat "$CLOUD/federated/token")" --allow-no-subscriptions
}

# The credential ends with the JWT, which has begun before az asked for it.
the_cluster_accepts_az() {
  az_variables
  log_in_to_entra
  counted "$E2E_AZURE_CLI"
  FEDERATION_PLUGIN=$WRAP EXEC_ENV=$(env_json "${AZ_VARIABLES[@]}") write_clients \
    --command="$(command_of "$COUNTED" "${AZ_COMMAND[@]}")" --output=json --token-field=accessToken \
    --expires-field=expires_on --cache --cache-dir="$PWD/cache" --allow-server="$SERVER" \
    --identity-file="$PWD/az/azureProfile.json"
  expect_accepted "$(user_of app)"
  expect_equal "az's runs" 1 "$(wc -l <runs)"
  az "${AZ_COMMAND[@]}" >account.json
  jwt_claims "$(jq -r .accessToken account.json)" >claims.json
  run "$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json
  jq -es '([.[0].expires_on, .[1].exp] | min) - (.[2].status.expirationTimestamp | fromdate)
    | 20 < . and . < 40' account.json claims.json stdout
}

az_fails_with_its_words() {
  az_variables
  run env "${AZ_VARIABLES[@]}" "$WRAP" --command="$(command_of "$E2E_AZURE_CLI" "${AZ_COMMAND[@]}")" \
    --output=json --token-field=accessToken --expires-field=expires_on
  expect_status 1
  expect_no_stdout
  expect_error_line execcred-wrap "ended with exit code 1"
  expect_in stderr "while the program wrote: " "Please run 'az login'"
}

aws_start
federation_start oidc_provider
use_namespace wrap
CLIENT="basic client+1"
create_account app
allow_users "op:$CLIENT" "$(user_of app)"
CLUSTER_ISSUER=$ISSUER_URL azure_start app
printf '%s\n' "$CLIENT_SECRET" >"$SUITE_DIR/secret"

check "aws eks get-token: the verifier accepts the token, v1 and v1beta1" \
  signed_tokens_are_taken "${AWS_COMMAND[@]}"
check "aws-iam-authenticator: the verifier accepts the token, v1 and v1beta1" \
  signed_tokens_are_taken "${IAM_COMMAND[@]}"
check "aws: a changed credentials file is another credential" \
  the_profile_is_the_identity "${AWS_COMMAND[@]}"
check "aws-iam-authenticator: a changed credentials file is another credential" \
  the_profile_is_the_identity "${IAM_COMMAND[@]}"
check "aws with an unknown profile: the error quotes it" its_own_words_are_quoted \
  "profile .nobody. could not be found" "${AWS_COMMAND[@]}"
check "aws-iam-authenticator with an unknown profile: the error quotes it" its_own_words_are_quoted \
  "shared config profile, nobody" "${IAM_COMMAND[@]}"
check "another server: aws is not started" another_server_starts_nothing
check "oci: the token is a request for the ClusterProfile's cluster, signed with the user's key" \
  oci_signs_for_the_cluster
check "kubelogin: kubectl, client-go and execcred are accepted, with one call" \
  the_cluster_accepts_kubelogin
check "kubelogin with a wrong secret: the error quotes it" kubelogin_fails_with_its_words
check "az: kubectl, client-go and execcred are accepted, with one run of it" the_cluster_accepts_az
check "az without a login: the error quotes it" az_fails_with_its_words

alone
check "1,000 processes at once run aws once" a_herd_runs_it_once
