# SPDX-License-Identifier: Apache-2.0
"""Checks that scripts/site/stage.py stages the files that pages link to, and that
scripts/site/check_links.py finds the faults of a site.

    site_test.py REPOSITORY
"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "scripts/site"))
import check_links  # noqa: E402
import stage  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


class StageTest(Folder):
    def staged(self, text):
        """The text of a page after staging."""
        self.write("from/docs/page.md", text)
        stage.Stage(self.root / "from", self.root / "to").page("docs/page.md")
        return (self.root / "to/docs/page.md").read_text(encoding="utf-8")

    def test_a_linked_file_is_copied(self):
        self.write("from/config/a.yaml", "a: 1\n")
        self.assertEqual(self.staged("[a](../config/a.yaml)"), "[a](../config/a.yaml)")
        self.assertEqual((self.root / "to/config/a.yaml").read_text(encoding="utf-8"), "a: 1\n")

    def test_a_linked_folder_becomes_a_page_that_shows_its_files(self):
        self.write("from/config/example/b.json", "{}\n")
        self.assertEqual(self.staged("[b](../config/example)"), "[b](../config/example/README.md)")
        page = (self.root / "to/config/example/README.md").read_text(encoding="utf-8")
        self.assertIn("### b.json\n\n```json\n{}\n```\n", page)

    def test_a_link_in_a_code_block_stays(self):
        self.write("from/config/example/b.json", "{}\n")
        self.assertEqual(self.staged("```\n[b](../config/example)\n```\n"),
                         "```\n[b](../config/example)\n```\n")

    def test_code_in_a_table_has_no_escaped_bar(self):
        self.assertEqual(self.staged("| `a\\|b` | c \\| d |\n"), "| `a|b` | c \\| d |\n")

    def test_a_picture_is_shown_only_if_there_are_pictures(self):
        text = "<!-- picture page-wide.png: The page -->\n```\n<!-- picture none.png: x -->\n```\n"
        self.assertEqual(self.staged(text), "\n```\n<!-- picture none.png: x -->\n```\n")
        self.write("pictures/page-wide.png", "p")
        stage.Stage(self.root / "from", self.root / "to", self.root / "pictures").page("docs/page.md")
        page = (self.root / "to/docs/page.md").read_text(encoding="utf-8")
        self.assertTrue(page.startswith("![The page](page-wide.png)\n"), page)
        self.assertEqual((self.root / "to/docs/page-wide.png").read_text(encoding="utf-8"), "p")

    def test_no_file_outside_the_repository_is_staged(self):
        self.write("secret.txt", "s")
        self.assertEqual(self.staged("[s](../../secret.txt)"), "[s](../../secret.txt)")
        self.assertEqual(sorted(path.name for path in (self.root / "to").rglob("*.txt")), [])


class CheckLinksTest(Folder):
    def problems(self, body):
        self.write("site/index.html", f"<html><body>{body}</body></html>")
        self.write("site/other/index.html", '<h2 id="here">x</h2>')
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            check_links.main(self.root / "site")
        return output.getvalue().splitlines()[:-1]

    def test_a_good_site_has_no_problem(self):
        self.assertEqual(self.problems('<a href="other/#here">x</a><a href="https://a.example/">y</a>'), [])

    def test_a_link_that_leads_nowhere_is_found(self):
        self.assertEqual(self.problems('<a href="none/">x</a>'), ["index.html: 'none/' leads nowhere"])

    def test_a_link_out_of_the_site_is_found(self):
        self.write("outside.html", "x")
        self.assertEqual(self.problems('<a href="../outside.html">x</a>'),
                         ["index.html: '../outside.html' leads nowhere"])

    def test_a_missing_anchor_is_found(self):
        self.assertEqual(self.problems('<a href="other/#gone">x</a>'),
                         ["index.html: 'other/#gone' has an anchor that its page lacks"])

    def test_resources_of_other_hosts_are_found(self):
        for body in ('<script src="https://cdn.example/a.js"></script>', '<img src="//cdn.example/a.png">',
                     '<link rel="stylesheet" href="https://cdn.example/a.css">'):
            with self.subTest(body):
                self.assertIn("is loaded from another host", "".join(self.problems(body)))

    def test_a_style_sheet_with_an_import_is_found(self):
        self.write("site/a.css", '@import "https://fonts.example/a.css";')
        self.assertEqual(self.problems(""),
                         ["a.css: 'https://fonts.example/a.css' is loaded from another host"])


if __name__ == "__main__":
    unittest.main()
