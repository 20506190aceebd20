# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The clients other than client-go, and what they pass to a plugin. "ask CLIENT QUESTION KUBECONFIG"
# works for each of them: kubectl, kubectl-old, javascript, python.

# Without these, requests to loopback would go through a proxy that the environment names.
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

# An ES module looks for packages in node_modules of its own file's directory and of those above it.
javascript_sources() {
  mkdir -p "$SUITE_DIR/javascript"
  cp "$E2E_DIR"/clients/javascript/*.mjs "$SUITE_DIR/javascript"
  ln -s "$E2E_JAVASCRIPT/node_modules" "$SUITE_DIR/javascript/node_modules"
}
javascript_sources

run_javascript() { run "$E2E_NODE" "$SUITE_DIR/javascript/get.mjs" "$@"; }
run_python() { run "$E2E_PYTHON" "$E2E_DIR/clients/python/get.py" "$@"; }

# ask CLIENT whoami|namespaces KUBECONFIG: runs the client.
ask() {
  case $1-$2 in
    javascript-*) run_javascript "$3" "$2" ;;
    python-*) run_python "$3" "$2" ;;
    *-whoami) run "$1" --kubeconfig "$3" auth whoami -o json ;;
    *-namespaces) run "$1" --kubeconfig "$3" get namespaces -o name ;;
  esac
}

# expect_answer CLIENT whoami|namespaces ACCOUNT: what the client printed is right.
expect_answer() {
  expect_success
  expect_silent_stderr
  case $1-$2 in
    javascript-whoami | python-whoami) expect_stdout "ok $(user_of "$3")" ;;
    *-whoami) expect_json .status.userInfo.username "$(user_of "$3")" ;;
    # A space precedes each name or, with kubectl, "namespace/".
    *-namespaces) grep -qE "(^|[ /])$NAMESPACE( |$)" stdout || unexpected "the namespace $NAMESPACE" ;;
  esac
}

# recorded_plugin: sets RECORDED to a program that keeps the client's
# KUBERNETES_EXEC_INFO in the file exec-info, then becomes the plugin.
recorded_plugin() {
  RECORDED=$PWD/recorded/execcred-token-file
  mkdir -p recorded
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nprintf %%s "${KUBERNETES_EXEC_INFO-unset}" >%q\nexec %q "$@"\n' \
    "$PWD/exec-info" "$PLUGIN" >"$RECORDED"
  chmod 755 "$RECORDED"
}

# expect_exec_info FILTER VALUE: jq finds this value in the recorded KUBERNETES_EXEC_INFO.
expect_exec_info() {
  local value
  value=$(jq -r "$1" exec-info) || unexpected "JSON in KUBERNETES_EXEC_INFO, not '$(cat exec-info)'"
  expect_equal "$1 of KUBERNETES_EXEC_INFO" "$2" "$value"
}

# expect_no_token: neither stream shows the token of the volume.
expect_no_token() {
  if grep -qF -f volume/token stdout stderr; then unexpected "no token in the output"; fi
}
