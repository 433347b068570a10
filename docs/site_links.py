"""Pages and files outside of docs/ in the site that MkDocs builds (`make site`): README is its first page.

A link leads to the same file in the site and in the repository: pages are at their paths, and other files that pages
link to are copied to `source/`. MkDocs reports the links that lead nowhere.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

__all__ = ["on_files", "on_page_markdown"]

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    **{name: name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "kernels/retarget_opencl/README.md")},
}
"""The pages outside of docs/, and where they are in the site."""

PLACES = {place: path for path, place in PAGES.items()}
LINK = re.compile(r"(\]\()(?!\w+:|#|/)([^)#\s]+)")
BLOCK = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
INFO = re.compile(r"^( *```[\w-]+) [^\n`]*$", re.MULTILINE)
"""What tests read of a block (`file=NAME`, `run`), which is no option of the highlighter."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages outside of docs/, and the files that pages link to."""
    for path, place in PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    linked = set[str]()
    for path in [_path(file.src_uri) for file in files.documentation_pages()]:
        text = BLOCK.sub("", (ROOT / path).read_text(encoding="utf-8"))
        linked.update(_target(path, link) for _, link in LINK.findall(text))
    for path in sorted(linked):
        if _place(path).startswith("source/"):
            files.append(File.generated(config, _place(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Return a page's text with links to where files are in the site."""
    path = _path(page.file.src_uri)
    folder = posixpath.dirname(page.file.src_uri)

    def moved(found: re.Match[str]) -> str:
        return found[1] + posixpath.relpath(_place(_target(path, found[2])), folder or ".")

    parts, end = [], 0
    for block in BLOCK.finditer(markdown):
        parts += [LINK.sub(moved, markdown[end : block.start()]), INFO.sub(r"\1", block[0], count=1)]
        end = block.end()
    return "".join([*parts, LINK.sub(moved, markdown[end:])])


def _path(place: str) -> str:
    """Return where a page of the site is in the repository."""
    return PLACES.get(place) or f"docs/{place}"


def _place(path: str) -> str:
    """Return where a file of the repository is in the site."""
    if path in PAGES or path.startswith("docs/"):
        return PAGES.get(path) or path.removeprefix("docs/")
    return f"source/{path}" if (ROOT / path).is_file() else path


def _target(path: str, link: str) -> str:
    return os.path.normpath(posixpath.join(posixpath.dirname(path), link)).replace(os.sep, "/")
