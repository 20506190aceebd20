#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-google or execcred-azure. Both exchange a token of this machine, so the
# script starts a token endpoint on loopback.
#
#   cloud.sh CONFORMANCE PLUGIN TOKEN_SERVER [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

# shellcheck source=tests/conformance/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

start "$folder/url" "$1" "$folder/ca.pem" "$folder/url"
shift
url=$(cat "$folder/url")
unsigned_token '"iss":"https://kubernetes","aud":["cloud"],"sub":"conformance"' >"$folder/token"

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
  *) fail "'${plugin##*/}' is neither execcred-google nor execcred-azure" ;;
esac

env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" -- "$plugin" "${options[@]}" "--ca-file=$folder/ca.pem" \
  --no-cache
