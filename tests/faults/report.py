# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/reliability.md, from the results of the last runs.

    report.py update RESULTS PAGE    writes the tables of the results into the page
"""
import collections
import sys

import paths
import promises
import records
import result_file

BEGIN = "<!-- what follows is written by scripts/faults --update-docs -->"
END = "<!-- what precedes is written by scripts/faults --update-docs -->"
ENDS = ("true", "error", "killed", "not started")


def cells(*texts):
    return "| " + " | ".join(str(text) for text in texts) + " |"


def head(*names, numbers):
    """The head of a table whose last columns are numbers."""
    words = len(names) - numbers
    return [cells(*names), "|" + "---|" * words + "--:|" * numbers]


def number(value):
    return f"{value:,}"


def grouped(rows, *keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def total(rows, key):
    return sum(row[key] for row in rows)


def wrong(rows):
    return sum(len(row["wrong"]) for row in rows)


def ends(rows, end):
    return sum(row["ends"].get(end, 0) for row in rows)


def share(rows):
    tried, possible = total(rows, "injected"), total(rows, "possible")
    percent = 100 * tried / possible if possible else 100
    return "all" if tried >= possible else f"{percent:.3g} %"


def builds(results):
    lines = head("build", "what it is", "used by", numbers=0)
    for name, what in sorted(results["builds"].items()):
        used = sorted({row["campaign"] for row in results["rows"] if row["build"] == name})
        lines.append(cells(name, what, ", ".join(used)))
    left_out = [f"`{name}` ({build})" for name, build in results["leftOut"]]
    left_out += programs_left_out(results["rows"])
    return lines + ["", f"Not part of this run: {', '.join(left_out)}."] if left_out else lines


def programs_left_out(rows):
    """The programs that have no row of a build in which others have run their paths."""
    of = grouped([row for row in rows if row["is_path"]], "build")
    every = {path.program for path in paths.ALL}
    return [f"{program} ({build})" for (build,), group in sorted(of.items())
            for program in sorted(every - {row["program"] for row in group})]


def merged(kept, results, names):
    """The kept results, with the rows of a run of these programs or campaigns instead of theirs."""
    def unit_of(row):
        return row["campaign"], row["build"], row["path"]
    new = {unit_of(row) for row in results["rows"]}
    rows = [row for row in kept["rows"] if unit_of(row) not in new] + results["rows"]
    order = list(dict.fromkeys((row["campaign"], row["build"]) for row in rows))
    rows.sort(key=lambda row: order.index((row["campaign"], row["build"])))
    later = {**results["told"], "names": names}
    others = [each for each in kept["told"].get("later", []) if each["names"] != names]
    return {"told": {**kept["told"], "later": [*others, later]}, "rows": rows,
            "builds": {**kept["builds"], **results["builds"]}}


def by_campaign(rows):
    lines = head("campaign", "build", "faults", "of those possible", "true answer", "error",
                 "killed", "not started", "longest run", "wrong", numbers=8)
    for (campaign, build), group in grouped(rows, "campaign", "build").items():
        lines.append(cells(campaign, build, number(total(group, "injected")), share(group),
                           *(number(ends(group, end)) for end in ENDS),
                           f"{max(row['longest'] for row in group):.1f} s", wrong(group)))
    lines.append(cells("all", "", number(total(rows, "injected")), "",
                       *(number(ends(rows, end)) for end in ENDS), "", wrong(rows)))
    return lines


def by_program(rows):
    faults = [row for row in rows if row["program"].startswith("execcred")]
    campaigns = list(dict.fromkeys(row["campaign"] for row in faults))
    lines = head("program", *campaigns, "wrong", numbers=len(campaigns) + 1)
    for (program,), group in sorted(grouped(faults, "program").items()):
        of = grouped(group, "campaign")
        lines.append(cells(program, *(number(total(of[each,], "injected")) if (each,) in of else ""
                                      for each in campaigns), wrong(group)))
    return lines


def by_path(rows):
    paths = [row for row in rows if row["is_path"]]
    columns = list(dict.fromkeys((row["campaign"], row["build"]) for row in paths))
    lines = head("path", *(f"{campaign}, {build}" for campaign, build in columns),
                 numbers=len(columns))
    for (path,), group in grouped(paths, "path").items():
        of = {(row["campaign"], row["build"]): row for row in group}
        lines.append(cells(path, *(f"{number(of[each]['injected'])} of "
                                   f"{number(of[each]['possible'])}" if each in of else ""
                                   for each in columns)))
    return lines


def wrong_outcomes(rows):
    counts = collections.Counter()
    for row in rows:
        for each in row["wrong"]:
            counts[row["campaign"], row["build"], row["path"], each["reason"]] += 1
    if not counts:
        return ["No outcome was wrong."]
    return (head("campaign", "build", "path", "wrong outcome", "faults", numbers=1) +
            [cells(*name, count) for name, count in counts.items()])


def growth(rows):
    lines = head("input", "bytes", "instructions, against half of it", "most memory", numbers=3)
    for row in rows:
        if row["campaign"] == "growth":
            lines += [cells(row["path"], number(each["bytes"]), ratio_of(each), memory_of(each))
                      for each in row["figures"]]
    return lines


def ratio_of(figure):
    return "refused above its limit" if "refused" in figure else f"{figure['ratio']} times"


def memory_of(figure):
    return f"{figure['memory'] / 1024:.0f} MiB" if "memory" in figure else ""


def found_by(name, rows):
    """A short summary of the campaign's rows."""
    text = f"{name}: {number(total(rows, 'injected'))} tried, {wrong(rows)} wrong"
    timed = [row for row in rows if row["longest"] and "limit" in row]
    if timed:
        late = max(row["longest"] - row["limit"] for row in timed)
        after = f"{late:.1f} s" if late > 0 else "none"
        text += (f", longest run {max(row['longest'] for row in timed):.1f} s, {after} after its "
                 "time limit")
    return "; ".join([text, *SAID.get(name, lambda rows: [])(rows)])


