# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# The rows of scripts/bench that need no programs of other projects: the floors, and the plugins with
# servers from tests/. Sourced after servers.sh and the libraries of tests/e2e. The arguments for
# execcred-bench are added to subjects.

# The limits of a row: wall time as a multiple of the empty C program's, RSS and stripped size in KB;
# and how many times less CPU and memory than the peer it must take, if the peer is in the run.
# MAX_RSS is the upper limit for all rows. Some rows have a lower one.
MAX_RSS=rssKilobytes=4608
TOKEN_FILE_LIMITS=wallRatio=0.75,rssKilobytes=2048,strippedKilobytes=1228
STATIC_GLIBC_LIMITS=wallRatio=1.2,rssKilobytes=2048
FOLDER_LIMITS=wallRatio=1.3,rssKilobytes=4096
CACHED_LIMITS=wallRatio=1.4,rssKilobytes=3072
FEDERATION_LIMITS=$CACHED_LIMITS,strippedKilobytes=5120
# execcred-bootstrap runs another plugin, and sends a request over TLS.
TOKEN_REQUEST_LIMITS=wallRatio=8,$MAX_RSS
# An absolute limit for the CPU time of both programs, against a large increase.
TOKEN_REQUEST_LIMITS+=,cpuMilliseconds=15
# No wallRatio, because the signer's time is included. A cache hit costs no more than an empty program.
SIGNING_LIMITS=cpuMilliseconds=15,$MAX_RSS
SIGNED_LIMITS=wallRatio=1.0,rssKilobytes=3072
EXCHANGE_LIMITS=wallRatio=5.5,$MAX_RSS
SYSTEM_EXCHANGE_LIMITS=wallRatio=6,$MAX_RSS
PRESIGN_LIMITS=wallRatio=1.3,rssKilobytes=3072,timesLessCpu=10,timesLessMemory=8
WRAPPED_LIMITS=wallRatio=1.6,rssKilobytes=3072
JWT_SVID_LIMITS=wallRatio=1.3,rssKilobytes=2560,strippedKilobytes=4096
X509_SVID_LIMITS=wallRatio=6,$MAX_RSS
EKS_MODULE=sigs.k8s.io/aws-iam-authenticator
EKS_PEER="aws-iam-authenticator $(module_version "$E2E_DIR/peers/eks/go.mod" "$EKS_MODULE") token (Go)"

# gives PATTERN PROGRAM ARGUMENT...: checks that the program prints a credential.
gives() {
  local pattern=$1
  shift
  env -i PATH="$PATH" HOME="${HOME:-/}" KUBERNETES_EXEC_INFO="$KUBERNETES_EXEC_INFO" "$@" |
    grep -E "$pattern" >/dev/null || fail "'$*' gave no credential"
}

# row NAME LIMITS PROGRAM ARGUMENT...: adds a plugin's row. LIMITS may be empty.
row() {
  local name=$1 limits=$2
  shift 2
  gives '"kind":"ExecCredential"' "$@"
  [ -z "$before" ] || row_before "$name" "$@"
  subjects+=(--plugin "$name=$(printf '%q ' "$@")")
  [ -z "$limits" ] || subjects+=(--limits "$limits")
}

