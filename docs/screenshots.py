"""Take README's pictures of a page that `retarget report` wrote: `python docs/screenshots.py SITE`.

`make picture` runs the suites whose page it is. Needs Chromium and the package playwright.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

__all__ = ["main"]

DOCS = Path(__file__).parent
PICTURES = {"matrix": "", "failures": ""}
"""The views, and the filter of each."""
SIZE = {"width": 1200, "height": 700}


def main() -> None:
    """Write a PNG per view beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of the page")
    index = parser.parse_args().site.resolve() / "index.html"
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for view, query in PICTURES.items():
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(f"{index.as_uri()}#{view}?{query}")
            page.locator(".row, .card[open] pre").first.wait_for()
            page.screenshot(path=DOCS / f"{view}.png")
        browser.close()


if __name__ == "__main__":
    main()
