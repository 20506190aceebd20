# SPDX-License-Identifier: Apache-2.0
"""Reads and writes that give one byte, or half of what is asked: first each alone, then all of a
name at once. None of them is a failure, so nothing but the right answer is right."""
import campaign
import judge
import preload

NAME = "short results"
SAMPLE = 10
BUILDS = ("glibc",)
CALLS = ("read", "write", "recv", "send")
ONE_BYTE, HALF = -1, -2


def run(path, environment, effort):
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    faults = []
    for call in CALLS:
        count = preload.calls(path, boxes[0], environment, call, HALF)
        # Number 0 is each.
        faults += [(call, number, amount) for amount in (ONE_BYTE, HALF)
                   for number in range(0, count + 1) if count]

    def strike(sandbox, fault):
        call, number, amount = fault
        sandbox.reset()
        injection = preload.inject(path, sandbox, environment, call, number, amount)
        if not injection.has_come:
            tally.passed_over()
            return
        reason = (judge.wrong(path, sandbox, injection.outcome, may_fail=False) or
                  judge.wrong_after(path, sandbox, environment))
        tally.add(injection.outcome,
                  f"{call} {number} {'1 byte' if amount == ONE_BYTE else 'half'}", reason)

    campaign.sweep(tally, boxes, faults, strike, effort)
    return tally
