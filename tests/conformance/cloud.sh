#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-google or execcred-azure. Both exchange a token of this machine, so the
# script starts a token endpoint on loopback.
#
#   cloud.sh CONFORMANCE PLUGIN TOKEN_SERVER [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

conformance=$1 plugin=$(realpath "$2") token_server=$3
shift 3

# The suite runs the plugin as other users too, who must be able to read the token.
umask 022
folder=$(mktemp -d)
server_pid=
finish() {
  [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
chmod 755 "$folder"

"$token_server" "$folder/ca.pem" "$folder/url" &
server_pid=$!
until [ -s "$folder/url" ]; do
  kill -0 "$server_pid" 2>/dev/null || {
    echo "cloud.sh: the token server has ended" >&2
    exit 1
  }
  sleep 0.05
done
url=$(cat "$folder/url")

base64url() { base64 -w0 | tr '+/' '-_' | tr -d '='; }

# Only the cloud would check the signature.
claims=$(printf '{"iss":"https://kubernetes","aud":["cloud"],"sub":"conformance","exp":%d}' "$(($(date +%s) + 3600))")
token=$(printf '{"alg":"RS256"}' | base64url).$(printf '%s' "$claims" | base64url)
token+=.$(printf 'nobody made this signature' | base64url)
echo "$token" >"$folder/token"

case ${plugin##*/} in
  execcred-azure)
    options=(--identity=workload --tenant-id=11111111-1111-1111-1111-111111111111
      --client-id=22222222-2222-2222-2222-222222222222 "--federated-token-file=$folder/token"
      "--authority-host=${url%/token}")
    ;;
  execcred-google)
    provider=//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/hub
    printf '{"type":"external_account","audience":"%s","subject_token_type":"%s","token_url":"%s",
        "credential_source":{"file":"%s"}}\n' "$provider" urn:ietf:params:oauth:token-type:jwt "$url" \
      "$folder/token" >"$folder/credentials.json"
    options=("--credentials-file=$folder/credentials.json" "--allow-endpoint=${url%/token}/*")
    ;;
  *)
    echo "cloud.sh: '${plugin##*/}' is neither execcred-google nor execcred-azure" >&2
    exit 2
    ;;
esac

env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" -- "$plugin" "${options[@]}" "--ca-file=$folder/ca.pem" \
  --no-cache
