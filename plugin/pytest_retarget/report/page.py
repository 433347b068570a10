"""`--retarget-report SITE`: the page of what was run, written by `retarget report` in its own process.

The plugin imports nothing of the page. Without `--retarget-results` the results are in a folder that is removed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from retarget.results import SessionResults
from retarget.support import RetargetError
from retarget_report.folder import expect_free

from pytest_retarget.internals import say
from pytest_retarget.options import require_package


class Page:
    """The hooks of the process that reports. `results` is where results go. Raises `pytest.UsageError` where the page
    cannot be written for want of a package, or to a folder with other files."""

    def __init__(self, config: pytest.Config, site: Path, results: Path | None) -> None:
        require_package("--retarget-report", "jinja2", "report")
        try:
            expect_free(site, "--retarget-report")
        except (OSError, RetargetError) as error:
            msg = f"--retarget-report: {error}"
            raise pytest.UsageError(msg) from None
        self._config = config
        self._site = site
        self._scratch = None if results is not None else tempfile.TemporaryDirectory(prefix="retarget-results-")
        self.results = results or Path(self._scratch.name if self._scratch is not None else "")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Write the page when the results have come to their end, and say where it is."""
        yield
        if not any(self.results.glob(f"*{SessionResults.suffix}")):
            return  # nothing was run
        command = [sys.executable, "-m", "retarget.cli", "report", str(self.results), "-o", str(self._site)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = f"page: {done.stdout.strip()}"
        if done.returncode:
            session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR
            said = f"ERROR: --retarget-report: {(done.stderr or done.stdout).strip()}"
        say(self._config, said, red=bool(done.returncode))

    def pytest_unconfigure(self) -> None:
        """Remove results that nobody asked for."""
        if self._scratch is not None:
            self._scratch.cleanup()
