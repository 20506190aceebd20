# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The provenance of the release, compared with the files and with the pins. Sourced by checks.sh.

provenance_file() { echo "$EXECCRED_ROOT/dist/release/$(provenance_name)"; }

has_form_of_slsa() {
  python3 - "$(provenance_file)" "$@" <<'END'
import json, sys
statement = json.load(open(sys.argv[1]))
build = statement["predicate"]["buildDefinition"]
assert statement["_type"] == "https://in-toto.io/Statement/v1"
assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
assert build["buildType"] and statement["predicate"]["runDetails"]["builder"]["id"]
assert build["externalParameters"]["architectures"] == sys.argv[2:]
for one in statement["subject"] + build["resolvedDependencies"]:
    (value,) = one["digest"].values()
    assert len(value) in (40, 64) and ("uri" in one or "name" in one), one
END
}

# Each published file except the provenance itself, and each image, with its digest.
names_what_is_published() {
  local release=$EXECCRED_ROOT/dist/release
  diff <(python3 -c 'import json, sys
for one in json.load(open(sys.argv[1]))["subject"]:
    print(one["digest"]["sha256"], one["name"])' "$(provenance_file)" | LC_ALL=C sort) <(
    {
      grep -v "$(provenance_name)" "$release/SHA256SUMS" | sed 's/  / /'
      release_images list --layout "$release/$(images_name)" | sed 's/\(.*\) sha256:\(.*\)/\2 \1/'
    } | LC_ALL=C sort)
}

# pins: the digest of everything that is pinned for the build, in hexadecimal. Go writes its sums in Base64.
pins() {
  local requirements=$EXECCRED_ROOT/scripts/requirements
  find "$requirements" -name '*.sha256' -exec cat {} + | cut -d ' ' -f 1
  grep -ohE '[0-9a-f]{64}' "$requirements"/*.txt "$EXECCRED_ROOT/tests/e2e/requirements/go.txt"
  sed 's/.* h1://' "$EXECCRED_ROOT/scripts/packaging/nfpm/go.sum" | while read -r sum; do
    base64 -d <<<"$sum" | od -An -v -tx1 | tr -d ' \n'
    echo
  done
}

names_every_pin() {
  diff <(pins | sort -u) <(python3 -c 'import json, sys
document = json.load(open(sys.argv[1]))
for one in document["predicate"]["buildDefinition"]["resolvedDependencies"]:
    for kind, value in one["digest"].items():
        if kind != "gitCommit":
            print(value)' "$(provenance_file)" | sort -u)
}

# check_provenance ARCH...
check_provenance() {
  step "testing the provenance"
  check "provenance: an in-toto statement with SLSA provenance v1" has_form_of_slsa "$@"
  check "provenance: names every published file and image by its digest" names_what_is_published
  check "provenance: names every pinned source by its digest" names_every_pin
}
