# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# execcred sync with its own real kube-apiserver and etcd, the command line and the RBAC rules of the
# manifests in config/sync. The cluster accepts kubectl with what it writes, before and after a
# rotation. It changes no objects of others.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/sync.sh
. "$E2E_DIR/lib/sync.sh"

ETCD=${CLUSTER_PIDS[0]}
API_SERVER=${CLUSTER_PIDS[1]}

# deployed: sets DEPLOYED to the Deployment's command line, changed to run on this machine.
deployed() {
  local line
  mapfile -t line < <(admin create --dry-run=client -o json -f "$CONFIG/deployment.yaml" |
    jq -r 'select(.kind == "Deployment") // (.items[]? | select(.kind == "Deployment")) |
      .spec.template.spec.containers[0].args[]')
  DEPLOYED=()
  for argument in "${line[@]}"; do
    case $argument in
      --clusterprofile-provider-file=*) argument=${argument%%=*}=$SUITE_DIR/mapping.json ;;
      --listen=*) argument=--listen=127.0.0.1:0 ;;
    esac
    DEPLOYED+=("$argument")
  done
  DEPLOYED+=("--kubeconfig=$SUITE_DIR/sync.json")
}

# The annotation that marks a Secret whose credential has expired.
mark_of() { admin -n "$TO" get secret "$1" -o json | jq -r '.metadata.annotations["execcred.io/expired"] // "no"'; }
is_marked() { [ "$(mark_of "$1")" = true ]; }
is_unmarked() { [ "$(mark_of "$1")" = no ]; }

manifests_are_accepted() {
  local file
  for file in rbac deployment network-policy; do
    run kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" apply --dry-run=server -f "$CONFIG/$file.yaml"
    expect_success
  done
  expect_in stdout networkpolicy.networking.k8s.io/execcred-sync
}

the_deployment_writes_and_gives_its_lease_back() {
  clean
  store a
  store b
  deployed
  start "${DEPLOYED[@]}"
  wait_until 120 is_there a-kubeconfig
  wait_until 120 is_there b-kubeconfig
  value_of a-kubeconfig value >kubeconfig
  accepted_with kubeconfig
  unstore b
  wait_until 120 is_gone b-kubeconfig
  admin -n "$TO" delete secret a-kubeconfig >/dev/null
  wait_until 120 is_there a-kubeconfig
  expect_equal "the holder" "$(hostname)" \
    "$(admin -n execcred-sync get lease execcred-sync -o json | jq -r '.spec.holderIdentity | sub("_.*"; "")')"
  end
  expect_equal "the holder" "" "$(admin -n execcred-sync get lease execcred-sync -o json | jq -r .spec.holderIdentity)"
  ! grep -q '"level":"error"' log || { cat log; return 1; }
}

two_take_turns() {
  clean
  store a
  deployed
  start "${DEPLOYED[@]}"
  local first=$RUN
  wait_until 120 is_there a-kubeconfig
  mkdir second
  cd second
  start "${DEPLOYED[@]}"
  cd ..
  wait_until 120 grep -q serves second/log
  local port
  port=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/p' second/log | head -1)
  wait_until 120 curl -fsS "http://127.0.0.1:$port/readyz"
  kill -KILL "$first"
  admin -n "$TO" delete secret a-kubeconfig >/dev/null
  wait_until 120 is_there a-kubeconfig
  end
}

a_rotation_is_followed() {
  clean
  local before
  store a
  mkdir -m 700 out
  echo 12 >"$SUITE_DIR/lifetime"
  start sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --kubeconfig "$SUITE_DIR/sync.json" \
    --to-dir=out --to-secret=kubeconfig --secret-namespace="$TO"
  wait_until 120 is_there a-kubeconfig
  wait_until 120 test -e out/fleet/a/kubeconfig
  accepted_with out/fleet/a/kubeconfig
  before=$(value_of a-kubeconfig value)
  admin -n "$TO" annotate secret a-kubeconfig theirs=kept >/dev/null
  admin -n "$TO" label secret a-kubeconfig their-label=kept >/dev/null
  wait_until 120 changed_from a-kubeconfig value "$before"
  expect_equal "others' annotation" kept \
    "$(admin -n "$TO" get secret a-kubeconfig -o json | jq -r .metadata.annotations.theirs)"
  expect_equal "others' label" kept \
    "$(admin -n "$TO" get secret a-kubeconfig -o json | jq -r '.metadata.labels["their-label"]')"
  expect_equal "the field manager" execcred-sync \
    "$(admin -n "$TO" get secret a-kubeconfig -o json --show-managed-fields |
      jq -r '[.metadata.managedFields[].manager] | map(select(. == "execcred-sync"))[0]')"
  accepted_with out/fleet/a/kubeconfig
  value_of a-kubeconfig value >kubeconfig
  accepted_with kubeconfig
  touch "$SUITE_DIR/fails"
  wait_until 120 is_marked a-kubeconfig
  rm "$SUITE_DIR/fails"
  wait_until 120 is_unmarked a-kubeconfig
  end
}

