# SPDX-License-Identifier: Apache-2.0
"""The last output of the scripts that prove promises, with the date and the commit.

    records.py RESULTS NAME[=LOG]|FOLDER...    runs each script, or reads its log, or NAME.log of each that
                                               the folder has, and keeps its figures in the results
"""
import os
import re
import subprocess
import sys
import time

import result_file

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LOGS = os.path.join(ROOT, "build", "faults", "records")
CLOSING = re.compile(r"^\d+ passed, \d+ failed(, \d+ skipped)?$", re.MULTILINE)


class Absent(Exception):
    """A log has no line for a figure. The script's lines and the pattern differ."""


def counted(pattern, text):
    found = re.findall(pattern, text, re.MULTILINE)
    if not found:
        raise Absent(pattern)
    return found


def closing(text):
    found = [match[0] for match in CLOSING.finditer(text)]
    return found[-1] if found else None


def of_storm(text):
    lines = counted(r"^(?:ok|not ok) +(.+?) +(\d+)  \(promised: ", text)

    def figures(*names):
        for name in names:
            if name not in dict(lines):
                raise Absent(name)
        return "; ".join(f"{what}: {value}" for what, value in lines if what in names)
    size = counted(r"^(\d+) processes at once on a cold key", text)
    return {2: f"{size[0]} processes; " + figures(
                "calls of the provider", "runs of the program", "TokenRequests",
                "CertificateSigningRequests"),
            3: figures("calls of the provider in any window"),
            11: figures("refreshes in the busiest second", "waits of a key for another")}


def of_fuzz(text):
    rows = counted(r"^(?:ok|not ok) +\S+ +(\d+) runs .* (\d+) crashes$", text)
    runs, crashes = (sum(int(row[at]) for row in rows) for at in (0, 1))
    return {19: f"{len(rows)} targets, {runs:,} runs, {crashes} crashes"}


def of_controls(text):
    every = counted(r"^(ok|not ok) ", text)
    noticed = every.count("ok")
    return {25: f"{noticed} of {len(every)} ({100 * noticed // len(every)} %)"}


def of_release(text):
    lines = counted(r"^(ok|not ok) (.*)$", text)

    def those(pattern):
        chosen = [verdict for verdict, what in lines if re.search(pattern, what)]
        if not chosen:
            raise Absent(pattern)
        return f"{len(chosen)} checks, {chosen.count('not ok')} failed"
    hardened = [(verdict, *what.rsplit(": ", 1)) for verdict, what in lines
                if re.search(r": (%s)$" % "|".join(hardening_properties()), what)]
    if not hardened:
        raise Absent("the properties of hardening.py --list")
    missing = sum(verdict == "not ok" for verdict, *_ in hardened)
    return {15: "verdicts compared with OpenSSL's: " + those(r"same verdict as OpenSSL") +
                "; servers with few algorithms: " + those(r"a server that supports only"),
            28: "the same bytes again: " + those(r"a build elsewhere|packing again") +
                "; signatures: " + those(r"^(verify|cosign): ") + "; SBOMs: " + those("SBOM"),
            29: f"{len({name for _, name, _ in hardened})} binaries, "
                f"{len({what for *_, what in hardened})} features, {missing} missing"}


def hardening_properties():
    listed = subprocess.run([sys.executable, "-B",
                             os.path.join(ROOT, "tests", "release", "hardening.py"), "--list"],
                            stdout=subprocess.PIPE, text=True, check=True)
    return [re.escape(each) for each in listed.stdout.split("\n") if each]


def of_e2e(text):
    suites = ("kubectl", "client-go", "clients", "kubectl-old", "javascript", "python")
    counts = {suite: len(counted(rf"^ok {suite}: ", text)) for suite in suites}
    return {27: ", ".join(f"{suite} {count}" for suite, count in counts.items()) + " checks"}


def of_fresh(text):
    took = counted(r"ended with exit code (\d+) after (\d+) s$", text)
    return {33: f"exit code {took[-1][0]}, {took[-1][1]} s"}


def of_simulation(text):
    (days, seeds), = counted(r"^(\d+) simulated days of 200 clusters, (seeds [\d and to]+):", text)
    (large, clusters), = counted(r"^(\d+) simulated days of (\d+) clusters: ", text)
    weeks, = counted(r"^(\d+) simulated times of three weeks: ", text)
    return {0: f"{int(days):,} days of 200 clusters ({int(days) / 365:.1f} years; {seeds}), "
               f"{large} days of {int(clusters):,}, {weeks} times three weeks"}


# For each name: the command, and a function that returns the figures by promise number.
SCRIPTS = {"storm": ("scripts/storm", of_storm), "fuzz": ("scripts/fuzz 600", of_fuzz),
           "controls": ("scripts/controls", of_controls),
           "release": ("scripts/release --check", of_release), "e2e": ("scripts/e2e", of_e2e),
           "demo": (".ci/fresh scripts/demo", of_fresh),
           "simulation": ("scripts/nightly simulation", of_simulation)}


def git(*arguments):
    return subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, *arguments],
                          stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def run(name):
    """Runs the script and returns the path of its log."""
    os.makedirs(LOGS, exist_ok=True)
    log = os.path.join(LOGS, f"{name}.log")
    with open(log, "w", encoding="utf-8") as file:
        subprocess.run(SCRIPTS[name][0].split(), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file,
                       stderr=subprocess.STDOUT, check=False)
    return log


def record(name, log):
    """The record of a run. None if the script did not print its closing line."""
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if not closing(text):
        return None
    ended = time.gmtime(os.path.getmtime(log))
    # The commit at the time of the log.
    commit = git("rev-list", "-1", "--abbrev-commit",
                 f"--before={time.strftime('%Y-%m-%dT%H:%M:%SZ', ended)}", "HEAD")
    return {"date": time.strftime("%Y-%m-%d", ended), "commit": commit, "closing": closing(text),
            "figures": {str(number): figure
                        for number, figure in SCRIPTS[name][1](text).items()}}


def sentence(records, script, number):
    """The recorded run of a script as a text, with the figure of a promise."""
    found = (records or {}).get(script)
    if not found:
        return f"{script}: not run"
    figure = found["figures"].get(str(number))
    return (f"{script} on {found['date']}, commit {found['commit']}: " +
            (f"{figure}; " if figure else "") + found["closing"])


def logs_of(argument):
    """NAME=LOG for each log of a script in the folder; another argument stays as it is."""
    if not os.path.isdir(argument):
        return [argument]
    logs = {name: os.path.join(argument, f"{name}.log") for name in SCRIPTS}
    return [f"{name}={log}" for name, log in logs.items() if os.path.exists(log)]


def main(results, *asked):
    kept = result_file.load(results)
    status = 0
    for each in (one for argument in asked for one in logs_of(argument)):
        name, _, log = each.partition("=")
        if name not in SCRIPTS:
            print(f"scripts/faults: error: no script is called '{name}'; there are " +
                  ", ".join(SCRIPTS), file=sys.stderr)
            return 2
        try:
            found = record(name, log or run(name))
        except Absent as pattern:
            status = 1
            print(f"scripts/faults: error: '{SCRIPTS[name][0]}' printed no line that matches "
                  f"'{pattern}'", file=sys.stderr)
            continue
        if found:
            kept.setdefault("scripts", {})[SCRIPTS[name][0]] = found
            print(sentence(kept["scripts"], SCRIPTS[name][0], None))
        else:
            status = 1
            print(f"scripts/faults: error: '{SCRIPTS[name][0]}' printed no closing line",
                  file=sys.stderr)
    result_file.save(results, kept)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
