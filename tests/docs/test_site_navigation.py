"""The site of `make site` has each page once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
OUTSIDE = ["CHANGELOG.md", "CONTRIBUTING.md", "index.md", "kernels/retarget_opencl/README.md"]
"""Pages that are not in docs/: see docs/site_links.py."""


def test_every_page_is_in_the_navigation_once() -> None:
    _, _, nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(re.findall(r"[\w/-]+\.md", nav)) == sorted([*OUTSIDE, *pages])
