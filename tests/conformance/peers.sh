#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on plugins of other projects, by the rules that hold for any
# plugin, and writes docs/conformance-results.md. Some are also run by execcred-wrap. The plugins are built
# from their Go modules, which are pinned by version and hash (tests/conformance/peers), or installed from
# PyPI; none gets a real credential.
#
#   tests/conformance/peers.sh            all plugins; ends with a line "N passed, 0 failed", where N plugins
#                                         were observed
#   tests/conformance/peers.sh NAME...    prints only the parts of these plugins
#   tests/conformance/peers.sh --stdout   prints the page instead of writing it
#
# EXECCRED_E2E keeps what is built (default ~/.cache/execcred-e2e).
set -euo pipefail

# shellcheck source=scripts/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/common.sh"
# shellcheck source=scripts/lib/cache.sh
. "$EXECCRED_ROOT/scripts/lib/cache.sh"
# shellcheck source=tests/e2e/lib/toolchain.sh
. "$EXECCRED_ROOT/tests/e2e/lib/toolchain.sh"
# shellcheck source=tests/e2e/lib/parts.sh
. "$EXECCRED_ROOT/tests/e2e/lib/parts.sh"

PAGE=$EXECCRED_ROOT/docs/conformance-results.md
SUITE=$EXECCRED_ROOT/build/dev/bin-test/conformance
WRAP=$EXECCRED_ROOT/build/dev/bin/execcred-wrap

# judge VARIABLE=VALUE... -- PLUGIN ARGUMENT...: prints the report. A failed case is not an error.
judge() {
  local variables=()
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  env -i "PATH=$PATH" "${variables[@]}" "$SUITE" --report markdown -- "$@" || [ "$?" -eq 1 ]
}

# section NAME VERSION SETTING HOW: then the report, from standard input.
section() {
  # shellcheck disable=SC2016
  printf '\n## %s %s\n\n%s. Run on %s as `%s`.\n\n' "${@:1:3}" "$(date -u +%Y-%m-%d)" "$4"
  cat
}

# bare_and_wrapped NAME VERSION SETTING HOW VARIABLE=VALUE... -- PLUGIN ARGUMENT...: the plugin's section,
# and that of execcred-wrap, with WRAP_OPTIONS, which runs it. Other users must be able to run PLUGIN.
WRAP_OPTIONS=()
bare_and_wrapped() {
  local name=$1 version=$2 setting=$3 how=$4 variables=()
  shift 4
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  judge "${variables[@]}" -- "$@" | section "$name" "$version" "$setting" "$how"
  judge "${variables[@]}" -- "$WRAP" "--command=$(jq -cn '$ARGS.positional' --args -- "$@")" \
    "${WRAP_OPTIONS[@]}" | section "$name" "$version, run by execcred-wrap" "$setting" \
    "execcred-wrap --command=[…]${WRAP_OPTIONS:+ ${WRAP_OPTIONS[*]}}"
}

# open_to_all FILE: sets OPEN to a copy that other users may run.
open_to_all() {
  OPEN=$WORK/${1##*/}
  install -m 755 "$1" "$OPEN"
}

aws_iam_authenticator() {
  local arguments=(token --cluster-id conformance --region us-west-2)
  build_aws_iam_authenticator
  open_to_all "$PEER"
  bare_and_wrapped aws-iam-authenticator "$PEER_VERSION" 'Keys of a session are in its environment' \
    "aws-iam-authenticator ${arguments[*]}" "${AWS[@]}" -- "$OPEN" "${arguments[@]}"
}

aws_cli() {
  local requirements=$EXECCRED_ROOT/tests/peers/requirements/aws-cli.txt
  local arguments=(eks get-token --cluster-name conformance --output json)
  python_packages "$requirements"
  # A program in a venv names the venv's Python.
  cp -r "$VENV" "$WORK/aws-cli"
  sed -i "1s|.*|#!$WORK/aws-cli/bin/python3|" "$WORK/aws-cli/bin/aws"
  # It starts slowly, so many of it at once would take too long.
  local WRAP_OPTIONS=(--cache)
  bare_and_wrapped aws-cli "$(sed -n 's/^awscli==\([^ ]*\).*/\1/p' "$requirements")" \
    'Keys of a session are in its environment' "aws ${arguments[*]}" \
    "${AWS[@]}" -- "$WORK/aws-cli/bin/aws" "${arguments[@]}"
}

argocd_k8s_auth() {
  local arguments=(aws --cluster-name conformance)
  build_peer argocd-k8s-auth github.com/argoproj/argo-cd/v3 .
  judge "${AWS[@]}" -- "$PEER" "${arguments[@]}" |
    section argocd-k8s-auth "$PEER_VERSION" 'Keys of a session are in its environment' \
      "argocd-k8s-auth ${arguments[*]}"
}

# Sets URL.
start_entra() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=entra \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$WORK/key.pem" -out "$WORK/certificate.pem" \
    2>/dev/null
  python3 -B "$EXECCRED_ROOT/tests/conformance/entra_stand_in.py" "$WORK/certificate.pem" \
    "$WORK/key.pem" "$WORK/url" &
  ENTRA=$!
  wait_until 20 test -s "$WORK/url" || fail "the stand-in for Entra did not start"
  URL=$(cat "$WORK/url")
}

