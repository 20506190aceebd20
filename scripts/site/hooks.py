# SPDX-License-Identifier: Apache-2.0
"""Hooks of MkDocs. Mermaid draws the diagrams of a page in the browser; it is 3.5 MB, so only pages
with a diagram load it, from the site itself. Material would load it from another host.
"""
import posixpath

MERMAID = "site/mermaid.min.js"


def on_post_page(output, page, **_):
    if '<pre class="mermaid">' not in output:
        return output
    script = posixpath.relpath(MERMAID, page.url or ".")
    return output.replace("</body>", f'<script src="{script}"></script></body>')
