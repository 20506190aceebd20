#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the measurements of execcred-bench and scripts/storm.

report.py FORMAT REPORT STORM [FILE]: REPORT is the JSON of execcred-bench. STORM is the output of
scripts/storm, and may be empty. FORMAT:
    table      for people
    markdown   for docs/benchmarks.md
    json       both in one, for programs and chart.py
    check      a line for each row of the table in FILE; exits with 1 if one takes more than there
    update     writes the markdown between the two markers of FILE
"""
import json
import re
import sys
import textwrap

BEGIN = "<!-- what follows is written by scripts/bench --update-docs -->"
END = "<!-- what precedes is written by scripts/bench --update-docs -->"
KINDS = ["floor", "plugin", "missing", "peer"]

NOTES = """\
{rounds} interleaved rounds, the order of each shuffled. x C, x Go: median wall over that of the
empty dynamic C program and of the Go hello world; q1: lower quartile. Wall runs from the spawn to
the end of stdout, a pipe that is read as a client reads it, and the exit. CPU: user + system of
wait4's rusage. RSS: the peak as the process exits. Instructions: user space, by callgrind. System
calls: from the exec on, by strace; opens: those that succeeded, without O_PATH. Size: of the
stripped file. Programs were dropped from the page cache before the first round: a fresh copy would
be up to a tenth faster."""


class Limit:
    """One limit of a row: its bound, the measured value, and whether the limit is kept."""

    def __init__(self, row, key, bound, value, is_upper, text):
        self.row = row
        self.key = key
        self.bound = bound
        self.value = value
        self.text = text
        self.is_kept = value is not None and (value <= bound if is_upper else value >= bound)


# key: (the figure of the row, or its name for a comparison with the peer; the value as text)
OWN_LIMITS = {
    "wallRatio": (lambda row: row["wallRatio"], "{:.2f}x C"),
    "cpuMilliseconds": (lambda row: scaled(row["cpuMicroseconds"], 1000), "{:.2f} ms CPU"),
    "rssKilobytes": (lambda row: row["rssKilobytes"], "{:.0f} KB RSS"),
    "strippedKilobytes": (lambda row: scaled(row["strippedBytes"], 1024), "{:.0f} KB size"),
}
PEER_LIMITS = {
    "timesLessCpu": ("cpuMicroseconds", "{:.1f} times less CPU"),
    "timesLessMemory": ("rssKilobytes", "{:.1f} times less memory"),
}


def scaled(value, unit):
    return None if value is None else value / unit


def times_less(row, peer, figure):
    """How many times smaller this figure is than the peer's."""
    return peer[figure] / row[figure] if row.get(figure) and peer.get(figure) else None


def measured(report):
    return [row for row in report["rows"] if "notMeasured" not in row]


def peer_of(row, report):
    return next((peer for peer in measured(report) if peer["name"] == row.get("against")), None)


def limits_of(row, report):
    """The limits that can be checked: a comparison needs its peer in the same run."""
    limits = []
    for key, bound in row.get("limits", {}).items():
        if key in OWN_LIMITS:
            figure, text = OWN_LIMITS[key]
            value = None if "notMeasured" in row else figure(row)
            limits.append(Limit(row, key, bound, value, True, text))
        elif key in PEER_LIMITS:
            figure, text = PEER_LIMITS[key]
            peer = peer_of(row, report)
            if peer and "notMeasured" not in row:
                value = times_less(row, peer, figure)
                limits.append(Limit(row, key, bound, value, False, text))
        else:
            sys.exit(f"report.py: error: '{row['name']}' has an unknown limit '{key}'")
    return limits


# The columns of the page that do not depend on what else runs, and how much more than there is an error.
KEPT = {"instructions": ("instructions", 1, 1.05), "system calls": ("systemCalls", 1, 1.05),
        "RSS KB": ("rssKilobytes", 1, 1.1), "size KB": ("strippedBytes", 1024, 1.05)}


