# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# libexeccred/execcred/hub writes Secrets, watches ClusterProfiles and holds a Lease. The suite has its own
# kube-apiserver and etcd, which it stops, starts and compacts. tests/support/hub_probe_main.cpp calls
# the library, as a ServiceAccount.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/static_secret.sh
. "$E2E_DIR/lib/static_secret.sh"

PROBE=$EXECCRED_BIN/../bin-test/hub-probe
if [ ! -x "$PROBE" ]; then
  skip "what the library writes to a hub" "there is no program '$PROBE'"
  exit
fi

trap cluster_stop EXIT
E2E_CLUSTER=$SUITE_DIR/cluster
cluster_start "$E2E_CLUSTER"
# Sourced again, for this cluster instead of the one that all suites share.
# shellcheck source=tests/e2e/lib/fixtures.sh
. "$E2E_DIR/lib/fixtures.sh"
# shellcheck disable=SC2034
CA_DATA=$(base64 -w0 "$CA_FILE")

secret() { # NAME [DATA]
  jq -n --arg name "$1" --arg token "$(printf %s "${2:-the-first-token-of-this-secret}" | base64 -w0)" '{
    apiVersion: "v1", kind: "Secret", metadata: {name: $name, labels: {ours: "yes"}},
    data: {token: $token}}'
}

probe() { run "$PROBE" "$SUITE_DIR/hub.json" "$@"; }
# probe_with FILE VERB...: runs the probe with the object in this file.
probe_with() {
  run bash -c 'exec "${@:2}" <"$1"' - "$1" "$PROBE" "$SUITE_DIR/hub.json" "${@:2}"
}

# expect_outcome OUTCOME CODE TEXT...: the error has this exit code and contains each text.
expect_outcome() {
  expect_json .outcome "$1"
  expect_json .error.code "$2"
  expect_in stdout "${@:3}"
  ! grep -q "$(printf the-first-token | base64 -w0 | cut -c1-16)" stdout || unexpected "no value of the Secret"
}

a_secret_lives_and_others_marks_are_kept() {
  secret web >web.json
  probe_with web.json create "$NAMESPACE"
  expect_json .outcome 'done'
  expect_json '.object.metadata.managedFields[0].manager' execcred-sync
  admin -n "$NAMESPACE" annotate secret web theirs=1 >/dev/null
  probe get "$NAMESPACE" web
  jq '.data.token = ("second" | @base64)' stdout >changed.json
  probe_with changed.json replace "$NAMESPACE" web
  expect_json .outcome 'done'
  expect_json .object.metadata.annotations.theirs 1
  expect_json '.object.data.token | @base64d' second
  jq .object stdout >now.json
  probe remove "$NAMESPACE" web "$(jq -r .metadata.uid now.json)" \
    "$(jq -r .metadata.resourceVersion now.json)"
  expect_json .outcome 'done'
  probe get "$NAMESPACE" web
  expect_stdout null
}

what_is_there_is_not_created_again() {
  secret twice >twice.json
  probe_with twice.json create "$NAMESPACE"
  expect_json .outcome 'done'
  probe_with twice.json create "$NAMESPACE"
  expect_outcome conflict 1 "409 Conflict" "already exists"
}

an_older_version_is_not_written_over() {
  secret old >old.json
  probe_with old.json create "$NAMESPACE"
  jq .object stdout >read.json
  admin -n "$NAMESPACE" annotate secret old theirs=1 >/dev/null
  probe_with read.json replace "$NAMESPACE" old
  expect_outcome conflict 1 "the object has been modified"
  probe remove "$NAMESPACE" old "$(jq -r .metadata.uid read.json)" \
    "$(jq -r .metadata.resourceVersion read.json)"
  expect_outcome conflict 1 "the ResourceVersion in the precondition"
  # Deleted and created again, so it has another UID.
  admin -n "$NAMESPACE" delete secret old >/dev/null
  probe_with read.json replace "$NAMESPACE" old
  expect_outcome absent 1 "404 Not Found"
  admin -n "$NAMESPACE" create -f old.json >/dev/null
  probe remove "$NAMESPACE" old "$(jq -r .metadata.uid read.json)" \
    "$(admin -n "$NAMESPACE" get secret old -o jsonpath='{.metadata.resourceVersion}')"
  expect_outcome conflict 1 "the UID in the precondition"
  admin -n "$NAMESPACE" get secret old >/dev/null
}

