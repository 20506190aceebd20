# SPDX-License-Identifier: Apache-2.0
"""The right outcomes of a run with a fault: a true answer, or an error as in
docs/troubleshooting.md."""
import re
import signal
import time

ERROR_CODES = {1, 2, 3, 70}
# Seconds that a loaded machine, strace and a sanitizer may take in addition to the time limit of a
# run.
LATE = 5
PATIENCE = 30
# A failure of the program that execcred-bootstrap or execcred-wrap runs is cached like a provider's
# failure, even if the fault was in that program itself: its exit code does not show the difference.
INNER_REMEMBERED = re.compile(r"^execcred-(?:bootstrap|wrap): error: '[^']*' .*"
                              r"while remembering this from another run, for (\d+)s more", re.DOTALL)
ERROR_LINE = re.compile(r"^(execcred[a-z-]*): error: .+", re.MULTILINE)


def is_late(sandbox, outcome):
    return outcome.exit_code is None or outcome.seconds > sandbox.timeout + LATE


def wrong(path, sandbox, outcome, may_fail=True, must_report=True, codes=frozenset(ERROR_CODES)):
    """Why the outcome is wrong, in a few words, or None."""
    if is_late(sandbox, outcome):
        return "over the deadline"
    if outcome.orphans:
        return "a child is left"
    if "Sanitizer: " in outcome.stderr or "runtime error: " in outcome.stderr:
        return "a sanitizer's report"
    if outcome.exit_code < 0:
        return f"killed by {signal.Signals(-outcome.exit_code).name}"
    if outcome.exit_code == 0:
        return path.wrong_answer(sandbox, outcome.stdout)
    if not may_fail:
        return f"exit code {outcome.exit_code}"
    if outcome.exit_code not in codes:
        return f"exit code {outcome.exit_code}"
    if outcome.stdout and not path.lists:
        return "a part of an answer with an error"
    own = [name for name in ERROR_LINE.findall(outcome.stderr) if name == path.program]
    if not own and must_report and not path.lists:
        return f"exit code {outcome.exit_code} without an error line"
    if len(own) > 1 and not path.lists:
        return "several error lines"
    return None


def wrong_after(path, sandbox, environment):
    """Why the next run, without a fault, is wrong, or what it has not removed. Its time limit is
    long enough for a loaded machine: with a short one, exit code 3 would be right."""
    told, sandbox.timeout = sandbox.timeout, max(sandbox.timeout, PATIENCE)
    outcome = path.run(sandbox, environment)
    deadline = time.monotonic() + PATIENCE
    while INNER_REMEMBERED.search(outcome.stderr) and time.monotonic() < deadline:
        time.sleep(0.2)
        outcome = path.run(sandbox, environment)
    reason = wrong(path, sandbox, outcome, may_fail=False) or path.left_over(sandbox)
    sandbox.timeout = told
    if not reason:
        return None
    said = outcome.stderr.strip().replace("\n", "; ")
    return f"next run: {reason}{said and f' ({said})'}"
