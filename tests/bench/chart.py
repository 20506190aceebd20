#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the output of scripts/bench --json: chart.py REPORT >CHART.svg

A bar shows each program's wall time, as a multiple of the empty C program's. The scale is
logarithmic, because the programs differ by two orders of magnitude. Supports dark mode.
"""
import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH = 880
RIGHT = 170  # space after the longest bar, for its figures
LETTER = 6.3  # an average width
LINE = 22
BAR = 13
TOP = 86

STYLE = """
  text { font: 12px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .heading { font-weight: 600; }
  .note, .tick { fill: #59636e; }
  .page { fill: #ffffff; }
  .figures { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
  .grid { stroke: #d1d9e0; }
  .one { stroke: #59636e; }
  .floor { fill: #8c959f; }
  .plugin { fill: #1f6feb; }
  .peer { fill: #d4762c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .note, .tick { fill: #9198a1; }
    .page { fill: #0d1117; }
    .figures { stroke: #0d1117; }
    .grid { stroke: #30363d; }
    .one { stroke: #9198a1; }
    .floor { fill: #6e7681; }
    .plugin { fill: #4493f8; }
    .peer { fill: #e0884a; }
  }
"""


class Scale:
    """Converts a ratio to a position on the page. The ticks enclose all ratios."""

    def __init__(self, rows):
        ratios = [row["wallRatio"] for row in rows]
        steps = [factor * 10.0 ** power for power in range(-4, 6) for factor in (1, 3)]
        first = max(i for i, step in enumerate(steps) if step <= min(ratios) * 0.95 or i == 0)
        last = min(i for i, step in enumerate(steps) if step >= max(ratios) or i == len(steps) - 1)
        self.ticks = steps[first:last + 1]
        self.left = 40 + LETTER * max(len(row["name"]) for row in rows)

    def x(self, ratio):
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        share = (math.log(ratio) - low) / (high - low)
        return self.left + share * (WIDTH - self.left - RIGHT)


def sections(rows):
    """Headings and their rows. A plugin is below the program that it is compared with."""
    yield "Programs that do nothing", [row for row in rows if row["kind"] == "floor"]
    peers = [row for row in rows if row["kind"] == "peer"]
    names = {peer["name"] for peer in peers}
    plugins = [row for row in rows if row["kind"] == "plugin"]
    yield "execcred", [row for row in plugins if row.get("against") not in names]
    yield "Beside other programs", [
        row for peer in peers
        for row in [peer, *(own for own in plugins if own.get("against") == peer["name"])]]


def text(x, y, content, css_class="", anchor="start"):
    css = f' class="{css_class}"' if css_class else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{css} text-anchor="{anchor}">{escape(content)}</text>'


def figures_text(row):
    parts = [f"{row['wallRatio']:.2f}x" if row["wallRatio"] < 10 else f"{row['wallRatio']:.1f}x"]
    parts.append(f"{row['cpuMicroseconds'] / 1000:.1f} ms")
    kilobytes = row["rssKilobytes"]
    if kilobytes is not None:
        parts.append(f"{kilobytes / 1024:.1f} MB" if kilobytes >= 100 else f"{kilobytes} KB")
    return " · ".join(parts)


def bar(row, y, scale):
    end = scale.x(row["wallRatio"])
    middle = y + LINE / 2 + 4
    return [text(scale.left - 10, middle, row["name"], anchor="end"),
            f'<rect class="{row["kind"]}" x="{scale.left:.1f}" y="{y + (LINE - BAR) / 2:.1f}" '
            f'width="{end - scale.left:.1f}" height="{BAR}" rx="2"/>',
            text(end + 7, middle, figures_text(row), "figures")]


def grid(scale, bottom):
    marks = []
    for tick in scale.ticks:
        x = scale.x(tick)
        css = "one" if tick == 1 else "grid"
        marks.append(
            f'<line class="{css}" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom:.1f}"/>')
        marks.append(text(x, TOP - 6, f"{tick:g}x", "tick", "middle"))
    return marks


def bars(rows, scale):
    """The bars with their headings, and the position where they end."""
    marks, y = [], TOP + 4
    for heading, members in sections(rows):
        if not members:
            continue
        marks.append(text(scale.left - 10, y + LINE / 2 + 4, heading, "heading", "end"))
        y += LINE
        for row in members:
            marks += bar(row, y, scale)
            y += LINE
        y += 8
    return marks, y


def chart(report):
    rows = [row for row in report["rows"] if "notMeasured" not in row]
    scale = Scale(rows)
    marks, bottom = bars(rows, scale)
    height = bottom + 30
    note = f"{report['machine']}; {report['date'][:10]}, {report['rounds']} interleaved rounds"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="title">',
        '<title id="title">Wall time of one run, as a multiple of an empty C program\'s</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height:.0f}" rx="6"/>',
        text(20, 30, "Wall time of one run, as a multiple of an empty C program's", "title"),
        text(20, 50,
             "less is better; logarithmic scale; behind each bar: wall, CPU time, peak memory", "note"),
        *grid(scale, bottom), *marks,
        text(20, height - 12, note, "note"),
        "</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as report_file:
        sys.stdout.write(chart(json.load(report_file)))
