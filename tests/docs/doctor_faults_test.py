# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/doctor-faults.md matches the tables of the e2e suite, which have enough faults.

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

    def test_there_are_sixty_faults_and_no_two_are_the_same(self):
        self.assertGreaterEqual(sum(cause != "none" for _, cause, _ in self.rows), 60)
        names = [name for name, _, _ in self.rows]
        self.assertEqual(len(names), len(set(names)))

    def test_each_row_of_the_suite_is_found(self):
        text = doctor_faults.SUITE.read_text(encoding="utf-8")
        tables = re.findall(r"<<'EOF'\n(.*?)^EOF$", text, re.MULTILINE | re.DOTALL)
        lines = [line for table in tables for line in table.splitlines() if line]
        self.assertEqual(len(lines), len(doctor_faults.ROW.findall(text)))

    def test_each_cause_is_explained(self):
        explained = re.findall(r"^## (\S+)$", (REPOSITORY / "docs/causes.md").read_text(encoding="utf-8"),
                               re.MULTILINE)
        self.assertLessEqual({cause for _, cause, _ in self.rows} - {"none"}, set(explained))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
