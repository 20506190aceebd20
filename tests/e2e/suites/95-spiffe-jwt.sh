# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-spiffe --type=jwt: a SPIRE agent's JWT-SVIDs, and a cluster that trusts SPIRE as an
# OpenID Connect issuer. The user is the SPIFFE ID.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/spiffe.sh
. "$E2E_DIR/lib/spiffe.sh"

# The name in config/spiffe.
CONTROLLER=$SPIRE_DOMAIN/fleet-controller

the_example_works() {
  fill_in jwt controller
  expect_client_go "$CONTROLLER" profile.yaml
  kubectl_by_example
  expect_json .status.userInfo.username "$CONTROLLER"
}

the_examples_role_is_the_controllers() {
  fill_in jwt controller
  kubectl_by_example
  admin apply -f "$SPIFFE_EXAMPLES/jwt/rbac.yaml" >/dev/null
  # The authorizer reads a binding a moment after it was stored.
  wait_until 120 kubectl --kubeconfig config --context fleet/spoke-1 get pods --all-namespaces
  run kubectl --kubeconfig config --context fleet/spoke-1 get secrets --all-namespaces
  expect_failure
  expect_in stderr "User \"$CONTROLLER\" cannot list"
}

# A dry run, because no Pod could run here.
the_api_server_takes() { # FILE
  run kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" create --dry-run=server \
    --validate=strict -f "$SPIFFE_EXAMPLES/$1"
  expect_success
  expect_silent_stderr
}

an_audience_by_flag() { # VERSION
  write_clients controller --type=jwt --audience="$AUDIENCE"
  jq --arg version "client.authentication.k8s.io/$1" '.users[].user.exec.apiVersion = $version' \
    config >config.json
  mv config.json config
  expect_user "$CONTROLLER"
}

# with_config CONFIG ARGUMENT...: client-go runs the plugin with a profile that has this config.
with_config() {
  local config=$1
  shift
  write_clients controller --type=jwt "$@"
  write_profile profile.json spoke accessProviders "$(cluster_json "$config")"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
}

the_profiles_audience() { # CONFIG PATTERN
  with_config "$1" --allow-audience="$2"
  expect_success
  expect_stdout "ok $CONTROLLER"
}

a_list_of_audiences() {
  the_profiles_audience "{\"audience\": [\"$SERVER\", \"$AUDIENCE\"]}" any
  ask controller --type=jwt --audience="$SERVER" --audience="$AUDIENCE"
  expect_identity fleet-controller
  expect_equal "the audiences" "$SERVER,$AUDIENCE" "$(jq -r '.aud | join(",")' claims)"
}

# with_arguments JSON: runs client-go with these additional-args of the profile, after --from-profile.
with_arguments() {
  write_clients controller --type=jwt --allow-audience="$AUDIENCE" --from-profile
  jq '.providers[0].profileSourcedCLIArgsPolicy = "Append"' mapping.json >append.json
  mv append.json mapping.json
  write_profile profile.json spoke accessProviders "$(cluster_json | jq --argjson arguments "$1" '
    .extensions = [{name: "clusterprofiles.multicluster.x-k8s.io/exec/additional-args",
                    extension: $arguments}]')"
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile profile.json
}

# The form of the arguments in KEP-4322.
the_keps_arguments() {
  with_arguments "[\"-audience\", \"$AUDIENCE\"]"
  expect_success
  expect_stdout "ok $CONTROLLER"
}

arguments_that_are_not_the_profiles() {
  with_arguments "[\"--audience=$AUDIENCE\", \"--spiffe-id=$CONTROLLER\"]"
  expect_failure
  expect_error_line execcred-spiffe --spiffe-id
}

no_leave_for_the_profiles_audience() {
  ask_for "{\"audience\": \"$AUDIENCE\"}" controller --type=jwt
  expect_refused 2 "$AUDIENCE"
  expect_in stderr --allow-audience
}
another_audience_than_the_server() {
  ask_for "{\"audience\": \"$AUDIENCE\"}" controller --type=jwt --allow-audience=server
  expect_refused 1 "$AUDIENCE"
}
no_audience() {
  ask controller --type=jwt
  expect_refused 2 audience
}

the_cluster_refuses_another_audience() {
  write_clients controller --type=jwt --audience=elsewhere
  run kubectl --kubeconfig config get namespaces
  expect_failure
  expect_in stderr Unauthorized
}

# The agent has the keys, so it can verify the signature.
the_agent_validates_it() {
  ask controller --type=jwt --audience="$AUDIENCE"
  expect_identity fleet-controller
  validate "$(jq -r .status.token stdout)"
  expect_success
  expect_in stdout "$CONTROLLER"
}

# expirationTimestamp is exp - min(30 s, a tenth of the remaining time), at some moment of the run.
until_when() { # WORKLOAD ID
  local before end given
  before=$(date +%s)
  ask "$1" --type=jwt --audience="$AUDIENCE"
  expect_identity "$2"
  end=$(jq .exp claims)
  given=$(date -d "$(jq -r .status.expirationTimestamp stdout)" +%s)
  jq -en --argjson exp "$end" --argjson given "$given" --argjson before "$before" \
    --argjson after "$(date +%s)" '
    def margin($now): [30, ($exp - $now) / 10] | min;
    $given >= $exp - margin($before) - 1 and $given <= $exp - margin($after) + 1' >/dev/null ||
    unexpected "the right margin before $end, not $given, asked at $before"
}

