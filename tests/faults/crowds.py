# SPDX-License-Identifier: Apache-2.0
"""A crowd on a few keys: processes of execcred-oidc-federation that start at once and again and
again, some of which are killed, before a provider that fails at random. One call a window a key,
nobody gets another's token, and what lies in the cache afterwards is bounded, also where each
process has a key of its own."""
import collections
import os
import random
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
KEYS = 10
# Processes of a crowd: of a sample, and in full.
SAMPLE_SIZE, FULL_SIZE = 100, 1000
ROUNDS = 5
TIMEOUT = 20
# Seconds in which a failure is remembered, at least, less what the clocks' resolution takes.
WINDOW = 2 - 0.1
KILLED = 0.1  # of the processes
FAILING = 0.4  # of the provider's answers


class Provider:
    """Gives each client its own token, or fails. `calls` has for each client when each call came,
    when it was answered, and whether it failed."""

    def __init__(self, certificate, key):
        self.lock = threading.Lock()
        self.calls = collections.defaultdict(list)
        self.random = random.Random(1)
        self.server = servers.serve_json(self.answer, certificate, key)

    def answer(self, _, __, body):
        came = time.monotonic()
        client = urllib.parse.parse_qs(body)["client_id"][0]
        with self.lock:
            fails = self.random.random() < FAILING
            call = {"came": came, "failed": fails}
            self.calls[client].append(call)
        time.sleep(0.05)  # so that others come meanwhile
        call["answered"] = time.monotonic()
        if fails:
            return 503, {"error": "temporarily_unavailable"}
        return 200, {"access_token": f"token-of-{client}", "token_type": "Bearer",
                     "expires_in": 3600}


class Crowd:
    name = "oidc-federation"
    program = "execcred-oidc-federation"

    def __init__(self, box, environment):
        self.box = box
        self.environment = environment
        self.provider = Provider(environment.servers.stand_in_ca, environment.servers.stand_in_key)
        self.killed = collections.Counter()
        self.random = random.Random(2)
        box.write("secret", "the-secret")

    def start(self, client):
        # Each process has a client of its own beside it, as kubectl's plugins have: the shell.
        arguments = [
            "/bin/sh", "-c", '"$0" "$@" & wait $!',
            os.path.join(self.environment.bin, self.program), "--flow=client-credentials",
            f"--token-url={self.provider.server.url}/token", f"--client-id={client}",
            f"--ca-file={self.environment.servers.stand_in_ca}", f"--timeout={TIMEOUT}s",
            f"--client-secret-file={self.box.at('in', 'secret')}",
            f"--cache-dir={self.box.at('state', 'cache')}"]
        return subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", **plugin_paths.plugin(
                "", "", None, None, None).variables(self.box, self.environment)},
            start_new_session=True)

    def release(self, clients, tally):
        """All at once. Some are killed after a while of less than the provider's answer takes."""
        processes = [(client, self.start(client)) for client in clients]
        for client, process in processes:
            if self.random.random() < KILLED:
                time.sleep(self.random.random() * 0.002)
                os.killpg(process.pid, signal.SIGKILL)
                self.killed[client] += 1
        for client, process in processes:
            stdout, stderr = process.communicate()
            tally.add_check(f"a process of {client}",
                            wrong_end(client, process.returncode, stdout, stderr))

    def amplified(self):
        """Calls that came although the one before was good, or failed within the window, beside
        those that a killed process may have caused."""
        extra = 0
        for client, calls in self.provider.calls.items():
            calls = sorted(calls, key=lambda call: call["came"])
            early = sum(1 for before, call in zip(calls, calls[1:])
                        if not before["failed"] or
                        call["came"] < before.get("answered", before["came"]) + WINDOW)
            extra += max(0, early - self.killed[client])
        return extra


def wrong_end(client, code, stdout, stderr):
    if code == -signal.SIGKILL:
        return None
    if code == 0:
        status = status_of(stdout)
        if status is None:
            return (f"no whole ExecCredential with exit code 0, but {len(stdout)} bytes; " +
                    stderr.decode()[-200:])
        if status.get("token") != f"token-of-{client}":
            return "another's credential"
        return None
    if stdout:
        return "a part of an answer with an error"
    return None if code == 3 else f"exit code {code}: {stderr.decode()[-200:]}"


def names_in_cache(box):
    return os.listdir(box.at("state", "cache"))


def units(chosen):
    return [Crowd] if any(path.program == Crowd.program for path in chosen) else []


def run(unit, environment, effort):
    tally = campaign.Tally()
    size = FULL_SIZE if effort.most is None else SAMPLE_SIZE
    crowd = unit(campaign.bare_sandbox(environment, 0), environment)
    for turn in range(ROUNDS):
        # New keys each time: the provider fails for them as at first.
        crowd.release([f"key-{turn}-{number % KEYS}" for number in range(size // ROUNDS)], tally)
    calls = sum(len(each) for each in crowd.provider.calls.values())
    extra = crowd.amplified()
    tally.add_check("calls of the provider", extra and f"{extra} calls within a window")
    files = len(names_in_cache(crowd.box))
    tally.figures += [{"processes": size, "keys": KEYS, "calls": calls,
                       "killed": sum(crowd.killed.values()), "files": files}]
    # A key's credential, failure and lock, a mark for each client, and what a killed process left.
    most = size + 3 * KEYS * ROUNDS + sum(crowd.killed.values())
    tally.add_check("files of a few keys", files > most and f"{files} files")
    own = [f"own-{number}" for number in range(size // ROUNDS)]
    crowd.release(own, tally)
    more = len(names_in_cache(crowd.box)) - files
    tally.figures += [{"processes": len(own), "keys": len(own), "files": more}]
    tally.add_check("files of a key each", more > 4 * len(own) and f"{more} files")
    crowd.provider.server.shutdown()
    return tally
