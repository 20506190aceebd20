# SPDX-License-Identifier: Apache-2.0
"""The promises about reliability and security, and the proof of each: campaigns of this program,
test cases, or another script. A test case declares what it proves:

    TEST_CASE("its title" * doctest::description("promises 8, 24"))

tests/docs/reliability_test.py checks that all of these exist.

    promises.py page PAGE    writes the list of the cases, docs/promises.md
    promises.py NUMBER       prints the titles of the cases that prove this promise
"""
import functools
import os
import pathlib
import re
import subprocess
import sys

import campaign

NAME = "promises"
SAMPLE = 0  # scripts/test runs these cases
BUILDS = ("dev",)
WEIGHT = 0  # no share of the time limit
COUNTED = re.compile(r"(\d+) tests? failed out of (\d+)")
CHECKED = re.compile(r"assertions: +(\d+)")
# A message of a case is a figure, unless it reports that the case was skipped.
TOLD = re.compile(r"MESSAGE: (?!skipped)(.*)$", re.MULTILINE)
TESTS = pathlib.Path(__file__).resolve().parent.parent
CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)'
                  r'(?:\*\s*doctest::description\("promises? ([\d, ]+)"\))?')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
HEAD = """# Which tests prove which promise

[Reliability](reliability.md#the-promises) has the promises with their figures. This page lists the test cases
that prove each, besides the campaigns and scripts named there. A promise that only those prove is not here.
`scripts/test --promise=NUMBER` runs the cases of one. A case declares the numbers of its promises in its source, and `scripts/generate` writes this page.
The paths are those below `tests/`.
"""
# Characters with a special meaning in ctest's regular expressions.
SPECIAL = re.compile(r"[\[\]\\.*^$+?(){}|]")


class Promise:
    """`asked` says what its figure counts. `campaigns` are names of campaigns, `scripts` are whole
    commands."""
    program = "tests"

    def __init__(self, number, text, asked, campaigns=(), scripts=()):
        self.number = number
        self.name = f"promise {number}"
        self.text = text
        self.asked = asked
        self.campaigns = campaigns
        self.scripts = scripts

    @property
    def cases(self):
        return [case for case in all_cases() if self.number in case.promises]

    def commands(self):
        return ([f"scripts/faults --full --campaign {each}" for each in self.campaigns] +
                ([f"scripts/test --promise={self.number}"] if self.cases else []) +
                list(self.scripts))


class Case:
    def __init__(self, source, title, promises):
        self.source = source  # below tests/
        self.title = title
        self.promises = promises


def title_of(literals):
    return "".join(LITERAL.findall(literals)).replace('\\"', '"')


@functools.cache
def all_cases():
    """The test cases of all sources, with the numbers of the promises that each declares."""
    found = []
    for source in sorted(TESTS.rglob("*.cpp")):
        for literals, numbers in CASE.findall(source.read_text(encoding="utf-8")):
            found.append(Case(source.relative_to(TESTS), title_of(literals),
                              [int(number) for number in re.findall(r"\d+", numbers)]))
    return found


def page():
    parts = [HEAD]
    for promise in ALL:
        if promise.cases:
            parts.append(f"\n## {promise.number}: {promise.text}\n\n")
            parts += [f"- `{case.source}`: {written(case.title)}\n" for case in promise.cases]
    return "".join(parts)


def written(title):
    """A title in Markdown, without the meaning that some characters have there."""
    return re.sub(r"([\\`*_<>\[\]])", r"\\\1", title)


