# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guides of docs/: their commands, in order, with real servers.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"
# shellcheck source=tests/e2e/lib/spiffe.sh
. "$E2E_DIR/lib/spiffe.sh"
trap 'cluster_stop; rm -rf "$SPIRE_OPEN"' EXIT
# shellcheck source=tests/e2e/lib/tutorial.sh
. "$E2E_DIR/lib/tutorial.sh"

# The fault that the guide finds is an expired token. The Pod of its last part is in another namespace.
exit_code_1() {
  export KUBECONFIG=$E2E_CLUSTER/admin.kubeconfig
  umask 077
  expired_token "$(request_token controller)" >token
  mkdir "$POD"
  cp token "$POD/token"
  write_mapping mapping.json "$(exec_config v1 "$PLUGIN" --token-file "$PWD/token")"
  write_profile profile.json spoke-1 accessProviders "$(cluster_json)"
  controllers_pod
  tutorial exit-code-1.md 11 "s|fleet/spoke-1|$NAMESPACE/spoke-1|g" "s|-n fleet|-n $NAMESPACE|"
  admin -n "$NAMESPACE-system" get pod fleet-controller-0 -o json >"$POD/pod.json"
  cp mapping.json "$POD"
  expect_equal "the volumes" "$(jq -c '.spec.containers[0].volumeMounts' "$POD/pod.json")" \
    "$(jq -c '.spec.ephemeralContainers[0].volumeMounts' "$POD/pod.json")"
}

# Makes the Pod of config/consumers/controller, as the controller manager and the admission plugin
# ServiceAccount do. The API server refuses containers that are not "restricted".
controllers_pod() {
  local example=$EXECCRED_ROOT/config/consumers/controller namespace=$NAMESPACE-system
  admin create namespace "$namespace"
  admin label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted
  sed -E "s/namespace: fleet(-system)?$/namespace: $NAMESPACE\1/" "$example/rbac.yaml" | admin apply -f -
  admin create --dry-run=client -o json -f "$example/init-container.yaml" |
    jq --arg namespace "$namespace" '{apiVersion: "v1", kind: "Pod",
      metadata: {name: "fleet-controller-0", namespace: $namespace},
      spec: (.spec.template.spec
        | .volumes += [{name: "kube-api-access-0", projected: {sources: [
            {serviceAccountToken: {path: "token"}}]}}]
        | .containers[].volumeMounts += [{name: "kube-api-access-0", readOnly: true,
            mountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}])}' | admin apply -f -
  admin apply --server-side -f profile.json
  admin apply --server-side --subresource=status -f profile.json
}

# The command of the guide's ephemeral container, in a root directory that has what the Pod has: no shell, and
# the programs, the mapping and the tokens at the paths of its volumes.
in_a_distroless_pod() {
  local words root=$PWD/pod secrets=$PWD/pod/var/run/secrets
  mapfile -t words < <(jq -r '.spec.ephemeralContainers[0].command[]' "$POD/pod.json")
  umask 022
  mkdir -p "$root"/{plugins,etc/fleet} "$secrets"/{kubernetes.io/serviceaccount,execcred/127.0.0.1}
  put_program execcred /execcred
  put_program execcred-token-file /plugins/execcred-token-file
  jq '.providers[].execConfig |= (.command = "/plugins/execcred-token-file"
    | .args = ["--token-file=/var/run/secrets/execcred/{server.host}/token"]
    | .provideClusterInfo = true)' "$POD/mapping.json" \
    >"$root/etc/fleet/clusterprofile-provider-file.json"
  cp "$POD/token" "$secrets/execcred/127.0.0.1/token"
  cp "$CA_FILE" "$secrets/kubernetes.io/serviceaccount/ca.crt"
  admin -n "$NAMESPACE-system" create token fleet-controller >"$secrets/kubernetes.io/serviceaccount/token"
  chmod -R a+rX "$root"
  in_root "${words[@]}"
  expect_status 1
  expect_in stdout "cause: source-expired" "execcred explain source-expired"
  in_root /execcred explain source-expired
  expect_success
  expect_in stdout "has expired"
}

