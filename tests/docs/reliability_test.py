# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/reliability.md has the tables of its run, and names only commands, campaigns and
test cases that exist.

    reliability_test.py REPOSITORY
"""
import json
import pathlib
import re
import sys
import unittest

REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests/faults"))
import main as faults  # noqa: E402
import promises  # noqa: E402
import report  # noqa: E402

PAGE = REPOSITORY / "docs/reliability.md"
RESULTS = REPOSITORY / "tests/faults/results.json"
NAME = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
SPAN = re.compile(r"`([^`]+)`")


def case_names():
    names = []
    for source in (REPOSITORY / "tests").rglob("*.cpp"):
        for literals in NAME.findall(source.read_text(encoding="utf-8")):
            names.append("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)))
    return names


class ReliabilityTest(unittest.TestCase):
    cases = case_names()
    page = PAGE.read_text(encoding="utf-8")

    def rows_of(self, heading):
        section = self.page.split(f"## {heading}\n")[1].split("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| ")]
        return rows[1:]

    def test_the_tables_are_those_of_the_run(self):
        text, rendered = report.rendered(PAGE, json.loads(RESULTS.read_text(encoding="utf-8")))
        self.assertEqual(text, rendered, "run scripts/faults --full --update-docs")

    def test_the_run_has_every_program_and_names_what_it_leaves_out(self):
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
        rows = results["rows"]
        told = {row["campaign"] for row in rows} | {name for name, _ in results["leftOut"]}
        self.assertEqual(told, set(faults.CAMPAIGNS))
        plugins = {path.name for path in (REPOSITORY / "plugins").iterdir() if path.is_dir()}
        self.assertLessEqual({f"execcred-{name}" for name in plugins} | {"execcred"},
                             {row["program"] for row in rows})

    def test_there_are_33_promises(self):
        self.assertEqual([promise.number for promise in promises.ALL], list(range(1, 34)))

    def test_each_case_that_proves_a_promise_exists(self):
        for promise in promises.ALL:
            for text in promise.cases:
                self.assertTrue(any(text in name for name in self.cases),
                                f"promise {promise.number}: no test case has '{text}'")

    def test_each_campaign_and_script_exists(self):
        for promise in promises.ALL:
            self.assertLessEqual(set(promise.campaigns), set(faults.CAMPAIGNS))
            for command in promise.commands():
                script = command.split()[0]
                self.assertTrue((REPOSITORY / script).is_file(), script)

    def test_the_page_explains_each_campaign(self):
        explained = {SPAN.search(row)[1] for row in self.rows_of("What is right")}
        self.assertEqual(explained, set(faults.CAMPAIGNS) - {"promises"})

    def test_each_defect_is_held_by_a_test(self):
        for row in self.rows_of("Defects found"):
            name = SPAN.findall(row.split(" | ")[-1])[0]
            self.assertIn(name, self.cases)


if __name__ == "__main__":
    unittest.main()
