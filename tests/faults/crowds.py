# SPDX-License-Identifier: Apache-2.0
"""Crowds of processes with few cache keys: many processes of execcred-oidc-federation start at
once, again and again. Some are killed, and the provider fails at random and issues short-lived
tokens. In each window a key costs one call. No process gets a token of another key or an expired
one. Each key gets a token. The number of cache files is bounded, even if each process has its own
key."""
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
ALONE = True  # a hundred processes at once
BUILDS = ("glibc", "musl")
WEIGHT = 0  # its time is fixed below
KEYS = 10
# The keys whose processes are never killed. They must cost no extra call at all.
CALM = (0, 5)
# Processes at once, in a sample and in a full run. With shared libraries to load, a thousand
# processes would need longer than their time limit.
SAMPLE_SIZE, FULL_SIZES = 100, {"glibc": 200, "musl": 1000}
# For how many seconds crowds follow each other, in a sample and in a full run.
SAMPLE_SECONDS, FULL_SECONDS = 6, {"glibc": 120, "musl": 600}
# At most this is added until each key has a credential.
MORE_SECONDS = 30
TIMEOUT = 20
LIFETIME = 30  # of a token
# Seconds after a successful call when the next call is allowed: a fifth of the lifetime before the
# token's end, and up to 20 % of that time earlier.
FRESH = LIFETIME - 1.2 * LIFETIME / 5
# Seconds for which a first failure is cached at least. A second one is cached twice as long.
WINDOW = 2
RESOLUTION = 0.1  # seconds, of the compared clocks
KILLED = 0.1  # the share of processes to kill, if they have not ended
LONGEST_LIFE = 0.2  # seconds until such a process is killed
FAILING = 0.4  # the share of failed answers, but at most two in a row for one key
OWN = 10  # one of this many processes has its own key


class Call:
    """A call of the provider. `failures` counts its key's failures in a row, including this one."""

    def __init__(self, came, failures):
        self.came = came
        self.failures = failures
        self.answered = None

    def may_follow(self):
        """When the next call is allowed."""
        if not self.failures:
            return self.came + FRESH - RESOLUTION
        # A failure that is not yet answered cannot be in the cache.
        return (self.answered or self.came) + WINDOW * 2 ** (self.failures - 1) - RESOLUTION


class Provider:
    """Issues another token in each call, with the client in it, or fails. `calls` has the calls of
    each client, `issued` the time at which each token was issued."""

    def __init__(self, certificate, key):
        self.lock = threading.Lock()
        self.calls = collections.defaultdict(list)
        self.issued = {}
        self.random = random.Random(f"{campaign.SEED} provider")
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
        time.sleep(0.05)  # so that other calls arrive in this time
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
        self.random = random.Random(f"{campaign.SEED} crowd")
        box.write("secret", "the-secret")

    def start(self, client):
        # Each process has its own parent, the shell, as each kubectl is the parent of its plugin.
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
        """Starts all processes at once. Some are killed after up to LONGEST_LIFE."""
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
        # The provider's error, also from the cache, is right. Any other failure is wrong.
        if code == 3 and "temporarily_unavailable" in stderr:
            return None
        return f"exit code {code}: {stderr[-300:]}"

    def extra_calls(self, client):
        """The calls that were sent earlier than the previous call allows."""
        calls = sorted(self.provider.calls[client], key=lambda call: call.came)
        return [f"{call.came - before.came:.2f} s after one that " +
                (f"failed, the {before.failures}." if before.failures else "was good")
                for before, call in zip(calls, calls[1:]) if call.came < before.may_follow()]


def kill_the_due(victims):
    """Has no effect on a process that has ended and is not yet waited for."""
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
    campaign.tell_seed(NAME)
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
    """Checks the number of files: at most one mark for each process that got the current entry; a
    credential, a failure and a lock for each key; a new file for each killed process."""
    marks = sum(name.endswith(".seen") for name in names)
    recent = sum(started > time.monotonic() - LIFETIME - TIMEOUT for started in crowd.started)
    most = 3 * (KEYS + own) + sum(crowd.killed.values())
    if marks > recent:
        return f"{marks} marks of {recent} processes"
    return len(names) - marks > most and f"{len(names) - marks} files, where {most} may be"
