# SPDX-License-Identifier: Apache-2.0
"""Checks that every link of the built site leads to a file and an anchor of the site, and that no
page loads anything from another host.

    check_links.py SITE

Links to other hosts are not followed.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

# Resources that a browser loads by itself. <link> is one, except a kind that is only a name.
LOADED = {"script": ["src"], "img": ["src", "srcset"], "source": ["src", "srcset"], "iframe": ["src"],
          "video": ["src", "poster"], "audio": ["src"], "object": ["data"], "embed": ["src"],
          "use": ["href"], "link": ["href"]}
NAMES_ONLY = {"canonical", "alternate", "next", "prev", "author", "license"}
CSS_URL = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = {name: value for name, value in attrs if value}
        self.anchors.update(values[name] for name in ("id", "name") if name in values and tag != "meta")
        if tag in ("a", "area") and "href" in values:
            self.links.add(values["href"])
        names_only = set(values.get("rel", "").split()) & NAMES_ONLY
        for name in LOADED.get(tag, []):
            if name in values and not names_only:
                self.loaded.add(values[name].split(" ")[0])


def is_foreign(link):
    parts = urllib.parse.urlsplit(link)
    return parts.scheme not in ("", "data") or bool(parts.netloc)


def problem_of(site, pages, source, link):
    """The problem of a link inside the site, or None."""
    parts = urllib.parse.urlsplit(link)
    path = urllib.parse.unquote(parts.path)
    target = (source if not path else site / path[1:] if path.startswith("/") else source.parent / path)
    target = pathlib.Path(target).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or site not in target.parents:
        return "leads nowhere"
    anchor = urllib.parse.unquote(parts.fragment)
    # The theme Material adds the anchors that start with two underscores.
    if anchor and not anchor.startswith("__") and target in pages and anchor not in pages[target].anchors:
        return "has an anchor that its page lacks"
    return None


def main(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    problems, count = [], 0
    for path, page in pages.items():
        # The 404 page is served at any path, so its links start with a slash.
        for link in sorted(page.links | page.loaded):
            count += 1
            if is_foreign(link):
                problem = "is loaded from another host" if link in page.loaded else None
            else:
                problem = problem_of(site, pages, path, link)
            if problem:
                problems.append(f"{path.relative_to(site)}: '{link}' {problem}")
    for path in sorted(site.rglob("*.css")):
        for match in CSS_URL.finditer(path.read_text(encoding="utf-8")):
            link = match[1] or match[2]
            if is_foreign(link):
                problems.append(f"{path.relative_to(site)}: '{link}' is loaded from another host")
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {count} links, {len(problems)} problems")
    return 1 if problems or len(pages) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
