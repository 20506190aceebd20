# SPDX-License-Identifier: Apache-2.0
"""Every allocation fails once: the first of each list of functions that asked for one. The program must
report an error and must not crash."""
import campaign
import preload

NAME = "allocations"
SAMPLE = 7
BUILDS = ("glibc",)


def run(path, environment, effort):
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    numbers = preload.allocations(path, boxes[0], environment)

    def strike(sandbox, number):
        sandbox.reset()
        injection = preload.inject(path, sandbox, environment, "malloc", number, preload.ENOMEM)
        if not injection.has_come:
            tally.passed_over()
            return
        campaign.add_judged(tally, path, sandbox, environment, injection.outcome,
                            f"allocation {number}", injection.is_early)

    campaign.sweep(tally, boxes, numbers, strike, effort)
    return tally
