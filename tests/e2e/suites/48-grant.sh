# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2016 # jq's variables stand in single quotes
# execcred grant against real API servers: each refuses first, is told what grant prints, accepts then, and
# allows nothing more than --can asked for.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
trap cluster_stop EXIT
# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"

use_namespace e2e-grant
kubectl_of() { timeout 240 kubectl --kubeconfig "$TARGET/admin.kubeconfig" "$@"; }

# target DIRECTORY: the cluster of the following checks.
target() {
  TARGET=$1
  SERVER=$(cat "$TARGET/server")
  CA_FILE=$TARGET/pki/ca.crt
}

# grant ARGUMENT...
grant() { run "$EXECCRED_BIN/execcred" grant -m mapping.json -f profile.json "$@"; }

# rules_of NAMESPACE: prints what the user of the credential may do there, by the API server, one line for
# each verb.
rules_of() {
  local credential
  credential=$("$EXECCRED_BIN/execcred" get -m mapping.json -f profile.json)
  jq -j '.status.token // "" | if . == "" then "" else "Authorization: Bearer " + . end' \
    <<<"$credential" >header
  local options=(-H @header)
  if [ "$(jq -r '.status.clientCertificateData // ""' <<<"$credential")" != "" ]; then
    jq -r .status.clientCertificateData <<<"$credential" >used.crt
    jq -r .status.clientKeyData <<<"$credential" >used.key
    options=(--cert used.crt --key used.key)
  fi
  curl -fsS --noproxy '*' --max-time 20 --cacert "$CA_FILE" "${options[@]}" -H 'Content-Type: application/json' \
    -d "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectRulesReview\",\"spec\":{\"namespace\":\"$1\"}}" \
    "$SERVER/apis/authorization.k8s.io/v1/selfsubjectrulesreviews" |
    jq -r '.status.resourceRules[] | . as $rule | .apiGroups[] as $group | .resources[] as $resource |
      .verbs[] | "\(.)/\($resource).\($group)"' | sort -u
}

# more_in NAMESPACE: prints the rules that were not there before (before.NAMESPACE).
more_in() { rules_of "$1" >"after.$1" && comm -13 "before.$1" "after.$1"; }

# is_granted EXPECTED_STATUS: --check says so.
is_granted() {
  grant "${CAN[@]}" --check
  expect_status "$1"
  ! grep -q 'kind: ' stdout || unexpected "no manifests"
}

CAN=(--can get/pods@default --can list/pods@default --can get/pods/log@default --can get/nodes)

# refused_then_granted BEFORE: the user's rights before (or empty, if the server does not know it), then grant,
# then exactly those of CAN.
refused_then_granted() {
  is_granted 1
  : >before.default
  : >before.kube-system
  if [ "$1" = known ]; then
    rules_of default >before.default
    rules_of kube-system >before.kube-system
  fi
  grant "${CAN[@]}"
  expect_success
  cp stdout objects.yaml
  kubectl_of apply -f objects.yaml >applied
  grep -q created applied
  # Applied twice, nothing changes.
  kubectl_of apply -f objects.yaml >applied
  ! grep -qvE ' unchanged$' applied || unexpected "nothing changed: $(cat applied)"
  is_granted 0
}

nothing_more() {
  expect_equal "what is new in default" "$(printf '%s\n' get/nodes. get/pods. get/pods/log. list/pods. | sort)" \
    "$(more_in default)"
  expect_equal "what is new in kube-system" get/nodes. "$(more_in kube-system)"
}

token_files() { # TOKEN
  printf %s "$1" >token
  chmod 600 token
  write_mapping mapping.json "$(exec_config v1 "$PLUGIN" --token-file "$PWD/token")"
  write_profile profile.json spoke accessProviders "$(cluster_json)"
}

a_service_account() {
  create_account reader
  token_files "$(request_token reader)"
  refused_then_granted known
  nothing_more
  expect_in objects.yaml "AuthenticationConfiguration" "kind: ServiceAccount"
  kubectl_of get clusterrole "execcred:$NAMESPACE:spoke:token-file" >/dev/null
  CAN=(--can list/secrets@default)
  is_granted 1
  expect_in stdout forbidden
}

