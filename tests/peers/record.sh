#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the programs of other projects that write kubeconfigs, compares what they write with the files here,
# and migrates it. tests/migrate/recorded_test.cpp judges what becomes of each user. The programs
# are pinned by version and hash. Their platforms are stand-ins on loopback.
#
#   tests/peers/record.sh            ends with a line "N passed, N failed"
#   tests/peers/record.sh --write    writes the files
#
# EXECCRED_E2E keeps what is installed and built (default ~/.cache/execcred-e2e).
set -euo pipefail

# shellcheck source=scripts/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/common.sh"
# shellcheck source=scripts/lib/cache.sh
. "$EXECCRED_ROOT/scripts/lib/cache.sh"
# shellcheck source=tests/e2e/lib/toolchain.sh
. "$EXECCRED_ROOT/tests/e2e/lib/toolchain.sh"
# shellcheck source=tests/e2e/lib/parts.sh
. "$EXECCRED_ROOT/tests/e2e/lib/parts.sh"

HERE=$EXECCRED_ROOT/tests/peers
EXECCRED=$EXECCRED_ROOT/build/dev/bin/execcred
passed=0 failed=0

# python_version REQUIREMENTS PACKAGE: prints the version that the file pins.
python_version() { sed -n "s/^$2==\([^ ]*\).*/\1/p" "$1"; }

# clean PROGRAM ARGUMENT...: runs it with no setting of this machine.
clean() { env -i "PATH=$PATH" "HOME=$WORK/home" "$@"; }

# The users of aws: each is named for the options that wrote it.
aws() {
  local venv out=$WORK/aws role=arn:aws:iam::111122223333:role/fleet
  python_packages "$HERE/requirements/aws-cli.txt"
  venv=$VENV
  # update NAME PROFILE [OPTION...]
  update() {
    clean AWS_CONFIG_FILE="$WORK/aws.config" \
      "$venv/bin/aws" --region eu-central-1 --endpoint-url "$URL" ${2:+--profile "$2"} \
      eks update-kubeconfig --kubeconfig "$out" --name "$1" "${@:3}" >&2
  }
  printf '[%s]\naws_access_key_id = AKIATEST\naws_secret_access_key = none\ncli_follow_urlparam = false\n' \
    default 'profile ops' >"$WORK/aws.config"
  update prod ''
  update prod-role '' --role-arn "$role"
  update prod-profile ops
  update outpost ops --role-arn "$role"
  update prod-alias '' --alias short --user-alias fleet --proxy-url http://proxy.example.com:3128
  echo "# Written by aws-cli $(python_version "$HERE/requirements/aws-cli.txt" awscli): aws eks update-kubeconfig"
  echo "# without options, with --role-arn, with --profile, with both for a cluster on an Outpost, and with"
  echo "# --alias, --user-alias and --proxy-url. (tests/peers/record.sh)"
  cat "$out"
}

# legacy_azure USER...: what az writes without kubelogin, for each user.
legacy_azure() {
  local name
  printf 'apiVersion: v1\nkind: Config\nclusters:\n'
  printf -- '- name: aks\n  cluster: {server: "https://aks.example.com:443"}\ncontexts:\n'
  for name in "$@"; do
    printf -- '- {name: %s, context: {cluster: aks, user: %s}}\n' "$name" "$name"
  done
  echo users:
  for name in "$@"; do
    cat <<END
- name: $name
  user:
    auth-provider:
      name: azure
      config:
        apiserver-id: 6dae42f8-4368-4678-94ff-3960e28e3630
        client-id: 80faf920-1908-4b52-b5ef-a8e7bedfc67a
        config-mode: "1"
        environment: AzurePublicCloud
        tenant-id: 11111111-2222-3333-4444-555555555555
END
  done
}

# Each line: a user, and the options with which it is converted.
CONVERSIONS='
azd              --login azd
azurecli         --login azurecli --azure-config-dir /home/me/.azure --timeout 30s
azurepipelines   --login azurepipelines --azure-pipelines-service-connection-id 99999999-8888-7777-6666-555555555555
devicecode       --login devicecode
interactive-pop  --login interactive --pop-enabled --pop-claims u=/ARM/ID --login-hint me@example.com --redirect-url http://localhost:8000
msi              --login msi --client-id 99999999-8888-7777-6666-555555555555
msi-again        --login msi
msi-cache        --login msi --cache-dir /c
msi-resource     --login msi --identity-resource-id /subscriptions/0/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/app
ropc             --login ropc --username me --password S3CRET
spn              --login spn --client-certificate /spn.pem --client-certificate-password S3CRET --legacy --disable-environment-override
spn-secret       --login spn --client-id 99999999-8888-7777-6666-555555555555 --client-secret S3CRET
workload         --login workloadidentity
workload-options --login workloadidentity --client-id 99999999-8888-7777-6666-555555555555 --tenant-id 11111111-2222-3333-4444-555555555555 --authority-host https://login.microsoftonline.com/ --federated-token-file /token --disable-instance-discovery
'

