# SPDX-License-Identifier: Apache-2.0
"""Prints the SPDX document of the binaries for one architecture.

The content of a binary is read from the build itself: the archives that it was linked with, and
the headers that its objects include. Standard input has the components, as release_components.sh
prints them.
"""
import argparse
import datetime
import hashlib
import pathlib
import subprocess
import sys

import sbom

COMPONENT_FIELDS = ("name", "version", "licence", "cpe", "source", "sums", "evidence")


def ninja_tool(build, *arguments):
    return subprocess.run(["ninja", "-C", build, "-t", *arguments], check=True, text=True,
                          capture_output=True).stdout


def headers_of_objects(build):
    """The headers that the sources of each object of the build include."""
    headers = {}
    for block in ninja_tool(build, "deps").split("\n\n"):
        if block.strip():
            first, *names = block.strip().splitlines()
            headers[first.split(":")[0]] = [name.strip() for name in names]
    return headers


def is_part(component, inputs):
    evidence = component["evidence"]
    if evidence == "*":
        return True
    if evidence.endswith("/"):
        return any(evidence in name for name in inputs)
    return any(name.endswith(evidence) for name in inputs)


def spdx_id(*parts):
    return "SPDXRef-" + "-".join(
        "".join(c if c.isalnum() or c in ".-" else "-" for c in part) for part in parts)


def checksum(algorithm, value):
    return {"algorithm": algorithm, "checksumValue": value}


def reference(category, kind, locator):
    return {"referenceCategory": category, "referenceType": kind, "referenceLocator": locator}


def package(name, identity, version, licence, references):
    return {"name": name, "SPDXID": identity, "versionInfo": version, "filesAnalyzed": False,
            "downloadLocation": "NOASSERTION", "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "externalRefs": references}


def component_package(component):
    name, version = component["name"], component["version"]
    references = [reference("PACKAGE-MANAGER", "purl",
                            f"pkg:generic/{name.lower().replace('+', '%2B')}@{version}")]
    if component["cpe"] != "-":
        references.append(reference("SECURITY", "cpe23Type",
                                    f"cpe:2.3:a:{component['cpe']}:{version}:*:*:*:*:*:*:*"))
    return package(name, spdx_id("Component", name), version, component["licence"], references)


def source_package(source, sums):
    """The package with a component's source. It may have the sources of other components too."""
    name, version = source.split("?")[0].rsplit("/", 1)[1].replace("%2B", "+").split("@")
    described = package(name, spdx_id("Source", name), version, "NOASSERTION",
                        [reference("PACKAGE-MANAGER", "purl", source)])
    described["primaryPackagePurpose"] = "SOURCE"
    if sums != "-":
        described["checksums"] = [checksum("SHA256", value) for value in sums.split(",")]
    if source.startswith("pkg:deb/") and sums != "-":
        described["packageFileName"] = f"{name}_{version}.dsc"
    return described


def binary_file(path):
    content = path.read_bytes()
    return {"fileName": f"./{path.name}", "SPDXID": spdx_id("File", path.name),
            "fileTypes": ["BINARY"], "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "checksums": [checksum("SHA1", hashlib.sha1(content).hexdigest()),
                          checksum("SHA256", hashlib.sha256(content).hexdigest())]}


def product_package(version, files):
    """The package execcred itself."""
    product = package("execcred", spdx_id("execcred"), version, "Apache-2.0",
                      [reference("PACKAGE-MANAGER", "purl", f"pkg:generic/execcred@{version}")])
    product["filesAnalyzed"] = True
    product["packageVerificationCode"] = {
        "packageVerificationCodeValue": sbom.verification_code(files)}
    return product


def relationship(subject, kind, other):
    return {"spdxElementId": subject, "relationshipType": kind, "relatedSpdxElement": other}


def relationships_of(arguments, components, files):
    product = spdx_id("execcred")
    yield relationship("SPDXRef-DOCUMENT", "DESCRIBES", product)
    for component in components:
        yield relationship(spdx_id("Component", component["name"]), "GENERATED_FROM",
                           source_package(component["source"], "-")["SPDXID"])
    headers = headers_of_objects(arguments.build)
    for file in files:
        name = file["fileName"].removeprefix("./")
        yield relationship(product, "CONTAINS", file["SPDXID"])
        inputs = ninja_tool(arguments.build, "inputs", f"bin/{name}").splitlines()
        inputs += [header for one in inputs for header in headers.get(one, [])]
        for component in components:
            if is_part(component, inputs):
                yield relationship(file["SPDXID"], "STATIC_LINK",
                                   spdx_id("Component", component["name"]))


def document(arguments, components):
    name = f"execcred-{arguments.version}-linux-{arguments.arch}"
    created = datetime.datetime.fromtimestamp(arguments.epoch, datetime.timezone.utc)
    files = [binary_file(path) for path in sorted(arguments.binaries.iterdir())]
    product = product_package(arguments.version, files)
    sources = {one["source"]: source_package(one["source"], one["sums"]) for one in components}
    code = product["packageVerificationCode"]["packageVerificationCodeValue"]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": sbom.namespace(name, code),
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": [f"Tool: execcred-release-{arguments.version}"]},
        "packages": [product, *map(component_package, components), *sources.values()],
        "files": files,
        "relationships": list(relationships_of(arguments, components, files)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build's directory")
    parser.add_argument("--binaries", required=True, type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--epoch", required=True, type=int, help="the time to tell, in seconds")
    arguments = parser.parse_args()
    components = [dict(zip(COMPONENT_FIELDS, line.rstrip("\n").split("\t"), strict=True))
                  for line in sys.stdin]
    sys.stdout.write(sbom.text(document(arguments, components)))


main()
