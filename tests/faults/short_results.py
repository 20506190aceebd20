# SPDX-License-Identifier: Apache-2.0
"""Reads and writes that transfer one byte, or half of the requested bytes: first all calls of a
name at once, then each call alone. These are not failures, so only the right answer is right. Also
reads that return nothing, like the end of a file or a connection: then an error is right too, but a
result from a part of the input is wrong."""
import campaign
import judge
import preload

NAME = "short results"
SAMPLE = 7
BUILDS = ("glibc",)
READS = ("read", "recv", "readv", "recvmsg")
CALLS = (*READS, "write", "send", "writev")
ONE_BYTE, HALF, NOTHING = -1, -2, -3
FIRST = 2  # calls of each name in a sample
AMOUNTS = {ONE_BYTE: "1 byte", HALF: "half", NOTHING: "nothing"}


def run(path, environment, effort):
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    faults = []
    for call in CALLS:
        if effort.most is None:
            count = preload.calls(path, boxes[0], environment, call, HALF)
        else:  # a sample does not count all calls
            count = FIRST if preload.came(path, boxes[0], environment, call, 1, HALF) else 0
        # Number 0 means every call.
        faults += [(call, number, amount) for amount in AMOUNTS
                   for number in range(0, count + 1)
                   if count and (amount != NOTHING or call in READS)]

    def strike(sandbox, fault):
        call, number, amount = fault
        sandbox.reset()
        injection = preload.inject(path, sandbox, environment, call, number, amount)
        if not injection.has_come:
            tally.passed_over()
            return
        fault = f"{call} {number} {AMOUNTS[amount]}"
        if amount == NOTHING:
            reason = judge.wrong(path, sandbox, injection.outcome) or path.torn(sandbox)
            sandbox.reset()  # removes the failure, which the cache keeps for its window
        else:
            reason = judge.wrong(path, sandbox, injection.outcome, may_fail=False)
        tally.add(injection.outcome, fault,
                  reason or judge.wrong_after(path, sandbox, environment))

    campaign.sweep(tally, boxes, faults, strike, effort)
    return tally