stop_entra() {
  kill "$ENTRA"
  rm "$WORK/url"
}

kubelogin_int128() {
  build_kubelogin_int128
  open_to_all "$PEER"
  start_entra
  # It does not need the cluster, and cannot read each document that names one.
  local WRAP_OPTIONS=(--pass-cluster=false)
  bare_and_wrapped 'kubelogin (int128)' "$PEER_VERSION" \
    'It asks an OpenID provider on loopback, which answers at once' \
    'kubelogin get-token --grant-type=client-credentials …' -- "$OPEN" get-token \
    --grant-type=client-credentials --oidc-use-access-token --oidc-issuer-url="$URL/tenant/v2.0" \
    --oidc-client-id=client --oidc-client-secret=c0nformance-s3cret --token-cache-storage=none \
    --certificate-authority="$WORK/certificate.pem"
  stop_entra
}

azure_kubelogin() {
  local tenant=11111111-1111-1111-1111-111111111111
  build_peer kubelogin github.com/Azure/kubelogin github.com/Azure/kubelogin
  start_entra
  echo "eyJhbGciOiJub25lIn0.e30.c29tZXRoaW5n" >"$WORK/federated-token"
  judge "SSL_CERT_FILE=$WORK/certificate.pem" -- "$PEER" get-token --login workloadidentity \
    --authority-host "$URL/" --disable-instance-discovery --client-id client \
    --tenant-id "$tenant" --server-id server --federated-token-file "$WORK/federated-token" \
    --cache-dir "$WORK/cache" |
    section 'kubelogin (Azure)' "$PEER_VERSION" \
      'It asks a stand-in for Entra on loopback, which answers at once' \
      'kubelogin get-token --login workloadidentity …'
  stop_entra
}

introduction() {
  cat <<END
# Results of the conformance suite

These are the observations of [the conformance suite](conformance.md) on plugins of other projects, by
the rules that hold for any plugin (\`--rules protocol\`), alone or run by
[execcred-wrap](execcred-wrap.md). One command repeats them and writes this page:

\`\`\`sh
tests/conformance/peers.sh
\`\`\`

A rule is what some client or machine needs. A plugin may have good reasons to do something else. The
name of a rule is the sentence of its case, and the observation is what the suite saw first. It executed
each plugin as root, on Debian 12 and $(uname -m) with $(nproc) cores. execcred's own plugins are tested by these
rules and by stricter ones: two of them with every change, the others each night.

execcred-wrap gives a program the variables of its caller. What the program does with a hostile one is an
observation of execcred-wrap too.

| plugin | why it is not here |
|---|---|
| k8s-spiffe-workload-jwt-exec-auth | the Go module proxy does not have its module |
| spire-agent | \`api fetch jwt\` prints a token for scripts, and no ExecCredential |
END
}

page() {
  introduction
  for part in "${PARTS[@]}"; do "$part"; done
}

PARTS=(aws_iam_authenticator aws_cli argocd_k8s_auth azure_kubelogin kubelogin_int128)
AWS=(AWS_ACCESS_KEY_ID=ASIACONFORMANCE AWS_SECRET_ACCESS_KEY=c0nformance/s3cret+key-0123456789
  AWS_SESSION_TOKEN=c0nformance/s3ssion+token-0123456789== AWS_REGION=us-west-2)
to_stdout=false
case ${1:-} in
  '') ;;
  --stdout) to_stdout=true ;;
  -h | --help)
    sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  *)
    for part; do
      [[ " ${PARTS[*]} " == *" ${part//-/_} "* ]] || fail "there is no plugin '$part'; there are: ${PARTS[*]}"
    done
    ;;
esac
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
# The suite runs a plugin as other users, too.
chmod 755 "$WORK"
need_packages "${BUILD_PACKAGES[@]}" "${TEST_PACKAGES[@]}" jq openssl
build_preset dev conformance execcred-wrap >&2
if ! "$to_stdout" && [ "$#" -gt 0 ]; then
  for part; do "${part//-/_}"; done
elif "$to_stdout"; then
  page
else
  page >"$WORK/page.md"
  cp "$WORK/page.md" "$PAGE"
  printf '\n%d passed, 0 failed\n' "$(grep -c '^## ' "$PAGE")"
fi
