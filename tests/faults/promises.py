# SPDX-License-Identifier: Apache-2.0
"""The promises about reliability and security, and the proof of each: campaigns of this program,
test cases, or another script. tests/docs/reliability_test.py checks that all of these exist."""
import os
import re
import subprocess

import campaign

NAME = "promises"
SAMPLE = 0  # scripts/test runs these cases
BUILDS = ("dev",)
WEIGHT = 0  # no share of the time limit
COUNTED = re.compile(r"(\d+) tests? failed out of (\d+)")
CHECKED = re.compile(r"assertions: +(\d+)")
# A message of a case is a figure, unless it reports that the case was skipped.
TOLD = re.compile(r"MESSAGE: (?!skipped)(.*)$", re.MULTILINE)
# Characters with a special meaning in ctest's regular expressions.
SPECIAL = re.compile(r"[\[\]\\.*^$+?(){}|]")


class Promise:
    """`asked` says what its figure counts. `cases` are parts of the titles of test cases,
    `campaigns` are names of campaigns, `scripts` are whole commands."""
    program = "tests"

    def __init__(self, number, text, asked, cases=(), campaigns=(), scripts=()):
        self.number = number
        self.name = f"promise {number}"
        self.text = text
        self.asked = asked
        self.cases = cases
        self.campaigns = campaigns
        self.scripts = scripts

    def commands(self):
        given = " ".join(f'"{case}"' for case in self.cases)
        return ([f"scripts/faults --full --campaign {each}" for each in self.campaigns] +
                ([f"scripts/test {given}"] if given else []) + list(self.scripts))


ALL = [
    Promise(1, "never hangs a controller", "longest run",
            ("silence: ", "the deadline ends a run that waits", "never given back costs"),
            ("replies", "syscalls")),
    Promise(2, "one upstream call per key", "calls in a storm", ("a storm on a cold key",),
            ("crowds",), ("scripts/storm",)),
    Promise(3, "a provider outage is not amplified", "calls in a window",
            ("a storm on a failing provider",), ("crowds",), ("scripts/storm",)),
    Promise(4, "never another identity's token", "cross-hits", ("changed alone", "cross-hits: "),
            ("crowds",)),
    Promise(5, "ambient identity goes only to pinned hosts", "connections",
            ("no URL of a ClusterProfile is ever called", "redirect is not followed",
             "no redirect is followed")),
    Promise(6, "a ClusterProfile cannot choose what the mapping does not allow",
            "credentials outside of the policy",
            ("boundary: ", "allow-proxy", "--allow-server: ", "defence ", "policy "),
            ("profiles",)),
    Promise(7, "a cache failure never costs a credential", "share that is served",
            ("a full disk, no free inode", "cannot be written to: what is in it is used",
             "no file may grow")),
    Promise(8, "kill -9 at any system call is safe", "points, torn files", ("killed at any",),
            ("kills",)),
    Promise(9, "any system call failure: right answer or clean error", "injections, violations",
            ("a call to the system fails",), ("syscalls", "allocations", "short-results")),
    Promise(10, "a revoked token recovers", "seconds, more calls", ("revoked",)),
    Promise(11, "1,000 clusters do not refresh together", "most calls in a second",
            ("1,000 keys of one moment",), (), ("scripts/storm",)),
    Promise(12, "a valid token survives a failed refresh", "share that is served",
            ("survives a failed refresh", "survives an outage")),
    Promise(13, "clock skew is safe", "expired ones that are served", ("ten years off",),
            ("clocks",)),
    Promise(14, "never follows a redirect", "second requests", ("redirect",)),
    Promise(15, "TLS verdicts", "cases", ("tls: ",), (), ("scripts/release --check",)),
    Promise(16, "no secret in stderr, arguments, environment or other files", "hits",
            ("canary: ", "no message shows the credential")),
    Promise(17, "a hostile environment has no effect", "effects, variables",
            ("a hostile environment: no variable", "SSLKEYLOGFILE and the like")),
    Promise(18, "hostile cache files are refused", "cases", ("that is not as we",)),
    Promise(19, "parsers survive anything", "executions, crashes", (), ("inputs",),
            ("scripts/fuzz 60",)),
    Promise(20, "no control characters cross the protocol; duplicates are refused", "accepted",
            ("control character", "duplicate keys")),
    Promise(21, "bounded memory", "most memory",
            ("bounded memory", "little memory", "before memory is spent", "spends no memory")),
    Promise(22, "stdout is complete or empty", "parts of an answer with exit code 0",
            ("combinations of closed descriptors", "a stdout that cannot take the answer",
             "a stdout in a file of bounded size", "with nothing on stdout")),
    Promise(23, "stable exit codes", "codes", ("exit code",)),
    Promise(24, "the lock protocol", "orders of steps",
            ("in every order of their steps", "lock: ", "a storm on a lock",
             "is never given back", "killed at any")),
    Promise(25, "every control has a test that fails without it", "share that is missed", (), (),
            ("scripts/controls",)),
    Promise(26, "dies with its parent, leaves no children", "orphans",
            ("a plugin whose parent ends", "it ends with its parent", "leaves no zombie"),
            ("kills", "children")),
    Promise(27, "works with real consumers", "clients", (), (), ("scripts/e2e",)),
    Promise(28, "reproducible, hardened, signed, with an SBOM", "builds with the same bytes", (),
            (), ("scripts/release --check",)),
    Promise(29, "every release binary is hardened", "binaries, features", (), (),
            ("scripts/release --check",)),
    Promise(30, "time and memory are linear in the input", "ratio at twice the size, most memory",
            ("is linear in",), ("growth",)),
    Promise(31, "no request whose token is spent by it is sent twice", "second requests",
            ("spent: ", "is spent", "never spend one twice"), ("spent",)),
    Promise(32, "a controller's descriptors and environment reach no plugin", "leaked",
            ("no descriptor of the caller", "exactly the environment given"), ("descriptors",)),
    Promise(33, "a fresh machine is enough", "exit code, seconds", (), (),
            (".ci/fresh scripts/demo",)),
]


def units(chosen):
    del chosen
    return [promise for promise in ALL if promise.cases]


def run(unit, environment, effort):
    """Runs the cases with ctest, as scripts/test does."""
    del effort
    tally = campaign.Tally()
    pattern = "|".join(SPECIAL.sub(r"\\\g<0>", case) for case in unit.cases)
    build = os.path.dirname(environment.bin)
    ended = subprocess.run(
        ["ctest", "--test-dir", build, "--tests-regex", pattern, "-j2", "--timeout", "300",
         "--verbose"], env={**os.environ, "EXECCRED_EACH_CASE": "1"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
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
