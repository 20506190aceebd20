# SPDX-License-Identifier: Apache-2.0
"""Prints the titles of the test cases that an ordinary container can change: those that use IPv6, files of
processes, mounts, other namespaces or shared memory, in their own text or in what precedes the cases of their file.
"""
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
sys.path.insert(0, str(TESTS / "faults"))
import promises  # noqa: E402

# What a container lacks or has less of, and the functions of tests/ whose helpers use it.
CHANGED = re.compile(r"""AF_INET6 | is_ipv6 | \[::1?\]: | /proc/ | /dev/shm | \bmount\( | \bunshare\( |
                         run_if_allowed | run_on_another_host | make_mounts_private | SmallFileSystem |
                         run_in_pod | can_be_pod | run_behind_tmpfs""", re.VERBOSE)


def titles():
    for source in sorted(TESTS.rglob("*.cpp")):
        shared, *cases = re.split(r"^(?=TEST_CASE)", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for case in cases:
            if CHANGED.search(shared) or CHANGED.search(case):
                yield promises.title_of(promises.CASE.match(case)[1])


if __name__ == "__main__":
    print("\n".join(titles()))
