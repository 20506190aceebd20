# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred-spiffe --type=x509: a SPIRE agent's X.509-SVIDs, and a cluster that trusts only the root CA
# of SPIRE's intermediate CA. The user is the certificate's common name.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/spiffe.sh
. "$E2E_DIR/lib/spiffe.sh"

# The DNS name in config/spiffe.
CONTROLLER=fleet-controller.fleet-system

the_example_works() {
  fill_in x509 controller
  expect_client_go "$CONTROLLER" profile.yaml
  kubectl_by_example
  expect_json .status.userInfo.username "$CONTROLLER"
  expect_json '.status.userInfo.groups | join(",")' SPIRE,system:authenticated
}

all_clients_are_accepted() { # VERSION
  write_clients controller --type=x509
  jq --arg version "client.authentication.k8s.io/$1" '.users[].user.exec.apiVersion = $version' \
    config >config.json
  mv config.json config
  expect_user "$CONTROLLER"
}

# certificates: writes chain.pem, leaf.pem and key.pem from the credential on stdout.
certificates() {
  expect_success
  expect_silent_stderr
  jq -er .status.clientCertificateData stdout >chain.pem
  jq -er .status.clientKeyData stdout >key.pem
  openssl x509 -in chain.pem -out leaf.pem
}

openssl_accepts_it() {
  ask controller --type=x509
  certificates
  expect_equal "the number of certificates" 2 "$(grep -c -e '-BEGIN CERTIFICATE-' chain.pem)"
  run openssl verify -purpose sslclient -CAfile "$SPIRE_ROOT" -untrusted chain.pem leaf.pem
  expect_success
  expect_equal "the SPIFFE ID" "URI:$SPIRE_DOMAIN/fleet-controller" \
    "$(openssl x509 -in leaf.pem -noout -ext subjectAltName | grep -o 'URI:[^ ,]*')"
}

the_key_belongs_to_it() {
  ask controller --type=x509
  certificates
  expect_equal "the key's form" "-----BEGIN PRIVATE KEY-----" "$(head -n 1 key.pem)"
  expect_equal "the key" "$(openssl x509 -in leaf.pem -noout -pubkey)" \
    "$(openssl pkey -in key.pem -pubout)"
}

until_when() {
  local end
  ask controller --type=x509
  certificates
  end=$(date -d "$(openssl x509 -in leaf.pem -noout -enddate | cut -d= -f2)" +%s)
  expect_json '.status.expirationTimestamp | fromdate' $((end - 30))
}

it_is_the_same_while_unchanged() {
  ask controller --type=x509
  certificates
  cp stdout first
  for _ in 1 2 3; do
    ask controller --type=x509
    cmp first stdout
  done
}

# The certificates of the workload "short" are valid for 20 s. The agent renews them earlier.
a_renewed_one_is_given() {
  local first
  ask short --type=x509
  certificates
  first=$(openssl x509 -in leaf.pem -noout -serial)
  wait_until 120 another_serial "$first" || unexpected "a new certificate"
  expect_json '.status.expirationTimestamp | fromdate > now' true
}
another_serial() {
  ask short --type=x509
  certificates
  [ "$(openssl x509 -in leaf.pem -noout -serial)" != "$1" ]
}

without_a_dns_name() {
  ask nameless --type=x509
  expect_refused 1 "$SPIRE_DOMAIN/nameless" "common name"
  expect_in stderr -dns --allow-empty-cn
}

# Such a certificate is useful if another server checks it, such as a proxy.
without_a_dns_name_but_wanted() {
  ask nameless --type=x509 --allow-empty-cn
  certificates
  expect_equal "the subject" "subject=C = US, O = SPIRE" \
    "$(openssl x509 -in leaf.pem -noout -subject)"
  run openssl verify -purpose sslclient -CAfile "$SPIRE_ROOT" -untrusted chain.pem leaf.pem
  expect_success
  write_clients nameless --type=x509 --allow-empty-cn
  run kubectl --kubeconfig config get namespaces
  expect_failure
  expect_in stderr system:anonymous
}

