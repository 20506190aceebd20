# SPDX-License-Identifier: Apache-2.0
"""Checks that programs accept every word that their completions offer for an option's value.

    choices.py EXECCRED PROGRAM...
"""
import pathlib
import subprocess
import sys


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False, env={}, timeout=60)


def offered(execcred, *words):
    kind, *candidates = run(execcred, "__complete", "--", *words).stdout.splitlines()
    return [line.split("\t")[0] for line in candidates] if kind == "words" else []


def commands_of(execcred, name):
    """The words before the options."""
    return [[name, command] for command in offered(execcred, name, "")] or [[name]]


def refused(execcred, path):
    for name, *command in commands_of(execcred, pathlib.Path(path).name):
        for flag in offered(execcred, name, *command, "--"):
            for word in offered(execcred, name, *command, flag) if flag.endswith("=") else []:
                done = run(path, *command, flag + word, "--help")
                if done.returncode != 0:
                    yield done.stderr.splitlines()[0]


problems = [problem for path in sys.argv[2:] for problem in refused(sys.argv[1], path)]
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
