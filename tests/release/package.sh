# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The published files of an architecture: the tarball and the SBOMs. Sourced by checks.sh.

# Text that a binary has only if this library is linked.
declare -A LIBRARY_TEXT=(
  [CLI11]='parsing got called with invalid option'
  [Expat]='junk after document element'
  [libcurl]='Stream error in the HTTP/2 framing layer'
  [LibYAML]='did not find expected <document start>'
  [nghttp2]='PRI \* HTTP/2\.0'
  [OpenSSL]='OpenSSL [0-9]+\.[0-9]+\.[0-9]+')

# listing FILE: mode, owner and path of each entry of an archive.
listing() { tar -tvf "$1" --numeric-owner | awk '{ print $1, $2, $6 }' | LC_ALL=C sort -k 3; }

has_form_of_release() {
  listing "$1" | awk '
    $2 != "0/0" { print "owner: " $0; bad = 1 }
    $1 == "lrwxrwxrwx" && $3 ~ /\/kubectl-execcred$/ { next }
    $1 !~ /^(drwxr-xr-x|-r-xr-xr-x|-r--r--r--)$/ { print "mode: " $0; bad = 1 }
    $1 ~ /^-r-x/ && $3 !~ /\/execcred(-[a-z-]+)?$/ { print "executable: " $0; bad = 1 }
    END { exit bad }'
}

has_binaries_of() {
  local folder=$1 unpacked=$2 binary count=0
  for binary in "$folder"/*; do
    cmp "$binary" "$unpacked/${binary##*/}" || return 1
    count=$((count + 1))
  done
  [ "$count" -eq "$(find "$unpacked" -maxdepth 1 -type f -perm -u+x | wc -l)" ]
}

# One for each component that the SBOM names, and no empty one.
has_licence_texts() {
  diff <(sbom_components "$1/execcred.spdx.json" | cut -f1 | sort -u) \
    <(find "$1/licenses" -type f -size +0 -printf '%f\n' | sed 's/\.txt$//' | sort) &&
    cmp "$1/LICENSE" "$EXECCRED_ROOT/LICENSE"
}

# sbom_components SBOM: name, version and the binaries that have it.
sbom_components() {
  python3 - "$1" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
files = {file["SPDXID"]: file["fileName"].removeprefix("./") for file in document["files"]}
for package in document["packages"]:
    if package["SPDXID"].startswith("SPDXRef-Component-"):
        users = [files[link["spdxElementId"]] for link in document["relationships"]
                 if link["relationshipType"] == "STATIC_LINK"
                 and link["relatedSpdxElement"] == package["SPDXID"]]
        print(package["name"], package["versionInfo"], " ".join(users), sep="\t")
END
}

# Both take several documents. They use the libraries of CycloneDX and of SPDX.
is_valid_cyclonedx() {
  python_packages "$EXECCRED_ROOT/tests/release/requirements/cyclonedx.txt"
  "$VENV/bin/python3" - "$@" <<'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
validator = JsonStrictValidator(SchemaVersion.V1_6)
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as document:
        error = validator.validate_str(document.read())
    if error:
        sys.exit(f"{path}: {error}")
END
}

is_valid_spdx() {
  python_packages "$EXECCRED_ROOT/tests/release/requirements/spdx.txt"
  "$VENV/bin/python3" - "$@" <<'END'
import sys
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
for path in sys.argv[1:]:
    problems = validate_full_spdx_document(parse_file(path))
    if problems:
        sys.exit("\n".join(f"{path}: {one.validation_message}" for one in problems))
END
}

has_sums_of() {
  local sbom=$1 folder=$2
  python3 -c 'import json, sys
for file in json.load(open(sys.argv[1]))["files"]:
    for sum in file["checksums"]:
        if sum["algorithm"] == "SHA256":
            print(sum["checksumValue"], "", file["fileName"].removeprefix("./"))' "$sbom" |
    diff - <(cd "$folder" && LC_ALL=C sha256sum -- *)
}

has_cyclonedx_sums_of() {
  python3 -c 'import json, sys
for component in json.load(open(sys.argv[1]))["components"]:
    if component["type"] == "file":
        (sum,) = [one["content"] for one in component["hashes"] if one["alg"] == "SHA-256"]
        print(sum, "", component["name"])' "$1" |
    diff - <(cd "$2" && LC_ALL=C sha256sum -- *)
}

# names_the_same_components SPDX CYCLONEDX: each with its version and the programs that have it.
names_the_same_components() {
  diff <(sbom_components "$1" | LC_ALL=C sort) <(python3 - "$2" <<'END' | LC_ALL=C sort
import json, sys
document = json.load(open(sys.argv[1]))
uses = {one["ref"]: one.get("dependsOn", []) for one in document["dependencies"]}
files = [one for one in document["components"] if one["type"] == "file"]
for component in document["components"]:
    if component["type"] == "library":
        users = [file["name"] for file in files if component["bom-ref"] in uses[file["bom-ref"]]]
        print(component["name"], component["version"], " ".join(users), sep="\t")
END
  )
}

# If a binary has a library's text, the SBOM must name the library. The reverse need not hold, because
# the linker leaves out unused code.
names_linked_libraries() {
  local sbom=$1 folder=$2 library found said
  for library in "${!LIBRARY_TEXT[@]}"; do
    found=$(cd "$folder" && grep -lEa -e "${LIBRARY_TEXT[$library]}" -- * | sort)
    said=$(sbom_components "$sbom" | awk -F '\t' -v name="$library" '$1 == name { print $3 }' |
      tr ' ' '\n' | sort)
    if [ -z "$found" ] || [ -n "$(comm -23 <(echo "$found") <(echo "$said"))" ]; then
      printf '%s is in:\n%s\nbut the SBOM says:\n%s\n' "$library" "$found" "$said"
      return 1
    fi
  done
}

