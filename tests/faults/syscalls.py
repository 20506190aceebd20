# SPDX-License-Identifier: Apache-2.0
"""Every system call fails once: each call of a path, with each error that it can give."""
import campaign
import trace

NAME = "system calls"
SAMPLE = 8
BUILDS = ("glibc", "musl")


def faults_of(calls, since_main):
    """Each call with each of its errors. `since_main`: without the loader's, which are the same in each
    path."""
    first = {call: calls.before_main[call] + 1 if since_main else 1 for call in calls.counts}
    return [(call, number, error) for call in sorted(calls.counts)
            for number in range(first[call], calls.counts[call] + 1)
            for error in trace.ERRORS.get(call, ())]


def run(path, environment, effort):
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    faults = faults_of(trace.calls_of(path, boxes[0], environment), since_main=effort.most is not None)

    def strike(sandbox, fault):
        call, number, error = fault
        sandbox.reset()
        injection = trace.inject(path, sandbox, environment, call, number, f"error={error}")
        if not injection.has_come:
            tally.passed_over()
            return
        campaign.add_judged(tally, path, sandbox, environment, injection.outcome,
                            f"{call} {number} {error}", injection.is_early,
                            not injection.is_silenced)

    campaign.sweep(tally, boxes, faults, strike, effort)
    return tally
