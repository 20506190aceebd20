# SPDX-License-Identifier: Apache-2.0
"""Whether programs take every word that their completions offer for an option's value.

    choices.py PROGRAM...
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts" / "packaging"))
import program_help  # noqa: E402


def refused(path):
    for command in program_help.read_program(path).commands:
        for option in command.options:
            for word in option.choices:
                arguments = [path, *command.words[1:], f"{option.flag}={word}", "--help"]
                done = subprocess.run(arguments, capture_output=True, text=True, check=False,
                                      env={}, timeout=60)
                if done.returncode != 0:
                    yield done.stderr.splitlines()[0]


problems = [problem for path in sys.argv[1:] for problem in refused(path)]
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
