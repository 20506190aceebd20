# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of programs, from what they declare (cli/facts).

    generate.py FACTS man --into DIR --date YYYY-MM-DD

FACTS is the program that prints the declarations. DIR gets NAME.1 for each program.
"""
import argparse
import pathlib

import facts
import man_page

INCLUDE = pathlib.Path(__file__).parent / "man"


def write_manual(known, into, date):
    names = [plugin.name for plugin in known.plugins] + [known.commands[0].name]
    for plugin in known.plugins:
        page = man_page.of_plugin(plugin, names, known.version, date, INCLUDE / "plugin.roff")
        (into / f"{plugin.name}.1").write_text(page, encoding="utf-8")
    page = man_page.of_execcred(known, names, date, INCLUDE / "execcred.roff")
    (into / f"{known.commands[0].name}.1").write_text(page, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("facts")
    kinds = parser.add_subparsers(dest="kind", required=True)
    manual = kinds.add_parser("man")
    manual.add_argument("--into", type=pathlib.Path, required=True)
    manual.add_argument("--date", required=True)
    arguments = parser.parse_args()
    write_manual(facts.read(arguments.facts), arguments.into, arguments.date)


main()
