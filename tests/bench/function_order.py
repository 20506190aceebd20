# SPDX-License-Identifier: Apache-2.0
"""The order of functions, from callgrind's profiles: function_order.sh calls it.

Prints names of sections (without ".text."): first what many plugins execute without asking anybody,
then what a few do, then what only a request over TLS needs.
"""

import collections
import pathlib
import re
import subprocess
import sys

FUNCTION = re.compile(r"c?fn=\(\d+\) ([^'(]+)")
# A run that executes this is one with TLS.
TLS = "SSL_do_handshake"


def aliases(program):
    """For each name of a function all the names of its address: a section has only one of them."""
    names = collections.defaultdict(set)
    text = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True, text=True)
    for line in text.stdout.splitlines():
        address, kind, name = line.split(maxsplit=2)
        if kind in "tTwWi":
            names[address].add(name)
    return {name: group for group in names.values() for name in group}


def executed(profile, known):
    functions = {match[1].strip() for match in map(FUNCTION.match, profile.open()) if match}
    # What runs before main, and last, has no name in the profile.
    functions |= {"_start", "__libc_start_main", "_Exit"}
    return {alias for name in functions for alias in known.get(name, ())}


def main():
    folder, binaries = map(pathlib.Path, sys.argv[1:])
    with_tls, without_tls = collections.Counter(), collections.Counter()
    for profile in sorted(folder.glob("profile-*.calls")):
        program = profile.with_suffix(".program").read_text().strip()
        functions = executed(profile, aliases(binaries / program))
        (with_tls if TLS in functions else without_tls).update(functions)
    first = sorted(without_tls, key=lambda name: (-without_tls[name], name))
    then = sorted(with_tls.keys() - without_tls.keys(), key=lambda name: (-with_tls[name], name))
    print("\n".join(first + then))


main()
