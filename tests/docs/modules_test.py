# SPDX-License-Identifier: Apache-2.0
"""Checks the modules of libexeccred against ARCHITECTURE.md and their CMakeLists.txt.

    modules_test.py REPOSITORY

The table of modules in ARCHITECTURE.md has the same links as the CMakeLists.txt of each module. No
module links one that is below it in the table. The places in the table of home-made parts exist.
A module, a plugin or a program includes headers of the modules that it links only. An installed
header includes installed ones only, names no other in a comment, and declares no type that only others define:
a program outside of the repository could not use it.

A plugin reads each file through Inputs, once. So it cannot use a file that the cache's key lacks, and a file
that is replaced between the key and the request cannot give one identity's credential to another.

One file of the product sends signals, and one of the tests, which checks the number first: 0 and -1 are not a
process, but the caller's whole group and all processes.
"""
import pathlib
import re
import sys

READS_FILE = re.compile(r"\bread_(file|secret_file|secret_file_if_there|secret_directory|bearer_token|untrusted_file)\(|\bfind_hub\(")
# What may read files otherwise, and why.
READERS = {
    "static-secret": "it keeps no credential",
    "token-file": "it keeps no credential",
    "oidc-federation/subject_kubernetes.cpp": "the plan records the hub that it found, and asks that one",
    "google/subject_executable.cpp": "the file is what a program writes, which the plugin runs",
}
SENDS_SIGNAL = re.compile(r"(?<![\w.>])kill(pg)?\(")
SENDERS = {"libexeccred/execcred/os/process.cpp", "tests/conformance/send_signal.hpp"}
INCLUDE = re.compile(r"#include <execcred/((\w+)/[\w/]+\.hpp)>")


def words(text, after):
    """The words that follow `after`, up to the next word in capitals."""
    found = re.search(rf"\b{after}\s+([^A-Z)]*)", text)
    return found[1].split() if found else []


def modules(library):
    """For each module, by its CMakeLists.txt: the modules that it links, and its installed headers."""
    links, installed = {}, set()
    for file in library.glob("*/CMakeLists.txt"):
        name = file.parent.name
        call = re.search(r"execcred_add_module\((.*?)\)", file.read_text(), re.DOTALL)[1]
        assert call.split()[0] == name, file
        links[name] = words(call, "LINKS")
        installed |= {f"{name}/{header}" for header in words(call, "PUBLIC")}
    return links, installed


def documented_links(text):
    """The same links by the table of ARCHITECTURE.md, in the order of the table."""
    table = text[text.index("## Modules"):]
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]*?) *\| ", table, re.MULTILINE)
    return {module: linked.split() for module, linked in rows}


def missing_places(repository, text):
    """The places in the table of home-made parts that are neither a file nor a folder."""
    table = text[text.index("## Ours, and why"):]
    cells = re.findall(r"^\| [^|]+ \| (`[^|]+`) \| ", table, re.MULTILINE)
    places = [place for cell in cells for place in re.findall("`([^`]+)`", cell)]
    assert len(places) > 10, places
    return [place for place in places
            if not any(list((root / place).parent.glob((root / place).name + suffix)) for root in
                       (repository / "libexeccred" / "execcred", repository) for suffix in ("", ".*"))]


def closure(names, links):
    found = set(names)
    for name in names:
        found |= closure(links[name], links)
    return found


def foreign_includes(folder, visible):
    """The includes in the sources of the folder that lead to other modules than `visible`."""
    files = sorted(folder.glob("*.[ch]pp"))
    assert files, folder
    return [f"{file} includes {header}" for file in files
            for header, module in INCLUDE.findall(file.read_text()) if module not in visible]


def forgotten_files(plugins):
    """The sources of plugins that read a file otherwise than through Inputs, and readers that do not."""
    found = {str(file.relative_to(plugins)) for file in plugins.glob("*/*.cpp") if READS_FILE.search(file.read_text())}
    known = {reader for reader in READERS for file in found if file == reader or file.startswith(reader + "/")}
    return ([f"plugins/{file} reads a file, and not through Inputs" for file in sorted(found)
             if not any(file == reader or file.startswith(reader + "/") for reader in READERS)] +
            [f"no source of {reader} reads a file any more" for reader in sorted(set(READERS) - known)])


def foreign_senders(repository):
    """The sources that send signals otherwise than through SENDERS, and senders that send none."""
    files = [file for folder in ("libexeccred", "plugins", "cli", "tests") for file in repository.glob(f"{folder}/**/*.[ch]pp")]
    found = {str(file.relative_to(repository)) for file in files if SENDS_SIGNAL.search(file.read_text())}
    return ([f"{file} sends a signal, and not through {' or '.join(sorted(SENDERS))}" for file in sorted(found - SENDERS)] +
            [f"{file} sends no signal any more" for file in sorted(SENDERS - found)])


def unusable_parts(texts):
    """What the installed headers declare or name that no installed header has."""
    whole = "\n".join(texts.values())
    for header, text in sorted(texts.items()):
        for name in re.findall(r"^(?:class|struct) (\w+);", text, re.MULTILINE):
            if not re.search(rf"^(?:class|struct) (?:\[\[\w+\]\] )?{name}\b[^;{{]*{{", whole, re.MULTILINE):
                yield f"{header} is installed, and declares {name}, which no installed header defines"
        for other in re.findall(r"//.*?\b([\w/]+\.[ch]pp)\b", text):
            if not any(one == other or one.endswith("/" + other) for one in texts):
                yield f"{header} is installed, and names {other}, which is not"


def main():
    repository = pathlib.Path(sys.argv[1])
    library = repository / "libexeccred" / "execcred"
    links, installed = modules(library)
    architecture = (repository / "ARCHITECTURE.md").read_text()
    documented = documented_links(architecture)
    problems = [f"ARCHITECTURE.md names {place}, which does not exist"
                for place in missing_places(repository, architecture)]
    if documented != links:
        problems.append(f"ARCHITECTURE.md has {documented}, CMakeLists.txt {links}")
    order = list(documented)
    problems += [f"{module} stands above {one}, which it links" for module, linked in documented.items()
                 for one in linked if order.index(one) > order.index(module)]
    for module in links:
        problems += foreign_includes(library / module, closure([module], links))
    plugins = list((repository / "plugins").glob("*/CMakeLists.txt"))
    for file in plugins:
        problems += foreign_includes(file.parent,
                                     closure(["exec", *words(file.read_text(), "LINKS")], links))
    problems += forgotten_files(repository / "plugins")
    problems += foreign_senders(repository)
    problems += unusable_parts({header: (library / header).read_text() for header in installed})
    for header in sorted(installed):
        problems += [f"{header} is installed, and includes {other}, which is not"
                     for other, _ in INCLUDE.findall((library / header).read_text())
                     if other not in installed]
    for problem in problems:
        print(problem)
    print(f"{len(links)} modules, {len(plugins)} plugins, {len(installed)} installed headers, "
          f"{len(problems)} problems")
    return 1 if problems or len(links) < 10 or len(plugins) < 8 or len(installed) < 20 else 0


sys.exit(main())
