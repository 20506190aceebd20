# SPDX-License-Identifier: Apache-2.0
"""Copies the documentation to the folder from which MkDocs builds the site.

    stage.py REPOSITORY TARGET [PICTURES]

TARGET gets every page at the path that it has in the repository, and every file that a page links
to, so the same links work on the site. A folder that a page links to becomes a page, which shows
its files. A link whose target does not exist stays as it is: mkdocs --strict reports it.

A comment in a page, <!-- picture NAME.png: WORDS -->, names a picture of PICTURES. So the picture
is shown only on a site that has it.
"""
import pathlib
import posixpath
import re
import shutil
import sys

ROOT_PAGES = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
              "libexeccred/README.md", "plugins/README.md"]
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
CELL_CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)(#[^)\s]*)?\)")
PICTURE = re.compile(r"^<!-- picture ([\w-]+\.png): (.*) -->$", re.MULTILINE)
# The language of a file's code block on the page of its folder.
LANGUAGES = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".cpp": "cpp", ".txt": "cmake", ".sh": "sh"}


def outside_fences(text, change):
    """The text, changed only outside code blocks."""
    parts, start = [], 0
    for match in FENCE.finditer(text):
        parts += [change(text[start:match.start()]), match[0]]
        start = match.end()
    return "".join([*parts, change(text[start:])])


def unescape_table_code(text):
    """Code in a table cell writes | as \\|. GitHub requires this, but MkDocs would show it."""
    return re.sub(r"^\|.*", lambda row: CELL_CODE.sub(
        lambda code: code[0].replace("\\|", "|"), row[0]), text, flags=re.MULTILINE)


def file_section(file):
    """A file of an example as a code block. No line of the file can end the block."""
    text = file.read_text(encoding="utf-8").rstrip("\n")
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"\n### {file.name}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text}\n{fence}\n"


def folder_page(folder, name):
    """The page of a folder: its README.md, then the other files and folders."""
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else f"# {name}\n"
    folders = [one for one in sorted(folder.iterdir()) if one.is_dir()]
    if folders and not readme.is_file():
        text += "\n" + "".join(f"- [{one.name}]({one.name})\n" for one in folders)
    files = [one for one in sorted(folder.iterdir()) if one.is_file() and one != readme]
    if files:
        text += "\n## Files\n" + "".join(file_section(one) for one in files)
    return text


class Stage:
    def __init__(self, repository, target, pictures=None):
        self.repository, self.target, self.pictures = repository, target, pictures
        self.staged = set()

    def page(self, path):
        """Writes the page at this path of the repository, and everything that it links to."""
        if path in self.staged:
            return
        self.staged.add(path)
        source = self.repository / path
        folder = posixpath.dirname(path)
        if not source.exists() or (path.startswith(("config/", "tests/"))
                                   and posixpath.basename(path) == "README.md"):
            text = folder_page(source.parent, folder)
        else:
            text = source.read_text(encoding="utf-8")
        text = outside_fences(text, lambda part: LINK.sub(
            lambda match: match[1] + self.link(folder, match[2]) + (match[3] or "") + ")", part))
        text = outside_fences(text, unescape_table_code)
        text = outside_fences(text, lambda part: PICTURE.sub(
            lambda match: self.picture(folder, match[1], match[2]), part))
        file = self.target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def link(self, folder, link):
        """Stages the target of a link in this folder. Returns the link for MkDocs."""
        if re.match("[a-z]+:", link):
            return link
        path = posixpath.normpath(posixpath.join(folder, link))
        source = self.repository / path
        if path.startswith("..") or not source.exists():
            return link
        if source.is_dir():
            path, link = posixpath.join(path, "README.md"), posixpath.join(link, "README.md")
            self.page(path)
        elif source.suffix == ".md":
            self.page(path)
        else:
            file = self.target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, file)
        return link

    def picture(self, folder, name, words):
        """Copies the picture next to the page and shows it. Empty if there are no pictures."""
        if self.pictures is None:
            return ""
        file = self.target / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.pictures / name, file)
        return f"![{words}]({name})"


def main(repository, target, pictures=None):
    shutil.rmtree(target, ignore_errors=True)
    stage = Stage(repository, target, pictures)
    for path in ROOT_PAGES:
        stage.page(path)
    for file in sorted(repository.glob("docs/*.md")):
        stage.page(file.relative_to(repository).as_posix())
    print(f"{len(stage.staged)} pages")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), *map(pathlib.Path, sys.argv[2:]))