refusals_are_told() {
  local other=$NAMESPACE-quota
  admin create namespace "$other" >/dev/null
  may_write "$other"
  admin -n "$other" create quota none --hard secrets=0 >/dev/null
  # Sets the quota's status, because no controller runs here.
  admin -n "$other" patch quota none --subresource status --type merge \
    --patch '{"status": {"hard": {"secrets": "0"}, "used": {"secrets": "0"}}}' >/dev/null
  secret web >web.json
  wait_until 120 is_over_quota "$other"
  probe_with web.json create "$other"
  expect_outcome refused 1 "exceeded quota: none"
  admin delete namespace "$other" --wait=false >/dev/null
  probe_with web.json create "$other"
  expect_outcome refused 1 "because it is being terminated"
  # RBAC refuses the request even before the API server looks up the namespace.
  probe_with web.json create default
  expect_outcome refused 1 "cannot create resource" "verbs [create] on resources [secrets]"
  run bash -c '"$1" "$2" create no-such-namespace <web.json' - "$PROBE" "$E2E_CLUSTER/admin.kubeconfig"
  expect_outcome refused 1 'namespaces \"no-such-namespace\" not found'
  jq '.data = {"not a key!": "eA=="}' web.json >invalid.json
  probe_with invalid.json create "$NAMESPACE"
  expect_outcome refused 1 "answered 422" "a valid config key must consist of"
  head -c 1100000 /dev/zero | base64 -w0 >large
  jq --rawfile large large '.data.large = $large' web.json >large.json
  probe_with large.json create "$NAMESPACE"
  expect_outcome refused 1 "answered 422" "may not be more than 1048576 bytes"
}
is_over_quota() {
  probe_with web.json create "$1"
  expect_in stdout "exceeded quota"
}

lists_are_whole_and_may_be_without_data() {
  local i
  for i in $(seq 40); do secret "many-$i" | jq '.metadata.labels = {many: "yes"}'; done |
    admin -n "$NAMESPACE" create -f - >/dev/null
  probe list "$NAMESPACE" many=yes whole
  expect_json length 40
  expect_json 'map(select(.data.token)) | length' 40
  expect_equal "pages" 2 "$(grep -c 'answered 200' stderr)"
  probe list "$NAMESPACE" many=yes metadata
  expect_json length 40
  expect_json 'map(select(.data)) | length' 0
}

# follow NAME VERB...: runs the probe in the background, with its output in the file NAME.
follow() {
  "$PROBE" "$SUITE_DIR/hub.json" "${@:2}" >"$1" 2>"$1.debug" &
  FOLLOWER=$!
}
# last_line NAME FILTER: tests the last line that the probe has written.
last_line() { tail -n 1 "$1" | jq -e "$2" >/dev/null; }
end_follower() {
  kill -TERM "$FOLLOWER"
  wait "$FOLLOWER"
}

profile() {
  jq -n --arg name "$1" '{apiVersion: "multicluster.x-k8s.io/v1alpha1", kind: "ClusterProfile",
    metadata: {name: $name}, spec: {clusterManager: {name: "e2e"}}}' |
    admin -n "$NAMESPACE" create -f - >/dev/null
}
names_are() { last_line watch ".in_sync and .names == $1"; }

failed_connections() { grep -c 'cannot connect' watch.debug || true; }

a_watch_outlives_the_api_server() {
  profile one
  follow watch watch "$NAMESPACE"
  wait_until 120 names_are '["one"]'
  profile two
  wait_until 120 names_are '["one", "two"]'
  stop_apiserver
  wait_until 120 last_line watch '(.in_sync | not) and .error.code == 3 and .names == ["one", "two"]'
  restart_apiserver
  wait_until 120 names_are '["one", "two"]'

  # The probe is stopped while the API server restarts, a ClusterProfile is deleted, and etcd is compacted.
  # The probe sees no failed connection, so only the status 410 makes it list again.
  local failures
  failures=$(failed_connections)
  kill -STOP "$FOLLOWER"
  stop_apiserver
  restart_apiserver
  admin -n "$NAMESPACE" delete clusterprofile one >/dev/null
  profile three
  local revision
  revision=$(admin -n "$NAMESPACE" get clusterprofile three -o jsonpath='{.metadata.resourceVersion}')
  curl -fsS --noproxy '*' "http://127.0.0.1:${PORTS[0]}/v3/kv/compaction" \
    -d "{\"revision\": \"$revision\", \"physical\": true}" >/dev/null
  stop_apiserver
  restart_apiserver
  kill -CONT "$FOLLOWER"
  wait_until 120 names_are '["three", "two"]'
  end_follower
  expect_equal "failed connections" "$failures" "$(failed_connections)"
}

