# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The servers on loopback that plugins ask in scripts/bench, which sources this after common.sh, and the
# rows of these plugins. Each server answers at once; $input is a directory for their files.

SERVERS=$EXECCRED_ROOT/build/release/bin-test
server_pids=()

start_servers() {
  build_preset release loopback-token-server spiffe-agent
  "$SERVERS/loopback-token-server" "$input/server-ca.pem" "$input/token-url" &
  server_pids+=($!)
  "$SERVERS/spiffe-agent" --socket "$input/agent.sock" &
  server_pids+=($!)
  wait_until 20 test -s "$input/token-url" || fail "the token server did not start"
  wait_until 20 test -S "$input/agent.sock" || fail "the SPIFFE agent did not start"
}

stop_servers() { kill "${server_pids[@]}" 2>/dev/null || true; }

# The token server's CA among those of the system, seen by this process and its children alone: a
# mount namespace of our own is what scripts/bench starts itself in.
trust_as_system() {
  local bundle=/etc/ssl/certs/ca-certificates.crt
  [ -n "${EXECCRED_BENCH_NAMESPACE:-}" ] || return 1
  cat "$bundle" "$input/server-ca.pem" >"$input/bundle.pem"
  mount -t tmpfs none /etc/ssl/certs 2>/dev/null || return 1
  cp "$input/bundle.pem" "$bundle"
}

# row NAME LIMIT PROGRAM ARGUMENT...: once it gave a credential.
row() {
  local name=$1 limit=$2
  shift 2
  env -i PATH="$PATH" HOME="$input" KUBERNETES_EXEC_INFO="$(cat "$input/exec-info.json")" "$@" |
    grep -q '"kind":"ExecCredential"' || fail "'$*' gave no credential"
  subjects+=(--binary "$name=$(printf '%q ' "$@")" --limit "$limit")
}

# add_federation DIRECTORY
add_federation() {
  local url
  url=$(cat "$input/token-url")
  local ask=("$1/execcred-oidc-federation" --flow=token-exchange "--token-url=$url"
    "--subject-token-file=$input/volume/token")
  row "federation, musl, cached" "$CACHED_LIMIT" "${ask[@]}" "--ca-file=$input/server-ca.pem" \
    "--cache-dir=$input/cache"
  row "federation, musl, one CA" "$COLD_LIMIT" "${ask[@]}" "--ca-file=$input/server-ca.pem" --no-cache
  if trust_as_system; then
    row "federation, musl, system CAs" "$COLD_LIMIT" "${ask[@]}" --no-cache
  else
    subjects+=(--missing "federation, musl, system CAs=no mount namespace; run as root")
  fi
}

# add_clouds DIRECTORY: what the clouds' plugins do without asking anybody.
add_clouds() {
  local url
  url=$(cat "$input/token-url")
  cat >"$input/google.json" <<END
{"type": "external_account", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
 "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
 "token_url": "$url", "credential_source": {"file": "$input/volume/token"}}
END
  chmod 600 "$input/google.json"
  row "google, musl, cached" "$CACHED_LIMIT" "$1/execcred-google" \
    "--credentials-file=$input/google.json" "--allow-endpoint=${url%/token}/*" \
    "--ca-file=$input/server-ca.pem" "--cache-dir=$input/cache"
  row "aws, musl, presigned" "$PRESIGN_LIMIT" AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE \
    AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY "$1/execcred-aws" \
    --cluster-id=spoke-1 --region=eu-central-1
}

# add_spiffe DIRECTORY
add_spiffe() {
  local ask=("$1/execcred-spiffe" "--socket=unix://$input/agent.sock")
  row "spiffe, musl, JWT-SVID" "$JWT_SVID_LIMIT" "${ask[@]}" --type=jwt --audience=k8s
  row "spiffe, musl, X.509-SVID" "$X509_SVID_LIMIT" "${ask[@]}" --type=x509 --allow-empty-cn
}