a_client_certificate() {
  certificate "$PWD" person "/CN=grant-jane/O=grant-devs" basicConstraints=critical,CA:FALSE \
    extendedKeyUsage=clientAuth
  write_mapping mapping.json "$(exec_config v1 "$EXECCRED_BIN/execcred-static-secret" \
    --client-certificate="$PWD/person.crt" --client-key="$PWD/person.key")"
  write_profile profile.json certified accessProviders "$(cluster_json)"
  refused_then_granted known
  nothing_more
  expect_in objects.yaml "CN=e2e-ca" "name: grant-jane" grant-devs
  ! grep -q 'kind: Group' objects.yaml || unexpected "no group"
  grant "${CAN[@]}" --bind-groups
  grep -q 'kind: Group' stdout
}
with_the_clusters_ca() {
  ln -s "$TARGET/pki/ca.crt" ca.crt
  ln -s "$TARGET/pki/ca.key" ca.key
  "$@"
}

a_bound_cluster_role() {
  create_account viewer
  token_files "$(request_token viewer)"
  change_name bound
  kubectl_of create clusterrole e2e-grant-maps --verb list --resource configmaps >/dev/null
  CAN=(--can list/configmaps@kube-system)
  is_granted 1
  grant --cluster-role=e2e-grant-maps
  expect_success
  kubectl_of apply -f - <stdout >/dev/null
  is_granted 0
  grant --cluster-role=e2e-grant-maps --check
  expect_success
}
change_name() { jq --arg name "$1" '.metadata.name = $name' profile.json >named.json && mv named.json profile.json; }

# An issuer of another kind than a cluster: its discovery document and its key, behind TLS by the cluster's CA.
ISSUER_KEY=$SUITE_DIR/issuer.key
unhex() { printf %b "$(sed 's/../\\x&/g')"; }
start_issuer() {
  local pages=$SUITE_DIR/issuer modulus
  mkdir -p "$pages/.well-known"
  openssl genrsa -out "$ISSUER_KEY" 2048 2>/dev/null
  modulus=$(openssl rsa -in "$ISSUER_KEY" -noout -modulus | cut -d= -f2 | unhex | base64url)
  jq -n --arg n "$modulus" '{keys: [{kty: "RSA", alg: "RS256", use: "sig", n: $n, e: "AQAB"}]}' >"$pages/keys"
  # Not by background(): a second start of the API server must not end it.
  setpriv --pdeathsig KILL python3 -c '
import http.server, os, ssl, sys
folder, pki, name = sys.argv[1:]
os.chdir(folder)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(pki + "/server.crt", pki + "/server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(name + ".new", "w") as file:
    file.write("https://127.0.0.1:%d" % server.server_port)
os.rename(name + ".new", name)
server.serve_forever()' "$pages" "$E2E_CLUSTER/pki" "$SUITE_DIR/issuer.url" >"$SUITE_DIR/issuer.log" 2>&1 &
  wait_until 60 test -e "$SUITE_DIR/issuer.url" || fail "$(cat "$SUITE_DIR/issuer.log")"
  ISSUER=$(cat "$SUITE_DIR/issuer.url")
  discovery_of "$ISSUER" >"$pages/.well-known/openid-configuration"
  mkdir -p "$pages/aks/.well-known"
  discovery_of "$ISSUER/aks" >"$pages/aks/.well-known/openid-configuration"
}
discovery_of() {
  jq -n --arg issuer "$1" --arg keys "$ISSUER/keys" '{issuer: $issuer, jwks_uri: $keys,
    response_types_supported: ["id_token"], subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"]}'
}

person_token() { # AUDIENCE...
  sign_jwt "$ISSUER_KEY" "$(jq -nc --arg iss "$ISSUER" '{iss: $iss, sub: "jane", aud: $ARGS.positional,
    groups: ["devs"], exp: (now + 3600 | floor), iat: (now | floor)}' --args -- "$@")"
}

# configuration_of FILE: the AuthenticationConfiguration that grant has printed, as an administrator takes it.
configuration_of() { sed -n '/^# AuthenticationConfiguration:$/,/^[^#]/s/^#   //p' "$1"; }

foreign_files() {
  token_files "$(person_token kubernetes other)"
  write_mapping mapping.json "$(exec_config v1 "$PLUGIN" --token-file "$PWD/token" --audience kubernetes \
    --audience other)"
  change_name foreign
}

