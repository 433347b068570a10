"""`--retarget-results DIR`: what happens to each target, written to a file as it happens.

By the process that reports: the controller of xdist, or the only one. What reports lack, such as targets that never
ran, is looked up in the declarations.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from retarget import __version__
from retarget.model import Target
from retarget.results import Outcome, ResultsWriter, TargetRecord
from retarget.session import FileName, host_identity
from retarget.support import Checkout, RetargetError, strip_colour
from retarget.worker import available_cores

from pytest_retarget.collect.requirements import PlannedLeg
from pytest_retarget.collect.suite_files import suite_line
from pytest_retarget.internals import say
from pytest_retarget.items.targets import MatrixItem
from pytest_retarget.options import usage_errors
from pytest_retarget.record import OTHER_FAILURES, earlier_records, record_of
from pytest_retarget.session.declared import declared

LONGEST_TEXT = 64 << 10
"""Characters of a report that are kept."""

_ATTRIBUTION = "retarget-matrix-attribution"
_CRASHED = "???"
"""xdist's name of the phase in which a target's worker died."""


class Results:
    """The hooks of the process that reports. Nothing is written where nothing is run."""

    def __init__(self, config: pytest.Config, folder: Path, leg: PlannedLeg | None) -> None:
        self._config = config
        self._folder = folder
        self._of_leg = {"leg": leg.leg.name, "plan": leg.plan_digest} if leg is not None else {}
        self._writer: ResultsWriter | None = None
        self._session = ""
        self._error = ""
        self._left: dict[str, None] = {}
        self._attempts: dict[str, int] = {}
        self._targets: dict[tuple[str, str], dict[str, TargetRecord]] = {}
        self._places: dict[str, str] = {"": ""}

    # ------------------------------------------------------------ the targets are known

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not self._config.option.collectonly:
            self._begin(item.nodeid for item in session.items if isinstance(item, MatrixItem))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Under xdist only the workers collect, all of them the same."""
        if not self._session:
            self._begin(nodeid for nodeid in ids if _place(nodeid)[0].endswith(FileName.SUITE))

    def _begin(self, ids: Iterable[str]) -> None:
        """Write the header. Raises `pytest.UsageError` where that fails."""
        self._left = dict.fromkeys(ids)
        arguments = tuple(map(str, self._config.invocation_params.args))
        root, cwd = self._config.rootpath, self._config.invocation_params.dir
        below = "" if cwd == root else os.path.relpath(cwd, root)
        with usage_errors("--retarget-results: "):
            self._writer = ResultsWriter.begin(
                self._folder,
                self._left,
                revision=Checkout(root).revision,
                retarget=__version__,
                python=platform.python_version(),
                host=platform.node(),
                platform=platform.platform(),
                cpu=host_identity()[:12],
                cores=available_cores(),
                arguments=arguments,
                cwd=below,
                **self._of_leg,
            )
        self._session = self._writer.start.session

    # ------------------------------------------------------------ a target has run

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that could not be collected."""
        if report.failed:
            self._config.stash[OTHER_FAILURES] = True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Write a target's record, before the terminal cuts its text."""
        record, before = record_of(report), self._attempts.get(report.nodeid, 0)
        is_target = before or report.nodeid in self._left
        if record is None and is_target and report.failed and type(report) is pytest.TestReport:  # not that of a case
            outcome = Outcome.FAILED if report.when in {"call", _CRASHED} else Outcome.ERROR
            message = str(report.longrepr).partition("\n")[0]
            record = replace(self._declared(report.nodeid), outcome=outcome, message=message)
        elif record is None and not is_target and report.failed:
            self._config.stash[OTHER_FAILURES] = True
        if record is not None and self._writer is not None:
            if before and report.when in {"teardown", _CRASHED}:
                before -= record.attempt  # it says how the attempt ended that is written already
            process = getattr(getattr(getattr(report, "node", None), "gateway", None), "id", "")
            same = {"case_digest": record.case_digest, "trial_digest": record.trial_digest, "process": process}
            for one in (*earlier_records(report), replace(record, text=_text(report))):
                self._write_record(replace(one, attempt=before + one.attempt, **same))
            self._attempts[record.nodeid] = before + record.attempt
            self._left.pop(record.nodeid, None)
        return (yield)

    def _write_record(self, record: TargetRecord) -> None:
        places = {name: self._relative(getattr(record, name)) for name in ("file", "module_file")}
        run = record.run
        if run is not None and run.opened:
            below = [(self._relative(name), state) for name, state in run.opened]
            run = replace(run, opened=tuple(one for one in below if not one[0].startswith(("../", "/"))))
        known = {"session": self._session, "text": _kept(record.text), "run": run}
        self._write(ResultsWriter.write, replace(record, **known, **places, **self._of_leg))

    def _relative(self, path: str) -> str:
        """Return a path relative to pytest's root folder; found once for all targets of a file."""
        if path not in self._places:
            self._places[path] = path
            with suppress(ValueError):  # another drive
                root = self._config.rootpath
                self._places[path] = Path(os.path.relpath(root / path, root)).as_posix()
        return self._places[path]

    def _write(self, write: Callable[..., None], *line: object) -> None:
        """Write a line, by a method of the writer. After one that cannot be written there is no other: the file says
        that it is incomplete."""
        if self._writer is not None:
            try:
                write(self._writer, *line)
            except RetargetError as error:
                self._fail(error)

    def _fail(self, error: RetargetError) -> None:
        self._error = f"{error}; the results of this session are incomplete"
        self._close()

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    # ------------------------------------------------------------ the end

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Write what has not run and what was concluded; then, when all others have had their say, the exit status."""
        why = session.shouldfail or session.shouldstop or ""
        if not why and session.exitstatus == pytest.ExitCode.INTERRUPTED:
            why = "interrupted"
        reason = f"the session ended before it: {why}" if why else "the session ended before it"
        for nodeid in self._left if self._writer is not None else ():
            self._write_record(replace(self._declared(nodeid), reason=reason))
        attribution: Any = self._config.pluginmanager.get_plugin(_ATTRIBUTION)
        for nodeid, (sentence, section) in attribution.conclusions.items() if attribution is not None else ():
            self._write(ResultsWriter.conclude, nodeid, sentence, _kept(section))
        if self._error and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        yield
        if self._writer is not None:
            try:
                self._writer.end(int(session.exitstatus), other_failures=self._config.stash.get(OTHER_FAILURES, False))
            except RetargetError as error:
                self._fail(error)
                session.exitstatus = session.exitstatus or pytest.ExitCode.USAGE_ERROR
                self._show()

    def pytest_terminal_summary(self) -> None:
        self._show()

    def pytest_unconfigure(self) -> None:
        self._close()

    def _show(self) -> None:
        if self._error:
            say(self._config, f"ERROR: {self._error}", red=True)

    # ------------------------------------------------------------ what the declarations say

    def _declared(self, nodeid: str) -> TargetRecord:
        """Return what is declared of a target, for one without a report; little where its file cannot be read."""
        file, suite, name = _place(nodeid)
        if (file, suite) not in self._targets:
            self._targets[file, suite] = {}
            with suppress(pytest.Collector.CollectError):
                self._targets[file, suite] = self._read(file, suite)
        return self._targets[file, suite].get(name) or TargetRecord(nodeid=nodeid, file=file, suite=suite, target=name)

    def _read(self, file: str, name: str) -> dict[str, TargetRecord]:
        """Return the records of a suite's targets, by their names. Raises `pytest.Collector.CollectError`."""
        found, path = declared(self._config), self._config.rootpath / file
        suite = next((one for one in found.suites(path) if one.name == name), None)
        targets: Sequence[Target] = found.targets(suite, path) if suite is not None else ()
        line = (suite_line(suite.origin) or 0) if suite is not None else 0
        return {
            target.name: TargetRecord.declared(
                target, found.registry, nodeid=f"{file}::{name}::{target.name}", file=file, line=line, position=position
            )
            for position, target in enumerate(targets)
        }


def _place(nodeid: str) -> tuple[str, str, str]:
    """Return the file, the suite and the name of a target."""
    file, _, rest = nodeid.partition("::")
    suite, _, name = rest.partition("::")
    return file, suite, name


def _text(report: pytest.TestReport) -> str:
    """The whole report of a failure; nothing for a skip."""
    return "" if report.longrepr is None or isinstance(report.longrepr, tuple) else str(report.longrepr)


def _kept(text: str) -> str:
    """A text without colour, up to the length that is kept."""
    text = strip_colour(text)
    rest = len(text) - LONGEST_TEXT
    return text if rest <= 0 else f"{text[:LONGEST_TEXT]}\n… and {rest} more characters"