nothing_foreign_is_changed() {
  clean
  store a
  admin -n "$TO" create secret generic a-token --from-literal=token=theirs >/dev/null
  once --to-secret=token
  expect_status 1
  expect_in stderr target-foreign
  expect_equal "the Secret" theirs "$(value_of a-token token)"
  # Also with execcred's label alone: the annotation that names the ClusterProfile is missing.
  admin -n "$TO" label secret a-token app.kubernetes.io/managed-by=execcred execcred.io/instance=default >/dev/null
  once --to-secret=token
  expect_status 1
  expect_equal "the Secret" theirs "$(value_of a-token token)"
  admin -n "$TO" delete secret a-token >/dev/null
  once --to-secret=token
  expect_success
  # Another instance neither changes nor removes it.
  once --to-secret=token --instance=other
  expect_status 1
  unstore a
  store b
  once --to-secret=token --instance=other
  expect_success
  is_there a-token
  once --to-secret=token --instance=default --prune=false
  expect_status 1
  is_there a-token
  admin -n "$TO" delete secret b-token >/dev/null
  once --to-secret=token
  expect_success
  is_gone a-token
  unstore b
  once --to-secret=token
  expect_status 2
  is_there b-token
  once --to-secret=token --allow-empty
  expect_success
  is_gone b-token
}

a_cluster_made_again_gets_a_secret_of_its_own() {
  clean
  local uid
  store a
  once --to-secret=token
  expect_success
  uid=$(admin -n "$TO" get secret a-token -o jsonpath='{.metadata.uid}')
  unstore a
  store a
  once --to-secret=token
  expect_success
  [ "$uid" != "$(admin -n "$TO" get secret a-token -o jsonpath='{.metadata.uid}')" ]
  expect_equal "the uid" "$(admin -n fleet get clusterprofile a -o jsonpath='{.metadata.uid}')" \
    "$(admin -n "$TO" get secret a-token -o json | jq -r '.metadata.annotations["execcred.io/clusterprofile-uid"]')"
}