# A cluster that does not know the issuer refuses; grant's own file is loaded by the next one.
an_unknown_issuer() {
  foreign_files
  is_granted 1
  grant "${CAN[@]}"
  expect_success
  configuration_of stdout >"$SUITE_DIR/authentication.yaml"
  expect_in "$SUITE_DIR/authentication.yaml" "audienceMatchPolicy: MatchAny" "prefix: \"$ISSUER#\""
}

a_known_issuer() {
  foreign_files
  refused_then_granted known
  nothing_more
  expect_in objects.yaml "name: \"$ISSUER#jane\""
}

# A token of a cluster whose issuer says nothing: it is stored for this cluster, so it is the cluster's own.
a_stored_token() {
  kubectl_of create namespace robots >/dev/null
  kubectl_of -n robots create serviceaccount robot >/dev/null
  mkdir -m 700 secret
  kubectl_of -n robots create token robot >secret/token
  chmod 600 secret/token
  write_mapping mapping.json "$(exec_config v1 "$EXECCRED_BIN/execcred-static-secret" \
    --secret-dir="$PWD/secret" --key=token --format=token)"
  write_profile profile.json stored accessProviders "$(cluster_json)"
  refused_then_granted known
  nothing_more
  expect_in objects.yaml "kind: ServiceAccount" "name: robot"
  ! grep -q AuthenticationConfiguration objects.yaml || unexpected "one reading"
}

a_fleet() {
  token_files "$(request_token reader)"
  jq '{apiVersion: "v1", kind: "List", items: [
    (.metadata.name = "a"), (.metadata.name = "b" | .status.accessProviders = []), (.metadata.name = "c")]}' \
    profile.json >list.json
  mv list.json profile.json
  grant "${CAN[@]}"
  expect_status 1
  expect_error_line execcred "$NAMESPACE/b"
  cp stdout fleet.yaml
  expect_equal "the number of documents" 1 "$(grep -c '^---$' fleet.yaml)"
  kubectl_of apply --dry-run=server -f fleet.yaml >applied
  expect_equal "the number of objects" 8 "$(wc -l <applied)"
}

# commands_of FILE PROGRAM: this program's commands in grant's YAML, as the array LINES.
commands_of() { mapfile -t LINES < <(sed -n "s/^#   \\($2 \\)/\\1/p" "$1"); }

# command_of FILE: the command of aws, as a shell reads it, in the array WORDS.
command_of() {
  commands_of "$1" aws
  expect_equal "the number of commands" 1 "${#LINES[@]}"
  eval "WORDS=(${LINES[0]})"
}
judged() { run "${E2E_AWS_CLI%/*}/python3" "$E2E_DIR/oracles/aws/command.py" "$@"; }

# judged_by_az EXIT_CODE TEXT WORD...: what az says to a command, when nobody has logged in.
judged_by_az() {
  run env AZURE_CONFIG_DIR="$PWD/az" AZURE_CORE_COLLECT_TELEMETRY=false "$E2E_AZURE_CLI" "${@:4}"
  expect_status "$1"
  expect_in stderr "$2"
}

eks_files() {
  write_profile profile.json eks accessProviders \
    '{"server": "https://ABC.gr7.us-west-2.eks.amazonaws.com"}'
}

an_access_entry() {
  local role=arn:aws:iam::123456789012:role/fleet/controller
  write_mapping mapping.json "$(exec_config v1 "$EXECCRED_BIN/execcred-aws" --cluster-id=spoke-1 --region=us-west-2)"
  eks_files
  AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=secret AWS_ROLE_ARN=$role grant --can get/pods
  expect_success
  command_of stdout
  judged "${WORDS[@]}"
  expect_success
  expect_json .principalArn "$role"
  expect_json '.kubernetesGroups | join(" ")' "execcred:$NAMESPACE:eks:token-file"
  judged "${WORDS[@]}" --no-such-option x
  expect_failure
}

