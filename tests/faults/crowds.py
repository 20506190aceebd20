# SPDX-License-Identifier: Apache-2.0
"""A crowd on a few keys: processes of execcred-oidc-federation that start at once and again and
again, some of which are killed, before a provider that fails at random and whose tokens soon end.
One call a window a key, nobody gets another's token or one that has ended, each key gets one, and
what lies in the cache afterwards is bounded, also where each process has a key of its own."""
import collections
import heapq
import itertools
import os
import random
import resource
import signal
import subprocess
import threading
import time
import urllib.parse

import campaign
import plugin_paths
import servers
from path import status_of

NAME = "crowds"
SAMPLE = 1
BUILDS = ("glibc", "musl")
WEIGHT = 0  # it has a time of its own
KEYS = 10
# Of the keys, those whose processes are all left alone: for them there is no extra call at all.
CALM = (0, 5)
# Processes at once: of a sample, and in full. A thousand that each load shared libraries need
# longer than a run may take.
SAMPLE_SIZE, FULL_SIZES = 100, {"glibc": 200, "musl": 1000}
# How long crowds follow each other: of a sample, and in full.
SAMPLE_SECONDS, FULL_SECONDS = 6, {"glibc": 120, "musl": 600}
# Until each key has a credential, this is added at most.
MORE_SECONDS = 30
TIMEOUT = 20
LIFETIME = 30  # of a token
# When a good answer may be followed by a call: a fifth of the lifetime before its end, and up to
# 20 % of that earlier.
FRESH = LIFETIME - 1.2 * LIFETIME / 5
# Seconds for which a first failure is remembered, at least; a second one twice as long.
WINDOW = 2
RESOLUTION = 0.1  # of the clocks that are compared
KILLED = 0.1  # of the processes, unless they have ended
LONGEST_LIFE = 0.2  # seconds, of a process that is to be killed
FAILING = 0.4  # of the provider's answers, but never a third time in succession for one key
OWN = 10  # one of so many processes has a key of its own


class Call:
    """Of the provider. `failures` are those in succession for its key, with this one."""

    def __init__(self, came, failures):
        self.came = came
        self.failures = failures
        self.answered = None

    def may_follow(self):
        """When the next call may come."""
        if not self.failures:
            return self.came + FRESH - RESOLUTION
        # Of one that is not yet answered there can be no memory.
        return (self.answered or self.came) + WINDOW * 2 ** (self.failures - 1) - RESOLUTION


class Provider:
    """Gives each client a token of its own in each call, or fails. `calls` has the calls of each
    client, `issued` when each token was issued."""

    def __init__(self, certificate, key):
        self.lock = threading.Lock()
        self.calls = collections.defaultdict(list)
        self.issued = {}
        self.random = random.Random(1)
        self.server = servers.serve_json(self.answer, certificate, key)

    def answer(self, request):
        came = time.monotonic()
        client = urllib.parse.parse_qs(request.body)["client_id"][0]
        with self.lock:
            calls = self.calls[client]
            before = calls[-1].failures if calls else 0
            fails = before < 2 and self.random.random() < FAILING
            call = Call(came, before + 1 if fails else 0)
            calls.append(call)
            token = f"token-of-{client}-{len(calls)}"
            self.issued[token] = came
        time.sleep(0.05)  # so that others come meanwhile
        call.answered = time.monotonic()
        if fails:
            return 503, {"error": "temporarily_unavailable"}
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME}


