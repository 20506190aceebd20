#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests report.py and chart.py with a report of four rows."""
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True  # a test leaves no files in the sources

import chart
import report

STORM = """\
1000 processes at once on a cold key
ok     processes that got the credential                                1000  (promised: 1000)
not ok different answers                                                   2  (promised: 1)
ok     calls of the provider                                               1  (promised: 1)
       (they took 3.1 s)

1000 processes at once, the provider answers 401, 3.0 s, 1 calls
ok     calls of the provider in any window                                 7  (promised: 7)
"""


def row(name, kind, wall_ratio, **changes):
    figures = {"name": name, "kind": kind, "command": "/bin/" + name, "wallRatio": wall_ratio,
               "wallLowerQuartileRatio": wall_ratio, "wallRatioToGo": None,
               "wallMicroseconds": wall_ratio * 800, "wallLowerQuartileMicroseconds": 700,
               "cpuMicroseconds": wall_ratio * 600, "rssKilobytes": 1000, "pageFaults": 40,
               "instructions": 123456, "systemCalls": 30, "strippedBytes": 2048000,
               "opened": [{"path": "/a"}, {"path": "/b", "remark": "ENOENT"}]}
    return {**figures, **changes}


def a_report(**limits):
    return {"machine": "A <fast> & quiet one", "load": 0.1, "date": "2026-01-02T03:04:05Z",
            "repeat": "scripts/bench --peers", "rounds": 7, "execs": 1000, "atOnce": 16,
            "rows": [row("empty", "floor", 1.0),
                     row("peer <Go>", "peer", 20.0, rssKilobytes=30000),
                     row("plugin", "plugin", 0.5, against="peer <Go>", limits=limits,
                         bulk={"sequentialSeconds": 0.5, "atOnceSeconds": 0.25,
                               "pssSumKilobytes": 3072}),
                     {"name": "absent", "kind": "missing", "notMeasured": "not here"}]}


def limits(measured):
    return [limit for row in measured["rows"] for limit in report.limits_of(row, measured)]


class Limits(unittest.TestCase):
    def test_a_limit_that_is_just_reached_is_kept(self):
        found = limits(a_report(wallRatio=0.5, cpuMilliseconds=0.3, rssKilobytes=1000,
                                strippedKilobytes=2000, timesLessCpu=40, timesLessMemory=30))
        self.assertEqual([limit.is_kept for limit in found], 6 * [True])

    def test_each_limit_can_be_missed(self):
        for key, bound in {"wallRatio": 0.49, "cpuMilliseconds": 0.29, "rssKilobytes": 999,
                           "strippedKilobytes": 1999, "timesLessCpu": 40.1,
                           "timesLessMemory": 30.1}.items():
            with self.subTest(key):
                measured = a_report(**{key: bound})
                self.assertEqual([limit.is_kept for limit in limits(measured)], [False])
                self.assertIn("missed: ", report.markdown(measured))

    def test_a_row_without_figures_misses_its_limits(self):
        measured = a_report()
        measured["rows"][3]["limits"] = {"wallRatio": 1}
        self.assertEqual([limit.is_kept for limit in limits(measured)], [False])

    def test_a_comparison_without_its_peer_is_not_checked(self):
        measured = a_report(timesLessCpu=1000)
        del measured["rows"][1]
        self.assertEqual(limits(measured), [])

    def test_an_unknown_limit_is_an_error(self):
        with self.assertRaises(SystemExit):
            limits(a_report(wallRation=1))


