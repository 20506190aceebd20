#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the sources that clang-tidy must check: those that are not in the list of clean ones.

    tidy_list.py changed LIST   prints the sources of standard input (each ended by NUL) whose key
                                is not in LIST
    tidy_list.py record LIST    adds the sources of standard input, which are clean, to LIST, and
                                drops the keys of deleted and changed sources

A source's key is the SHA-256 of its .clang-tidy, of the source, and of the project's headers that it
includes, directly or not, without the lines that are only comments. The result of clang-tidy
depends on nothing else of the project.
"""

import hashlib
import pathlib
import re
import sys

INCLUDE = re.compile(rb'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
# A line that is only a comment. NOLINT comments are instructions for clang-tidy.
COMMENT = re.compile(rb"^[ \t]*//(?!.*NOLINT).*\n", re.MULTILINE)
# The folders in which the build looks for a header that is not next to the including file.
FOLDERS = [pathlib.Path(name) for name in ("cli", "plugins", "tests", "tests/support",
                                           "tests/conformance")]


class Sources:
    def __init__(self):
        self.digests = {}
        self.direct = {}

    def included(self, path):
        if path not in self.direct:
            content = path.read_bytes()
            self.digests[path] = hashlib.sha256(COMMENT.sub(b"", content)).digest()
            found = (self.find(path, kind, name.decode()) for kind, name in INCLUDE.findall(content))
            self.direct[path] = [header for header in found if header]
        return self.direct[path]

    def find(self, path, kind, name):
        if name.startswith("execcred/"):
            places = [pathlib.Path("libexeccred", name)]
        else:
            places = [folder / name for folder in FOLDERS]
        if kind == b'"':
            places.insert(0, path.parent / name)
        for place in places:
            # Paths with ".." are other names of the same file.
            place = pathlib.Path(*resolve(place.parts))
            if place.is_file():
                return place
        return None

    def key(self, path):
        seen, waiting = {path}, [path]
        while waiting:
            for header in self.included(waiting.pop()):
                if header not in seen:
                    seen.add(header)
                    waiting.append(header)
        rules = pathlib.Path("tests" if path.parts[0] == "tests" else ".") / ".clang-tidy"
        key = hashlib.sha256(rules.read_bytes())
        for file in sorted(seen):
            key.update(str(file).encode() + b"\0" + self.digests[file])
        return key.hexdigest()


def resolve(parts):
    kept = []
    for part in parts:
        if part == ".." and kept:
            kept.pop()
        else:
            kept.append(part)
    return kept


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("changed", "record"):
        sys.exit(__doc__)
    clean = pathlib.Path(sys.argv[2])
    names = sys.stdin.buffer.read().decode().split("\0")
    sources = Sources()
    keys = {name: sources.key(pathlib.Path(name)) for name in sorted(names) if name}
    known = set(clean.read_text().splitlines()) if clean.is_file() else set()
    if sys.argv[1] == "changed":
        for name, key in keys.items():
            if f"{key} {name}" not in known:
                sys.stdout.write(name + "\0")
        return
    lines = {f"{key} {name}" for name, key in keys.items()}
    for line in known:
        key, _, name = line.partition(" ")
        if pathlib.Path(name).is_file() and sources.key(pathlib.Path(name)) == key:
            lines.add(line)
    head = "# Sources that clang-tidy found clean, written by scripts/lint. See tidy_list.py.\n"
    clean.write_text(head + "".join(f"{line}\n" for line in sorted(lines, key=lambda l: l[65:])))


if __name__ == "__main__":
    main()
