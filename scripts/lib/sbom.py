# SPDX-License-Identifier: Apache-2.0
"""Converts the SPDX document that release_sbom.py prints: to one with only some programs, and to
CycloneDX 1.6.

    sbom.py SPDX_FILE     prints the document in CycloneDX
"""
import hashlib
import json
import sys
import uuid

ALGORITHMS = {"SHA1": "SHA-1", "SHA256": "SHA-256"}


def text(document):
    return json.dumps(document, indent=1) + "\n"


def verification_code(files):
    """A package's hash over the hashes of its files, as SPDX 2.3 defines it (7.9)."""
    sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
    return hashlib.sha1("".join(sums).encode()).hexdigest()


def namespace(name, code):
    """A name from the binaries' hashes: builds with the same bytes have the same document."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{name}-{code}").urn


def related(document, kind, subjects):
    """The elements to which the subjects have a relationship of this kind."""
    return {one["relatedSpdxElement"] for one in document["relationships"]
            if one["relationshipType"] == kind and one["spdxElementId"] in subjects}


def of_programs(document, name, programs):
    """The SPDX document with only these programs and their components."""
    files = [file for file in document["files"] if file["fileName"].removeprefix("./") in programs]
    product = dict(document["packages"][0])
    code = verification_code(files)
    product["packageVerificationCode"] = {"packageVerificationCodeValue": code}
    kept = {"SPDXRef-DOCUMENT", product["SPDXID"], *(file["SPDXID"] for file in files)}
    components = related(document, "STATIC_LINK", kept)
    kept |= components | related(document, "GENERATED_FROM", components)
    return {**document, "name": name, "documentNamespace": namespace(name, code),
            "packages": [product, *(one for one in document["packages"][1:] if one["SPDXID"] in kept)],
            "files": files,
            "relationships": [one for one in document["relationships"]
                              if {one["spdxElementId"], one["relatedSpdxElement"]} <= kept]}


def hashes(item):
    return [{"alg": ALGORITHMS[one["algorithm"]], "content": one["checksumValue"]}
            for one in item.get("checksums", [])]


def references_of(package):
    return {one["referenceType"]: one["referenceLocator"] for one in package["externalRefs"]}


def licences(package):
    licence = package["licenseDeclared"]
    if " " in licence:
        return [{"expression": licence}]
    return [{"license": {"id": licence}}]


def package_component(kind, package):
    references = references_of(package)
    component = {"type": kind, "bom-ref": package["SPDXID"], "name": package["name"],
                 "version": package["versionInfo"], "licenses": licences(package),
                 "purl": references["purl"]}
    if "cpe23Type" in references:
        component["cpe"] = references["cpe23Type"]
    return component


def library_component(document, package):
    component = package_component("library", package)
    sources = related(document, "GENERATED_FROM", {package["SPDXID"]})
    component["externalReferences"] = [
        {"type": "source-distribution", "url": references_of(one)["purl"],
         **({"hashes": hashes(one)} if "checksums" in one else {})}
        for one in document["packages"] if one["SPDXID"] in sources]
    return component


def file_component(file):
    return {"type": "file", "bom-ref": file["SPDXID"], "name": file["fileName"].removeprefix("./"),
            "hashes": hashes(file)}


def cyclonedx(document):
    product = document["packages"][0]
    sources = {one["relatedSpdxElement"] for one in document["relationships"]
               if one["relationshipType"] == "GENERATED_FROM"}
    libraries = [one for one in document["packages"][1:] if one["SPDXID"] not in sources]
    files = document["files"]
    tool = document["creationInfo"]["creators"][0].removeprefix("Tool: ")
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": document["documentNamespace"],
        "metadata": {"timestamp": document["creationInfo"]["created"],
                     "tools": {"components": [{"type": "application", "name": tool}]},
                     "component": package_component("application", product)},
        "components": [*(library_component(document, one) for one in libraries),
                       *(file_component(file) for file in files)],
        "dependencies": [
            {"ref": product["SPDXID"], "dependsOn": [file["SPDXID"] for file in files]},
            *({"ref": file["SPDXID"],
               "dependsOn": sorted(related(document, "STATIC_LINK", {file["SPDXID"]}))}
              for file in files)]}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        sys.stdout.write(text(cyclonedx(json.load(source))))