def kept_figures(path):
    """The figures of the page's first table, by row."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().partition(BEGIN)[2].splitlines()
    rows = {}
    for line in lines[lines.index("| " + " | ".join(MARKDOWN_HEADER).lstrip() + " |") + 2:]:
        if not line.startswith("|"):
            return rows
        name, *texts = (text.strip() for text in line.strip("|").split("|"))
        cells = dict(zip(MARKDOWN_HEADER[1:], texts))
        rows[name] = {column: float(cells[column].replace(",", "")) for column in KEPT
                      if re.fullmatch(r"[\d,.]+", cells.get(column, ""))}
    return rows


def check(report, path):
    """Compares each plugin's row with the page's. Returns whether none takes more."""
    kept = kept_figures(path)
    failed = 0
    rows = [row for row in measured(report) if row["kind"] == "plugin" and row["name"] in kept]
    for row in rows:
        more = []
        for column, (figure, unit, factor) in KEPT.items():
            before, now = kept[row["name"]].get(column), scaled(row.get(figure), unit)
            if before is not None and now is not None and now > factor * before:
                more.append(f"{now:,.0f} {column} instead of {before:,.0f}")
        failed += bool(more)
        print(f"{'not ok' if more else 'ok'} {row['name']}" + (": " + ", ".join(more) if more else ""))
    print(f"\n{len(rows) - failed} passed, {failed} failed")
    return bool(rows) and failed == 0


BEFORE = ", before"  # ends the name of an older program's row


def read_storm(text):
    """The figures of the first scenario: processes at once on a cold key. None if it did not run."""
    if not text.strip():
        return None
    head = re.search(r"^(\d+) processes at once on a cold key$", text, re.M)
    seconds = head and re.search(r"\(they took ([\d.]+) s\)", text[head.end():])
    figures = dict(re.findall(r"^(?:not )?ok +(.*?) +(\d+)  \(promised",
                              text[head.end():head.end() + seconds.start()], re.M)) if seconds else {}
    try:
        return {"processes": int(head[1]), "seconds": float(seconds[1]),
                "gotCredential": int(figures["processes that got the credential"]),
                "answers": int(figures["different answers"]),
                "providerCalls": int(figures["calls of the provider"])}
    except (KeyError, TypeError):
        sys.exit("report.py: error: the output of scripts/storm has another form")


def load(report_path, storm_path):
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)
    with open(storm_path, encoding="utf-8") as file:
        storm = read_storm(file.read())
    if storm:
        report["storm"] = storm
    older = [row for row in report["rows"] if row["name"].endswith(BEFORE)]
    report["before"] = {row["name"].removesuffix(BEFORE): row for row in older}
    report["rows"] = [row for row in report["rows"] if row not in older]
    report["rows"].sort(key=lambda row: KINDS.index(row["kind"]))
    return report


# --- cells

def decimals(value, places, unit=1):
    return "-" if value is None else f"{value / unit:.{places}f}"


def grouped(value):
    return "-" if value is None else f"{value:,}"


def table_cells(row):
    if "notMeasured" in row:
        return [row["name"], "not measured: " + row["notMeasured"]]
    opened = row["opened"]
    return [row["name"], decimals(row["wallRatio"], 2), decimals(row["wallLowerQuartileRatio"], 2),
            decimals(row["wallRatioToGo"], 2), decimals(row["wallMicroseconds"], 0),
            decimals(row["wallLowerQuartileMicroseconds"], 0),
            decimals(row["cpuMicroseconds"], 2, 1000), decimals(row["rssKilobytes"], 0),
            decimals(row["pageFaults"], 0), decimals(row["instructions"], 1, 1000),
            decimals(row["systemCalls"], 0),
            "-" if opened is None else str(sum("remark" not in file for file in opened)),
            decimals(row["strippedBytes"], 0, 1024)]


def markdown_cells(row, report):
    if "notMeasured" in row:
        return [row["name"], "not measured: " + row["notMeasured"]] + [""] * 8
    limits = limits_of(row, report)
    missed = [limit.text.format(limit.bound) for limit in limits if not limit.is_kept]
    goals = "missed: " + ", ".join(missed) if missed else "kept" if limits else ""
    return [row["name"], decimals(row["wallRatio"], 2), decimals(row["wallRatioToGo"], 2),
            decimals(row["cpuMicroseconds"], 2, 1000), grouped(row["instructions"]),
            grouped(row["systemCalls"]), grouped(row["pageFaults"]), grouped(row["rssKilobytes"]),
            decimals(row["strippedBytes"], 0, 1024), goals]


HEADER = ["", "x C", "x C q1", "x Go", "wall us", "q1 us", "CPU ms", "RSS KB", "faults", "k instr.",
          "syscalls", "opens", "size KB"]
MARKDOWN_HEADER = ["", "x C", "x Go", "CPU ms", "instructions", "system calls", "page faults",
                   "RSS KB", "size KB", "goals"]
COMPARISON = {"less wall": "wallMicroseconds", "less CPU": "cpuMicroseconds",
              "less memory": "rssKilobytes", "fewer instructions": "instructions",
              "fewer system calls": "systemCalls", "smaller": "strippedBytes"}
COMPARISON_HEADER = ["", "than", *COMPARISON]


def comparison_rows(report):
    for row in measured(report):
        peer = peer_of(row, report)
        if peer:
            factors = [times_less(row, peer, figure) for figure in COMPARISON.values()]
            yield [row["name"], peer["name"],
                   *("-" if factor is None else f"{factor:.1f}x" for factor in factors)]


CHANGE = {"wall": "wallMicroseconds", "CPU": "cpuMicroseconds", "instructions": "instructions",
          "system calls": "systemCalls", "RSS": "rssKilobytes", "size": "strippedBytes"}
CHANGE_HEADER = ["", *CHANGE]


def change_rows(report):
    for row in measured(report):
        older = report.get("before", {}).get(row["name"])
        if older:
            factors = [times_less(older, row, figure) for figure in CHANGE.values()]
            yield [row["name"], *("-" if factor is None else f"{factor:.2f}x" for factor in factors)]


def bulk_header(report):
    return ["", f"{report['execs']:,} in sequence, s", f"{report['atOnce']} at a time, s",
            f"memory of {report['atOnce']}, MB"]


def bulk_rows(report):
    for row in measured(report):
        bulk = row.get("bulk")
        if bulk:
            yield [row["name"], decimals(bulk["sequentialSeconds"], 2),
                   decimals(bulk["atOnceSeconds"], 2), decimals(bulk["pssSumKilobytes"], 1, 1024)]


def storm_sentence(storm):
    calls, answers = storm["providerCalls"], storm["answers"]
    return (f"{storm['processes']:,} cold processes of execcred-oidc-federation at once: "
            f"{storm['gotCredential']:,} got "
            f"{'the same credential' if answers == 1 else f'{answers} different credentials'}, by "
            f"{calls} {'call' if calls == 1 else 'calls'} of the provider, in "
            f"{storm['seconds']:g} s.")


# --- whole documents

def aligned(rows):
    rows = list(rows)
    full = max(len(row) for row in rows)
    widths = [max(len(row[i]) for row in rows if i == 0 or len(row) == full) for i in range(full)]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
                     for row in rows)


def files_opened(report):
    lines = ["Files opened"]
    for row in measured(report):
        if row["opened"] is not None and row["kind"] != "peer":
            lines.append("  " + row["name"])
            lines += [f"    {file['path']}" + (f" ({file['remark']})" if "remark" in file else "")
                      for file in row["opened"]] or ["    none"]
    return "\n".join(lines)


def table(report):
    parts = [f"machine  {report['machine']}, load {report['load']}\ndate     {report['date']}\n"
             f"repeat   {report['repeat']}",
             aligned([HEADER, *map(table_cells, report["rows"])]),
             NOTES.format(**report)]
    comparison = list(comparison_rows(report))
    if comparison:
        parts.append(aligned([COMPARISON_HEADER, *comparison]))
    change = list(change_rows(report))
    if change:
        parts.append("Against the older version:\n\n" + aligned([CHANGE_HEADER, *change]))
    if report["execs"]:
        parts.append(aligned([bulk_header(report), *bulk_rows(report)]))
    if "storm" in report:
        parts.append(storm_sentence(report["storm"]))
    return "\n\n".join([*parts, files_opened(report)])


def markdown_table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines).replace("|  |", "| |")


def paragraph(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def markdown(report):
    parts = [paragraph(f"`{report['repeat']}`, {report['date'][:10]}, on {report['machine']}, load "
                       f"{report['load']} before; {report['rounds']} rounds:"),
             markdown_table(MARKDOWN_HEADER,
                            (markdown_cells(row, report) for row in report["rows"]))]
    comparison = list(comparison_rows(report))
    if comparison:
        parts += ["Against the program that each replaces, asking the same server:",
                  markdown_table(COMPARISON_HEADER, comparison)]
    change = list(change_rows(report))
    if change:
        parts += ["Against the version before, of which the same run measured each row too:",
                  markdown_table(CHANGE_HEADER, change)]
    if report["execs"]:
        parts += ["Many runs:", markdown_table(bulk_header(report), bulk_rows(report))]
    if "storm" in report:
        parts.append(paragraph(storm_sentence(report["storm"])))
    return "\n\n".join(parts)


def update(path, report):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"report.py: error: '{path}' lacks a line '{END if begin else BEGIN}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{markdown(report)}\n\n{END}{after}")


def main(arguments):
    if len(arguments) != (4 if arguments[:1] in (["update"], ["check"]) else 3):
        sys.exit(__doc__)
    report = load(arguments[1], arguments[2])
    if arguments[0] == "update":
        update(arguments[3], report)
    elif arguments[0] == "check":
        return 0 if check(report, arguments[3]) else 1
    elif arguments[0] == "json":
        json.dump(report, sys.stdout, indent=1)
        print()
    elif arguments[0] in ("table", "markdown"):
        print(table(report) if arguments[0] == "table" else markdown(report))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
