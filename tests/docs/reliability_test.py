# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/reliability.md has the tables of its run, and names only commands, campaigns and
test cases that exist.

    reliability_test.py REPOSITORY
"""
import datetime
import json
import pathlib
import re
import statistics
import sys
import unittest

REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests/faults"))
import main as faults  # noqa: E402
import promises  # noqa: E402
import report  # noqa: E402
import result_file  # noqa: E402

PAGE = REPOSITORY / "docs/reliability.md"
RESULTS = REPOSITORY / "tests/faults/results.json"
SPAN = re.compile(r"`([^`]+)`")


class ReliabilityTest(unittest.TestCase):
    page = PAGE.read_text(encoding="utf-8")

    def rows_of(self, heading):
        section = self.page.split(f"## {heading}\n")[1].split("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| ")]
        return rows[1:]

    def test_the_tables_are_those_of_the_run(self):
        text, rendered = report.rendered(PAGE, json.loads(RESULTS.read_text(encoding="utf-8")))
        self.assertEqual(text, rendered, "run scripts/faults --full --update-docs")

    def test_the_results_have_the_form_in_which_they_are_saved(self):
        text = RESULTS.read_text(encoding="utf-8")
        self.assertEqual(text.splitlines(), result_file.text(json.loads(text)).splitlines())

    def test_the_run_has_every_program_and_names_what_it_leaves_out(self):
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
        rows = results["rows"]
        told = {row["campaign"] for row in rows} | {name for name, _ in results["leftOut"]}
        self.assertEqual(told, set(faults.CAMPAIGNS))
        plugins = {path.name for path in (REPOSITORY / "plugins").iterdir() if path.is_dir()}
        self.assertLessEqual({f"execcred-{name}" for name in plugins} | {"execcred"},
                             {row["program"] for row in rows})

    def test_a_run_of_one_program_replaces_its_rows_alone(self):
        def row(path, injected):
            return {"campaign": "kills", "build": "glibc", "path": path, "injected": injected}
        kept = {"told": {"date": "a"}, "rows": [row("x", 1), row("y", 1)], "builds": {}}
        for _ in range(2):
            kept = report.merged(kept, {"told": {"date": "b"}, "rows": [row("y", 2), row("z", 2)],
                                        "builds": {"glibc": "new"}}, ["execcred-y"])
            self.assertEqual(kept["rows"], [row("x", 1), row("y", 2), row("z", 2)])
            self.assertEqual(kept["told"], {"date": "a", "later": [
                {"date": "b", "names": ["execcred-y"]}]})
            self.assertEqual(kept["builds"], {"glibc": "new"})

    def test_each_promise_has_its_number_and_a_proof(self):
        self.assertEqual([promise.number for promise in promises.ALL],
                         list(range(1, len(promises.ALL) + 1)))
        for promise in promises.ALL:
            self.assertTrue(promise.commands(), f"nothing proves promise {promise.number}")

    def test_each_case_declares_a_promise_that_exists(self):
        numbers = {promise.number for promise in promises.ALL}
        for case in promises.all_cases():
            self.assertLessEqual(set(case.promises), numbers, case.title)

    def test_a_declaration_that_is_not_read_is_found(self):
        for source in promises.TESTS.rglob("*.cpp"):
            text = source.read_text(encoding="utf-8")
            read = sum(bool(numbers) for _, numbers in promises.CASE.findall(text))
            self.assertEqual(text.count("doctest::description("), read, source)

    def test_no_case_of_the_list_is_gone_and_none_is_missing(self):
        self.assertEqual((REPOSITORY / "docs/promises.md").read_text(encoding="utf-8").splitlines(),
                         promises.page().splitlines(), "run scripts/generate")

    def test_each_campaign_and_script_exists(self):
        for promise in promises.ALL:
            self.assertLessEqual(set(promise.campaigns), set(faults.CAMPAIGNS))
            for command in promise.commands():
                script = command.split()[0]
                self.assertTrue((REPOSITORY / script).is_file(), script)

    def test_the_page_explains_each_campaign(self):
        explained = {SPAN.search(row)[1] for row in self.rows_of("What is right")}
        self.assertEqual(explained, set(faults.CAMPAIGNS))

    def test_each_defect_is_held_by_a_test(self):
        for row in self.rows_of("Defects found") + self.rows_of("How old defects were"):
            name = SPAN.findall(row.split(" | ")[-1])[0]
            self.assertIn(name, {case.title for case in promises.all_cases()})

    def test_the_age_of_each_defect_is_that_of_its_dates(self):
        for heading in ("Defects found", "How old defects were"):
            ages = []
            for row in self.rows_of(heading):
                severity, came_in, found, days = row.split(" | ")[1:5]
                self.assertIn(severity, ("high", "medium", "low"), row)
                age = datetime.date.fromisoformat(found) - datetime.date.fromisoformat(came_in)
                self.assertEqual((age.days, age.days >= 0), (int(days), True), row)
                ages.append(age.days)
            section = self.page.split(f"## {heading}\n")[1]
            self.assertEqual(re.search(r"Median age: ([0-9.]+) days\.", section)[1],
                             f"{statistics.median(ages):g}")


if __name__ == "__main__":
    unittest.main()
