# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages and completions of programs, from what their --help says.

    generate.py --into DIR --date YYYY-MM-DD PROGRAM...

DIR gets man/NAME.1, bash/NAME, zsh/_NAME and fish/NAME.fish for each program.
"""
import argparse
import pathlib

import complete_bash
import complete_fish
import complete_zsh
import man_page
import program_help

INCLUDE = pathlib.Path(__file__).parent / "man"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


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
        write(into / "man" / f"{program.name}.1", page)
        write(into / "bash" / program.name, complete_bash.write_completion(program))
        write(into / "zsh" / f"_{program.name}", complete_zsh.write_completion(program))
        write(into / "fish" / f"{program.name}.fish", complete_fish.write_completion(program))


if __name__ == "__main__":
    main()
