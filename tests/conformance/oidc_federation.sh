#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-oidc-federation, which passes a projected token through: the
# only flow that needs no server.
#
#   oidc_federation.sh CONFORMANCE PLUGIN [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

conformance=$1 plugin=$(realpath "$2")
shift 2

# The suite runs the plugin as other users too, who must be able to read the token.
umask 022
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"

base64url() { base64 -w0 | tr '+/' '-_' | tr -d '='; }

# Only an API server would check the signature.
claims=$(printf '{"aud":["server"],"sub":"conformance","exp":%d}' "$(($(date +%s) + 3600))")
token=$(printf '{"alg":"RS256"}' | base64url).$(printf '%s' "$claims" | base64url)
token+=.$(printf 'nobody made this signature' | base64url)
mkdir "$folder/..2026_07_01_12_00_00.1"
printf '%s\n' "$token" >"$folder/..2026_07_01_12_00_00.1/token"
ln -s ..2026_07_01_12_00_00.1 "$folder/..data"
ln -s ..data/token "$folder/token"

env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" -- "$plugin" --flow=pass-through \
  "--subject-token-file=$folder/token"