no_choice() {
  ask double --type=x509
  expect_refused 1 "$SPIRE_DOMAIN/blue" "$SPIRE_DOMAIN/green" blue-hint green-hint
  expect_in stderr --spiffe-id --hint
}
chosen() { # USER ARGUMENT...
  write_clients double --type=x509 "${@:2}"
  expect_user "$1"
}
an_unknown_identity() {
  ask double --type=x509 --spiffe-id="$SPIRE_DOMAIN/red"
  expect_refused 1 "$SPIRE_DOMAIN/red"
  expect_in stderr "$SPIRE_DOMAIN/blue" "$SPIRE_DOMAIN/green"
}

# twin HINT FLAG...: creates an entry with the SPIFFE ID "twin". The hint is also the user's name.
twin() {
  spire_server entry create -entryID "twin-$1" -parentID "$SPIRE_DOMAIN/node" \
    -spiffeID "$SPIRE_DOMAIN/twin" -selector "$(selector twin)" -hint "$1" -dns "$1.example.org" \
    "${@:2}" >"$SPIRE/log/entry" || fail "$(cat "$SPIRE/log/entry")"
}
one_id_and_two_users() {
  ask twin --type=x509 --spiffe-id="$SPIRE_DOMAIN/twin"
  expect_refused 1 "2 identities with the SPIFFE ID '$SPIRE_DOMAIN/twin'" \
    "hint 'reader', CN 'reader.example.org'" "hint 'writer', CN 'writer.example.org'"
  expect_in stderr "choose one with --hint"
  write_clients twin --type=x509 --spiffe-id="$SPIRE_DOMAIN/twin" --hint=writer
  expect_user writer.example.org
}

an_audience_has_no_use() {
  ask controller --type=x509 --audience="$AUDIENCE"
  expect_refused 2 --audience
}

the_profiles_audience_is_passed_over() {
  ask_for "{\"audience\": \"$AUDIENCE\"}" controller --type=x509
  expect_success
  certificates
}

export SPIRE_UPSTREAM=1
spire_start
example_entries controller
entry short short -x509SVIDTTL 20 -dns short.example.org
entry nameless nameless
entry blue double -hint blue-hint -dns blue.example.org
entry green double -hint green-hint -dns green.example.org -dns other.example.org
twin reader
# SPIRE refuses two entries with the same ID, parent and selectors.
twin writer -selector "unix:uid:$(id -u)"
spire_agent_start
spiffe_cluster
use_namespace spiffe-x509

check "the example: the user is the entry's DNS name, in the group SPIRE" \
  the_example_works
for version in v1 v1beta1; do
  check "the user of kubectl and client-go is the DNS name, $version" \
    all_clients_are_accepted "$version"
done
check "openssl verifies the chain" openssl_accepts_it
check "the key belongs to the certificate, and is PKCS#8" the_key_belongs_to_it
check "the credential expires 30 s before the certificate" until_when
check "the output is the same until the agent renews the certificate" it_is_the_same_while_unchanged
check "a certificate that the agent has renewed is returned" a_renewed_one_is_given
check "a certificate without a DNS name is refused" without_a_dns_name
check "--allow-empty-cn allows it, and the cluster sees an anonymous user" without_a_dns_name_but_wanted
check "several identities and no selection: the error lists all of them" no_choice
check "--spiffe-id selects" chosen green.example.org --spiffe-id="$SPIRE_DOMAIN/green"
check "--hint selects" chosen blue.example.org --hint=blue-hint
check "an identity that does not exist is refused" an_unknown_identity
check "one SPIFFE ID and two users: --hint selects" one_id_and_two_users
check "--audience is an error" an_audience_has_no_use
check "the profile's audience is ignored" \
  the_profiles_audience_is_passed_over
