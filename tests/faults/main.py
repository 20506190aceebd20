# SPDX-License-Identifier: Apache-2.0
"""Injects faults into the programs of several builds and prints the results. scripts/faults runs
it, and describes the arguments."""
import argparse
import concurrent.futures
import os
import platform
import shlex
import shutil
import sys
import tempfile
import time

import allocations
import campaign
import children
import clocks
import crowds
import descriptors
import growth
import inputs
import kills
import pairs
import paths
import profiles
import promises
import replies
import report
import result_file
import servers
import short_results
import spent
import syscalls
import waits
from path import TIMEOUT

# In this order: first the campaigns that have no share of the time limit.
CAMPAIGNS = {
    "descriptors": descriptors, "spent": spent, "children": children, "promises": promises,
    "growth": growth, "profiles": profiles, "short-results": short_results, "clocks": clocks,
    "inputs": inputs, "waits": waits, "replies": replies, "kills": kills, "syscalls": syscalls,
    "pairs": pairs, "allocations": allocations, "crowds": crowds}
# Seconds that a sample should take on a quiet machine, without the builds.
SAMPLE_LIMIT = 180
# How many units of a sample run at the same time.
SAMPLE_AT_ONCE = 3
BUILDS = {"glibc": "preset release, dynamic", "musl": "preset release-x86_64, static",
          "asan": "preset asan: AddressSanitizer, UndefinedBehaviorSanitizer",
          "dev": "preset dev: the cases of scripts/test"}


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/faults")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--campaign", action="append", choices=CAMPAIGNS)
    parser.add_argument("--pairs", action="append_const", const="pairs", dest="campaign")
    parser.add_argument("--program", action="append")
    for build in BUILDS:
        parser.add_argument(f"--{build}", type=os.path.abspath, help="where its programs are")
    parser.add_argument("--tests", required=True, type=os.path.abspath,
                        help="where the test servers are")
    parser.add_argument("--results", required=True, help="a JSON file with the figures")
    parser.add_argument("--kept-results", help="that from which the page is written")
    parser.add_argument("--page", help="what --update-docs writes into")
    parser.add_argument("--update-docs", action="store_true")
    options = parser.parse_args()
    if options.update_docs and not options.full:
        parser.error("--update-docs writes a --full run")
    return options


def units_of(module, chosen, is_sample):
    if hasattr(module, "units"):
        return module.units(chosen)
    if hasattr(module, "applies"):
        return [path for path in chosen if module.applies(path)]
    return [path for path in chosen if not (is_sample and path.is_for_replies)]


def work_of(options):
    """(campaign, build, unit) for everything to run."""
    chosen = [path for path in paths.ALL
              if not options.program or {path.program, path.name} & set(options.program)]
    work = []
    for name in options.campaign or CAMPAIGNS:
        module = CAMPAIGNS[name]
        if not (options.full or options.campaign or module.SAMPLE):
            continue
        units = units_of(module, chosen, not options.full and not options.program)
        if not options.full and hasattr(module, "SAMPLE_UNITS"):
            units = units[:module.SAMPLE_UNITS]
        builds = [build for build in module.BUILDS if getattr(options, build)]
        if not options.full and not builds:
            builds = [build for build in getattr(module, "SAMPLE_BUILDS", ())
                      if getattr(options, build)]
        work += [(name, build, unit) for build in builds for unit in units]
    return work


def weight_of(name):
    """How many shares of the time a campaign gets for each unit. 0 if it has no time limit."""
    return getattr(CAMPAIGNS[name], "WEIGHT", 1)


def limit_of(module, unit):
    """The time limit in seconds that is given to the program, or that it always has."""
    return getattr(unit, "timeout", None) or getattr(module, "TIMEOUT", TIMEOUT)


def run_unit(options, work, directory, served, effort):
    name, build, unit = work
    module = CAMPAIGNS[name]
    environment = campaign.Environment(directory, getattr(options, build), build, served,
                                       options.tests)
    started = time.monotonic()
    tally = module.run(unit, environment, effort)
    tally.add_defects()
    campaign.progress(
        f"{name}, {build}, {unit.name}: {tally.injected} of {tally.possible} faults, "
        f"{len(tally.wrong)} wrong, {dict(tally.ends)}, {time.monotonic() - started:.0f} s")
    for each in tally.wrong:
        campaign.progress(f"  WRONG {each['fault']}: {each['reason']}\n"
                          f"    {each['stderr'].strip()}")
    return {"campaign": name, "build": build, "path": unit.name, "program": unit.program,
            "is_path": unit in paths.ALL, "limit": limit_of(module, unit), **tally.as_json()}


