# SPDX-License-Identifier: Apache-2.0
"""Checks the modules of libexeccred against ARCHITECTURE.md and their CMakeLists.txt.

    modules_test.py REPOSITORY COMPILER INCLUDE

The table of modules in ARCHITECTURE.md has the same links as the CMakeLists.txt of each module. No
module links one that is below it in the table. The places in the table of home-made parts exist.
Sources include headers of linked modules only. COMPILER must not find the headers of other modules:
INCLUDE is the folder in which each module has an include directory.
"""
import os
import pathlib
import re
import subprocess
import sys


def declared_links(library):
    """For each module, the modules that it links by its CMakeLists.txt."""
    links = {}
    for file in library.glob("*/CMakeLists.txt"):
        arguments = re.search(r"execcred_add_module\((.*?)\)", file.read_text(), re.DOTALL)[1].split()
        assert arguments[0] == file.parent.name, file
        after = arguments[arguments.index("LINKS") + 1:] if "LINKS" in arguments else []
        links[arguments[0]] = after[:after.index("PUBLIC")] if "PUBLIC" in after else after
    return links


def documented_links(text):
    """The same by the table of ARCHITECTURE.md, in the order of the table."""
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
                       (repository / "libexeccred", repository) for suffix in ("", ".*"))]


def closure(module, links):
    found = {module}
    for one in links[module]:
        found |= closure(one, links)
    return found


def main():
    repository, compiler, include = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    links = declared_links(repository / "libexeccred")
    architecture = (repository / "ARCHITECTURE.md").read_text()
    documented = documented_links(architecture)
    problems = [f"ARCHITECTURE.md names {place}, which does not exist"
                for place in missing_places(repository, architecture)]
    if documented != links:
        problems.append(f"ARCHITECTURE.md has {documented}, CMakeLists.txt {links}")
    order = list(documented)
    for module, linked in documented.items():
        problems += [f"{module} stands above {one}, which it links" for one in linked
                     if order.index(one) > order.index(module)]
    for module in links:
        visible = closure(module, links)
        for file in sorted((repository / "libexeccred" / module).glob("*.[ch]pp")):
            for other in re.findall(r"#include <execcred/(\w+)/", file.read_text()):
                if other not in visible:
                    problems.append(f"{file} includes a header of {other}")
        hidden = next((one for one in reversed(order) if one not in visible), None)
        if hidden is None:
            continue
        header = sorted((repository / "libexeccred" / hidden).glob("*.hpp"))[0].name
        command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
        command += [f"-I{include / one}" for one in visible]
        text = f"#include <execcred/{hidden}/{header}>\n"
        told = subprocess.run(command, input=text, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C"})
        if told.returncode == 0 or "No such file" not in told.stderr:
            problems.append(f"{module} can include {hidden}/{header}: {told.stderr}")
    for problem in problems:
        print(problem)
    print(f"{len(links)} modules, {len(problems)} problems")
    return 1 if problems or len(links) < 10 else 0


sys.exit(main())
