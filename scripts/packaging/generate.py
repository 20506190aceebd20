# SPDX-License-Identifier: Apache-2.0
"""Writes the files that are generated from the output of the program FACTS (cli/facts).

    generate.py FACTS man --into DIR --date YYYY-MM-DD   NAME.1 for each program
    generate.py FACTS sources ROOT [--check]             config/schemas, the tables of docs/

With --check nothing is written: each file that would change is named, and the exit code is 1.
"""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True

import config_schema
import facts
import man_page
import option_table

INCLUDE = pathlib.Path(__file__).parent / "man"


def write_manual(known, into, date):
    names = [plugin.name for plugin in known.plugins] + [known.commands[0].name]
    for plugin in known.plugins:
        page = man_page.of_plugin(plugin, names, known.version, date, INCLUDE / "plugin.roff")
        (into / f"{plugin.name}.1").write_text(page, encoding="utf-8")
    page = man_page.of_execcred(known, names, date, INCLUDE / "execcred.roff")
    (into / f"{known.commands[0].name}.1").write_text(page, encoding="utf-8")


def sources(known, root):
    """(path, text) of every generated file. The text of a file to delete is None."""
    schemas = root / "config" / "schemas"
    written = {schemas / f"{plugin.name}.config.schema.json": config_schema.write(plugin)
               for plugin in known.plugins}
    for path in schemas.glob("execcred-*.config.schema.json"):
        written.setdefault(path, None)
    for plugin in known.plugins:
        path = root / "docs" / f"{plugin.name}.md"
        page = path.read_text(encoding="utf-8") if path.exists() else option_table.new_page(plugin)
        written[path] = option_table.put_into(page, option_table.of_plugin(plugin), path)
    path = root / "docs" / "options.md"
    written[path] = option_table.put_into(path.read_text(encoding="utf-8"),
                                          option_table.of_all(known.shared), path)
    return written.items()


def write_sources(known, root, is_check):
    """Whether all files were up to date."""
    is_current = True
    for path, text in sources(known, root):
        if (path.read_text(encoding="utf-8") if path.exists() else None) == text:
            continue
        is_current = False
        print(path.relative_to(root), "is stale: run scripts/generate" if is_check else "is written")
        if is_check:
            continue
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    return is_current


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("facts")
    kinds = parser.add_subparsers(dest="kind", required=True)
    manual = kinds.add_parser("man")
    manual.add_argument("--into", type=pathlib.Path, required=True)
    manual.add_argument("--date", required=True)
    tree = kinds.add_parser("sources")
    tree.add_argument("root", type=pathlib.Path)
    tree.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    known = facts.read(arguments.facts)
    if arguments.kind == "man":
        write_manual(known, arguments.into, arguments.date)
    elif not write_sources(known, arguments.root, arguments.check) and arguments.check:
        sys.exit(1)


main()