def run_full(options, directory, served):
    rows = []
    work = work_of(options)
    deadline = options.minutes and time.monotonic() + 60 * options.minutes
    for at, each in enumerate(work):
        effort = campaign.Effort()
        if deadline:
            shares = [weight_of(other) for other, _, _ in work[at:]]
            effort = campaign.Effort(seconds=max(1, deadline - time.monotonic()) * shares[0] /
                                     max(1, sum(shares)))
        rows.append(run_unit(options, each, directory, served, effort))
    return rows


def run_sample(options, directory, served):
    """Several units at a time, because most runs wait: each has its own folder. What changes the
    servers of all, or needs the machine, runs after them."""
    def run_in(at, each):
        own = os.path.join(directory, f"unit-{at}")
        os.mkdir(own, mode=0o700)
        return run_unit(options, each, own, served,
                        campaign.Effort(most=CAMPAIGNS[each[0]].SAMPLE or 20))
    work = list(enumerate(work_of(options)))
    alone = [(at, each) for at, each in work if getattr(CAMPAIGNS[each[0]], "ALONE", False)]
    with concurrent.futures.ThreadPoolExecutor(SAMPLE_AT_ONCE) as pool:
        started = [pool.submit(run_in, at, each) for at, each in work if (at, each) not in alone]
        rows = [each.result() for each in started]
    return rows + [run_in(at, each) for at, each in alone]


def command_of(options):
    """The command that repeats the run."""
    words = ["scripts/faults"]
    if options.full:
        words.append("--full")
    if options.minutes:
        words += ["--minutes", f"{options.minutes:g}"]
    for name in options.campaign or []:
        words += ["--campaign", name]
    for name in options.program or []:
        words += ["--program", name]
    return shlex.join(words)


def told_of(options, rows):
    extent = f"`{command_of(options)}`, "
    if options.minutes:
        extent += "in which each campaign tries what it can in its share of the time"
    else:
        extent += "every fault" if options.full else "a sample"
    if options.minutes and any(row["campaign"] == "crowds" for row in rows):
        extent += ", and then crowds run"
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "extent": extent,
            "machine": f"{os.cpu_count()} cores, Linux {platform.release()}"}


def main():
    options = arguments()
    if forgotten := paths.without_path():
        sys.exit(f"tests/faults/plugin_paths.py has no path of {', '.join(forgotten)}")
    began = time.monotonic()
    # Not below a directory that others can write: plugins refuse inputs and caches there.
    directory = tempfile.mkdtemp(prefix="execcred-faults-")
    served = servers.Servers(options.tests, directory)
    try:
        rows = (run_full if options.full else run_sample)(options, directory, served)
    finally:
        served.stop()
        shutil.rmtree(directory, ignore_errors=True)
    results = {"told": told_of(options, rows), "rows": rows,
               "builds": {build: what for build, what in BUILDS.items()
                          if getattr(options, build)}}
    if options.update_docs:
        kept = result_file.load(options.kept_results)
        if options.campaign or options.program:
            results = report.merged(kept, results, options.program or options.campaign)
        # The recorded output of scripts has its own date and commit.
        results["scripts"] = kept.get("scripts", {})
    tried = {(row["campaign"], row["build"]) for row in results["rows"]}
    results["leftOut"] = [[name, build] for name, module in CAMPAIGNS.items()
                          for build in module.BUILDS if (name, build) not in tried]
    if options.update_docs:
        result_file.save(options.kept_results, results)
        report.update(options.page, results)
    result_file.save(options.results, results)
    injected = sum(each["injected"] for each in rows)
    wrong = sum(len(each["wrong"]) for each in rows)
    took = time.monotonic() - began
    if not (options.full or options.campaign) and took > SAMPLE_LIMIT:
        print(f"warning: the sample took {took:.0f} s, which is more than {SAMPLE_LIMIT} s")
    print(f"{injected - wrong} passed, {wrong} failed")
    return 1 if wrong or not injected else 0


if __name__ == "__main__":
    sys.exit(main())
