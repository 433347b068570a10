"""What the project's own tests share: `--run-slow` and `--run-exhaustive`, `needs_vulkan` and `needs_sshd`."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

REQUIRE_VULKAN = "RETARGET_REQUIRE_VULKAN"
"""Set to 1 where a machine without Vulkan is an error: continuous integration."""


REQUIRE_SSHD = "RETARGET_REQUIRE_SSHD"
"""The same, without OpenSSH's server."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-slow", action="store_true", help="run the tests marked slow as well")
    parser.addoption("--run-exhaustive", action="store_true", help="run the tests marked exhaustive as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [name for name in ("slow", "exhaustive") if not config.getoption(f"--run-{name}")]
    selected = [item for item in items if not any(map(item.get_closest_marker, left_out))]
    if left_out:
        selected = _sampled(selected, slow="slow" not in left_out)
    if len(selected) < len(items):
        kept = set(selected)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = selected


def _sampled(items: list[pytest.Item], *, slow: bool) -> list[pytest.Item]:
    """Return the items without those that are no sample of their test's parameters, as the marker `sampled` says.

    A sample is spread over the parameters: the first, the last, and those between in equal steps.
    """
    of_test: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            of_test[item.nodeid.partition("[")[0]].append(item)
    dropped: set[pytest.Item] = set()
    for all_of_one in of_test.values():
        marker = all_of_one[0].get_closest_marker("sampled")
        count = min(marker.kwargs.get("slow", len(all_of_one)) if slow else marker.args[0], len(all_of_one))
        kept = {all_of_one[round(at * (len(all_of_one) - 1) / max(count - 1, 1))] for at in range(count)}
        dropped.update(item for item in all_of_one if item not in kept)
    return [item for item in items if item not in dropped]


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, why_not, variable in (("vulkan", _no_vulkan, REQUIRE_VULKAN), ("sshd", _no_sshd, REQUIRE_SSHD)):
        if item.get_closest_marker(f"needs_{marker}") and (reason := why_not()):
            if os.environ.get(variable) == "1":
                pytest.fail(f"{reason}; {variable}=1 does not let this test be skipped", pytrace=False)
            pytest.skip(reason)


def _no_sshd() -> str:
    """Why no SSH server can be started here; empty if one can."""
    found = shutil.which("sshd") or Path("/usr/sbin/sshd").exists()
    return "" if found and shutil.which("ssh") else "needs sshd: install openssh-server and openssh-client"


@cache
def _no_vulkan() -> str:
    """Why there is no Vulkan device here, determined in a process of its own; empty if there is one."""
    from retarget.extension import UnavailableError
    from retarget.session.run.service import RunService
    from retarget.support.errors import RetargetError

    with RunService(extensions=(), default_timeout=60) as service:
        try:
            service.probe("vulkan")
        except (RetargetError, UnavailableError) as error:
            return f"needs Vulkan: {error}"
    return ""
