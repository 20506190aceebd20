# SPDX-License-Identifier: Apache-2.0
"""The common parts of campaigns: sandboxes, the number of faults to try, and the results."""
import collections
import concurrent.futures
import os
import random
import shutil
import signal
import sys
import threading
import time

import judge
import servers
from path import TIMEOUT
from sandbox import Sandbox

WORKERS = 2
# Of what is drawn at random. A campaign that draws prints it.
SEED = int(os.environ.get("EXECCRED_SEED") or random.SystemRandom().randrange(1 << 32))


class Environment:
    """The folder of the programs, and the servers that they call. `tests` has the test programs."""

    def __init__(self, directory, programs, build, servers, tests):
        self.directory = directory
        self.bin = programs
        self.build = build
        self.servers = servers
        self.tests = tests
        self.preload = os.path.join(tests, "libfaults.so")

    def asking(self, servers):
        """The same environment with other servers."""
        return Environment(self.directory, self.bin, self.build, servers, self.tests)


class Effort:
    """How many faults are tried: `most` of them, spread over the list; or as many as `seconds`
    allow, in an order whose every beginning is spread over the list; or all."""

    def __init__(self, most=None, seconds=None):
        self.most = most
        self.deadline = None if seconds is None else time.monotonic() + seconds

    def chosen(self, faults):
        if self.most is not None and len(faults) > self.most:
            return [faults[at * len(faults) // self.most] for at in range(self.most)]
        return faults if self.deadline is None else scattered(faults)

    def is_over(self):
        return self.deadline is not None and time.monotonic() > self.deadline


def scattered(items):
    """Sorts the items by the reversed bits of their positions: 0, 1/2, 1/4, 3/4, 1/8…"""
    width = len(items).bit_length()
    return [items[at] for at in sorted(range(len(items)),
                                       key=lambda at: int(f"{at:0{width}b}"[::-1], 2))]


class Tally:
    """The results of one campaign on one path. `ends` counts "true", "error", "killed" and "not
    started"."""

    def __init__(self):
        self.possible = 0
        self.injected = 0
        self.ends = collections.Counter()
        self.wrong = []
        self.longest = 0.0
        self.figures = []
        self.lock = threading.Lock()

    def add(self, outcome, fault, reason, has_started=True):
        with self.lock:
            self.injected += 1
            self.longest = max(self.longest, outcome.seconds)
            if reason:
                self.wrong.append({"fault": fault, "reason": reason,
                                   "stderr": outcome.stderr[-400:]})
            elif not has_started:
                self.ends["not started"] += 1
            else:
                self.ends["true" if outcome.exit_code == 0 else
                          "killed" if outcome.exit_code == -signal.SIGKILL else "error"] += 1

    def add_check(self, what, reason, end="true"):
        """Adds a check that succeeded, or failed for a reason."""
        with self.lock:
            self.possible += 1
            self.injected += 1
            if reason:
                self.wrong.append({"fault": what, "reason": reason, "stderr": ""})
            else:
                self.ends[end] += 1

    def add_defects(self):
        """Adds the errors of the test servers: with them the results would not be reliable."""
        for defect in servers.DEFECTS:
            self.add_check("our own server", f"it failed: {defect}")
        servers.DEFECTS.clear()

    def passed_over(self):
        """Removes a fault whose run ended before it reached the fault."""
        with self.lock:
            self.possible -= 1

    def as_json(self):
        return {"possible": self.possible, "injected": self.injected, "ends": dict(self.ends),
                "wrong": self.wrong, "longest": round(self.longest, 1), "figures": self.figures}


def sandboxes(path, environment, workers=WORKERS, timeout=TIMEOUT):
    """A ready sandbox for each worker. The path calls the servers of the environment."""
    made = []
    for number in range(workers):
        sandbox = bare_sandbox(environment, number, path.timeout or timeout)
        path.prepare(sandbox, environment)
        made.append(sandbox)
    return made


def bare_sandbox(environment, number, timeout=TIMEOUT):
    directory = os.path.join(environment.directory, f"worker-{number}")
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory, mode=0o700)
    return Sandbox(directory, timeout)


def sweep(tally, boxes, faults, strike, effort):
    """Calls strike(sandbox, fault) for each chosen fault. Each worker has its own sandbox."""
    chosen = effort.chosen(faults)
    tally.possible += len(faults)

    def work(number):
        for fault in chosen[number::len(boxes)]:
            if effort.is_over():
                return
            strike(boxes[number], fault)
    with concurrent.futures.ThreadPoolExecutor(len(boxes)) as pool:
        for done in [pool.submit(work, number) for number in range(len(boxes))]:
            done.result()


def add_judged(tally, path, sandbox, environment, outcome, fault, is_early, must_report=True):
    """Checks the outcome, the files, and the next run. A program cannot report a fault before its
    main: there the loader or the C library ends it, with its own message or by a signal."""
    reason = judge.wrong(path, sandbox, outcome, must_report=must_report)
    has_started = not (reason and is_early and not outcome.stdout and outcome.exit_code)
    if not has_started:
        reason = None
    reason = reason or path.torn(sandbox) or judge.wrong_after(path, sandbox, environment)
    tally.add(outcome, fault, reason, has_started)


def tell_seed(name):
    progress(f"{name}: EXECCRED_SEED={SEED}")


def progress(text):
    print(text, file=sys.stderr, flush=True)
