# SPDX-License-Identifier: Apache-2.0
"""Changes every byte of an input, under AddressSanitizer and UBSan: a flipped bit, a missing byte,
a doubled byte, and an end of the input there. A right outcome is an error, or a complete credential
from the changed input or from the source. scripts/fuzz does the same with generated inputs."""
import glob
import os

import campaign
import judge
import path as paths

NAME = "inputs"
SAMPLE = 7
BUILDS = ("asan",)
SAMPLE_BUILDS = ("glibc",)  # no sanitizers: scripts/test --asan and scripts/fuzz have them
# Searching for leaks takes longer than the run, which ends anyway.
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}
KINDS = {"flipped": lambda data, at: data[:at] + bytes([data[at] ^ 0x01]) + data[at + 1:],
         "high bit set": lambda data, at: data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1:],
         "dropped": lambda data, at: data[:at] + data[at + 1:],
         "doubled": lambda data, at: data[:at + 1] + data[at:],
         "the end": lambda data, at: data[:at]}
EXEC_INFO = "KUBERNETES_EXEC_INFO"


class Input:
    """One input of a path: a file in the sandbox, or else KUBERNETES_EXEC_INFO."""

    def __init__(self, path, what, place=None):
        self.path = path
        self.name = f"{path.name}: {what}"
        self.program = path.program
        self.place = place

    def file(self, sandbox):
        found = glob.glob(sandbox.at(*self.place.split("/")), include_hidden=True)
        return found[0]

    def data(self, sandbox, environment):
        if self.place is None:
            return self.path.variables(sandbox, environment)[EXEC_INFO].encode()
        with open(self.file(sandbox), "rb") as file:
            return file.read()

    def run(self, sandbox, environment, data):
        if self.place is None:
            given = {EXEC_INFO: os.fsdecode(data.replace(b"\0", b""))}
            return self.path.run(sandbox, environment, variables={**NO_LEAKS, **given})
        with open(self.file(sandbox), "r+b") as file:
            file.truncate(0)
            file.write(data)
        return self.path.run(sandbox, environment, variables=NO_LEAKS)


class FromInput(paths.Path):
    """The path, with a check that also accepts a token from the changed input."""

    def __init__(self, path, data):
        self.__dict__ = dict(path.__dict__)
        self.data = data

    def wrong_answer(self, sandbox, stdout):
        status = paths.status_of(stdout)
        if status is None:
            return "no whole ExecCredential with exit code 0"
        token = status.get("token", "").encode()
        is_there = token and token in self.data
        return None if is_there else self.is_true(sandbox, stdout)


def units(chosen):
    of = {path.name: path for path in chosen}
    listed = [("token-file", "token", "in/volume/..1/token"),
              ("token-file", "exec info", None),
              ("static-secret, mounted Secret", "Secret", "in/volume/..1/token"),
              ("static-secret, kubeconfig", "kubeconfig", "in/kubeconfig"),
              ("oidc-federation, warm cache", "cache entry", "state/cache/*.credential"),
              ("google, cold cache", "account file", "in/account.json"),
              ("wrap, no cache", "the program's output", "in/token"),
              ("execcred get", "mapping", "in/mapping.json"),
              ("execcred get", "ClusterProfile", "in/new.json")]
    return [Input(of[name], what, place) for name, what, place in listed if name in of]


def run(unit, environment, effort):
    tally = campaign.Tally()
    boxes = campaign.sandboxes(unit.path, environment)
    original = {box: unit.data(box, environment) for box in boxes}
    least = min(len(data) for data in original.values())
    faults = [(kind, at) for kind in KINDS for at in range(least)]

    def strike(sandbox, fault):
        kind, at = fault
        if unit.place and unit.place.startswith("state/"):
            sandbox.reset()
        data = KINDS[kind](original[sandbox], at)
        outcome = unit.run(sandbox, environment, data)
        reason = judge.wrong(FromInput(unit.path, data), sandbox, outcome, codes={1, 2, 3})
        if unit.place and not unit.place.startswith("state/"):
            with open(unit.file(sandbox), "wb") as file:
                file.write(original[sandbox])
        tally.add(outcome, f"byte {at} {kind}", reason)

    campaign.sweep(tally, boxes, faults, strike, effort)
    return tally
