# SPDX-License-Identifier: Apache-2.0
"""Checks that no example of the documentation has a credential in a program's arguments, which
every process of the machine can read. A header goes to curl's standard input: `curl -H @-`.

    secrets_test.py REPOSITORY
"""
import pathlib
import re
import sys

PAGES = ["*.md", "docs/*.md", "config/**/*.md", "config/**/*.sh", "config/**/*.yaml",
         "libexeccred/*.md", "scripts/packaging/man/*.roff"]
# A command substitution with `execcred get`, or a bearer header with one, is an argument.
BAD = re.compile(r"""-H\s*["']?(?:Authorization:\s*Bearer\s*)?["']?\$[({]"""
                 r"""|(?:--token|--header|-u)[= ]["']?\$\(\s*execcred""", re.IGNORECASE)


def main(root):
    pages = sorted(page for glob in PAGES for page in root.glob(glob))
    found = 0
    for page in pages:
        text = page.read_text(encoding="utf-8").replace("\\-", "-")
        for match in BAD.finditer(text):
            found += 1
            line = text.count("\n", 0, match.start()) + 1
            print(f"{page.relative_to(root)}:{line}: a credential in an argument: {match[0]}")
    print(f"{len(pages)} pages, {found} with a credential in an argument")
    return 1 if found or len(pages) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