no_choice() {
  ask double --type=jwt --audience="$AUDIENCE"
  expect_refused 1 "$SPIRE_DOMAIN/blue" "$SPIRE_DOMAIN/green" blue-hint green-hint
  expect_in stderr --spiffe-id --hint
}
chosen() { # ID ARGUMENT...
  ask double --type=jwt --audience="$AUDIENCE" "${@:2}"
  expect_identity "$1"
}
chosen_by_variables() {
  EXECCRED_HINT=green-hint run "$(workload double)" --type=jwt --audience="$AUDIENCE"
  expect_identity green
  EXECCRED_SPIFFE_ID=$SPIRE_DOMAIN/blue run "$(workload double)" --type=jwt --audience="$AUDIENCE"
  expect_identity blue
}
an_unknown_hint() {
  ask double --type=jwt --audience="$AUDIENCE" --hint=red-hint
  expect_refused 1 red-hint
  expect_in stderr "$SPIRE_DOMAIN/blue" "$SPIRE_DOMAIN/green"
}
# The identity belongs to another workload. The agent gives the same answer as for an unknown identity.
an_identity_of_another() {
  ask double --type=jwt --audience="$AUDIENCE" --timeout=1s --spiffe-id="$CONTROLLER"
  expect_refused 1 PermissionDenied
}
another_trust_domain() {
  ask controller --type=jwt --audience="$AUDIENCE" --trust-domain="${SPIRE_DOMAIN#spiffe://}"
  expect_identity fleet-controller
  ask controller --type=jwt --audience="$AUDIENCE" --trust-domain=example.com
  expect_refused 1 example.com "$CONTROLLER"
}

no_socket_is_named() {
  run env -u SPIFFE_ENDPOINT_SOCKET "$(workload controller)" --type=jwt --audience="$AUDIENCE"
  expect_refused 2 socket
  expect_in stderr SPIFFE_ENDPOINT_SOCKET
  run env -u SPIFFE_ENDPOINT_SOCKET "$(workload controller)" --type=jwt --audience="$AUDIENCE" \
    --socket="$SPIFFE_ENDPOINT_SOCKET"
  expect_identity fleet-controller
}

spire_start
example_entries controller
entry short short -jwtSVIDTTL 60
entry blue double -hint blue-hint
entry green double -hint green-hint
spire_agent_start
spiffe_cluster
admin create -f "$E2E_DIR/manifests/clusterprofile-crd.yaml" >/dev/null
admin wait --for condition=Established --timeout 120s crd/clusterprofiles.multicluster.x-k8s.io \
  >/dev/null
for namespace in fleet fleet-system; do admin create namespace "$namespace" >/dev/null; done
use_namespace spiffe-jwt
expect_trust controller

check "the example: the user of kubectl and client-go is the SPIFFE ID" the_example_works
check "the example's role binding allows pods and not Secrets" the_examples_role_is_the_controllers
for file in pod.yaml jwt/clusterprofile.yaml x509/clusterprofile.yaml; do
  check "the API server accepts config/spiffe/$file" the_api_server_takes "$file"
done
for version in v1 v1beta1; do
  check "--audience: the user of kubectl and client-go is the SPIFFE ID, $version" \
    an_audience_by_flag "$version"
done
check "the profile's audience, --allow-audience" the_profiles_audience \
  "{\"audience\": \"$AUDIENCE\"}" "$AUDIENCE"
check "the profile's audience, --allow-audience=server" the_profiles_audience \
  "{\"audience\": \"$SERVER\"}" server
check "the profile's list of audiences" a_list_of_audiences
check "the KEP's arguments: -audience after --from-profile" the_keps_arguments
check "--spiffe-id after --from-profile is refused" arguments_that_are_not_the_profiles
check "the profile's audience without --allow-audience is refused" \
  no_leave_for_the_profiles_audience
check "--allow-audience=server refuses another audience" another_audience_than_the_server
check "a run without an audience is refused" no_audience
check "the cluster refuses a token for another audience" the_cluster_refuses_another_audience
check "the agent validates the token" the_agent_validates_it
check "the expiry of a token that is valid for ten minutes" until_when controller fleet-controller
check "the expiry of a token that is valid for a minute" until_when short short
check "several identities and no selection: the error lists all of them" no_choice
check "--spiffe-id selects" chosen green --spiffe-id="$SPIRE_DOMAIN/green"
check "--hint selects" chosen blue --hint=blue-hint
check "--spiffe-id and --hint select" chosen blue --hint=blue-hint --spiffe-id="$SPIRE_DOMAIN/blue"
check "variables select" chosen_by_variables
check "a hint that no identity has is refused" an_unknown_hint
check "an identity of another workload is refused" an_identity_of_another
check "--trust-domain accepts its own domain and refuses another one" another_trust_domain
check "without a socket the error names SPIFFE_ENDPOINT_SOCKET" no_socket_is_named
