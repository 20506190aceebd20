# SPDX-License-Identifier: Apache-2.0
"""Reads an unpacked OCI image layout as its specification describes it, not as its writer made it.

    image_facts.py sboms LAYOUT NAME DIR     writes the SBOMs that refer to the image NAME to DIR, and
                                             prints their files' names
    image_facts.py blobs LAYOUT              fails if the digest of a blob is not its name, or if
                                             nothing refers to it
    image_facts.py config CONFIG MANIFEST    prints what a runtime uses; fails if the labels of the
                                             configuration are not the annotations of the manifest
"""
import hashlib
import json
import pathlib
import sys

PREFIX = "org.opencontainers.image."
SBOM_TYPES = {"application/spdx+json", "application/vnd.cyclonedx+json"}


def blob(layout, digest):
    return (layout / "blobs" / digest.replace(":", "/")).read_bytes()


def manifests(layout):
    return json.loads((layout / "index.json").read_text())["manifests"]


def sboms(layout, name, folder):
    (image,) = [one for one in manifests(layout)
                if one.get("annotations", {}).get(PREFIX + "ref.name") == name]
    for entry in manifests(layout):
        manifest = json.loads(blob(layout, entry["digest"]))
        if manifest.get("subject", {}).get("digest") != image["digest"]:
            continue
        (content,) = manifest["layers"]
        assert manifest["artifactType"] == content["mediaType"] == entry["artifactType"], entry
        assert manifest["artifactType"] in SBOM_TYPES, entry
        assert manifest["subject"]["size"] == image["size"], entry
        path = folder / content["annotations"][PREFIX + "title"]
        path.write_bytes(blob(layout, content["digest"]))
        print(path)


def referred(layout, descriptor):
    yield descriptor["digest"]
    assert len(blob(layout, descriptor["digest"])) == descriptor["size"], descriptor
    if not descriptor["mediaType"].endswith((".manifest.v1+json", ".index.v1+json")):
        return
    document = json.loads(blob(layout, descriptor["digest"]))
    assert document["mediaType"] == descriptor["mediaType"], descriptor
    parts = [*document.get("manifests", []), *document.get("layers", [])]
    for part in parts + [document[name] for name in ("config", "subject") if name in document]:
        yield from referred(layout, part)


def blobs(layout):
    files = {f"sha256:{path.name}" for path in (layout / "blobs" / "sha256").iterdir()}
    for digest in files:
        assert hashlib.sha256(blob(layout, digest)).hexdigest() == digest.removeprefix("sha256:")
    known = {digest for entry in manifests(layout) for digest in referred(layout, entry)}
    assert known == files, known ^ files


def config(configuration, manifest):
    image = json.loads(configuration.read_text())
    annotations = json.loads(manifest.read_text())["annotations"]
    assert image["config"]["Labels"] == annotations, annotations
    for key in ("created", "title", "description", "version", "licenses", "vendor", "authors"):
        assert annotations[PREFIX + key], key
    assert image["created"] == annotations[PREFIX + "created"]
    print(image["os"], image["architecture"], image["config"]["User"], *image["config"]["Entrypoint"],
          annotations[PREFIX + "version"], annotations[PREFIX + "title"])


def main():
    what, *arguments = sys.argv[1:]
    paths = [pathlib.Path(argument) for argument in arguments]
    if what == "sboms":
        sboms(paths[0], arguments[1], paths[2])
    else:
        {"blobs": blobs, "config": config}[what](*paths)


main()