lease_is() {
  [ "$(admin -n "$NAMESPACE" get lease "$1" -o json | jq -r "$2")" = "$3" ]
}

a_lease_is_taken_over_and_given_back() {
  # A Lease as client-go writes it. Its holder renews it once more and then never again.
  local record='{"spec": {"holderIdentity": "client-go", "leaseDurationSeconds": 3, "leaseTransitions": 4,
    "acquireTime": "2026-07-01T12:00:00.000000Z", "renewTime": "2026-07-01T12:00:00.000000Z"}}'
  jq '. + {apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: {name: "sync"}}' <<<"$record" |
    admin -n "$NAMESPACE" create -f - >/dev/null
  follow lease lease "$NAMESPACE" sync ours
  wait_until 120 last_line lease '(.held | not) and .holder == "client-go"'
  admin -n "$NAMESPACE" patch lease sync --type merge \
    --patch '{"spec": {"renewTime": "2026-07-01T12:00:02.000000Z"}}' >/dev/null
  wait_until 120 last_line lease '.held and .holder == "ours"'
  expect_equal "transitions" 5 "$(admin -n "$NAMESPACE" get lease sync -o jsonpath='{.spec.leaseTransitions}')"
  expect_equal "the duration" 15 \
    "$(admin -n "$NAMESPACE" get lease sync -o jsonpath='{.spec.leaseDurationSeconds}')"
  # Another process overwrites the Lease.
  admin -n "$NAMESPACE" patch lease sync --type merge --patch '{"spec": {"holderIdentity": "thief",
    "leaseDurationSeconds": 1}}' >/dev/null
  wait_until 120 grep -q '"held":false.*"holder":"thief"' lease
  wait_until 120 last_line lease '.held and .holder == "ours"'
  end_follower
  last_line lease '.held | not'
  wait_until 120 lease_is sync '.spec.holderIdentity + "/" + (.spec.leaseDurationSeconds | tostring)' /1
}

may_write() { # NAMESPACE
  admin -n "$1" create role writer --verb get,list,create,update,delete --resource secrets >/dev/null
  admin -n "$1" create rolebinding writer --role writer --serviceaccount "$NAMESPACE:writer" >/dev/null
}

admin create -f "$E2E_DIR/manifests/clusterprofile-crd.yaml" >/dev/null
admin wait --for condition=Established --timeout 120s crd/clusterprofiles.multicluster.x-k8s.io >/dev/null
use_namespace hub-writes
create_account writer
may_write "$NAMESPACE"
admin -n "$NAMESPACE" create role reader --verb list,watch \
  --resource clusterprofiles.multicluster.x-k8s.io >/dev/null
admin -n "$NAMESPACE" create rolebinding reader --role reader --serviceaccount "$NAMESPACE:writer" >/dev/null
admin -n "$NAMESPACE" create role leader --verb get,create,update \
  --resource leases.coordination.k8s.io >/dev/null
admin -n "$NAMESPACE" create rolebinding leader --role leader --serviceaccount "$NAMESPACE:writer" >/dev/null
hub_kubeconfig "$SUITE_DIR/hub.json" "$NAMESPACE" writer

check "a Secret is created, replaced with others' annotations kept, and removed" \
  a_secret_lives_and_others_marks_are_kept
check "creating a Secret that exists is a conflict" what_is_there_is_not_created_again
check "another resourceVersion or UID is a conflict, a missing Secret is absent" \
  an_older_version_is_not_written_over
check "a refusal by quota, RBAC, namespace, key or size is reported" refusals_are_told
check "a list is read in pages, with data or only metadata" lists_are_whole_and_may_be_without_data
check "a Lease is taken over, lost, taken again and released" a_lease_is_taken_over_and_given_back
check "a watch continues after an API server restart and a compaction" a_watch_outlives_the_api_server
