"""`--retarget-repro DIR`: a bundle of each signature's smallest failure, written by `retarget repro` in processes of
their own when the session ends.

The plugin imports nothing of the bundles.

`--retarget-report SITE`: the page of what was run, written by `retarget report` in its own process.

The plugin imports nothing of the page. Without `--retarget-results` the results are in a folder that is removed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest
from retarget.results import FailureGroup, Outcome, Result, SessionResults, TargetRecord
from retarget.session import Registry
from retarget.support import RetargetError, counted, display_path, first_line
from retarget_report.folder import expect_free

from pytest_retarget.internals import say
from pytest_retarget.options import SETTINGS, require_package
from pytest_retarget.record import record_of
from pytest_retarget.session.declared import cache_dir

_MOST = 10
"""How many bundles are written, those of the most failures."""

_NOT_REPRODUCED = 3
"""The exit status of `retarget repro` for a failure that does not occur from its bundle."""


class Bundles:
    """The hooks of the process that reports. Raises `pytest.UsageError` where bundles cannot be written for want of a
    package."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        require_package("--retarget-repro", "zstandard", "repro")
        self._settings = config.stash[SETTINGS]
        self._config = config
        self._folder = folder
        self._records: dict[str, TargetRecord] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the outcome of a target."""
        if (record := record_of(report)) is not None:
            self._records[record.nodeid] = record

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Write the bundles when all workers have ended, and report each."""
        yield
        groups = to_pack(self._records.values())
        if not groups:
            return
        say(self._config, f"bundles of {counted(len(groups), 'signature')}, in {display_path(self._folder)}:")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._fail(session, f"{self._folder} cannot be created: {error.strerror or error}")
            return
        for group in groups[:_MOST]:
            self._write(session, group)
        if len(groups) > _MOST:
            say(self._config, f"  {len(groups) - _MOST} more without one: `retarget repro TARGET` writes it")

    def _write(self, session: pytest.Session, group: FailureGroup) -> None:
        record = group.records[0]
        output = self._folder / f"{record.suite}-{record.target.replace('/', '-')}.tar.zst"
        command = [sys.executable, "-m", "retarget.cli", "repro", record.nodeid, "-o", str(output)]
        for extension in self._settings.extensions:
            command += ["--retarget-extension", extension]
        for name, path in self._settings.toolchains.items():
            command += ["--retarget-toolchain", f"{name}={path or 'PATH'}"]
        env = {**os.environ, **Registry.environment(), "RETARGET_CACHE_DIR": str(cache_dir(self._config))}
        done = subprocess.run(
            command,
            cwd=self._config.rootpath,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        what = f"{group.stage}: {group.signature}".rstrip(": ")
        also = f" ({counted(len(group.records), 'target')})" if len(group.records) > 1 else ""
        if done.returncode == 0:
            _, *more, statement = done.stdout.strip().splitlines()
            say(self._config, f"  {output.name}  {statement}{also}")
            for line in more:
                say(self._config, f"    {line}")
        elif done.returncode == _NOT_REPRODUCED:
            say(self._config, f"  not reproduced: {record.nodeid}  {what}{also}")
            for line in done.stderr.splitlines():
                if line.strip().startswith(("expected: ", "found: ")):
                    say(self._config, f"    {line.strip()}")
        else:
            lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
            why = lines[-1] if lines else first_line(done.stdout, f"exit status {done.returncode}")
            self._fail(session, f"{record.nodeid}: {why}")

    def _fail(self, session: pytest.Session, why: str) -> None:
        session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR
        say(self._config, f"ERROR: --retarget-repro: {why}", red=True)


def to_pack(records: Iterable[TargetRecord]) -> list[FailureGroup]:
    """Return the failures to pack, by signature: those that no rule excuses.

    An unexpected pass and an inconclusive failure are none.
    """
    return FailureGroup.among(
        record
        for record in records
        if record.outcome is Outcome.FAILED and record.result is Result.FAILED and record.observation is not None
    )


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
