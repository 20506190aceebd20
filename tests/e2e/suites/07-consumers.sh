# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The manifests of config/consumers, sent to the API server as they are shipped: it accepts each of
# them, drops no field, and gives no warning by the Pod Security Standard "restricted". The init
# containers install the programs that the mappings run. The roles allow what is needed and nothing
# more.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/cluster.sh
. "$E2E_DIR/lib/cluster.sh"
# shellcheck source=tests/e2e/lib/tutorial.sh
. "$E2E_DIR/lib/tutorial.sh"

# A cluster of its own, because other examples have namespaces and roles of the same names.
trap cluster_stop EXIT
E2E_CLUSTER=$SUITE_DIR/cluster
cluster_start "$E2E_CLUSTER"
admin create -f "$E2E_DIR/manifests/clusterprofile-crd.yaml" >/dev/null
admin create -f "$E2E_DIR/manifests/multikueuecluster-crd.yaml" >/dev/null
admin wait --for condition=Established --timeout 120s crd/clusterprofiles.multicluster.x-k8s.io \
  crd/multikueueclusters.kueue.x-k8s.io >/dev/null

EXECCRED=$EXECCRED_BIN/execcred
CONSUMERS=$EXECCRED_ROOT/config/consumers
NAMESPACES=(fleet fleet-system kueue-system argocd headlamp knative-operator projectsveltos)
IMAGE=registry.example/execcred:0.2.0