an_issuer_for_eks() {
  token_files "$(sign_jwt "$ISSUER_KEY" "$(jq -nc '{iss: "https://idp.example.com/a,b=c", sub: "it\u0027s $(id)",
    aud: ["x"], exp: (now + 3600 | floor)}')")"
  eks_files
  grant --can get/pods
  expect_success
  command_of stdout
  judged "${WORDS[@]}"
  expect_success
  expect_json .oidc.issuerUrl "https://idp.example.com/a,b=c"
  expect_json .oidc.usernamePrefix "https://idp.example.com/a,b=c#"
}

aks_files() {
  write_profile profile.json aks accessProviders '{"server": "https://a-1.hcp.westeurope.azmk8s.io:443"}'
}

# az asks for a login only if it has understood the command.
role_assignments() {
  local line
  token_files "$(sign_jwt "$ISSUER_KEY" "$(jq -nc '{iss: "https://sts.windows.net/1/", sub: "s",
    oid: "99999999-8888-7777-6666-555555555555", aud: ["6dae42f8-4368-4678-94ff-3960e28e3630"],
    exp: (now + 3600 | floor)}')")"
  aks_files
  grant --can get/pods@default --can create/pods@kube-system
  expect_success
  commands_of stdout az
  expect_equal "the number of commands" 2 "${#LINES[@]}"
  for line in "${LINES[@]}"; do
    eval "WORDS=($line)"
    judged_by_az 1 "Please run 'az login'" "${WORDS[@]}"
    judged_by_az 2 "unrecognized arguments: --no-such-option" "${WORDS[@]}" --no-such-option x
    judged_by_az 2 "the following arguments are required: --scope" "${WORDS[@]::${#WORDS[@]}-2}"
    judged_by_az 2 "'Robot' is not a valid value" "${WORDS[@]/#ServicePrincipal/Robot}"
  done
}

# "az aks jwtauthenticator" is of an extension that no registry has. AKS gives the file to its API servers, so
# one of them judges it.
an_issuer_for_aks() {
  aks_issuer_files
  grant --can get/pods@default --bind-groups
  expect_success
  commands_of stdout printf
  bash -c "${LINES[0]}"
  jq -r '"- " + tojson' execcred-authenticator.json >>"$SUITE_DIR/authentication.yaml"
}
aks_issuer_files() {
  token_files "$(ISSUER=$ISSUER/aks person_token kubernetes)"
  aks_files
}

a_user_as_at_aks() {
  aks_issuer_files
  grant --can get/pods@default --bind-groups -o json
  expect_json '.items[0] | [.user] + .groups | join(" ")' "aks:jwt:jane aks:jwt:devs"
  printf 'Authorization: Bearer %s' "$(cat token)" >header
  run curl -fsS --noproxy '*' --max-time 20 --cacert "$CA_FILE" -H @header \
    -H 'Content-Type: application/json' "$SERVER/apis/authentication.k8s.io/v1/selfsubjectreviews" \
    -d '{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}'
  expect_success
  expect_json '.status.userInfo | [.username] + .groups | join(" ")' \
    "aks:jwt:jane aks:jwt:devs system:authenticated"
}

target "$E2E_CLUSTER"
check "a ServiceAccount of the cluster: refused, granted, and nothing more" a_service_account
check "a client certificate: refused, granted, and nothing more" with_the_clusters_ca a_client_certificate
check "a ClusterRole of the cluster is bound" a_bound_cluster_role
check "a fleet is one document for each cluster, and a bad cluster harms no other" a_fleet

start_issuer
check "the command for an access entry is one of the AWS CLI" an_access_entry
check "the command for an issuer of EKS is one of the AWS CLI" an_issuer_for_eks
check "the commands for Azure RBAC are those of az" role_assignments
check "an issuer that the cluster does not know is refused" an_unknown_issuer
check "the file for an issuer of AKS" an_issuer_for_aks
SSL_CERT_FILE=$E2E_CLUSTER/pki/ca.crt CLUSTER_ISSUER=https://spoke.example.com \
  cluster_start "$SUITE_DIR/second" --authentication-config "$SUITE_DIR/authentication.yaml"
target "$SUITE_DIR/second"
check "an API server loads the AuthenticationConfiguration: refused, granted, and nothing more" a_known_issuer
check "an API server loads the file for AKS: the user and the groups are those that grant names" a_user_as_at_aks
check "a token that is stored for a cluster: refused, granted, and nothing more" a_stored_token
