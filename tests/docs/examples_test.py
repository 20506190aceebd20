# SPDX-License-Identifier: Apache-2.0
"""Checks that the examples of the pages work when pasted, if they need only this repository.

    examples_test.py REPOSITORY PROGRAMS

An example is a block of shell commands. Two kinds are run, in a folder with a link to config/:
those that begin by reading a file of config/, and those of WORKS_ANYWHERE.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PAGES = ["README.md", "docs/*.md"]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
READS_CONFIG = re.compile(r"\A(?:build/dev/bin/)?execcred (?:resolve|lint --no-files) (?:-m )?config/")
WORKS_ANYWHERE = ("umask 077; echo my-token > token\n", "EXECCRED_TIMEOUT=5s execcred-token-file ",
                  "AWS_ACCESS_KEY_ID=AKIDEXAMPLE ", "execcred cache path\nexeccred cache list\n",
                  "cat >spoke-1.kubeconfig <<'END'\n")


def examples(root):
    """(place, commands) of each example that can be run here."""
    for page in sorted(page for glob in PAGES for page in root.glob(glob)):
        text = page.read_text(encoding="utf-8")
        for match in BLOCK.finditer(text):
            if READS_CONFIG.match(match[1]) or match[1].startswith(WORKS_ANYWHERE):
                yield f"{page.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}", match[1]


def run(commands, folder, programs):
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", commands], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def main(root, programs):
    failed, count, pages = 0, 0, set()
    for place, commands in examples(root):
        count += 1
        pages.add(place.split(":")[0])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            os.symlink(root / "config", folder / "config")
            (folder / "build/dev").mkdir(parents=True)
            os.symlink(programs, folder / "build/dev/bin")
            result = run(commands, folder, programs)
        if result.returncode != 0 or not result.stdout:
            failed += 1
            print(f"{place}: exit code {result.returncode}\n{commands}{result.stderr}")
    print(f"{count} examples of {len(pages)} pages, {failed} failed")
    return 1 if failed or len(pages) < 12 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
