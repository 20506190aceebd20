#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-bootstrap. This plugin calls the cluster, so the script starts an
# API server on loopback. It accepts the token of execcred-token-file, which is beside the plugin.
#
#   bootstrap.sh CONFORMANCE PLUGIN API_SERVER [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

# shellcheck source=tests/conformance/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

token=c0nformance-s3cret-token-0123456789
echo "$token" >"$folder/token"
echo "$token,bootstrap,1" >"$folder/users"
start "$folder/url" "$1" --token-auth-file "$folder/users" --ca-file "$folder/ca.pem" --url-file "$folder/url"
shift
server=$(cat "$folder/url")
printf '{"server":"%s","certificate-authority-data":"%s"}\n' "$server" \
  "$(base64 -w0 "$folder/ca.pem")" >"$folder/cluster.json"

env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" "--cluster-file=$folder/cluster.json" -- "$plugin" \
  --via=token-request --service-account=default/default --audience=conformance \
  "--credential=[\"${plugin%/*}/execcred-token-file\",\"--token-file=$folder/token\"]" \
  "--allow-server=$server" --no-cache
