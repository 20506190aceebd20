# SPDX-License-Identifier: Apache-2.0
"""Writes the images of a release as one OCI image layout, in a tar archive.

    release_images.py write --layout FILE --version V --epoch SECONDS [--revision R] --arch ARCH=DIR...
    release_images.py list --layout FILE

DIR has the content of the tarball for ARCH: the programs, LICENSE, licenses/ and
execcred.spdx.json. No program is run and nothing is mounted, so neither a daemon nor root is
needed, and images of another architecture are made in the same way. The same files give the same
bytes: entries are sorted, belong to root and have the given time.

Each program is a separate layer, and so is the folder of licences, which all images share. The
image of one plugin and the image of all programs have the plugin's layer in common, so a node that
has one of them fetches only the rest. SBOMs are artifacts that refer to the image of an
architecture (OCI image-spec 1.1).

`list` prints each name in the layout with its digest.
"""
import argparse
import datetime
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile

import sbom

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
EMPTY = "application/vnd.oci.empty.v1+json"
PREFIX = "org.opencontainers.image."
# Images use Go's names for the architectures.
PLATFORMS = {"x86_64": {"architecture": "amd64", "os": "linux"},
             "arm64": {"architecture": "arm64", "os": "linux", "variant": "v8"}}
# The user nobody without /etc/passwd: a Pod with runAsNonRoot accepts it.
USER = "65532:65532"


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def add_file(archive, name, content, mode, epoch):
    entry = tarfile.TarInfo(name)
    entry.mode, entry.mtime = mode, epoch
    if content is None:
        entry.type = tarfile.DIRTYPE
    elif isinstance(content, str):
        entry.type, entry.linkname = tarfile.SYMTYPE, content
    else:
        entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content) if isinstance(content, bytes) else None)