# Each folder that exists is complete.
folders_are_whole() {
  local folder
  for folder in out/fleet/*/; do
    # A run may have been killed before it wrote its first folder.
    [ -d "$folder" ] || continue
    test -s "$folder/token" -a -s "$folder/kubeconfig" -a -s "$folder/.execcred-sync"
  done
}

kills_leave_nothing() {
  clean
  local i name before
  # Draws the moments of the kills.
  RANDOM=${EXECCRED_SEED:=$RANDOM}
  echo "EXECCRED_SEED=$EXECCRED_SEED"
  store a
  store b
  mkdir -p -m 700 out
  admin -n "$TO" create secret generic theirs --from-literal=token=theirs >/dev/null
  admin -n "$TO" label secret theirs app.kubernetes.io/managed-by=execcred >/dev/null
  before=$(admin -n "$TO" get secret theirs -o json | jq -c .)
  # With such a short lifetime the credentials are due at each start.
  echo 3 >"$SUITE_DIR/lifetime"
  for i in $(seq 40); do
    start sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --kubeconfig "$SUITE_DIR/sync.json" \
      --to-dir=out --to-secret=kubeconfig,token --secret-namespace="$TO"
    sleep "0.$((RANDOM % 9))$((RANDOM % 10))" # the moment of the kill
    kill -KILL "$RUN"
    wait "$RUN" || true
    [ ! -d out/fleet ] || folders_are_whole
  done
  echo 3600 >"$SUITE_DIR/lifetime"
  once --to-dir=out --to-secret=kubeconfig,token
  expect_success
  folders_are_whole
  for name in a b; do
    accepted_with "out/fleet/$name/kubeconfig"
    value_of "$name-kubeconfig" value >kubeconfig
    accepted_with kubeconfig
    is_there "$name-token"
  done
  expect_equal "left-over names" "" "$(find out -name '.execcred-sync.*')"
  expect_equal "the folders" 2 "$(find out/fleet -mindepth 1 -maxdepth 1 | wc -l)"
  [ "$(find out/fleet/a -maxdepth 1 -type d -name '..2*' | wc -l)" -le 2 ]
  expect_equal "their Secret" "$before" "$(admin -n "$TO" get secret theirs -o json | jq -c .)"
  expect_equal "the Secrets" 5 "$(admin -n "$TO" get secrets -o name | wc -l)"
}

a_namespace_may_go_and_come_back() {
  clean
  store a
  admin create namespace going >/dev/null
  start sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --to-secret=token --secret-namespace=going \
    --kubeconfig "$E2E_CLUSTER/admin.kubeconfig"
  wait_until 120 admin -n going get secret a-token
  admin delete namespace going --wait=false >/dev/null
  admin -n going delete secret --all >/dev/null
  wait_until 120 grep -q 'because it is being terminated.*cause=target-refused' log
  # Removes the namespace, because no controller runs here that would do it.
  admin get namespace going -o json | jq 'del(.spec.finalizers)' >finalized.json
  admin replace --raw /api/v1/namespaces/going/finalize -f finalized.json >/dev/null
  wait_until 120 grep -q 'namespaces .*going.* not found.*cause=target-refused' log
  admin create namespace going >/dev/null
  wait_until 120 admin -n going get secret a-token
  end
  admin -n going delete secret --all >/dev/null
}

a_quota_that_is_full_for_a_while() {
  clean
  admin -n "$TO" create quota full --hard=secrets=0 >/dev/null
  admin -n "$TO" patch resourcequota full --subresource=status --type=merge \
    -p '{"status":{"hard":{"secrets":"0"},"used":{"secrets":"0"}}}' >/dev/null
  store a
  deployed
  start "${DEPLOYED[@]}"
  wait_until 120 grep -q 'exceeded quota.*target-refused' log
  admin -n "$TO" delete quota full >/dev/null
  wait_until 120 is_there a-kubeconfig
  end
}

what_no_secret_can_hold_is_refused_alone() {
  clean
  store b
  # A kubeconfig has the CA in base64, so it becomes larger than a Secret may be.
  while [ "$(wc -c <cas 2>/dev/null || echo 0)" -lt 820000 ]; do
    for _ in $(seq 200); do cat "$CA_FILE"; done >>cas
  done
  write_profile a.json a accessProviders
  base64 -w0 cas >encoded
  jq --rawfile ca encoded '.status.accessProviders[1].cluster["certificate-authority-data"] = $ca' a.json >large.json
  admin create -f large.json >/dev/null
  jq '{status}' large.json >status.json
  admin -n fleet patch clusterprofile a --subresource status --type merge --patch-file status.json >/dev/null
  # The cluster information would be too large for the plugin's environment.
  jq '.providers[].execConfig.provideClusterInfo = false' "$SUITE_DIR/mapping.json" >mapping.json
  run "$EXECCRED" sync -m mapping.json --from-hub -n fleet --kubeconfig "$SUITE_DIR/sync.json" \
    --secret-namespace="$TO" --once --to-secret=kubeconfig
  expect_status 1
  expect_in stderr "may not be more than 1048576 bytes" target-refused cluster=fleet/a
  is_gone a-kubeconfig
  value_of b-kubeconfig value >kubeconfig
  accepted_with kubeconfig
}

a_full_quota_and_a_missing_namespace_are_reported() {
  clean
  store a
  admin -n "$TO" create quota none --hard=secrets=0 >/dev/null
  admin -n "$TO" patch resourcequota none --subresource=status --type=merge \
    -p '{"status":{"hard":{"secrets":"0"},"used":{"secrets":"0"}}}' >/dev/null
  once --to-secret=token
  expect_status 1
  expect_in stderr "exceeded quota" target-refused
  admin -n "$TO" delete quota none >/dev/null
  run "$EXECCRED" sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --to-secret=token --once \
    --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" --secret-namespace=no-such-namespace
  expect_status 1
  expect_in stderr "no-such-namespace" "not found"
  run "$EXECCRED" sync -m "$SUITE_DIR/mapping.json" --from-hub -n fleet --to-secret=token --once \
    --kubeconfig "$SUITE_DIR/sync.json" --secret-namespace=default
  expect_status 1
  expect_in stderr "403 Forbidden" "resources [secrets]" "namespace 'default'"
}

the_server_may_go_away_for_a_while() {
  clean
  store a
  deployed
  start "${DEPLOYED[@]}"
  wait_until 120 is_there a-kubeconfig
  kill -STOP "$API_SERVER"
  run curl -sS --noproxy '*' --max-time 3 --cacert "$CA_FILE" "$SERVER/readyz"
  kill -CONT "$API_SERVER"
  expect_status 28 # no answer in time
  store b
  wait_until 120 is_there b-kubeconfig
  end
}

# Prints the holder of the Lease, which is the process that writes.
lease_holder() { admin -n execcred-sync get lease execcred-sync -o json | jq -r '.spec.holderIdentity // ""'; }
has_holder() { [ -n "$(lease_holder)" ]; }

hand_lease_to() { # IDENTITY SECONDS
  admin -n execcred-sync patch lease execcred-sync --type=merge --patch \
    "{\"spec\":{\"holderIdentity\":\"$1\",\"leaseDurationSeconds\":$2}}" >/dev/null
}

# waits_for_holder HOLDER: the process has seen that HOLDER has the Lease.
waits_for_holder() { grep -q "waiting for the Lease.*$1" log; }

a_stolen_lease_ends_all_writing() {
  local other
  clean
  store a
  deployed
  start "${DEPLOYED[@]}"
  wait_until 120 is_there a-kubeconfig
  # Repeated, because a renewal of the holder may come between read and write.
  wait_until 120 hand_lease_to thief 3600
  wait_until 120 waits_for_holder thief
  expect_equal "the holder" thief "$(lease_holder)"
  admin -n "$TO" delete secret a-kubeconfig >/dev/null
  store b
  # While these two follow each other, a process with the Lease would have written both Secrets.
  for other in second third; do
    hand_lease_to "$other" 3600
    wait_until 120 waits_for_holder "$other"
  done
  is_gone a-kubeconfig
  is_gone b-kubeconfig
  hand_lease_to "" 1
  wait_until 120 is_there a-kubeconfig
  wait_until 120 is_there b-kubeconfig
  has_holder
  end
}

# Stalls of etcd, as with a slow disk. Requests reach their time limit, and the Lease expires.
a_slow_etcd_is_weathered() {
  clean
  store a
  deployed
  start "${DEPLOYED[@]}"
  wait_until 120 is_there a-kubeconfig
  local i
  for i in 1 2 3; do
    kill -STOP "$ETCD"
    sleep "$((i * 5))" # the stall itself
    kill -CONT "$ETCD"
    wait_until 120 store "slow-$i"
  done
  wait_until 120 is_there slow-1-kubeconfig
  wait_until 120 is_there slow-2-kubeconfig
  wait_until 120 is_there slow-3-kubeconfig
  is_there a-kubeconfig
  end
}

# This check must be the last one, because the API server that it starts ends with it.
the_server_may_restart() {
  clean
  store a
  store b
  deployed
  start "${DEPLOYED[@]}"
  wait_until 120 is_there b-kubeconfig
  local revision
  stop_apiserver
  wait_until 120 grep -q '"level":"error"' log
  restart_apiserver
  unstore b
  store c
  revision=$(admin -n fleet get clusterprofile c -o jsonpath='{.metadata.resourceVersion}')
  curl -fsS --noproxy '*' "http://127.0.0.1:${PORTS[0]}/v3/kv/compaction" \
    -d "{\"revision\": \"$revision\", \"physical\": true}" >/dev/null
  wait_until 120 is_there c-kubeconfig
  wait_until 120 is_gone b-kubeconfig
  is_there a-kubeconfig
  end
}

check "the API server accepts the manifests" manifests_are_accepted
check "the Deployment's command writes, restores and removes Secrets with its RBAC rules" \
  the_deployment_writes_and_gives_its_lease_back
check "of two processes one writes, and the other one takes over" two_take_turns
check "a rotated credential is written, an expired one is marked" a_rotation_is_followed
check "objects of others are not changed or removed" nothing_foreign_is_changed
check "a ClusterProfile that is created again gets another Secret" \
  a_cluster_made_again_gets_a_secret_of_its_own
check "a full quota, a missing namespace and missing rights are reported" \
  a_full_quota_and_a_missing_namespace_are_reported
check "sync continues after the API server did not answer for a while" the_server_may_go_away_for_a_while
check "a run killed at any time leaves complete folders and no temporary files" kills_leave_nothing
check "sync continues after its namespace was deleted and created again" a_namespace_may_go_and_come_back
check "sync writes the Secret when a full quota is removed" a_quota_that_is_full_for_a_while
check "a credential too large for a Secret is refused, and the others are written" \
  what_no_secret_can_hold_is_refused_alone
check "after the loss of the Lease nothing is written until it is free" a_stolen_lease_ends_all_writing
check "sync continues after stalls of etcd" a_slow_etcd_is_weathered
check "sync continues after a restart of the API server" the_server_may_restart