# put_program NAME PATH: copies it into the root directory, with the libraries of a dynamic build.
put_program() {
  local library
  cp "$EXECCRED_BIN/$1" "pod$2"
  for library in $(ldd "$EXECCRED_BIN/$1" | grep -o '/[^ ]*'); do
    mkdir -p "pod${library%/*}"
    cp -L "$library" "pod$library"
  done
}
in_root() {
  run env -i KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="${SERVER##*:}" \
    /usr/sbin/chroot --userspec=65532:65532 pod "$@"
}

# The clouds themselves are not here: the suites aws, google and azure-workload have their judges.
eks_gke_aks() {
  export KUBECONFIG=$E2E_CLUSTER/admin.kubeconfig
  ln -s "$EXECCRED_ROOT/config" config
  have_namespace fleet-system
  tutorial eks-gke-aks.md 5
  expect_in stdout 99999999-8888-7777-6666-555555555555
  run "$EXECCRED_BIN/execcred" resolve -m config/clouds/mapping.json -f config/clouds/clusterprofiles.yaml \
    -o json
  jq -r '.. | .command? // empty' stdout | sort -u >commands
  admin -n fleet-system get deployment fleet-controller -o json | jq -r '.spec.template.spec |
    .initContainers[0].command[] | select(startswith("--plugin=")) | sub("--plugin="; "/plugins/")' |
    sort >installed
  diff commands installed
  admin -n fleet-system get deployment fleet-controller -o json | jq -r '.spec.template.spec.volumes[] |
    select(.name == "tokens").projected.sources[].serviceAccountToken.path' |
    sed 's|^|/var/run/secrets/execcred/|' | sort >tokens
  grep -hoE '/var/run/secrets/execcred/[a-z]+' config/clouds/*.json | sort >named
  diff tokens named
}

# kubectl and spire-server are configured as an administrator has them.
as_administrator() {
  export KUBECONFIG=$E2E_CLUSTER/admin.kubeconfig
  mkdir bin
  printf '#!/bin/sh\nexec %q "$@" -socketPath %q\n' "$E2E_SPIRE/spire-server" "$SPIRE_SERVER_SOCKET" \
    >bin/spire-server
  chmod 755 bin/spire-server
  PATH=$PWD/bin:$PATH
}

# The workload "guide" stands for the controller's plugin.
spire_in_five_steps() {
  as_administrator
  export CURL_CA_BUNDLE=$SPIRE_PKI/ca.crt
  cp "$SPIFFE_EXAMPLES/jwt/rbac.yaml" .
  jq --arg parent "$SPIRE_DOMAIN/node" --arg path "path:$(workload guide)" '
    .entries[] |= (.parent_id = $parent | .selectors = [{type: "unix", value: $path}])' \
    "$SPIFFE_EXAMPLES/entries.json" >entries.json
  fill_in jwt guide
  mv profile.yaml clusterprofile.yaml
  tutorial spire-in-five-steps.md 4 "s|https://oidc.example.org|$SPIRE_ISSUER|"
}

# The workload "alice" stands for the plugin of a person.
spiffe_kubeconfig() {
  local plugin arguments="--type=jwt --audience=x"
  plugin=$(workload alice)
  as_administrator
  cp "$CA_FILE" ca.crt
  # The agent reads a new entry after a moment.
  tutorial spiffe-kubeconfig.md 6 "s|/plugins/execcred-spiffe|$plugin|" \
    "s|https://spoke-1.example.com:6443|$SERVER|" \
    "s|unix:///run/spire/agent.sock|$SPIFFE_ENDPOINT_SOCKET|" \
    "s|$SPIRE_DOMAIN/workstations|$SPIRE_DOMAIN/node|" \
    "s|unix:uid:1000|unix:path:$plugin; timeout 60 bash -c 'until $plugin $arguments; do :; done' 2>log|"
}

export PATH=$EXECCRED_BIN:$PATH
use_namespace tutorials
create_account controller
# What the guide's Pod has, for the check after it.
POD=$SUITE_DIR/pod
check "from exit code 1 to its cause" exit_code_1
distroless="the command of the ephemeral container, in a root directory without a shell"
if [ "$(id -u)" -eq 0 ]; then
  check "$distroless" in_a_distroless_pod
else
  skip "$distroless" "only root may chroot"
fi
check "EKS, GKE and AKS from one Pod" eks_gke_aks
spire_start
entry other other
spire_agent_start
spiffe_cluster
expect_trust other
check "SPIRE to Kubernetes in five steps" spire_in_five_steps
check "a kubeconfig with SPIFFE" spiffe_kubeconfig
