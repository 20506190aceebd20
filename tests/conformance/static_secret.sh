#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the conformance suite on execcred-static-secret, with its own mounted Secret.
#
#   static_secret.sh CONFORMANCE PLUGIN [OPTION...]    options are the suite's: --test-case=…
set -euo pipefail

conformance=$1 plugin=$(realpath "$2")
shift 2

# The suite runs the plugin as other users too, who must be able to read the Secret.
umask 022
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/..2026_07_01_12_00_00.1"
printf 'c0nformance-s3cret-token-0123456789\n' >"$folder/..2026_07_01_12_00_00.1/token"
ln -s ..2026_07_01_12_00_00.1 "$folder/..data"
ln -s ..data/token "$folder/token"

# One of the documents that known clients send has insecure-skip-tls-verify.
env -i "PATH=$PATH" "$conformance" --rules=execcred "$@" -- "$plugin" "--secret-dir=$folder" --allow-insecure