def said_of_crowds(rows):
    for row in rows:
        for figure in row["figures"]:
            yield (f"{row['build']}: {number(figure['processes'])} processes, "
                   f"{figure['keys']} keys, {figure['calls']} calls, {figure['extraCalls']} of "
                   f"them within a window, {figure['killed']} killed, "
                   f"{number(figure['credentials'])} credentials")


def said_of_growth(rows):
    figures = [figure for row in rows for figure in row["figures"]]
    ratios = [figure["ratio"] for figure in figures if "ratio" in figure]
    memory = [figure["memory"] for figure in figures if "memory" in figure]
    if ratios:
        yield f"at most {max(ratios)} times"
    if memory:
        yield f"at most {max(memory) / 1024:.0f} MiB"


def said_of_descriptors(rows):
    for row in rows:
        for figure in row["figures"]:
            yield f"{row['build']}: {figure['leaked']} of {figure['descriptors']} leaked"


def said_of_profiles(rows):
    yield (f"{number(ends(rows, 'true'))} credentials given, {wrong(rows)} of them outside of the "
           "policy")


SAID = {"crowds": said_of_crowds, "growth": said_of_growth, "descriptors": said_of_descriptors,
        "profiles": said_of_profiles}


def cases_of(row):
    parts = [f"{row['injected']} case{'s' if row['injected'] != 1 else ''}"]
    for figure in row["figures"]:
        parts[0] += f", {number(figure['checks'])} checks"
        parts += figure["told"]
    parts[0] += f", {len(row['wrong'])} failed"
    return parts


def figure_of(promise, results):
    """The results of this run for a promise, and the recorded runs of scripts."""
    rows = results["rows"]
    found = []
    for name in promise.campaigns:
        group = [row for row in rows if row["campaign"] == name]
        found.append(found_by(name, group) if group else f"{name}: not run")
    for row in rows:
        if row["campaign"] == "promises" and row["path"] == promise.name:
            found += cases_of(row)
    found += [records.sentence(results.get("scripts"), script, promise.number)
              for script in promise.scripts]
    return "<br>".join(found)


def promise_table(results):
    lines = head("#", "promise", "counted", "command", "figure", numbers=0)
    for promise in promises.ALL:
        commands = "<br>".join(f"`{each}`" for each in promise.commands())
        lines.append(cells(promise.number, promise.text, promise.asked, commands,
                           figure_of(promise, results)))
    return lines


def tables(results):
    rows = results["rows"]
    told = results["told"]
    parts = [[f"One run, on {told['date']}, on {told['machine']}: {told['extent']}.",
              *(f"A later one of {', '.join(each['names'])}, on {each['date']}, on "
                f"{each['machine']}: {each['extent']}." for each in told.get("later", []))],
             builds(results), by_campaign(rows), ["### By program"], by_program(rows),
             ["### By path", "", "Faults tried, of those possible."], by_path(rows),
             ["### Wrong outcomes of this run"], wrong_outcomes(rows),
             ["### Time is linear in the input"], growth(rows),
             ["## The promises"], promise_table(results),
             [records.sentence(results.get("scripts"), "scripts/nightly simulation", 0) + "."]]
    return "\n\n".join("\n".join(part) for part in parts)


def rendered(page, results):
    """The old text of the page, and the page with the tables of the results."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"scripts/faults: error: '{page}' lacks '{END if begin else BEGIN}'")
    return text, f"{before}{BEGIN}\n\n{tables(results)}\n\n{END}{after}"


def update(page, results):
    _, text = rendered(page, results)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    update(sys.argv[3], result_file.load(sys.argv[2]))
