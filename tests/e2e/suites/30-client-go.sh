# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# client-go, as a controller uses it: with a mapping file and a ClusterProfile, from a file
# or from the API server, it runs execcred-token-file, and the cluster accepts the credential.

# shellcheck source=tests/e2e/lib/suite.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/suite.sh"

cpget_with() { # PROFILE [FLAG...]
  run cpget -clusterprofile-provider-file mapping.json -clusterprofile "$@"
}

expect_accepted() { # PROFILE
  cpget_with "$1"
  expect_success
  expect_stdout "ok $(user_of reader)"
  expect_silent_stderr
}

mapping() { # VERSION [ARGUMENT...]
  project_token volume "$(request_token reader)"
  write_mapping mapping.json "$(exec_config "$1" "$PLUGIN" --token-file "$PWD/volume/token" \
    --allow-server "$SERVER" --server-ca-file "$CA_FILE" "${@:2}")"
}

json_profile() { # VERSION FIELD
  mapping "$1"
  write_profile profile.json spoke "$2"
  expect_accepted profile.json
}

yaml_profile() { # FIELD
  mapping v1
  cat >profile.yaml <<Y
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ClusterProfile
metadata:
  name: spoke
  namespace: fleet
spec:
  clusterManager: {name: e2e}
status:
  $1:
    - name: token-file
      cluster:
        server: $SERVER
        certificate-authority-data: >-
$(base64 -w76 "$CA_FILE" | tr -d '\n' | sed 's/^/          /')
        extensions:
          - name: client.authentication.k8s.io/exec
            extension:
              clusterName: spoke
Y
  expect_accepted profile.yaml
}

stored_profile() { # NAME FIELD FORMAT
  mapping v1
  write_profile new.json "$1" "$2" "$(cluster_json '{"clusterName": "spoke"}')"
  store_profile new.json
  admin -n "$NAMESPACE" get "$(profiles_of v1alpha1)" "$1" -o "$3" >"profile.$3"
  expect_accepted "profile.$3"
}

# Replaces in the shipped files only what differs between machines: the paths of
# the plugin and its tokens, the server and its CA.
fill_in_the_shipped_files() { # EXAMPLE CLUSTER_NAME
  local host=${SERVER#https://}
  project_token "volumes/${host%:*}" "$(request_token reader)"
  jq --arg plugin "$PLUGIN" --arg volumes "$PWD/volumes" --arg server "$SERVER" '
    .providers[] |= if .name == "token-file" then
      .execConfig.command = $plugin
      | .execConfig.args |= map(
          sub("^--token-file=/var/run/secrets/execcred"; "--token-file=" + $volumes)
          | sub("^--allow-server=.*"; "--allow-server=" + $server)) else . end' \
    "$EXECCRED_ROOT/config/clusterprofile-provider-file.json" >mapping.json
  expect_in mapping.json "$PLUGIN" "--token-file=$PWD/volumes/" "--allow-server=$SERVER"
  sed -e "s|server: https://$2\..*|server: $SERVER|" \
    -e "s|\(certificate-authority-data:\).*|\1 $(base64 -w0 "$CA_FILE")|" \
    "$EXECCRED_ROOT/config/examples/$1" >profile.yaml
  expect_in profile.yaml "server: $SERVER"
}

the_shipped_files_work() { # EXAMPLE CLUSTER_NAME
  fill_in_the_shipped_files "$@"
  expect_accepted profile.yaml
}

# The ClusterProfile names another cluster in clusterName, as an attacker would to get its token.
the_shipped_mapping_binds_tokens_to_hosts() {
  fill_in_the_shipped_files clusterprofile-access-providers.yaml spoke-1
  project_token volumes/spoke-2 "$(request_token other)"
  sed -i 's|clusterName: spoke-1$|clusterName: spoke-2|' profile.yaml
  expect_in profile.yaml 'clusterName: spoke-2'
  expect_accepted profile.yaml
}

access_providers_win() {
  mapping v1
  write_profile profile.json spoke accessProviders
  jq '.status.credentialProviders = [{name: "token-file", cluster: {server: "https://old.invalid"}}]' \
    profile.json >both.json
  expect_accepted both.json
}

the_profile_narrows_the_audience() {
  mapping v1
  write_profile profile.json spoke accessProviders \
    "$(cluster_json "{\"audience\": \"$AUDIENCE\"}")"
  expect_accepted profile.json
}

the_profile_adds_arguments() {
  mapping v1 --from-profile
  jq '.providers[0].profileSourcedCLIArgsPolicy = "Append"' mapping.json >append.json
  mv append.json mapping.json
  write_profile profile.json spoke accessProviders "$(cluster_json | jq --arg audience "$AUDIENCE" '
    .extensions = [{name: "clusterprofiles.multicluster.x-k8s.io/exec/additional-args",
                    extension: ["--audience=" + $audience]}]')"
  expect_accepted profile.json
}

namespaces_are_listed() {
  mapping v1
  write_profile profile.json spoke accessProviders
  cpget_with profile.json -get /api/v1/namespaces
  expect_success
  expect_in stdout "\"name\":\"$NAMESPACE\""
}

use_namespace client-go
create_account reader
create_account other

for version in v1 v1beta1; do
  for field in accessProviders credentialProviders; do
    check "a JSON ClusterProfile with $field, $version" json_profile "$version" "$field"
  done
done
for field in accessProviders credentialProviders; do
  check "a YAML ClusterProfile with $field" yaml_profile "$field"
done
for format in json yaml; do
  check "a ClusterProfile from the API server with accessProviders, $format" \
    stored_profile "stored-$format" accessProviders "$format"
  check "a ClusterProfile from the API server with credentialProviders, $format" \
    stored_profile "stored-old-$format" credentialProviders "$format"
done
check "accessProviders overrides credentialProviders" access_providers_win
check "the shipped mapping with the example of accessProviders" \
  the_shipped_files_work clusterprofile-access-providers.yaml spoke-1
check "the shipped mapping with the example of credentialProviders" \
  the_shipped_files_work clusterprofile-credential-providers.yaml spoke-2
check "the shipped mapping selects the token by the server, not by clusterName" \
  the_shipped_mapping_binds_tokens_to_hosts
check "an audience in the ClusterProfile's config" the_profile_narrows_the_audience
check "the ClusterProfile adds an argument after --from-profile" the_profile_adds_arguments
check "client-go lists namespaces" namespaces_are_listed