class Check(unittest.TestCase):
    def checked(self, measured):
        """What a check of these rows says, against a page with those of a_report()."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(path, "w", encoding="utf-8") as page:
                page.write(f"{report.BEGIN}\n{report.END}\n")
            report.update(path, a_report())
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                return report.check(measured, path), printed.getvalue()

    def test_a_row_that_takes_as_much_as_on_the_page_passes(self):
        self.assertEqual(self.checked(a_report()), (True, "ok plugin\n\n1 passed, 0 failed\n"))

    def test_each_column_can_fail(self):
        for column, (figure, _, factor) in report.KEPT.items():
            for share, passes in ((factor - 0.01, True), (factor + 0.05, False), (0.5, True)):
                with self.subTest(column, share=share):
                    measured = a_report()
                    measured["rows"][2][figure] = int(measured["rows"][2][figure] * share)
                    is_kept, printed = self.checked(measured)
                    self.assertEqual(is_kept, passes, printed)
                    self.assertEqual(f" {column} instead of " in printed, not passes, printed)

    def test_wall_time_and_rows_that_the_page_lacks_are_not_compared(self):
        measured = a_report()
        measured["rows"][2]["wallRatio"] = 100
        measured["rows"].append(row("new", "plugin", 1, instructions=10**9))
        self.assertEqual(self.checked(measured)[0], True)

    def test_a_check_of_nothing_fails(self):
        measured = a_report()
        del measured["rows"][2]
        self.assertEqual(self.checked(measured)[0], False)


class Documents(unittest.TestCase):
    def test_the_figures_of_the_storm_s_first_scenario_are_read(self):
        self.assertEqual(report.read_storm(STORM), {
            "processes": 1000, "seconds": 3.1, "gotCredential": 1000, "answers": 2,
            "providerCalls": 1})
        self.assertIsNone(report.read_storm("\n"))
        with self.assertRaises(SystemExit):
            report.read_storm(STORM.replace("they took", "after"))
        with self.assertRaises(SystemExit):
            report.read_storm(STORM.replace("different answers", "answers"))

    def test_all_lines_of_a_markdown_table_have_as_many_cells(self):
        tables = re.findall(r"(?:^\|.*\n?)+", report.markdown(a_report()), re.M)
        self.assertEqual(len(tables), 3)
        for table in tables:
            self.assertEqual(len({line.count("|") for line in table.splitlines()}), 1, table)

    def test_a_comparison_shows_how_many_times_less(self):
        self.assertIn("| plugin | peer <Go> | 40.0x | 40.0x | 30.0x | 1.0x |",
                      report.markdown(a_report()))

    def test_an_older_program_s_row_is_shown_only_as_a_change(self):
        measured = a_report()
        measured["rows"].append(row("plugin, before", "peer", 0.4, instructions=61728))
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("report", json.dumps(measured)), ("storm", "")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            loaded = report.load(os.path.join(folder, "report"), os.path.join(folder, "storm"))
        page = report.markdown(loaded)
        self.assertIn("| plugin | 1.25x | 1.25x | 2.00x | 1.00x | 1.00x | 1.00x |", page)
        self.assertNotIn("plugin, before", page + report.table(loaded) + chart.chart(loaded))

    def test_an_update_replaces_the_text_between_the_markers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.md")
            with open(path, "w", encoding="utf-8") as page:
                page.write(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
            texts = []
            for _ in range(2):
                report.update(path, a_report())
                with open(path, encoding="utf-8") as page:
                    texts.append(page.read())
        self.assertEqual(texts[0], texts[1])
        self.assertTrue(texts[0].startswith(f"before\n{report.BEGIN}\n"))
        self.assertTrue(texts[0].endswith(f"{report.END}\nafter\n"))
        self.assertNotIn("old", texts[0])

    def test_a_page_without_markers_is_not_changed(self):
        with tempfile.NamedTemporaryFile("w+", suffix=".md") as page:
            page.write(f"{report.BEGIN}\n")
            page.flush()
            with self.assertRaises(SystemExit):
                report.update(page.name, a_report())
            page.seek(0)
            self.assertEqual(page.read(), f"{report.BEGIN}\n")

    def test_the_table_has_every_row(self):
        table = report.table(a_report())
        for name in ("empty", "peer <Go>", "plugin", "absent"):
            self.assertRegex(table, f"(?m)^{name}  ")


class Chart(unittest.TestCase):
    def setUp(self):
        self.svg = xml.etree.ElementTree.fromstring(chart.chart(a_report()))

    def of_class(self, name):
        return [item for item in self.svg.iter() if item.get("class") == name]

    def test_the_length_of_a_bar_is_logarithmic(self):
        widths = {kind: float(self.of_class(kind)[0].get("width"))
                  for kind in ("floor", "plugin", "peer")}
        # From 0.5 to 1 the factor is 2, from 1 to 20 it is 20: ln 20 / ln 2 times as far.
        self.assertAlmostEqual((widths["peer"] - widths["floor"]) /
                               (widths["floor"] - widths["plugin"]), 4.32, places=1)

    def test_every_position_is_inside_the_page(self):
        width, height = float(self.svg.get("width")), float(self.svg.get("height"))
        for item in self.svg.iter():
            self.assertTrue(0 <= float(item.get("x", 0)) <= width, item.attrib)
            self.assertTrue(0 <= float(item.get("y", 0)) <= height, item.attrib)

    def test_the_same_report_gives_the_same_chart(self):
        self.assertEqual(chart.chart(a_report()), chart.chart(a_report()))


if __name__ == "__main__":
    unittest.main()