class Crowd:
    name = "oidc-federation"
    program = "execcred-oidc-federation"

    def __init__(self, box, environment):
        self.box = box
        self.environment = environment
        self.provider = Provider(environment.servers.stand_in_ca, environment.servers.stand_in_key)
        self.killed = collections.Counter()
        self.given = collections.Counter()
        self.started = []
        self.random = random.Random(2)
        box.write("secret", "the-secret")

    def start(self, client):
        # Each process has a client of its own beside it, as kubectl's plugins have: the shell.
        arguments = [
            "/bin/sh", "-c", '"$0" "$@" & wait $!',
            os.path.join(self.environment.bin, self.program), "--flow=client-credentials",
            "--client-auth=client_secret_post",
            f"--token-url={self.provider.server.url}/token", f"--client-id={client}",
            f"--ca-file={self.environment.servers.stand_in_ca}", f"--timeout={TIMEOUT}s",
            f"--client-secret-file={self.box.at('in', 'secret')}",
            f"--cache-dir={self.box.at('state', 'cache')}"]
        self.started.append(time.monotonic())
        return self.started[-1], subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", **plugin_paths.plugin(
                "", "", None, None, None).variables(self.box, self.environment)},
            start_new_session=True)

    def release(self, clients, calm, tally):
        """All at once. Some are killed after a while, of which the longest is some runs' length."""
        processes, victims = [], []
        for client in clients:
            started, process = self.start(client)
            processes.append((client, started, process))
            if client not in calm and self.random.random() < KILLED:
                heapq.heappush(victims, (started + self.random.random() * LONGEST_LIFE,
                                         process.pid))
            kill_the_due(victims)
        while victims:
            time.sleep(0.001)
            kill_the_due(victims)
        for client, started, process in processes:
            stdout, stderr = process.communicate()
            reason = self.wrong_end(client, started, process.returncode, stdout, stderr.decode())
            end = {0: "true", -signal.SIGKILL: "killed"}.get(process.returncode, "error")
            self.killed[client] += end == "killed"
            self.given[client] += end == "true" and not reason
            tally.add_check(f"a process of {client}", reason, end)

    def wrong_end(self, client, started, code, stdout, stderr):
        if code == -signal.SIGKILL:
            return None
        if code == 0:
            status = status_of(stdout)
            if status is None:
                return (f"no whole ExecCredential with exit code 0, but {len(stdout)} bytes; " +
                        stderr[-200:])
            token = status.get("token", "")
            if not token.startswith(f"token-of-{client}-"):
                return "another's credential"
            issued = self.provider.issued.get(token)
            if issued is None:
                return "a credential that nobody issued"
            return "a credential that had ended" if issued + LIFETIME < started else None
        if stdout:
            return "a part of an answer with an error"
        # The provider's answer, or that it is remembered; any other failure is not its own.
        if code == 3 and "temporarily_unavailable" in stderr:
            return None
        return f"exit code {code}: {stderr[-300:]}"

    def extra_calls(self, client):
        """Those that came before the one before them allows it."""
        calls = sorted(self.provider.calls[client], key=lambda call: call.came)
        return [f"{call.came - before.came:.2f} s after one that " +
                (f"failed, the {before.failures}." if before.failures else "was good")
                for before, call in zip(calls, calls[1:]) if call.came < before.may_follow()]


def kill_the_due(victims):
    """A process that has ended, and is not yet waited for, does not feel it."""
    while victims and victims[0][0] <= time.monotonic():
        os.killpg(heapq.heappop(victims)[1], signal.SIGKILL)


def names_in_cache(box):
    return os.listdir(box.at("state", "cache"))


def allow_many_files():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def units(chosen):
    return [Crowd] if any(path.program == Crowd.program for path in chosen) else []


def run(unit, environment, effort):
    tally = campaign.Tally()
    allow_many_files()
    is_sample = effort.most is not None
    size = SAMPLE_SIZE if is_sample else FULL_SIZES[environment.build]
    seconds = SAMPLE_SECONDS if is_sample else FULL_SECONDS[environment.build]
    crowd = unit(campaign.bare_sandbox(environment, 0), environment)
    keys = [f"key-{number}" for number in range(KEYS)]
    calm = [keys[number] for number in CALM]
    began = time.monotonic()
    own = 0
    for turn in itertools.count(1):
        rotating = [f"own-{turn}-{number}" for number in range(size // OWN)]
        own += len(rotating)
        of_keys = [keys[number % KEYS] for number in range(size - len(rotating))]
        crowd.release(of_keys + rotating, calm, tally)
        took = time.monotonic() - began
        is_over = took > seconds
        if is_over and (all(crowd.given[key] for key in keys) or took > seconds + MORE_SECONDS):
            break
        time.sleep(WINDOW if is_sample else crowd.random.random() * WINDOW)
    calls = sum(len(crowd.provider.calls[key]) for key in keys)
    extra = {client: crowd.extra_calls(client) for client in list(crowd.provider.calls)}
    for key in keys:
        tally.add_check(f"credentials of {key}", not crowd.given[key] and "nobody got one")
    for client, early in extra.items():
        tally.add_check(f"calls of {client}", len(early) > crowd.killed[client] and
                        f"{len(early)} within a window, {crowd.killed[client]} killed: {early[:5]}")
    tally.add_check("calls of the provider", calls < KEYS and f"{calls} calls for {KEYS} keys")
    names = names_in_cache(crowd.box)
    tally.add_check("files", wrong_files(crowd, names, own))
    tally.figures += [{"processes": len(crowd.started), "atOnce": size, "keys": KEYS,
                       "ownKeys": own, "seconds": round(time.monotonic() - began), "calls": calls,
                       "credentials": sum(crowd.given[key] for key in keys),
                       "extraCalls": sum(map(len, extra.values())),
                       "killed": sum(crowd.killed.values()), "files": len(names)}]
    campaign.progress(f"  {tally.figures[-1]}")
    crowd.provider.server.shutdown()
    return tally


def wrong_files(crowd, names, own):
    """A mark is there for each process that was given the present entry, at most; a key has a
    credential, a failure and a lock; a killed process leaves a new file."""
    marks = sum(name.endswith(".seen") for name in names)
    recent = sum(started > time.monotonic() - LIFETIME - TIMEOUT for started in crowd.started)
    most = 3 * (KEYS + own) + sum(crowd.killed.values())
    if marks > recent:
        return f"{marks} marks of {recent} processes"
    return len(names) - marks > most and f"{len(names) - marks} files, where {most} may be"
