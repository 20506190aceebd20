# SPDX-License-Identifier: Apache-2.0
"""Writes docs/doctor-faults.md from the tables in tests/e2e/suites/47-doctor.sh.

    doctor_faults.py ROOT [--check]

With --check it writes nothing, and exits with 1 if the page is stale.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
SUITE = ROOT / "tests/e2e/suites/47-doctor.sh"
PAGE = ROOT / "docs/doctor-faults.md"
ROW = re.compile(r"^([a-z][a-z_]*) ([a-z-]+) ([013])$", re.MULTILINE)
# The rows with arguments are in "for body in" and "check".
BODY = re.compile(r"'([^'|]+)\|([a-z-]+)\|([013])'")
CHECK = re.compile(r'check "([^"$]+)" \\?\s*fault ([a-z-]+) ([013]) ')
HEAD = """# The faults that execcred doctor is tested with

Each of these is made in the real thing: a kube-apiserver, SPIRE, Dex, a proxy, a web server in the API
server's place, a clock that is wrong. [`execcred doctor`](doctor.md) must name the cause beside it, and end
with that exit code. `scripts/e2e doctor` runs them all. A row of
[the suite](../tests/e2e/suites/47-doctor.sh) is a line and a function that spoils a working cluster.
`scripts/generate` writes this page.

{faults} faults of {causes} causes; {good} rows without a cause must work.

| fault | cause | exit code |
|---|---|---|
"""


# The causes that no fault of the suite has: why, and the case of tests/doctor that makes one.
ELSEWHERE = {
    "credential-expires-soon": (
        "doctor finds it in the kubeconfig, before it asks a server",
        "doctor: a token that ends soon is shown with its issuer and audience"),
    "connect-failed": (
        "it needs an address to which the system refuses a connection, and no server",
        "corpus: each fault has its cause, its step and its exit code"),
    "unauthorized-expired": (
        "the token must end after doctor has looked at it, and before the server does",
        "corpus: a token that expires before the server checks it is unauthorized-expired"),
    "anonymous": (
        "a kube-apiserver refuses a credential that it does not know",
        "corpus: each fault has its cause, its step and its exit code"),
}
MORE_HEAD = """
## Causes that the suite does not make

| cause | why | test case that makes it |
|---|---|---|
"""


def rows():
    text = SUITE.read_text(encoding="utf-8")
    for name, cause, status in ROW.findall(text):
        yield name.replace("_", " "), cause, status
    for body, cause, status in BODY.findall(text):
        yield f"a program that does `{body}`", cause, status
    for sentence, cause, status in CHECK.findall(text):
        yield sentence.removesuffix(f" is {cause}"), cause, status


def cell(cause):
    return "none" if cause == "none" else f"[{cause}](causes.md#{cause})"


def page():
    found = sorted(rows(), key=lambda row: (row[1] == "none", row[1]))
    causes = [cause for _, cause, _ in found if cause != "none"]
    head = HEAD.format(faults=len(causes), causes=len(set(causes)), good=len(found) - len(causes))
    more = "".join(f"| {cell(cause)} | {why} | `{case}` |\n" for cause, (why, case) in ELSEWHERE.items())
    return (head + "".join(f"| {name} | {cell(cause)} | {status} |\n" for name, cause, status in found) +
            MORE_HEAD + more)


def main():
    text = page()
    if sys.argv[2:] != ["--check"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE.relative_to(ROOT)} is stale: run scripts/generate")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
