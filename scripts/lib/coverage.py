# SPDX-License-Identifier: Apache-2.0
"""Reads gcov's counters of a build, and prints how many lines and branches of each module ran."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

PRODUCT = ("libexeccred/", "plugins/", "cli/")
BEGIN = "<!-- what follows is written by scripts/coverage --update-docs -->"
END = "<!-- what precedes is written by scripts/coverage --update-docs -->"
# Lines whose branches do not count: a condition that the code itself guarantees, and brackets alone, where
# the compiler destroys what the block has made.
UNCOUNTED = re.compile(r"\bEXECCRED_ASSERT\b|^[\s{}();,]*$")


def counters(root, data):
    """What gcov says about one object: {file: {line: (runs, [runs of each branch])}}."""
    told = subprocess.run(
        ["gcov", "--json-format", "--stdout", "--branch-probabilities", "--relative-only",
         "--source-prefix", str(root), str(data)],
        cwd=data.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    found = {}
    for line in told.splitlines():
        document = json.loads(line)
        for source in document["files"]:
            path = os.path.join(document["current_working_directory"], source["file"])
            name = os.path.relpath(path, root)
            if not name.startswith(PRODUCT):
                continue
            lines = found.setdefault(name, {})
            for entry in source["lines"]:
                runs, branches = lines.get(entry["line_number"], (0, []))
                taken = [b["count"] for b in entry["branches"] if not b["throw"]]
                lines[entry["line_number"]] = (runs + entry["count"], added(branches, taken))
    return found


def added(left, right):
    """Adds the runs of the branches of two instances of one line."""
    if len(left) < len(right):
        left, right = right, left
    return [n + (right[i] if i < len(right) else 0) for i, n in enumerate(left)]


def read(root, build):
    """All counters of the build, as counters() returns them."""
    # An object whose code never ran has no .gcda, and its lines count all the same.
    notes = sorted(build.rglob("*.gcno"))
    total = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda data: counters(root, data), notes):
            for name, lines in found.items():
                known = total[name]
                for number, (runs, branches) in lines.items():
                    before, known_branches = known.get(number, (0, []))
                    known[number] = (before + runs, added(known_branches, branches))
    for name, lines in total.items():
        text = (root / name).read_text(encoding="utf-8").splitlines()
        for number in [n for n in lines if n <= len(text) and UNCOUNTED.search(text[n - 1])]:
            lines[number] = (lines[number][0], [])
    return total


def module_of(name):
    """The folder that is a module: libexeccred's are two levels deeper."""
    parts = name.split("/")[:-1]
    if parts[0] == "libexeccred":
        return "/".join([parts[0]] + parts[2:3])
    return "/".join(parts[:2])


def share(part, whole):
    return "" if whole == 0 else f"{100 * part / whole:.1f} %"


def table(total):
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, lines in total.items():
        for where in (module_of(name), "all"):
            row = sums[where]
            row[0] += len(lines)
            row[1] += sum(1 for runs, _ in lines.values() if runs)
            row[2] += sum(len(branches) for _, branches in lines.values())
            row[3] += sum(1 for _, branches in lines.values() for runs in branches if runs)
    rows = ["| module | lines | of them ran | branches | of them ran |", "|---|--:|--:|--:|--:|"]
    for name in sorted(sums, key=lambda where: (where == "all", where)):
        lines, ran, branches, taken = sums[name]
        rows.append(f"| {name} | {lines:,} | {share(ran, lines)} | {branches:,} | {share(taken, branches)} |")
    return rows


def missed(root, total, below):
    for name in sorted(total):
        if not name.startswith(below):
            continue
        text = (root / name).read_text(encoding="utf-8").splitlines()
        for number, (runs, branches) in sorted(total[name].items()):
            left = sum(1 for count in branches if not count)
            if runs and not left:
                continue
            what = f"{left} of {len(branches)} branches" if runs else "line"
            yield f"{name}:{number}: {what}: {text[number - 1].strip() if number <= len(text) else ''}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--missed")
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    total = read(options.root, options.build)
    if not any(runs for lines in total.values() for runs, _ in lines.values()):
        sys.exit("scripts/coverage: error: no counters; run scripts/coverage first")
    if options.missed:
        print(*missed(options.root, total, options.missed), sep="\n")
        return
    rows = table(total)
    print(*rows, sep="\n")
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        after = rest.split(END)[1]
        options.page.write_text(f"{before}{BEGIN}\n\n" + "\n".join(rows) + f"\n\n{END}{after}", encoding="utf-8")


main()
