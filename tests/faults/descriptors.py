# SPDX-License-Identifier: Apache-2.0
"""A caller with 500 open, inheritable descriptors runs `execcred get`. The plugin must not inherit
any of them."""
import json
import os
import subprocess

import campaign
import command_paths
from path import text_of

NAME = "descriptors"
SAMPLE = 1
BUILDS = ("glibc", "musl")
WEIGHT = 0  # no share of the time limit
COUNT = 500
PLUGIN = """#!/bin/sh
ls -l /proc/$$/fd >'{seen}'
exec '{program}' "$@"
"""


class Caller:
    name = "execcred get"
    program = "execcred"


def units(chosen):
    return [Caller] if any(path.name == Caller.name for path in chosen) else []


def run(unit, environment, effort):
    del unit, effort
    tally = campaign.Tally()
    box = campaign.bare_sandbox(environment, 0)
    path = next(each for each in command_paths.PATHS if each.name == Caller.name)
    path.make(box, environment)
    seen = box.at("seen")
    plugin = box.write("plugin", PLUGIN.format(
        seen=seen, program=os.path.join(environment.bin, "execcred-token-file")), 0o755)
    mapping = json.loads(text_of(box.at("in", "mapping.json")))
    mapping["providers"][0]["execConfig"]["command"] = plugin
    box.write("mapping.json", json.dumps(mapping), 0o644)
    marked = box.write("marked", "of the caller")
    descriptors = [os.open(marked, os.O_RDONLY) for _ in range(COUNT)]
    ended = subprocess.run(path.command(box, environment), env={"PATH": "/usr/bin:/bin"},
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                           pass_fds=descriptors, check=False)
    for descriptor in descriptors:
        os.close(descriptor)
    tally.add_check("the run", path.wrong_answer(box, ended.stdout))
    leaked = text_of(seen).count(marked)
    tally.add_check(f"{COUNT} descriptors", leaked and f"{leaked} descriptors reached the plugin")
    tally.figures.append({"descriptors": COUNT, "leaked": leaked})
    return tally
