# SPDX-License-Identifier: Apache-2.0
"""Every allocation fails once. The program must report an error and must not crash."""
import campaign
import preload

NAME = "allocations"
SAMPLE = 7
BUILDS = ("glibc",)


def run(path, environment, effort):
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    count = preload.calls(path, boxes[0], environment, "malloc", preload.ENOMEM)

    def strike(sandbox, number):
        sandbox.reset()
        injection = preload.inject(path, sandbox, environment, "malloc", number, preload.ENOMEM)
        if not injection.has_come:
            tally.passed_over()
            return
        campaign.add_judged(tally, path, sandbox, environment, injection.outcome,
                            f"allocation {number} of {count}", injection.is_early)

    campaign.sweep(tally, boxes, range(1, count + 1), strike, effort)
    return tally
