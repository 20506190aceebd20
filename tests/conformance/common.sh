# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts share that run the conformance suite on a plugin, with what it asks or reads. Sourced, with
# their arguments: CONFORMANCE PLUGIN [SERVER] [OPTION...]. Leaves the arguments after PLUGIN; options are the
# suite's, such as --test-case=….

# shellcheck source=scripts/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/common.sh"

# shellcheck disable=SC2034
conformance=$1 plugin=$(realpath "$2")
shift 2

# The suite runs the plugin as other users too, who must be able to read what is here.
umask 022
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"

# start FILE COMMAND...: runs a server, which ends with this script, until it has written the file or listens there.
start() {
  local file=$1 server
  "${@:2}" &
  server=$!
  wait_until 60 has_started "$file" "$server" || fail "'$2' does not serve"
  kill -0 "$server" 2>/dev/null || fail "'$2' has ended"
}
has_started() { [ -s "$1" ] || [ -S "$1" ] || ! kill -0 "$2"; }

# mount_token TOKEN: writes it as the kubelet does into a volume.
mount_token() {
  mkdir "$folder/..2026_07_01_12_00_00.1"
  printf '%s\n' "$1" >"$folder/..2026_07_01_12_00_00.1/token"
  ln -s ..2026_07_01_12_00_00.1 "$folder/..data"
  ln -s ..data/token "$folder/token"
}

# unsigned_token CLAIMS: prints a JWT that ends in an hour. Only a server would check its signature.
unsigned_token() {
  printf '%s.%s.%s\n' "$(printf '{"alg":"RS256"}' | base64url)" \
    "$(printf '{%s,"exp":%d}' "$1" "$(($(date +%s) + 3600))" | base64url)" \
    "$(printf 'nobody made this signature' | base64url)"
}
base64url() { base64 -w0 | tr '+/' '-_' | tr -d '='; }
