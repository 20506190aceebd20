# SPDX-License-Identifier: Apache-2.0
"""The time of day jumps: before a run, between two runs, and between any two steps of a run. A step
is one read of the clock. A run returns no expired credential, none that is valid for longer than
the server said, and waits for no lock. The next run, with the right clock, succeeds."""
import calendar
import time

import campaign
import judge
import path as paths
import preload

NAME = "clocks"
SAMPLE = 7
BUILDS = ("glibc",)
HOUR, YEAR = 3600, 365 * 86400
JUMPS = {"-1 year": -YEAR, "-1 hour": -HOUR, "-61 s": -61, "-1 s (leap second)": -1,
         "+1 s": 1, "+61 s": 61, "+59 min": 59 * 60, "+1 hour": HOUR, "+1 year": YEAR,
         "2038": calendar.timegm((2038, 1, 19, 3, 14, 8)),
         "2106": calendar.timegm((2106, 2, 7, 6, 28, 16))}
# Seconds for which a refusal is cached, and some more for a slow machine.
WINDOW = 15
DAY = 24 * HOUR
# The paths, with the longest lifetime of a credential of their source.
LONGEST = {"token-file": DAY, "static-secret, mounted Secret": DAY,
           "static-secret, kubeconfig": DAY, "oidc-federation, cold cache": HOUR,
           "oidc-federation, warm cache": HOUR, "google, cold cache": HOUR,
           "azure, workload identity": HOUR, "aws, EKS presign": HOUR, "spiffe, JWT-SVID": DAY,
           "spiffe, X.509-SVID": DAY, "bootstrap, TokenRequest": HOUR,
           "bootstrap, CertificateSigningRequest": DAY, "wrap, cold cache": DAY,
           "wrap, warm cache": DAY}


def offset_of(jump):
    value = JUMPS[jump]
    return value - int(time.time()) if jump.isdigit() else value


def applies(path):
    return path.name in LONGEST


class AtAnyTime(paths.Path):
    """The path, with a check that accepts a credential which is valid by one of the two clocks. The
    program cannot see a jump after its last read of the clock."""

    def __init__(self, path, offset):
        self.__dict__ = dict(path.__dict__)
        self.path = path
        self.offset = offset

    def wrong_answer(self, sandbox, stdout):
        status = paths.status_of(stdout)
        end = status and paths.end_of(status)
        if status is None:
            return "no whole ExecCredential with exit code 0"
        if end is None:
            return "a credential without an end"
        clocks = (time.time(), time.time() + self.offset)
        if end <= min(clocks) - 1:
            return "a credential that has ended"
        if end > max(clocks) + LONGEST[self.name] + 60:
            return "a credential that outlives what the server said"
        return None


def wrong_after_window(path, sandbox, environment):
    """Why the next run fails for longer than a failure may be cached, or None."""
    deadline = time.monotonic() + WINDOW
    while reason := judge.wrong_after(path, sandbox, environment):
        if time.monotonic() > deadline:
            return reason
        time.sleep(0.5)
    return None


def run(path, environment, effort):
    boxes = campaign.sandboxes(path, environment)
    tally = campaign.Tally()
    count = preload.calls(path, boxes[0], environment, "clock", 0)
    # The steps are those of one run. A jump at the first one is a jump before the run.
    faults = ([((jump, number),) for jump in JUMPS for number in range(1, count + 1)] +
              [((one, 1), (two, 1)) for one in JUMPS for two in JUMPS if one != two])

    def strike(sandbox, jumps):
        sandbox.reset()
        for jump, number in jumps:
            offset = offset_of(jump)
            injection = preload.inject(path, sandbox, environment, "clock", number, offset)
            reason = judge.wrong(AtAnyTime(path, offset), sandbox, injection.outcome)
            if reason:
                break
        name = ", then ".join(f"{jump} at look {number}" for jump, number in jumps)
        tally.add(injection.outcome, name,
                  reason or wrong_after_window(path, sandbox, environment))

    campaign.sweep(tally, boxes, faults, strike, effort)
    return tally
