# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Starts the cluster, runs the suites in parallel, and counts the results that they print.

# Seconds. It ends only a suite that hangs, as the other limits on a command's time do.
SUITE_TIMEOUT=900
SUITES_AT_ONCE=$((4 * EXECCRED_JOBS))

suite_files() { printf '%s\n' "$E2E_DIR"/suites/[0-9][0-9]-*.sh; }
suite_name() { basename "$1" .sh | sed 's/^[0-9]*-//'; }
suite_names() {
  local file
  while read -r file; do suite_name "$file"; done < <(suite_files)
}

prepare_parts() {
  need_packages apache2-bin ca-certificates curl gcc gojq libc6-dev openssl python3-jsonschema python3-yaml \
    tinyproxy-bin
  build_parts
}

# Sets SUITES to the files of the named suites, or of all suites.
choose_suites() {
  local name file
  mapfile -t SUITES < <(suite_files)
  [ "$#" -gt 0 ] || return 0
  SUITES=()
  for name in "$@"; do
    file=$(suite_files | grep -E "/[0-9]+-$name\.sh$") || fail "no suite '$name'; try: $(suite_names | xargs)"
    SUITES+=("$file")
    # This suite is skipped unless it is requested by name.
    case $name in doctor | oidc-keycloak) export EXECCRED_E2E_NIGHT=1 ;; esac
  done
}

prepare_programs() {
  if [ -z "${EXECCRED_BIN:-}" ]; then
    need_packages "${BUILD_PACKAGES[@]}"
    build_preset release programs hub-probe
    EXECCRED_BIN=$EXECCRED_ROOT/build/release/bin
  fi
  EXECCRED_BIN=$(realpath "$EXECCRED_BIN")
  export EXECCRED_BIN
  local program
  for program in "${SHIPPED_PROGRAMS[@]}"; do
    [ -x "$EXECCRED_BIN/$program" ] || fail "there is no program '$EXECCRED_BIN/$program'"
  done
}

run_suites() {
  choose_suites "$@"
  prepare_parts
  prepare_programs

  scratch_in_memory
  E2E_RUN=$(mktemp -d "${TMPDIR:-/tmp}/execcred-e2e.XXXXXX")
  E2E_CLUSTER=$E2E_RUN/cluster
  export E2E_RUN E2E_CLUSTER
  # The suites start jq 5,000 times, and gojq starts seven times as fast as jq 1.6. It sorts each object's keys.
  mkdir "$E2E_RUN/bin"
  ln -s /usr/bin/gojq "$E2E_RUN/bin/jq"
  PATH=$E2E_RUN/bin:$PATH
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  step "starting etcd and kube-apiserver"
  cluster_start "$E2E_CLUSTER"
  admin_kubectl create -f "$E2E_DIR/manifests/clusterprofile-crd.yaml" >/dev/null
  admin_kubectl wait --for condition=Established --timeout 120s \
    crd/clusterprofiles.multicluster.x-k8s.io >/dev/null

  step "running ${#SUITES[@]} suites"
  start_suites
  report_suites
}

admin_kubectl() { kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" "$@"; }

clean_up() {
  local pids
  pids=$(jobs -p)
  # shellcheck disable=SC2086
  [ -z "$pids" ] || kill $pids 2>/dev/null || true
  cluster_stop
  wait
  rm -rf "$E2E_RUN"
}

# Starts them in their order, the longest (0N-*.sh) first, so that none of these is left alone at the end. Each
# has a namespace of its own. Only some run at the same time: more would leave a client without the processor
# for longer than the deadlines that the checks are about.
start_suites() {
  local file i
  SUITE_PIDS=()
  export E2E_SUITES=${#SUITES[@]}
  # A line in this pipe is a place.
  mkfifo "$E2E_RUN/places"
  exec 8<>"$E2E_RUN/places"
  for ((i = 0; i < SUITES_AT_ONCE; ++i)); do echo >&8; done
  for file in "${SUITES[@]}"; do
    run_suite "$file" "$E2E_RUN/$(suite_name "$file")" &
    SUITE_PIDS+=("$!")
  done
}

# run_suite FILE OUTPUT: waits for a place. Keeps the exit status in a file, because bash may no longer have
# it later.
run_suite() {
  local status=0 started
  read -r -u 8
  started=$SECONDS
  timeout --kill-after 10 "$SUITE_TIMEOUT" bash "$1" >"$2.out" 2>&1 8>&- || status=$?
  echo "$((SECONDS - started))" >"$2.seconds"
  echo "$status" >"$2.status"
  echo >&8
}

# Prints each suite's lines as soon as it and those before it have ended, then the totals.
report_suites() {
  local i name output status passed=0 failed=0 skipped=0
  for i in "${!SUITES[@]}"; do
    name=$(suite_name "${SUITES[i]}")
    output=$E2E_RUN/$name.out
    wait "${SUITE_PIDS[i]}" 2>/dev/null || true
    status=$(cat "$E2E_RUN/$name.status" || echo unknown)
    [ "$status" = 0 ] || echo "not ok $name: the suite ended early, with status $status" >>"$output"
    grep -qE '^(ok|not ok|skip) ' "$output" || echo "not ok $name: the suite checked nothing" >>"$output"
    cat "$output"
    passed=$((passed + $(grep -c '^ok ' "$output" || true)))
    failed=$((failed + $(grep -c '^not ok ' "$output" || true)))
    skipped=$((skipped + $(grep -c '^skip ' "$output" || true)))
  done
  step "seconds of each suite"
  for name in "${SUITES[@]}"; do
    name=$(suite_name "$name")
    printf '%6d  %s\n' "$(cat "$E2E_RUN/$name.seconds")" "$name"
  done | sort -rn
  printf '\n%d passed, %d failed' "$passed" "$failed"
  [ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
  echo
  [ "$failed" -eq 0 ]
}