admin_run() { run kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" "$@"; }

# is_patch FILE: succeeds if it has a template without a selector, so it is not a whole object.
is_patch() { grep -q '^  template:' "$1" && ! grep -q '^  selector:' "$1"; }

# put FILE: applies it as a user would, but as a dry run. The object is on standard output.
put() {
  local kind name namespace
  if is_patch "$1"; then
    kind=$(sed -n 's/^kind: //p' "$1")
    name=$(sed -n 's/^  name: //p' "$1")
    namespace=$(sed -n 's/^  namespace: //p' "$1")
    admin_run -n "$namespace" patch "$kind" "$name" --patch-file "$1" --dry-run=server -o json
  else
    admin_run apply --dry-run=server --validate=strict -f "$1" -o json
  fi
}

the_api_server_takes() { # FILE
  put "$CONSUMERS/$1"
  expect_success
  expect_silent_stderr
}

# expect_of_pod FILTER VALUE: tests the Pod template of the object on standard output.
expect_of_pod() { expect_json ".spec.template.spec | $1" "$2"; }

# All of them mount the plugins as a read-only volume.
expect_plugins_mounted() {
  expect_of_pod '[.containers[0].volumeMounts[] | select(.name == "plugins")] |
    map("\(.mountPath) \(.readOnly)") | join(",")' "/plugins true"
}

the_image_is_a_volume() { # FILE
  put "$CONSUMERS/$1"
  expect_success
  # The API server would silently drop a field whose feature gate is off.
  expect_of_pod '.volumes[] | select(.name == "plugins") | .image.reference' \
    "${IMAGE/execcred/$(basename "$(commands_of_mapping "${1%/*}")")}"
  expect_of_pod '[.initContainers[]?] | length' 0
  expect_plugins_mounted
}

commands_of_mapping() { # FOLDER
  grep -ohE '/plugins/execcred-[a-z-]+' "$CONSUMERS/$1/mapping.yaml" | sort -u
}

# Runs the init container's command, changed only to paths of this machine.
the_init_container_installs_what_the_mapping_runs() { # FILE
  local -a words
  local word command=("$EXECCRED_BIN/execcred")
  put "$CONSUMERS/$1"
  expect_success
  expect_of_pod '.initContainers[0].image' "$IMAGE"
  expect_of_pod '.initContainers[0].command[0]' /execcred
  expect_of_pod '.volumes[] | select(.name == "plugins") | .emptyDir | type' object
  expect_plugins_mounted
  mapfile -t words < <(jq -r '.spec.template.spec.initContainers[0].command[1:][]' stdout)
  mkdir plugins
  for word in "${words[@]}"; do
    [ "$word" != /plugins ] || word=$PWD/plugins
    command+=("$word")
  done
  run "${command[@]}"
  expect_success
  expect_equal "what is installed" "$(commands_of_mapping "${1%/*}")" \
    "$(find plugins -type f -perm 0555 -printf '/plugins/%f\n' | sort)"
}

lint_is_silent() { # FOLDER
  run "$EXECCRED" lint --no-files "$CONSUMERS/$1/mapping.yaml" "$CONSUMERS/$1/clusterprofile.yaml"
  expect_success
  expect_in stdout "0 errors, 0 warnings in 2 files"
}

# mapping_of FOLDER: prints the file that the controller reads.
mapping_of() {
  admin create --dry-run=client -o json -f "$CONSUMERS/$1/mapping.yaml" | jq -r '.data[]'
}

the_mapping_is_for_the_profile() { # FOLDER
  mapping_of "$1" >mapping.json
  run "$EXECCRED" resolve -m mapping.json -f "$CONSUMERS/$1/clusterprofile.yaml" -o json
  expect_success
  expect_equal "the command" "$(commands_of_mapping "$1")" "$(jq -r '.. | .command? // empty' stdout)"
}

the_cluster_secret_is_what_resolve_writes() {
  mapping_of argocd >mapping.json
  "$EXECCRED" resolve -m mapping.json -f "$CONSUMERS/argocd/clusterprofile.yaml" -o argocd-secret \
    >secret.yaml 2>notes
  local file
  for file in secret.yaml "$CONSUMERS/argocd/cluster.yaml"; do
    run kubectl --kubeconfig "$E2E_CLUSTER/admin.kubeconfig" apply --dry-run=server -o json -f "$file"
    expect_success
    jq '{name: .metadata.name, type, 
      data: (.data | map_values(@base64d) | .config |= fromjson)}' stdout >"${file##*/}.json"
  done
  diff secret.yaml.json cluster.yaml.json
}

can() { # ACCOUNT VERB RESOURCE NAMESPACE: prints yes or no.
  admin auth can-i "$2" "$3" -n "$4" --as "system:serviceaccount:$1" || true
}

the_role_allows() { # FOLDER ACCOUNT NAMESPACE SECRET
  admin apply -f "$CONSUMERS/$1/rbac.yaml" >/dev/null
  if [ "$1" != argocd ] && [ "$1" != multicluster-runtime-file ]; then
    expect_equal "listing ClusterProfiles" yes \
      "$(can "$2" list clusterprofiles.multicluster.x-k8s.io "$3")"
    expect_equal "writing ClusterProfiles" no \
      "$(can "$2" update clusterprofiles.multicluster.x-k8s.io "$3")"
  fi
  expect_equal "listing Secrets" no "$(can "$2" list secrets "$3")"
  [ -n "$4" ] || return 0
  expect_equal "the cluster's Secret" yes "$(can "$2" get "secrets/$4" "$3")"
  expect_equal "another Secret" no "$(can "$2" get secrets/another "$3")"
}

# broken FILE SED: writes a changed copy to broken.yaml.
broken() {
  sed -E "$2" "$CONSUMERS/$1" >broken.yaml
  ! cmp -s "$CONSUMERS/$1" broken.yaml || unexpected "the change to be one"
}

a_broken_copy_is_refused() { # FILE SED TEXT
  broken "$1" "$2"
  put broken.yaml
  expect_failure
  expect_in stderr "$3"
}

an_open_container_is_warned_of() { # FILE
  broken "$1" 's/drop: \[ALL\]/drop: []/'
  put broken.yaml
  expect_success
  expect_in stderr "would violate PodSecurity" "unrestricted capabilities"
}

a_broken_mapping_is_told() { # FOLDER
  broken "$1/mapping.yaml" 's,/plugins/execcred,plugins/execcred,'
  run "$EXECCRED" lint --no-files broken.yaml
  expect_status 1
  expect_in stdout "no absolute path"
}

# The worker is a cluster of its own, with the user and the rights that Kueue's script makes.
worker_kubeconfig() { # DIR
  local token in_worker=(kubectl --kubeconfig "$1/admin.kubeconfig")
  "${in_worker[@]}" create namespace kueue-system >&2
  "${in_worker[@]}" -n kueue-system create serviceaccount multikueue-sa >&2
  jq -n '{apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole",
      metadata: {name: "multikueue-sa-role"}, rules: [{apiGroups: ["kueue.x-k8s.io"],
      resources: ["workloads"], verbs: ["create", "delete", "get", "list", "watch"]}]}' |
    "${in_worker[@]}" apply -f - >&2
  "${in_worker[@]}" create clusterrolebinding multikueue-sa-crb --clusterrole multikueue-sa-role \
    --serviceaccount kueue-system:multikueue-sa >&2
  token=$("${in_worker[@]}" -n kueue-system create token multikueue-sa)
  jq --arg token "$token" '.users[].user = {token: $token}' "$1/admin.kubeconfig"
}

