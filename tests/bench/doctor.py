# SPDX-License-Identifier: Apache-2.0
"""Compares execcred doctor for many clusters with xargs, which runs the same plugin as often.

    doctor.py --bin DIR [--clusters N] [--parallel P] [--rounds R]

No server listens on the port of the clusters, so this measures the plugin's runs and doctor's own
work: N runs of both, then N/2 of doctor, interleaved, R times. With --no-request doctor sends no
request. `execcred --version` is measured too. Prints one JSON object: medians, the peak of doctor's
memory, and the missed goals.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

SERVER = "https://127.0.0.1:1"
VERSION = "client.authentication.k8s.io/v1"
EXEC_INFO = {"apiVersion": VERSION, "kind": "ExecCredential",
             "spec": {"interactive": False, "cluster": {"server": SERVER}}}
# The exit code for connect-refused. All clusters fail with this cause.
UNAVAILABLE = 3
# Runs of execcred --version in each round.
VERSION_RUNS = 50
# Upper bounds: time relative to xargs, MB, time for N relative to N/2, milliseconds.
GOALS = {"times_xargs": 1.2, "rss_mb": 150, "times_half": 2.2, "version_ms": 3}


def profile(number):
    return {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
            "metadata": {"name": f"spoke-{number}", "namespace": "fleet"},
            "status": {"accessProviders": [{"name": "token-file", "cluster": {"server": SERVER}}]}}


def write_list(path, count):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": [profile(i) for i in range(count)]}, file)


def write_input(folder, plugin, count):
    """Writes the token, the mapping, both lists, and a line for each run by xargs."""
    token = folder / "token"
    token.write_text("opaque", encoding="utf-8")
    token.chmod(0o600)
    config = {"apiVersion": VERSION, "command": str(plugin), "args": [f"--token-file={token}"],
              "interactiveMode": "Never", "provideClusterInfo": True}
    (folder / "mapping.json").write_text(
        json.dumps({"providers": [{"name": "token-file", "execConfig": config}]}), encoding="utf-8")
    write_list(folder / "all.json", count)
    write_list(folder / "half.json", count // 2)
    (folder / "lines").write_text("run\n" * count, encoding="utf-8")


def run(arguments, expected, read=os.devnull):
    """Seconds, the peak RSS in MB and the CPU seconds of a program. Its output is dropped."""
    environment = {"PATH": os.environ["PATH"], "KUBERNETES_EXEC_INFO": json.dumps(EXEC_INFO)}
    files = [(os.POSIX_SPAWN_OPEN, 0, str(read), os.O_RDONLY, 0),
             (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
             (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    arguments = [str(argument) for argument in arguments]
    begin = time.monotonic()
    pid = os.posix_spawnp(arguments[0], arguments, environment, file_actions=files)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.monotonic() - begin
    if (code := os.waitstatus_to_exitcode(status)) != expected:
        sys.exit(f"'{' '.join(arguments)}' ended with {code} instead of {expected}")
    return seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def measure(given, folder):
    execcred, plugin = given.bin / "execcred", given.bin / "execcred-token-file"
    write_input(folder, plugin, given.clusters)

    def doctor(name):
        return run([execcred, "doctor", "-m", folder / "mapping.json", "-f", folder / name, "--no-request",
                    f"--parallel={given.parallel}"], UNAVAILABLE)

    whole, half, xargs, version = [], [], [], []
    for _ in range(given.rounds):
        xargs.append(run(["xargs", "-P", given.parallel, "-I", "{}", plugin,
                          f"--token-file={folder}/token"], 0, folder / "lines"))
        whole.append(doctor("all.json"))
        half.append(doctor("half.json"))
        version += [run([execcred, "--version"], 0) for _ in range(VERSION_RUNS)]
    return {"xargs": xargs, "doctor": whole, "half": half, "version": version}


def result_of(runs):
    seconds = {name: statistics.median(one[0] for one in ran) for name, ran in runs.items()}
    cpu = {name: statistics.median(one[2] for one in ran) for name, ran in runs.items()}
    measured = {"times_xargs": round(seconds["doctor"] / seconds["xargs"], 2),
                "times_half": round(seconds["doctor"] / seconds["half"], 2),
                "rss_mb": round(max(one[1] for one in runs["doctor"]), 1),
                "version_ms": round(seconds["version"] * 1000, 2)}
    return {"xargs_seconds": round(seconds["xargs"], 2), "doctor_seconds": round(seconds["doctor"], 2),
            "half_seconds": round(seconds["half"], 2),
            "xargs_cpu_seconds": round(cpu["xargs"], 2), "doctor_cpu_seconds": round(cpu["doctor"], 2),
            "version_cpu_ms": round(cpu["version"] * 1000, 2), **measured,
            "missed": [name for name, goal in GOALS.items() if measured[name] > goal]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--clusters", type=int, default=10_000)
    parser.add_argument("--parallel", default="64")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = measure(given, pathlib.Path(folder))
    json.dump({"clusters": given.clusters, "parallel": int(given.parallel), "rounds": given.rounds,
               "load_before": round(LOAD, 2), **result_of(runs)}, sys.stdout, indent=2)
    print()


LOAD = os.getloadavg()[0]
if __name__ == "__main__":
    main()