kubelogin() {
  local out=$WORK/kubelogin name options
  build_peer kubelogin github.com/Azure/kubelogin github.com/Azure/kubelogin
  mapfile -t names < <(awk 'NF { print $1 }' <<<"$CONVERSIONS")
  legacy_azure "${names[@]}" unconverted >"$out"
  convert() { clean "$PEER" convert-kubeconfig --kubeconfig "$out" --context "$@" >&2; }
  # kubelogin also converts what it has written itself.
  convert msi-again --login devicecode
  while read -r name options; do
    read -ra options <<<"$options"
    [ -z "$name" ] || convert "$name" "${options[@]}"
  done <<<"$CONVERSIONS"
  echo "# Written by Azure's kubelogin $PEER_VERSION: kubelogin convert-kubeconfig with each login method, from the"
  echo "# legacy users of az, of which one is left. (tests/peers/record.sh)"
  cat "$out"
}

oci() {
  local venv out=$WORK/oci
  python_packages "$HERE/requirements/oci-cli.txt"
  venv=$VENV
  openssl genrsa -out "$WORK/oci.pem" 2048 2>/dev/null
  printf '[DEFAULT]\nuser=ocid1.user.oc1..a\ntenancy=ocid1.tenancy.oc1..a\nregion=us-ashburn-1\n' >"$WORK/oci.config"
  printf 'fingerprint=20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34\nkey_file=%s\n' "$WORK/oci.pem" >>"$WORK/oci.config"
  chmod 600 "$WORK/oci.config" "$WORK/oci.pem"
  clean SUPPRESS_LABEL_WARNING=True "$venv/bin/oci" --config-file "$WORK/oci.config" --endpoint "$URL" \
    --auth api_key --profile DEFAULT ce cluster create-kubeconfig --cluster-id ocid1.cluster.oc1.iad.a \
    --file "$out" --with-auth-context >&2
  echo "# Written by oci-cli $(python_version "$HERE/requirements/oci-cli.txt" oci-cli): oci ce cluster create-kubeconfig"
  echo "# --with-auth-context, from what its service answers. (tests/peers/record.sh)"
  cat "$out"
}

# compare NAME: runs the program, and judges or writes its file.
compare() {
  local file=$HERE/$1.yaml
  "$1" >"$WORK/$1.yaml"
  if "$is_written"; then
    cp "$WORK/$1.yaml" "$file"
  fi
  if diff -u "$file" "$WORK/$1.yaml"; then
    ok "$1 writes what is recorded"
  else
    not_ok "$1 writes something else; tests/peers/record.sh --write records it"
  fi
}

ok() { echo "ok $1"; passed=$((passed + 1)); }
not_ok() { echo "not ok $1"; failed=$((failed + 1)); }

# names_every_flag NAME COMMAND ARGUMENT...: standard input has the flags that the program itself lists.
# A flag may be refused, but not for being unknown.
names_every_flag() {
  local name=$1 unknown
  shift
  jq -Rn --args '{kind: "Config", users: [{name: "u", user: {exec: {
    command: $ARGS.positional[0], args: ($ARGS.positional[1:] + [inputs + "=x"])}}}]}' "$@" >"$WORK/flags.json"
  [ "$(jq '.users[0].user.exec.args | length' "$WORK/flags.json")" -gt 3 ] || fail "$name lists no flags"
  "$EXECCRED" migrate "$WORK/flags.json" >/dev/null 2>"$WORK/report" || [ "$?" -eq 1 ]
  grep -q "users\[0\].user.exec 'u': " "$WORK/report" || fail "migrate does not know $name"
  if unknown=$(grep 'it is not known' "$WORK/report"); then
    echo "$unknown"
    not_ok "migrate knows every flag of $name"
  else
    ok "migrate knows every flag of $name"
  fi
}

flags_of_help() { grep -oE '^ +(-[A-Za-z], )?--[a-zA-Z0-9_-]+' | grep -oE -e '--.*' | grep -vx -e --help; }

flags_of_aws() {
  "$VENV/bin/python" -c '
import json, pathlib, awscli
from awscli.customizations.eks.get_token import GetTokenCommand
options = json.loads((pathlib.Path(awscli.__file__).parent / "data/cli.json").read_text())["options"]
print(*("--" + name for name in [*options, *(a["name"] for a in GetTokenCommand.ARG_TABLE)]), sep="\n")'
}

check_flags() {
  build_peer kubelogin github.com/Azure/kubelogin github.com/Azure/kubelogin
  names_every_flag kubelogin kubelogin get-token < <(clean "$PEER" get-token --help 2>&1 | flags_of_help)
  build_aws_iam_authenticator
  names_every_flag aws-iam-authenticator aws-iam-authenticator token \
    < <(clean "$PEER" token --help 2>&1 | flags_of_help)
  python_packages "$HERE/requirements/aws-cli.txt"
  names_every_flag aws aws eks get-token < <(flags_of_aws)
}

is_written=false
case ${1:-} in
  '') ;;
  --write) is_written=true ;;
  -h | --help)
    sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *) fail "unknown argument '$1'; see --help" ;;
esac
WORK=$(mktemp -d)
SERVER=
trap 'kill $SERVER 2>/dev/null || true; rm -rf "$WORK"' EXIT
mkdir "$WORK/home"
need_packages "${BUILD_PACKAGES[@]}" jq openssl python3
build_preset dev execcred >&2
python3 -B "$HERE/platforms.py" "$WORK/url" 2>/dev/null &
SERVER=$!
wait_until 20 test -s "$WORK/url" || fail "the stand-ins did not start"
URL=$(cat "$WORK/url")

for name in aws kubelogin oci; do compare "$name"; done
check_flags
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
