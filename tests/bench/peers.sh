# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# The rows of scripts/bench --peers: programs that plugins replace, and the plugins that send the same
# request to the same server. Sourced after rows.sh. tests/e2e builds the programs.

# The namespace of the Secrets, and of the account that may get them.
FLEET=fleet-system
# Limits, as in rows.sh.
HUB_LIMITS=$MAX_RSS,timesLessCpu=3.5,timesLessMemory=5
JWT_LIMITS=$MAX_RSS,timesLessCpu=15

# peer NAME PATTERN PROGRAM ARGUMENT...
peer() {
  local name=$1
  gives "${@:2}"
  shift 2
  subjects+=(--peer "$name=$(printf '%q ' "$@")")
}

add_peers() {
  add_hub
  add_spire
  add_eks_peer
  add_wrapped_peer
}

# version_of ENTRY NAME: prints the version of a cache entry, which is called NAME-VERSION-HASH.
version_of() {
  local version=${1##*/"$2"-}
  echo "${version%-*}"
}

# Rows that replace those that need a peer or its server.
without_peers() {
  missing_row "static-secret, hub's Secret over TLS" "needs a kube-apiserver: --peers"
  missing_row "programs that plugins replace" "--peers builds and measures them"
}

# --- execcred-static-secret, and cluster-inventory-api's secretreader with the same client-go
# (tests/e2e/peers/secretreader): both read the same Secret from the same kube-apiserver.

add_hub() {
  local name
  name="secretreader, client-go $(version_of "${E2E_SECRETREADER%/*}" secretreader) (Go)"
  step "starting etcd and kube-apiserver"
  make_hub
  peer "$name" '"kind":"ExecCredential"' KUBECONFIG="$input/hub.json" \
    "$E2E_SECRETREADER"
  in_bulk
  row "static-secret, hub's Secret over TLS" "$HUB_LIMITS" KUBECONFIG="$input/hub.json" \
    "$BIN/execcred-static-secret" --convention=secretreader
  against "$name"
  in_bulk
}

admin() { timeout 60 kubectl --kubeconfig "$cluster/admin.kubeconfig" "$@"; }

# Makes a Secret with the token for the cluster of the exec info, a ServiceAccount that may get it, and
# a kubeconfig for this ServiceAccount, as in a pod.
make_hub() {
  cluster_start "$cluster"
  admin create namespace "$FLEET"
  admin -n "$FLEET" create serviceaccount controller
  admin -n "$FLEET" create secret generic "${INPUT_HOST%%.*}" \
    --from-file token="$input/volume/token"
  admin -n "$FLEET" create role secrets --verb get --resource secrets
  admin -n "$FLEET" create rolebinding secrets --role secrets --serviceaccount "$FLEET:controller"
  wait_until 30 admin -n "$FLEET" auth can-i get secrets -q \
    --as "system:serviceaccount:$FLEET:controller"
  jq -n --arg server "$(cat "$cluster/server")" --arg ca "$(base64 -w0 "$cluster/pki/ca.crt")" \
    --arg namespace "$FLEET" --arg token "$(admin -n "$FLEET" create token controller)" '{
      apiVersion: "v1", kind: "Config", "current-context": "hub",
      clusters: [{name: "hub", cluster: {server: $server, "certificate-authority-data": $ca}}],
      users: [{name: "controller", user: {token: $token}}],
      contexts: [{name: "hub",
                  context: {cluster: "hub", user: "controller", namespace: $namespace}}]}' \
    >"$input/hub.json"
}

# --- execcred-spiffe and "spire-agent api fetch", from which a wrapper script takes the token.

add_spire() {
  # tests/e2e/lib/spire.sh needs the variable of a suite.
  SUITE_DIR=$input
  # shellcheck source=tests/e2e/lib/spire.sh
  . "$E2E_DIR/lib/spire.sh"
  trap clean_up EXIT
  step "starting SPIRE"
  spire_start
  registered bench -selector "unix:uid:$(id -u)" -dns bench.example.org
  spire_agent_start
  # The entry reaches the agent after a while.
  wait_until 30 spire_agent api fetch jwt -audience k8s || fail "the agent gives no identity"
  local fetch=("$E2E_SPIRE/spire-agent" api fetch) name
  name="spire-agent $(version_of "$E2E_SPIRE" spire) api fetch"
  local ask=("$BIN/execcred-spiffe" --socket="unix://$SPIRE_SOCKET")
  peer "$name jwt (Go)" "^token\($SPIRE_DOMAIN/bench" "${fetch[@]}" jwt \
    -audience k8s -socketPath "$SPIRE_SOCKET"
  row "spiffe, JWT-SVID, of SPIRE" "$JWT_LIMITS" "${ask[@]}" --type=jwt --audience=k8s
  against "$name jwt (Go)"
  peer "$name x509 (Go)" "^SPIFFE ID:\s+$SPIRE_DOMAIN/bench" "${fetch[@]}" x509 \
    -socketPath "$SPIRE_SOCKET" -write "$input"
  row "spiffe, X.509-SVID, of SPIRE" "$MAX_RSS" "${ask[@]}" --type=x509
  against "$name x509 (Go)"
}

# --- execcred-aws and aws-iam-authenticator: both sign an EKS token with the keys in the environment,
# without a request.

build_eks_peer() {
  local module=peers/eks
  build_go "$module" "$(module_version "$E2E_DIR/$module/go.mod" "$EKS_MODULE")" "" \
    "$EKS_MODULE/cmd/aws-iam-authenticator"
  eks_peer=$PART/aws-iam-authenticator
}

add_eks_peer() {
  peer "$EKS_PEER" '"token":"k8s-aws-v1\.' AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE \
    AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY AWS_REGION=eu-central-1 \
    "$eks_peer" token -i spoke-1
  in_bulk
}

# --- execcred-wrap, and the program that it runs.

add_wrapped_peer() {
  local name keys command
  name="aws eks get-token $("$E2E_AWS_CLI" --version | sed 's,.*aws-cli/\([^ ]*\).*,\1,') (Python)"
  keys=(AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE AWS_DEFAULT_REGION=eu-central-1
    AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY)
  command=("$E2E_AWS_CLI" eks get-token --cluster-name spoke-1 --output json)
  peer "$name" '"token": "k8s-aws-v1\.' "${keys[@]}" "${command[@]}"
  row "wrap, aws eks get-token, cached" "$WRAPPED_LIMITS" "${keys[@]}" "$BIN/execcred-wrap" \
    --command="$(jq -cn '$ARGS.positional' --args -- "${command[@]}")" --cache --cache-dir="$input/cache"
  against "$name"
}
