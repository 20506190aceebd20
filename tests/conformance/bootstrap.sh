#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-bootstrap. This plugin calls the cluster, so the script starts an
# API server on loopback. It accepts the token of execcred-token-file, which is beside the plugin.
#
#   bootstrap.sh CONFORMANCE PLUGIN API_SERVER [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

conformance=$1 plugin=$(realpath "$2") api_server=$3
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

token=c0nformance-s3cret-token-0123456789
echo "$token" >"$folder/token"
echo "$token,bootstrap,1" >"$folder/users"
"$api_server" --token-auth-file "$folder/users" --ca-file "$folder/ca.pem" --url-file "$folder/url" &
server_pid=$!
until [ -s "$folder/url" ]; do
  kill -0 "$server_pid" 2>/dev/null || {
    echo "bootstrap.sh: the API server has ended" >&2
    exit 1
  }
  sleep 0.05
done
server=$(cat "$folder/url")
printf '{"server":"%s","certificate-authority-data":"%s"}\n' "$server" \
  "$(base64 -w0 "$folder/ca.pem")" >"$folder/cluster.json"

env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" "--cluster-file=$folder/cluster.json" -- "$plugin" \
  --via=token-request --service-account=default/default --audience=conformance \
  "--credential=[\"${plugin%/*}/execcred-token-file\",\"--token-file=$folder/token\"]" \
  "--allow-server=$server" --no-cache