# The smallest program has only what every program has.
lists_no_more_for_token_file() {
  [ "$(sbom_components "$1" | awk -F '\t' '$3 ~ /(^| )execcred-token-file( |$)/ { print $1 }' |
    LC_ALL=C sort | paste -sd' ')" = "libc++ libc++abi libunwind mallocng musl nlohmann-json zig" ]
}

# The compiled version is the one in the SBOM.
tells_version_of_openssl() {
  local version
  version=$(sbom_components "$1" | awk -F '\t' '$1 == "OpenSSL" { print $2 }')
  [ "OpenSSL $version" = "$(grep -haoE "${LIBRARY_TEXT[OpenSSL]}" "$2"/* | sort -u)" ]
}

# packs_the_same DIR ARCH...: with another user's umask, time zone, locale and temporary folder, from
# files of another time.
packs_the_same() {
  local again=$1/again file arches=("${@:2}")
  mkdir -p "$again" "$1/tmp"
  (
    umask 077
    find "${arches[@]/#/$EXECCRED_ROOT/dist/}" -type f -exec touch {} +
    export TZ=Pacific/Auckland LC_ALL=C.UTF-8 TMPDIR=$1/tmp
    pack_all "$again" "${arches[@]}"
  )
  for file in "$again"/*; do
    cmp "$file" "$EXECCRED_ROOT/dist/release/${file##*/}" || return 1
  done
}

# The published suite tests a plugin of the release.
suite_reports() {
  local suite=$1/execcred-conformance
  "${CLEAN[@]}" "PATH=$PATH" "$suite" --report json --test-case='the answer*' -- \
    "$EXECCRED_ROOT/dist/$2/execcred-token-file" --token-file="$INPUT/volume/token" \
    >"$INPUT/report.json" &&
    python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
sys.exit(report["failed"] != 0 or report["passed"] != 3 or report["plugin"] != "execcred-token-file")' \
      "$INPUT/report.json"
}

# A plugin that prints nothing fails, and the report has the observation.
suite_reports_failures() {
  local status=0
  "$1/execcred-conformance" --report markdown --test-case='the answer says*' -- \
    /bin/true >"$INPUT/report.md" || status=$?
  [ "$status" -eq 1 ] && grep -qF '| failed | the answer no JSON' "$INPUT/report.md"
}

check_suite() {
  local arch=$1 work=$INPUT/conformance name binary
  name=$(conformance_name "$arch")
  mkdir -p "$work"
  tar -xzf "$EXECCRED_ROOT/dist/release/$name" -C "$work" --strip-components=1
  binary=$work/execcred-conformance
  check "$arch conformance suite: owner 0, modes 0555 and 0444" \
    has_form_of_release "$EXECCRED_ROOT/dist/release/$name"
  check "$arch conformance suite: is for $arch" is_for "$arch" "$binary"
  check "$arch conformance suite: needs no other file" is_self_contained "$binary"
  check "$arch conformance suite: is stripped" has_no_symbols "$binary"
  check "$arch conformance suite: contains no path of the build" names_no_path_of "$binary"
  check_hardening "$arch conformance suite" "$binary"
  check "$arch conformance suite: --version" tells_version "$binary"
  if [ "${#RUNNER[@]}" -gt 0 ]; then
    skip "$arch conformance suite: a report" "the emulator starts no program of $arch"
    return
  fi
  check "$arch conformance suite: reports on execcred-token-file" suite_reports "$work" "$arch"
  check "$arch conformance suite: reports failed cases" suite_reports_failures "$work"
}

# check_package ARCH: its files in dist/release.
check_package() {
  local arch=$1 release=$EXECCRED_ROOT/dist/release work=$INPUT/package name sbom
  name=$(release_name "$arch")
  sbom=$release/$name.spdx.json
  step "testing what is published for $arch"
  mkdir -p "$work"
  tar -xzf "$release/$name.tar.gz" -C "$work"
  check "$arch tarball: owner 0, modes 0555 and 0444" has_form_of_release "$release/$name.tar.gz"
  check "$arch tarball: has the binaries of dist/$arch, each with the same bytes" \
    has_binaries_of "$EXECCRED_ROOT/dist/$arch" "$work/$name"
  check "$arch tarball: has the licence and those of all components" has_licence_texts "$work/$name"
  check_suite "$arch"
  check "$arch SBOM: the tarball has the same file" cmp "$sbom" "$work/$name/execcred.spdx.json"
  check "$arch SBOM: is valid SPDX 2.3 for SPDX's tool" is_valid_spdx "$sbom"
  check "$arch SBOM: is valid CycloneDX 1.6 for CycloneDX's library" \
    is_valid_cyclonedx "$release/$name.cdx.json"
  check "$arch SBOM: has the same components in CycloneDX and in SPDX" \
    names_the_same_components "$sbom" "$release/$name.cdx.json"
  check "$arch SBOM: has the SHA-256 of every binary" has_sums_of "$sbom" "$EXECCRED_ROOT/dist/$arch"
  check "$arch SBOM: names the libraries of each binary" \
    names_linked_libraries "$sbom" "$EXECCRED_ROOT/dist/$arch"
  check "$arch SBOM: lists only common parts for execcred-token-file" lists_no_more_for_token_file "$sbom"
  check "$arch SBOM: has the version of the linked OpenSSL" \
    tells_version_of_openssl "$sbom" "$EXECCRED_ROOT/dist/$arch"
}
