# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/doctor-faults.md matches the tables of the e2e suite, which have a fault of
each cause.

    doctor_faults_test.py REPOSITORY
"""
import pathlib
import re
import sys
import unittest

REPOSITORY = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "scripts/packaging"))
import doctor_faults  # noqa: E402


class DoctorFaultsTest(unittest.TestCase):
    rows = list(doctor_faults.rows())

    def test_the_page_is_not_stale(self):
        self.assertEqual(doctor_faults.PAGE.read_text(encoding="utf-8"), doctor_faults.page(),
                         "run scripts/generate")

    explained = re.findall(r"^## ([a-z-]+)$", (REPOSITORY / "docs/causes.md").read_text(encoding="utf-8"),
                           re.MULTILINE)

    def test_each_cause_has_a_fault_or_a_reason(self):
        made = {cause for _, cause, _ in self.rows} - {"none"}
        self.assertEqual(set(self.explained) - made, set(doctor_faults.ELSEWHERE))
        self.assertLessEqual(made, set(self.explained))

    def test_a_cause_with_a_reason_is_made_by_its_case(self):
        sources = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "tests/doctor").glob("*.cpp")]
        for cause, (_, case) in doctor_faults.ELSEWHERE.items():
            self.assertTrue(any(f'TEST_CASE("{case}"' in text and f'"{cause}"' in text for text in sources), cause)

    def test_no_two_faults_are_the_same(self):
        names = [name for name, _, _ in self.rows]
        self.assertEqual(len(names), len(set(names)))

    def test_each_row_of_the_suite_is_found(self):
        text = doctor_faults.SUITE.read_text(encoding="utf-8")
        tables = re.findall(r"<<'EOF'\n(.*?)^EOF$", text, re.MULTILINE | re.DOTALL)
        lines = [line for table in tables for line in table.splitlines() if line]
        self.assertEqual(len(lines), len(doctor_faults.ROW.findall(text)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
