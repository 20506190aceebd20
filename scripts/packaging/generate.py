# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of programs, from what their --help says.

    generate.py --into DIR --date YYYY-MM-DD PROGRAM...

DIR gets NAME.1 for each program.
"""
import argparse
import pathlib

import man_page
import program_help

INCLUDE = pathlib.Path(__file__).parent / "man"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--into", type=pathlib.Path, required=True)
    parser.add_argument("--date", required=True)
    arguments = parser.parse_args()
    into = arguments.into
    programs = [program_help.read_program(path) for path in arguments.programs]
    names = [program.name for program in programs]
    for program in programs:
        include = "execcred.roff" if len(program.commands) > 1 else "plugin.roff"
        page = man_page.write_man_page(program, names, arguments.date, INCLUDE / include)
        (into / f"{program.name}.1").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
