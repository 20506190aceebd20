# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The sources of execcred-aws's credentials: the same as botocore's, in the same order, with the same
# requests to STS, to the instance metadata service and to a container's credentials agent.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/aws.sh
. "$E2E_DIR/lib/aws.sh"

named() { printf 'role_arn = %s\nrole_session_name = me\n' "$ROLE"; }

assume_role_requests() {
  files "[default]
$(named)
source_profile = base
external_id = ab:c/d-1
duration_seconds = 900
[profile base]
$OTHER_KEYS" ""
  same_source
  expect_used "a session"
  expect_requests 1
}

chained_role_requests() {
  files "[default]
$(named)
source_profile = middle
[profile middle]
role_arn = arn:aws:iam::123456789012:role/path/middle
role_session_name = middle
source_profile = base" "[base]
$OTHER_KEYS"
  same_source
  expect_used "a session"
  expect_requests 2
}

web_identity_requests() {
  web_identity >token
  ENVIRONMENT=(AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/token" AWS_ROLE_ARN="$ROLE"
    AWS_ROLE_SESSION_NAME=me)
  same_source
  expect_used "a session"
  expect_requests 1
  # Configured in a profile, and as the source of a role.
  ENVIRONMENT=()
  files "[default]
$(named)
source_profile = identity
[profile identity]
$(named)
web_identity_token_file = $PWD/token" ""
  same_source
  expect_used "a session"
  expect_requests 2
}

instance_requests() {
  ENVIRONMENT=("${INSTANCE[@]}")
  same_source
  expect_used ASIAINSTANCE
  expect_requests 3
  files "[default]
$(named)
credential_source = Ec2InstanceMetadata" ""
  same_source
  expect_used "a session"
}

container_requests() {
  ENVIRONMENT=("${CONTAINER[@]}")
  same_source
  expect_used ASIACONTAINER
  expect_requests 1
  printf pod-identity-token >token
  ENVIRONMENT+=(AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE="$PWD/token"
    AWS_CONTAINER_AUTHORIZATION_TOKEN=another)
  same_source
  expect_used ASIACONTAINER
  files "[default]
$(named)
credential_source = EcsContainer" ""
  same_source
  expect_used "a session"
}

# Writes a program that prints the keys in its arguments.
write_process() {
  cat >process <<'END'
#!/bin/sh
echo "{\"Version\":1,\"AccessKeyId\":\"$1\",\"SecretAccessKey\":\"$2\"}"
END
  chmod 755 process
}
PROCESS_WORDS="'AKIDEXAMPLE' \"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\""

process_is_run() {
  write_process
  files "[default]
credential_process = $PWD/process $PROCESS_WORDS" ""
  same_source
  expect_used AKIDEXAMPLE
}

# At first all sources exist, and the first one is used. Then they are removed one after the other.
the_order_is_the_same() {
  local process="credential_process = $PWD/process $PROCESS_WORDS"
  web_identity >token
  write_process
  local identity=(AWS_WEB_IDENTITY_TOKEN_FILE="$PWD/token" AWS_ROLE_ARN="$ROLE"
    AWS_ROLE_SESSION_NAME=me) platform=("${CONTAINER[@]}" "${INSTANCE[@]}")
  files "[default]
$(named)
source_profile = default
$OTHER_KEYS$process" "[default]
$OTHER_KEYS"
  ENVIRONMENT=("${AWS_SESSION[@]}" "${identity[@]}" "${platform[@]}")
  same_source
  expect_used ASIAENVIRONMENT
  ENVIRONMENT=("${identity[@]}" "${platform[@]}")
  same_source
  expect_in requests '"Action":"AssumeRole"'
  files "[default]
$process" "[default]
$OTHER_KEYS"
  same_source
  expect_in requests '"Action":"AssumeRoleWithWebIdentity"'
  ENVIRONMENT=("${platform[@]}")
  same_source
  expect_used AKIAI44QH8DHBEXAMPLE
  files "[default]
$process
$OTHER_KEYS" ""
  same_source
  expect_used AKIDEXAMPLE
  files "[default]
$OTHER_KEYS" ""
  same_source
  expect_used AKIAI44QH8DHBEXAMPLE
  files "" ""
  same_source
  expect_used ASIACONTAINER
  ENVIRONMENT=("${INSTANCE[@]}")
  same_source
  expect_used ASIAINSTANCE
  ENVIRONMENT=()
  same_source
  expect_used ""
}

the_profile_is_the_same() {
  files "[profile build]
$OTHER_KEYS" ""
  ENVIRONMENT=(AWS_PROFILE=build)
  same_source
  expect_used AKIAI44QH8DHBEXAMPLE
  ENVIRONMENT=(AWS_PROFILE=build "${AWS_KEYS[@]}")
  same_source
  expect_used AKIDEXAMPLE
  ENVIRONMENT=(AWS_PROFILE=nobody)
  same_source
  expect_used ""
}

# Configurations that botocore refuses are refused here too.
mistakes_are_the_same() {
  local config
  while IFS= read -r -d '' config; do
    files "$config" ""
    same_source
    expect_used ""
    expect_requests 0
  done < <(printf '%s\0' \
    "[default]
$(named)" \
    "[default]
$(named)
source_profile = nobody" \
    "[default]
$(named)
source_profile = default" \
    "[default]
$(named)
source_profile = a
[profile a]
$(named)
source_profile = default" \
    "[default]
$(named)
source_profile = a
credential_source = Environment
[profile a]
$OTHER_KEYS" \
    "[default]
$(named)
credential_source = Moon" \
    "[default]
web_identity_token_file = /nowhere" \
    "[default]
aws_access_key_id = AKIDEXAMPLE" \
    "[default]
region = a
[default]
region = b" \
    "[default]
a line")
}

aws_start

check "AssumeRole: the same requests as botocore" assume_role_requests
check "AssumeRole with the session of another role: the same requests as botocore" chained_role_requests
check "AssumeRoleWithWebIdentity: the same requests as botocore" web_identity_requests
check "instance metadata: the same requests as botocore" instance_requests
check "a container's agent: the same requests as botocore" container_requests
check "credential_process: run with the same arguments as by botocore" process_is_run
check "the sources are used in the same order as by botocore" the_order_is_the_same
check "the same profile is selected as by botocore" the_profile_is_the_same
check "mistakes in a profile are errors, as in botocore" mistakes_are_the_same
