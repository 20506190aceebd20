# SPDX-License-Identifier: Apache-2.0
"""A second system call fails while a run handles the failure of the first: one of the calls that follow it,
drawn at random."""
import random

import campaign
import syscalls
import trace

NAME = "pairs"
SAMPLE = 0
BUILDS = ("glibc", "musl")
# So many calls after the first fault can be the second. A run that ends by it makes fewer.
NEAR = 40


def drawn_second(log, first):
    """A fault in one of the calls after the first one. None if no call follows that can fail."""
    later = [each for each in trace.later_calls(log)[:NEAR] if each[0] in trace.ERRORS]
    if not later:
        return None
    draw = random.Random(f"{campaign.SEED} {first}")
    call, number = draw.choice(later)
    return call, number, draw.choice(trace.ERRORS[call])


def run(path, environment, effort):
    campaign.tell_seed(NAME)
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    faults = syscalls.faults_of(trace.calls_of(path, boxes[0], environment), since_main=True)

    def strike(sandbox, first):
        sandbox.reset()
        alone = trace.inject_all(path, sandbox, environment, [first])
        second = drawn_second(alone.log, first) if alone.has_come else None
        if second is None:
            tally.passed_over()
            return
        sandbox.reset()
        injection = trace.inject_all(path, sandbox, environment, [first, second])
        if not injection.has_come:
            tally.passed_over()
            return
        said = " and ".join(" ".join(map(str, fault)) for fault in (first, second))
        campaign.add_judged(tally, path, sandbox, environment, injection.outcome, said,
                            injection.is_early, not injection.is_silenced)

    campaign.sweep(tally, boxes, faults, strike, effort)
    return tally