ALL = [
    Promise(1, "never hangs a controller", "longest run", ("replies", "syscalls")),
    Promise(2, "one upstream call per key", "calls in a storm", ("crowds",), ("scripts/storm",)),
    Promise(3, "a provider outage is not amplified", "calls in a window", ("crowds",),
            ("scripts/storm",)),
    Promise(4, "never another identity's token", "cross-hits", ("crowds",)),
    Promise(5, "ambient identity goes only to pinned hosts", "connections"),
    Promise(6, "a ClusterProfile cannot choose what the mapping does not allow",
            "credentials outside of the policy", ("profiles",)),
    Promise(7, "a cache failure never costs a credential", "share that is served"),
    Promise(8, "kill -9 at any system call is safe", "points, torn files", ("kills",)),
    Promise(9, "any system call failure: right answer or clean error", "injections, violations",
            ("syscalls", "allocations", "short-results")),
    Promise(10, "a revoked token recovers", "seconds, more calls"),
    Promise(11, "1,000 clusters do not refresh together", "most calls in a second", (),
            ("scripts/storm",)),
    Promise(12, "a valid token survives a failed refresh", "share that is served"),
    Promise(13, "clock skew is safe", "expired ones that are served", ("clocks",)),
    Promise(14, "never follows a redirect", "second requests"),
    Promise(15, "TLS verdicts", "cases", (), ("scripts/release --check",)),
    Promise(16, "no secret in stderr, arguments, environment or other files", "hits"),
    Promise(17, "a hostile environment has no effect", "effects, variables"),
    Promise(18, "hostile cache files are refused", "cases"),
    Promise(19, "parsers survive anything", "executions, crashes", ("inputs",),
            ("scripts/fuzz 600",)),
    Promise(20, "no control characters cross the protocol; duplicates are refused", "accepted"),
    Promise(21, "bounded memory", "most memory"),
    Promise(22, "stdout is complete or empty", "parts of an answer with exit code 0"),
    Promise(23, "stable exit codes", "codes"),
    Promise(24, "the lock protocol", "orders of steps"),
    Promise(25, "every control has a test that fails without it", "controls whose loss a test notices", (),
            ("scripts/controls",)),
    Promise(26, "dies with its parent, leaves no children", "orphans", ("kills", "children")),
    Promise(27, "works with real consumers", "clients", (), ("scripts/e2e",)),
    Promise(28, "reproducible, hardened, signed, with an SBOM", "builds with the same bytes", (),
            ("scripts/release --check",)),
    Promise(29, "every release binary is hardened", "binaries, features", (),
            ("scripts/release --check",)),
    Promise(30, "time and memory are linear in the input", "ratio at twice the size, most memory",
            ("growth",)),
    Promise(31, "no request whose token is spent by it is sent twice", "second requests",
            ("spent",)),
    Promise(32, "a controller's descriptors and environment reach no plugin", "leaked",
            ("descriptors",)),
    Promise(33, "a fresh machine is enough", "exit code, seconds", (), (".ci/fresh scripts/demo",)),
]


def units(chosen):
    del chosen
    return [promise for promise in ALL if promise.cases]


def run(unit, environment, effort):
    """Runs the cases with ctest, as scripts/test does."""
    del effort
    tally = campaign.Tally()
    titles = [SPECIAL.sub(r"\\\g<0>", case.title) for case in unit.cases]
    pattern = "|".join(f":{title}$" for title in titles)
    build = os.path.dirname(environment.bin)
    ended = subprocess.run(
        ["ctest", "--test-dir", build, "--tests-regex", pattern, "-j2", "--timeout", "300",
         "--verbose"], env={**os.environ, "EXECCRED_EACH_CASE": "1"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    found = COUNTED.search(ended.stdout)
    if not found:
        tally.add_check(unit.name, f"ctest has not run: {ended.stdout[-400:]}")
        return tally
    failed, tried = int(found[1]), int(found[2])
    for number in range(tried):
        tally.add_check(f"case {number + 1} of {tried}",
                        number < failed and f"a case failed: {ended.stdout[-800:]}")
    tally.figures.append({
        "checks": sum(int(checks) for checks in CHECKED.findall(ended.stdout)),
        "told": sorted(set(TOLD.findall(ended.stdout)))})
    return tally


if __name__ == "__main__":
    if sys.argv[1] == "page":
        pathlib.Path(sys.argv[2]).write_text(page(), encoding="utf-8")
    else:
        for case in all_cases():
            if int(sys.argv[1]) in case.promises:
                print(case.title)
