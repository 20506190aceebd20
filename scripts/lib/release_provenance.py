# SPDX-License-Identifier: Apache-2.0
"""Prints the provenance of a release: an in-toto Statement v1 with SLSA provenance v1.

    release_provenance.py --root TREE --release DIR --images ARCHIVE --version V --epoch SECONDS
                          --builder ID [--revision R] --arch ARCH... <COMPONENTS

The subjects are the files of DIR and the images. The dependencies are the commit and every pinned
source: the output of release_components.sh on standard input, the headers in the lists of
scripts/requirements, the compiler, and the tools that make the packages and the documentation site.
docs/releases.md describes the type of the build.
"""
import argparse
import base64
import hashlib
import json
import pathlib
import re
import sys

import release_images

BUILD_TYPE = "urn:execcred:build-type:release:1"
HEADERS = {"cli11": "libcli11-dev", "doctest": "doctest-dev", "nlohmann-json": "nlohmann-json3-dev",
           "protozero": "libprotozero-dev"}


def subjects(arguments):
    for path in sorted(arguments.release.iterdir()):
        yield {"name": path.name,
               "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
    for name, digest in release_images.named(arguments.images):
        yield {"name": name, "digest": {"sha256": digest.removeprefix("sha256:")}}


def component_sources(lines):
    """Each package once, with the hashes of all its files."""
    seen = set()
    for line in lines:
        _, _, _, _, source, sums, _ = line.rstrip("\n").split("\t")
        for value in sums.split(","):
            if value != "-" and (source, value) not in seen:
                seen.add((source, value))
                yield {"uri": source, "digest": {"sha256": value}}


def pinned_headers(root):
    """Debian's header packages. The lists that the build checks pin each file of them."""
    for name, package in HEADERS.items():
        (pins,) = (root / "scripts" / "requirements").glob(f"{name}-[0-9]*.sha256")
        version = pins.stem.removeprefix(f"{name}-")
        for line in pins.read_text().splitlines():
            value, path = line.split(maxsplit=1)
            yield {"uri": f"pkg:deb/debian/{package}@{version}#usr/include/{path}",
                   "digest": {"sha256": value}}


def pinned_source_files(root):
    """All files of Debian's source packages. The components have only the .dsc."""
    for pins in sorted((root / "scripts" / "requirements").glob("*-[0-9]*.sha256")):
        for line in pins.read_text().splitlines():
            value, path = line.split(maxsplit=1)
            if path.endswith((".tar.gz", ".tar.xz", ".tar.bz2", ".asc")):
                name, version = re.split(r"-(?=\d)", pins.stem, maxsplit=1)
                yield {"uri": f"pkg:deb/debian/{name}@{version.replace('+', '%2B')}?arch=source#{path}",
                       "digest": {"sha256": value}}


def python_packages(root):
    """MkDocs with its theme, and the Go that builds nfpm if the machine has no Go."""
    for pins in ("scripts/requirements/docs.txt", "tests/e2e/requirements/go.txt"):
        for name, version, hashes in re.findall(r"^(\S+)==(\S+)((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$",
                                                (root / pins).read_text(), re.MULTILINE):
            for value in re.findall("[0-9a-f]{64}", hashes):
                yield {"uri": f"pkg:pypi/{name}@{version}", "digest": {"sha256": value}}


def npm_packages(root):
    """The site's script for diagrams."""
    value, archive = (root / "scripts" / "requirements" / "mermaid.sha256").read_text().split()
    name, version = archive.removesuffix(".tgz").split("-", 1)
    yield {"uri": f"pkg:npm/{name}@{version}", "digest": {"sha256": value}}


def go_modules(root):
    """The modules of nfpm. go.sum has a sum for each go.mod, and for each module that is used."""
    for line in (root / "scripts" / "packaging" / "nfpm" / "go.sum").read_text().splitlines():
        module, version, value = line.split()
        version, slash, file = version.partition("/")
        uri = f"pkg:golang/{module.lower()}@{version.replace('+', '%2B')}" + (f"#{file}" if slash else "")
        # A package URL has lower-case letters, but Go distinguishes upper and lower case.
        yield {"name": f"{module}@{version}{slash}{file}", "uri": uri,
               "digest": {"dirHash1": base64.b64decode(value.removeprefix("h1:")).hex()}}


def commit(revision):
    if not revision or revision.endswith("-dirty"):
        return []
    return [{"name": "execcred", "digest": {"gitCommit": revision}}]


def statement(arguments, components):
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": list(subjects(arguments)),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"version": arguments.version,
                                       "architectures": arguments.arch},
                "internalParameters": {"SOURCE_DATE_EPOCH": arguments.epoch},
                "resolvedDependencies": [*commit(arguments.revision),
                                         *component_sources(components),
                                         *pinned_source_files(arguments.root),
                                         *pinned_headers(arguments.root),
                                         *python_packages(arguments.root),
                                         *npm_packages(arguments.root),
                                         *go_modules(arguments.root)]},
            # No time of the run, because the bytes must be equal in all runs.
            "runDetails": {"builder": {"id": arguments.builder}}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--release", required=True, type=pathlib.Path)
    parser.add_argument("--images", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--revision")
    parser.add_argument("--epoch", required=True, type=int)
    parser.add_argument("--builder", required=True)
    parser.add_argument("--arch", action="append", required=True)
    arguments = parser.parse_args()
    json.dump(statement(arguments, sys.stdin), sys.stdout, indent=1)
    print()


main()
