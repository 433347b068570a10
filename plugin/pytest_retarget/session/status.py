"""What a session says and how it ends besides its targets."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from retarget.support import install_hint

OTHER_FAILURES = pytest.StashKey[bool]()
"""Set where something other than a target failed."""


def fail_session(session: pytest.Session, status: pytest.ExitCode = pytest.ExitCode.TESTS_FAILED) -> None:
    """Let a session fail, with `status` if nothing else has failed, for something that is no result of a target."""
    session.config.stash[OTHER_FAILURES] = True
    session.exitstatus = session.exitstatus or status


def say(config: pytest.Config, line: str, *, red: bool = False) -> None:
    """Write a line of its own, where there is a terminal."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.write_line(line, red=red)


def require_package(option: str, package: str, extra: str) -> None:
    """Raise `pytest.UsageError` where the package that an option needs is not installed."""
    if importlib.util.find_spec(package) is None:
        msg = f"{option} needs the package {package}, which is not installed; {install_hint(extra)}"
        raise pytest.UsageError(msg)
