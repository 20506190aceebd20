# SPDX-License-Identifier: Apache-2.0
"""Campaigns that run cases of the test programs. Each case passes or fails."""
import os
import re
import subprocess

import campaign

SUMMARY = re.compile(r"test cases: *(\d+) \| *(\d+) passed \| *(\d+) failed")


class Cases:
    """The cases of a test program (preset dev) whose titles contain one of the texts."""

    def __init__(self, program, *texts):
        self.program = program
        self.texts = texts
        self.name = f"cases of {program}"

    def run(self, environment):
        """The number of cases, the number of failed ones, and the output."""
        pattern = ",".join(f"*{text}*" for text in self.texts)
        ended = subprocess.run(
            [os.path.join(environment.bin, self.program), f"--test-case={pattern}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=600)
        found = SUMMARY.search(ended.stdout)
        if not found:
            return 0, 1, ended.stdout
        tried, _, failed = (int(number) for number in found.groups())
        return tried, failed, ended.stdout


def run(unit, environment, effort):
    del effort
    tally = campaign.Tally()
    tried, failed, said = unit.run(environment)
    for number in range(tried):
        tally.add_check(f"case {number + 1} of {tried}",
                        number < failed and f"the case failed: {said[-400:]}")
    if not tried:
        tally.add_check(unit.name, "there is no such case")
    return tally
