# SPDX-License-Identifier: Apache-2.0
"""Kills a run at every system call. Each file that it wrote must be complete, and the next run must
succeed and remove leftovers."""
import campaign
import judge
import trace

NAME = "kills"
SAMPLE = 7
BUILDS = ("glibc", "musl")


def run(path, environment, effort):
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    calls = trace.calls_of(path, boxes[0], environment)
    # The first execve is a call of strace itself.
    places = [(call, number) for call in sorted(calls.counts) if call != "execve"
              for number in range(1, calls.counts[call] + 1)]

    def strike(sandbox, place):
        call, number = place
        sandbox.reset()
        injection = trace.inject(path, sandbox, environment, call, number, "signal=KILL")
        outcome = injection.outcome
        if not injection.has_come:
            tally.passed_over()
            return
        reason = None
        if judge.is_late(sandbox, outcome):
            reason = "over the deadline"
        elif outcome.orphans:
            reason = "a child is left"
        elif outcome.exit_code == 0:
            reason = path.wrong_answer(sandbox, outcome.stdout)
        reason = reason or path.torn(sandbox) or judge.wrong_after(path, sandbox, environment)
        tally.add(outcome, f"{call} {number} KILL", reason)

    campaign.sweep(tally, boxes, places, strike, effort)
    return tally