# row_before NAME PROGRAM ARGUMENT...: the same of the older program, if there is one.
row_before() {
  local name=$1 word words=() is_there=false
  shift
  for word in "$@"; do
    [[ $word != "$BIN"/* ]] || word=$before/${word#"$BIN"/}
    [[ $word != "$before"/* || ! -x $word ]] || is_there=true
    words+=("$word")
  done
  $is_there || return 0
  gives '"kind":"ExecCredential"' "${words[@]}"
  subjects+=(--peer "$name, before=$(printf '%q ' "${words[@]}")")
}

# against PEER: the report compares the last row with this peer.
against() { subjects+=(--against "$1"); }
in_bulk() { subjects+=(--bulk); }

missing_row() { subjects+=(--missing "$1=$2"); }

add_floors() {
  local go musl_cc=$EXECCRED_ROOT/build/musl/$ARCH/bin/cc
  gcc -O2 -s -o "$BENCH_BUILD/empty" "$BENCH_SOURCE/empty.c"
  subjects+=(--floor "empty C program=$(printf %q "$BENCH_BUILD/empty")" --bulk)
  if [ -x "$musl_cc" ]; then
    ZIG_GLOBAL_CACHE_DIR=$CACHE/zig-cache "$musl_cc" -O2 -static -s -o "$BENCH_BUILD/empty-musl" \
      "$BENCH_SOURCE/empty.c"
    subjects+=(--other-floor "empty C program, static musl=$(printf %q "$BENCH_BUILD/empty-musl")")
    in_bulk
  else
    missing_row "empty C program, static musl" "no compiler for it; scripts/release makes one"
  fi
  if go=$(any_go); then
    GOTOOLCHAIN=local "$go" build -trimpath -ldflags='-s -w' -o "$BENCH_BUILD/hello" \
      "$BENCH_SOURCE/hello.go"
    subjects+=(--go "Go hello world=$(printf %q "$BENCH_BUILD/hello")" --bulk)
  else
    missing_row "Go hello world" "no go"
  fi
}

# Prints the path of an installed Go. Fails if there is none.
any_go() {
  local go
  command -v go && return
  for go in "$CACHE"/venv/go-*/lib/python3*/site-packages/go/bin/go; do
    [ ! -x "$go" ] || { echo "$go" && return; }
  done
  return 1
}

add_plugins() {
  add_files
  add_federation
  add_clouds
  add_spiffe
  add_bootstrap
  add_wrap
}

add_files() {
  row "token-file" "$TOKEN_FILE_LIMITS" "$BIN/execcred-token-file" \
    --token-file="$input/volume/token"
  in_bulk
  row "token-file, server and audience checked" "$TOKEN_FILE_LIMITS" "$BIN/execcred-token-file" \
    --token-file="$input/volume/token" --allow-server="https://*.${INPUT_HOST#*.}:6443" \
    --audience="$INPUT_AUDIENCE"
  row "token-file, static glibc" "$STATIC_GLIBC_LIMITS" \
    "$EXECCRED_ROOT/build/static/bin/execcred-token-file" --token-file="$input/volume/token"
  # libcurl and OpenSSL are linked into it, and must cost nothing here.
  row "static-secret, mounted Secret" "$FOLDER_LIMITS" "$BIN/execcred-static-secret" \
    --secret-dir="$input/volume"
}

add_federation() {
  local exchange=("$BIN/execcred-oidc-federation" --flow=token-exchange
    --token-url="$(cat "$input/token-url")" --subject-token-file="$input/volume/token")
  row "oidc-federation, cached" "$FEDERATION_LIMITS" "${exchange[@]}" \
    --ca-file="$input/server-ca.pem" --cache-dir="$input/cache"
  in_bulk
  row "oidc-federation, TLS, a file with one CA" "$EXCHANGE_LIMITS" "${exchange[@]}" \
    --ca-file="$input/server-ca.pem" --no-cache
  if trust_as_system; then
    row "oidc-federation, TLS, system's bundle" "$SYSTEM_EXCHANGE_LIMITS" "${exchange[@]}" \
      --no-cache
    in_bulk
  else
    missing_row "oidc-federation, TLS, system's bundle" "no mount namespace; run as root"
  fi
}

# The token server stands for Google and for Entra.
google_files() {
  local url=$1 key
  cat >"$input/external-account.json" <<END
{"type": "external_account", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
 "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
 "token_url": "$url", "credential_source": {"file": "$input/volume/token"}}
END
  key=$(openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 2>/dev/null)
  cat >"$input/service-account.json" <<END
{"type": "service_account", "project_id": "project", "private_key_id": "key-1",
 "private_key": "${key//$'\n'/\\n}\\n",
 "client_email": "controller@project.iam.gserviceaccount.com", "token_uri": "$url"}
END
  chmod 600 "$input"/{external,service}-account.json
}

# The cloud plugins, without a request.
add_clouds() {
  local url kind cached
  url=$(cat "$input/token-url")
  cached=(--ca-file="$input/server-ca.pem" --cache-dir="$input/cache")
  row "aws, EKS presign" "$PRESIGN_LIMITS" AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE \
    AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY "$BIN/execcred-aws" \
    --cluster-id=spoke-1 --region=eu-central-1
  against "$EKS_PEER"
  in_bulk
  google_files "$url"
  for kind in external service; do
    row "google, $kind account, cached" "$CACHED_LIMITS" "$BIN/execcred-google" \
      --credentials-file="$input/$kind-account.json" --allow-endpoint="${url%/token}/*" \
      "${cached[@]}"
  done
  row "azure, workload identity, cached" "$CACHED_LIMITS" "$BIN/execcred-azure" \
    --identity=workload --tenant-id=0e7f5d2c-4a41-4b7c-9d37-1b1f0f7c2f5a \
    --client-id=3f0c6a52-9d0e-4f7b-8a53-6f6a1d1c9b10 --authority-host="${url%/token}" \
    --federated-token-file="$input/volume/token" "${cached[@]}"
}

# cluster_info NAME: writes KUBERNETES_EXEC_INFO for the server in NAME-url and NAME-ca.pem.
cluster_info() {
  printf '{"spec":{"cluster":{"server":"%s","certificate-authority-data":"%s"}}}' \
    "$(cat "$input/$1-url")" "$(base64 -w0 "$input/$1-ca.pem")" >"$input/$1-info.json"
}

add_bootstrap() {
  local inner="[\"$BIN/execcred-token-file\",\"--token-file=$input/volume/token\"]" ask
  cluster_info api
  cluster_info signer
  ask=("$BIN/execcred-bootstrap" --via=token-request --service-account=default/default
    "--exec-info=$input/api-info.json" --audience=bench --allow-server="$(cat "$input/api-url")"
    "--credential=$inner")
  row "bootstrap, token request, cached" "$CACHED_LIMITS" "${ask[@]}" --cache-dir="$input/cache"
  row "bootstrap, token request, TLS" "$TOKEN_REQUEST_LIMITS" "${ask[@]}" --no-cache
  ask=("$BIN/execcred-bootstrap" --via=csr --user=bench "--exec-info=$input/signer-info.json"
    --allow-server="$(cat "$input/signer-url")" "--credential=$inner")
  row "bootstrap, certificate, cached" "$SIGNED_LIMITS" "${ask[@]}" --cache-dir="$input/cache"
  row "bootstrap, certificate, TLS" "$SIGNING_LIMITS" "${ask[@]}" --no-cache
}

add_wrap() {
  local ask=("$BIN/execcred-wrap" "--command=[\"/bin/cat\",\"$input/volume/token\"]" --output=token)
  row "wrap, cat of a file with a token" "" "${ask[@]}"
  row "wrap, cached" "$WRAPPED_LIMITS" "${ask[@]}" --cache --cache-dir="$input/cache"
}

add_spiffe() {
  local ask=("$BIN/execcred-spiffe" --socket="unix://$input/agent.sock")
  row "spiffe, JWT-SVID" "$JWT_SVID_LIMITS" "${ask[@]}" --type=jwt --audience=k8s
  row "spiffe, X.509-SVID" "$X509_SVID_LIMITS" "${ask[@]}" --type=x509 --allow-empty-cn
}
