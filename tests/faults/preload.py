# SPDX-License-Identifier: Apache-2.0
"""Runs a program with tests/support/faults.cpp preloaded, which works only in dynamic programs."""
import collections
import os

ENOMEM = 12


class Injection:
    """The outcome, whether the run reached the call, and whether that was before main of the
    program itself, not of a child."""

    def __init__(self, outcome, marks):
        self.outcome = outcome
        self.has_come = bool(marks)
        self.is_early = f"{outcome.process} before main" in marks


def inject(path, sandbox, environment, call, number, error):
    """A negative error is a short result."""
    mark = sandbox.at("mark")
    outcome = path.run(sandbox, environment, variables={
        "LD_PRELOAD": environment.preload, "FAULT": f"{call}:{error}:{number}:{mark}"})
    if not os.path.exists(mark):
        return Injection(outcome, [])
    with open(mark, encoding="utf-8") as file:
        marks = file.read().splitlines()
    os.unlink(mark)
    return Injection(outcome, marks)


def calls(path, sandbox, environment, call, harmless):
    """How often a run makes the call: the last number at which a fault is injected. A bisection
    finds it, because a `harmless` fault does not change the number of calls."""
    least, most = 0, 1
    while came(path, sandbox, environment, call, most, harmless):
        least, most = most, most * 2
    while most - least > 1:
        middle = (least + most) // 2
        if came(path, sandbox, environment, call, middle, harmless):
            least = middle
        else:
            most = middle
    return least


def allocations(path, sandbox, environment):
    """The numbers of the allocations of a run, in each of its processes: the first of each stack."""
    sandbox.reset()
    listed = sandbox.at("stacks")
    path.run(sandbox, environment, variables={
        "LD_PRELOAD": environment.preload, "FAULT": f"stacks:0:0:{listed}"})
    seen, first = collections.Counter(), {}
    with open(listed, encoding="utf-8") as file:
        for line in file:
            process, stack = line.split()
            seen[process] += 1
            first.setdefault((process, stack), seen[process])
    os.unlink(listed)
    return sorted(set(first.values()))


def came(path, sandbox, environment, call, number, error):
    sandbox.reset()
    return inject(path, sandbox, environment, call, number, error).has_come
