"""One browser for all tests of the page; and pages that may say nothing and ask nobody."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

REQUIRE_BROWSER = "RETARGET_REQUIRE_BROWSER"
"""Set to 1 where a machine without Chromium is an error: continuous integration."""

Open = Callable[..., "Page"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium of the system, without a window."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        reason = "needs Chromium: apt-get install chromium"
        if os.environ.get(REQUIRE_BROWSER) == "1":
            pytest.fail(f"{reason}; {REQUIRE_BROWSER}=1 does not let this test be skipped", pytrace=False)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Browser) -> Iterator[Open]:
    """Return the function that opens the page of a folder at an address and waits for its view. What it
    loads is put into `loaded`.

    At the end of the test the page must have said nothing on the console and asked for nothing outside its folder.
    """
    said: list[str] = []
    contexts = []

    def opened(site: Path, address: str = "", *, loaded: list[str] | None = None, **options: object) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        inside = (site.resolve().as_uri(), "data:")
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("request", lambda one: None if one.url.startswith(inside) else said.append(f"request: {one.url}"))
        if loaded is not None:
            page.on("request", lambda one: loaded.append(one.url))
        page.goto(f"{(site / 'index.html').resolve().as_uri()}{address}")
        page.locator("main > *:not([role=status])").first.wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