class Layout:
    """The blobs and the names of a layout. A blob that is added twice is kept once."""

    def __init__(self, epoch):
        self.epoch = epoch
        self.blobs = {}
        self.entries = []

    def add(self, media_type, content, **more):
        if not isinstance(content, bytes):
            content = canonical(content)
        digest = hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content), **more}

    def add_layer(self, files):
        """files: (name, content, mode); content is None for a folder, text for a link's target."""
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content, mode in sorted(files, key=lambda file: file[0]):
                add_file(archive, name, content, mode, self.epoch)
        packed = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as stream:
            stream.write(plain.getvalue())
        return (self.add(LAYER, packed.getvalue()),
                f"sha256:{hashlib.sha256(plain.getvalue()).hexdigest()}")

    def name(self, name, descriptor):
        self.entries.append({**descriptor, "annotations": {PREFIX + "ref.name": name}})

    def write(self, path):
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": self.entries}
        with tarfile.open(path, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for folder in ("blobs", "blobs/sha256"):
                add_file(archive, folder, None, 0o755, self.epoch)
            for digest in sorted(self.blobs):
                add_file(archive, f"blobs/sha256/{digest}", self.blobs[digest], 0o644, self.epoch)
            add_file(archive, "index.json", canonical(index), 0o644, self.epoch)
            add_file(archive, "oci-layout", canonical({"imageLayoutVersion": "1.0.0"}), 0o644,
                     self.epoch)


class Release:
    """The common values of all images of a release."""

    def __init__(self, arguments):
        self.version = arguments.version
        self.revision = arguments.revision
        self.url = arguments.url
        self.layout = Layout(arguments.epoch)
        created = datetime.datetime.fromtimestamp(arguments.epoch, datetime.timezone.utc)
        self.created = created.strftime("%Y-%m-%dT%H:%M:%SZ")

    def facts(self, name, description):
        """The annotations of OCI's image-spec; a container's labels are the same."""
        facts = {"created": self.created, "authors": "The execcred authors", "licenses": "Apache-2.0",
                 "title": name, "description": description, "vendor": "The execcred authors",
                 "version": self.version, "revision": self.revision, "url": self.url}
        return {PREFIX + key: value for key, value in facts.items() if value}


class Architecture:
    """The layers for one architecture, and the SPDX document of its programs."""

    def __init__(self, release, name, folder):
        self.release = release
        self.platform = PLATFORMS[name]
        self.spdx = json.loads((folder / "execcred.spdx.json").read_text())
        self.programs = sorted(path.name for path in folder.iterdir()
                               if path.is_file() and not path.is_symlink()
                               and path.stat().st_mode & 0o111)
        licences = [("LICENSE", (folder / "LICENSE").read_bytes(), 0o444), ("licenses", None, 0o755)]
        licences += [(f"licenses/{path.name}", path.read_bytes(), 0o444)
                     for path in (folder / "licenses").iterdir()]
        self.licences = release.layout.add_layer(licences)
        self.layers = {name: self.program_layer(folder, name) for name in self.programs}

    def program_layer(self, folder, name):
        files = [(name, (folder / name).read_bytes(), 0o555)]
        files += [(path.name, name, 0o777) for path in folder.iterdir()
                  if path.is_symlink() and str(path.readlink()) == name]
        return self.release.layout.add_layer(files)

    def config(self, entry_point, layers, made_of, facts):
        return self.release.layout.add(CONFIG, {
            **self.platform, "created": self.release.created, "author": "The execcred authors",
            "config": {"User": USER, "Entrypoint": [f"/{entry_point}"], "WorkingDir": "/",
                       "Labels": facts},
            "rootfs": {"type": "layers", "diff_ids": [diff_id for _, diff_id in layers]},
            "history": [{"created": self.release.created, "created_by": "scripts/release",
                         "comment": what} for what in made_of]})

    def image(self, name, programs, facts):
        """Adds the image, and its SBOMs that refer to it. Returns the manifest's descriptor."""
        layout = self.release.layout
        layers = [self.licences, *(self.layers[program] for program in programs)]
        entry_point = "execcred" if "execcred" in programs else programs[0]
        manifest = layout.add(MANIFEST, {
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": self.config(entry_point, layers, ["licences", *programs], facts),
            "layers": [descriptor for descriptor, _ in layers], "annotations": facts})
        described = sbom.of_programs(self.spdx, f"{name}-{self.platform['architecture']}", programs)
        for media_type, end, document in (
                ("application/spdx+json", "spdx.json", described),
                ("application/vnd.cyclonedx+json", "cdx.json", sbom.cyclonedx(described))):
            self.refer(manifest, media_type, f"{name}.{end}", document)
        return {**manifest, "platform": self.platform}

    def refer(self, subject, media_type, file_name, document):
        layout = self.release.layout
        content = layout.add(media_type, sbom.text(document).encode(),
                             annotations={PREFIX + "title": file_name})
        layout.entries.append(layout.add(MANIFEST, {
            "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": media_type,
            "config": layout.add(EMPTY, {}), "layers": [content], "subject": subject,
            "annotations": {PREFIX + "created": self.release.created}}, artifactType=media_type))


def images_of(programs):
    """Name, programs and description of each image."""
    yield ("execcred", programs,
           "The credential plugins for Kubernetes' exec protocol, and execcred, which installs them")
    yield "execcred-cli", ["execcred"], "The command line execcred, without plugins"
    for program in programs:
        if program != "execcred":
            yield program, [program], f"The credential plugin {program}"


def write(arguments):
    release = Release(arguments)
    architectures = [Architecture(release, name, pathlib.Path(folder)) for name, folder in
                     (entry.split("=", 1) for entry in arguments.architectures)]
    (programs,) = {tuple(one.programs) for one in architectures}
    for name, contents, description in images_of(list(programs)):
        facts = release.facts(name, description)
        manifests = [one.image(name, contents, facts) for one in architectures]
        release.layout.name(name, release.layout.add(INDEX, {
            "schemaVersion": 2, "mediaType": INDEX, "manifests": manifests, "annotations": facts}))
        for manifest in manifests:
            release.layout.name(f"{name}-{manifest['platform']['architecture']}", manifest)
    release.layout.write(arguments.layout)


def named(layout):
    """The names in a layout's archive with their digests."""
    with tarfile.open(layout) as archive:
        index = json.load(archive.extractfile("index.json"))
    for entry in index["manifests"]:
        name = entry.get("annotations", {}).get(PREFIX + "ref.name")
        if name:
            yield name, entry["digest"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "list"))
    parser.add_argument("--layout", required=True, help="the archive")
    parser.add_argument("--version")
    parser.add_argument("--revision", help="the commit")
    parser.add_argument("--url", help="where the release is published")
    parser.add_argument("--epoch", type=int, help="the time to tell, in seconds")
    parser.add_argument("--arch", action="append", dest="architectures", metavar="ARCH=DIR")
    arguments = parser.parse_args()
    if arguments.what == "list":
        for name, digest in named(arguments.layout):
            print(name, digest)
    elif arguments.version and arguments.epoch is not None and arguments.architectures:
        write(arguments)
    else:
        sys.exit("release_images.py: write needs --version, --epoch and --arch")


if __name__ == "__main__":
    main()
