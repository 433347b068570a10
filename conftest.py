"""What the project's own tests share: `--run-slow`, and what a test marked `needs_vulkan` needs."""

from __future__ import annotations

import os
from functools import cache

import pytest

pytest_plugins = ["pytester"]

REQUIRE_VULKAN = "RETARGET_REQUIRE_VULKAN"
"""Set to 1 where a machine without Vulkan is an error: continuous integration."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="run the tests marked slow as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = [] if config.getoption("--run-slow") else [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("needs_vulkan") and (reason := _no_vulkan()):
        if os.environ.get(REQUIRE_VULKAN) == "1":
            pytest.fail(f"{reason}; {REQUIRE_VULKAN}=1 does not let this test be skipped", pytrace=False)
        pytest.skip(reason)


@cache
def _no_vulkan() -> str:
    """Why there is no Vulkan device here, determined in a process of its own; empty if there is one."""
    from retarget.engine.run.service import RunService
    from retarget.extension import UnavailableError
    from retarget.support.errors import RetargetError

    with RunService(extensions=(), default_timeout=60) as service:
        try:
            service.probe("vulkan")
        except (RetargetError, UnavailableError) as error:
            return f"needs Vulkan: {error}"
    return ""