# Here the plugins are in another folder than the guide's.
multikueue() {
  # If a port is taken, cluster_start stops its processes. That must not stop the hub.
  local CLUSTER_PIDS=() worker=$PWD/worker
  cluster_start "$worker"
  worker_kubeconfig "$worker" >spoke-1.kubeconfig
  sed -E -e "s|https://spoke-1\.example\.com:6443|$(cat "$worker/server")|" \
    -e "s|LS0t[A-Za-z0-9+/=]{99,}|$(base64 -w0 "$worker/pki/ca.crt")|" \
    "$CONSUMERS/kueue/clusterprofile.yaml" >clusterprofile.yaml
  cp "$CONSUMERS/kueue/multikueuecluster.yaml" .
  admin -n kueue-system create serviceaccount kueue-controller-manager
  export KUBECONFIG=$E2E_CLUSTER/admin.kubeconfig PATH=$EXECCRED_BIN:$PATH
  tutorial multikueue.md 7 "s|execcred init |&--plugin-dir=$EXECCRED_BIN |"
  KUBECONFIG=kueue.kubeconfig run cpget -clusterprofile-provider-file kueue/mapping.json \
    -clusterprofile clusterprofile.yaml
  expect_success
  expect_stdout "ok system:serviceaccount:kueue-system:multikueue-sa"
  run kubectl get multikueueclusters spoke-1 -o jsonpath='{.spec.clusterSource.clusterProfileRef.name}'
  expect_stdout spoke-1
}

for namespace in "${NAMESPACES[@]}"; do
  admin create namespace "$namespace" >/dev/null
  admin label namespace "$namespace" pod-security.kubernetes.io/warn=restricted >/dev/null
done
admin create -f "$E2E_DIR/manifests/consumers.yaml" >/dev/null

while IFS= read -r file; do
  check "the API server accepts $file" the_api_server_takes "$file"
done < <(cd "$CONSUMERS" && find . -name '*.yaml' ! -name values.yaml -printf '%P\n' | sort)
while IFS= read -r file; do
  case $file in
    *image-volume.yaml) check "$file: the image is a read-only volume" the_image_is_a_volume "$file" ;;
    *) check "$file: it installs the programs that the mapping runs" \
      the_init_container_installs_what_the_mapping_runs "$file" ;;
  esac
done < <(cd "$CONSUMERS" && find . -name '*image-volume.yaml' -printf '%P\n' -o \
  -name '*init-container.yaml' -printf '%P\n' | sort)
for folder in controller multicluster-runtime multicluster-runtime-file kueue argocd headlamp \
  knative sveltos; do
  check "$folder: lint finds nothing" lint_is_silent "$folder"
  check "$folder: lint finds a broken mapping" a_broken_mapping_is_told "$folder"
  [ "$folder" = kueue ] ||
    check "$folder: the mapping selects its plugin for the ClusterProfile" \
      the_mapping_is_for_the_profile "$folder"
done
check "argocd: the cluster's Secret is the one that execcred resolve writes" \
  the_cluster_secret_is_what_resolve_writes
check "controller: its role allows only what it needs" \
  the_role_allows controller fleet-system:fleet-controller fleet ""
check "multicluster-runtime: its role allows only what it needs" \
  the_role_allows multicluster-runtime fleet:multicluster-controller fleet spoke-1-kubeconfig
check "multicluster-runtime-file: its role allows only what it needs" \
  the_role_allows multicluster-runtime-file fleet:multicluster-controller fleet spoke-1-kubeconfig
check "knative: its role allows only what it needs" \
  the_role_allows knative knative-operator:knative-operator knative-operator spoke-1-kubeconfig
check "kueue: its role allows only what it needs" \
  the_role_allows kueue kueue-system:kueue-controller-manager kueue-system spoke-1-secret
check "sveltos: its role allows only what it needs" \
  the_role_allows sveltos projectsveltos:clusterinventory-controller projectsveltos spoke-1
check "headlamp: its role allows only what it needs" \
  the_role_allows headlamp headlamp:headlamp headlamp spoke-1-headlamp
for account in argocd-application-controller argocd-server; do
  check "argocd: the role of $account allows only what it needs" \
    the_role_allows argocd "argocd:$account" argocd spoke-1-argocd
done
check "a missing volume is refused" a_broken_copy_is_refused \
  controller/init-container.yaml 's/^        - name: plugins$/        - name: other/' "Not found"
check "a misspelled field is refused" a_broken_copy_is_refused \
  controller/image-volume.yaml 's/pullPolicy/pullPolicies/' 'unknown field'
check "a wrong pull policy is refused" a_broken_copy_is_refused \
  kueue/image-volume.yaml 's/IfNotPresent/Sometimes/' "Unsupported value"
for file in headlamp/init-container.yaml argocd/server-init-container.yaml; do
  check "$file: without dropped capabilities the API server warns" an_open_container_is_warned_of "$file"
done
check "the guide for MultiKueue, with a real worker" multikueue
