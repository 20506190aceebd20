# SPDX-License-Identifier: Apache-2.0
"""Whether programs take every word that their completions offer for an option's value.

    choices.py EXECCRED PROGRAM...
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts" / "packaging"))
import program_help  # noqa: E402


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False, env={}, timeout=60)


def offered(execcred, words):
    kind, *candidates = run(execcred, "__complete", "--", *words).stdout.splitlines()
    return [line.split("\t")[0] for line in candidates] if kind == "words" else []


def refused(execcred, path):
    name = pathlib.Path(path).name
    for command in program_help.read_program(path).commands:
        for option in command.options:
            flag = f"--{option.name}="
            for word in offered(execcred, [name, *command.words[1:], flag]):
                done = run(path, *command.words[1:], flag + word, "--help")
                if done.returncode != 0:
                    yield done.stderr.splitlines()[0]


problems = [problem for path in sys.argv[2:] for problem in refused(sys.argv[1], path)]
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
