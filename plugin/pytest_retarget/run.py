"""`retarget run`: a session of pytest in this process whose report is a line for each target.

Of the options that the project adds, those of retarget's that say how targets are collected, compiled, run and judged
are in force. pytest's terminal, its cache and what this plugin adds to failures are not: a failure is shown when it
happens. Targets that are named by their ids need no other plugin and no `conftest.py`, so none is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from fnmatch import fnmatch
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.model import is_glob
from retarget.results import Outcome
from retarget.session import SelectionRequest, SelectionUsageError
from retarget.support import RetargetError, counted, did_you_mean, display_path, shown

from pytest_retarget.collect.hooks import CollectionHooks
from pytest_retarget.collect.requirements import Requirements
from pytest_retarget.collect.selecting import COLLECTING, LIMITS, Errors, request_options
from pytest_retarget.internals import TerminalWriter
from pytest_retarget.options import OF_ONE_ID, SETTINGS
from pytest_retarget.record import record_of
from pytest_retarget.report.terminal import TerminalHooks
from pytest_retarget.session.declared import NotCollectedError, declared

_SKIPPED = 77
"""The exit status where all targets are skipped, as Automake and Meson have it."""

_KEPT = {*COLLECTING, *LIMITS, "--retarget-case", "--retarget-jobs", "--retarget-require"}
_SWITCHES = ("--retarget-ignore-expectations", "--runxfail")
_OFF = ("retarget-matrix-attribution", "cacheprovider", "threadexception", "unraisableexception", "warnings")
_OFF_FOR_IDS = (
    *("capture", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging", "monkeypatch"),
    *("pastebin", "python", "recwarn", "setuponly", "setupplan", "stepwise", "subtests", "tmpdir", "unittest"),
)
"""Plugins that are not loaded: what they do is not shown, or of no use to targets."""

_WORDS = {Outcome.XFAILED: "XFAIL", Outcome.XPASSED: "FAILED", Outcome.NOT_RUN: "NOT RUN"}


def run(request: SelectionRequest) -> int:
    """Run the session, as `PytestPlugin.run_targets` says."""
    session = _Session(request)
    status = pytest.main([*_arguments(request), "--", *request.paths], plugins=[session])
    session.raise_errors()
    if session.usage:
        raise (SelectionUsageError if session.is_started else RetargetError)(session.usage)
    if status == pytest.ExitCode.INTERRUPTED:
        outcomes = session.outcomes
        counts = f": {_counts(outcomes)}" if outcomes else ""
        _note(f"interrupted after {len(outcomes)} of {counted(session.selected, 'target')}{counts}")
        raise KeyboardInterrupt
    if session.config is None or status == pytest.ExitCode.INTERNAL_ERROR:  # pytest has said why
        return 1
    for note in session.notes():
        _note(note)
    if status == pytest.ExitCode.NO_TESTS_COLLECTED or (status == pytest.ExitCode.OK and not session.outcomes):
        msg = f"found no target in {', '.join(request.paths)} that is selected; `retarget list` shows all"
        raise SelectionUsageError(msg)
    if len(session.outcomes) > 1:
        sys.stdout.write(f"{counted(len(session.outcomes), 'target')}: {_counts(session.outcomes)}\n")
    if status == pytest.ExitCode.OK and {*session.outcomes} <= {Outcome.SKIPPED, Outcome.BLOCKED}:
        return _SKIPPED
    return 2 if status == pytest.ExitCode.USAGE_ERROR else int(status)


def _arguments(request: SelectionRequest) -> Iterator[str]:
    yield "--assert=plain"
    if request.is_ids:
        yield from ("-p", "pytest_retarget.plugin", "--disable-plugin-autoload", "--noconftest")
        yield from ("-o", "required_plugins=", "-o", "strict_config=false")
    else:
        yield from ("-p", "retarget", "--capture=no")
    for name in (*_OFF, *(_OFF_FOR_IDS if request.is_ids else ())):
        yield from ("-p", f"no:{name}")
    kept = _KEPT if request.is_ids else {"-p", *_KEPT}
    yield from request_options(request, kept=kept, switches=_SWITCHES)
    yield from (f"--retarget-require={text}" for text in request.requires)
    yield from request.options


class _Session(Errors):
    """The hooks of the session."""

    def __init__(self, request: SelectionRequest) -> None:
        super().__init__()
        self.outcomes: list[Outcome] = []
        self.selected = 0
        self.usage = ""
        """Why pytest refuses to run."""
        self.is_started = False
        """Whether pytest has read all options."""
        self._request = request
        self._writer = TerminalWriter(sys.stdout)
        self._requirements: Requirements | None = None

    @pytest.hookimpl(wrapper=True)
    def pytest_cmdline_main(self) -> Generator[None, Any, Any]:
        """Keep an error of usage, which pytest would print in its own words."""
        try:
            return (yield)
        except pytest.UsageError as error:
            self.usage = self._not_found() or "\n".join(map(str, error.args))
            return pytest.ExitCode.USAGE_ERROR

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Take pytest's terminal away; and what the environment asks of sessions of pytest alone."""
        self.config = config
        config.pluginmanager.unregister(name="terminalreporter")
        if (requirements := config.pluginmanager.get_plugin("retarget-requirements")) is not None:
            self._requirements = requirements
            requirements.of_named = self._request.is_ids or bool(self._request.names)
            requirements.asked = frozenset(self._request.requires)
        config.stash[OF_ONE_ID] = self._request.is_ids and len(self._request.paths) == 1
        config.stash[SETTINGS] = replace(
            config.stash[SETTINGS], cluster="", reuses=False, artifacts=self._request.artifact
        )

    def pytest_sessionstart(self) -> None:
        self.is_started = True

    # ------------------------------------------------------------ selection

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect what no name is about. Raises `pytest.UsageError` for a name that no target has."""
        if not self._request.names or not items:
            return
        known = [item.name for item in items]
        wanted: set[str] = set()
        for name in self._request.names:
            matching = [one for one in known if fnmatch(one, name)] if is_glob(name) else _with_front(known, name)
            if not matching:
                where = ", ".join(self._request.paths)
                msg = f"found no target {name!r} in {where}{did_you_mean(name, known) or '; `retarget list` shows all'}"
                raise pytest.UsageError(msg)
            wanted.update(matching)
        config.hook.pytest_deselected(items=[item for item in items if item.name not in wanted])
        items[:] = [item for item in items if item.name in wanted]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.selected = len(session.items)

    def _not_found(self) -> str:
        """Say which suite or target is not there, of those that ids name; nothing where all are."""
        if self.config is None or not self._request.is_ids or self.errors or self.diagnostics:
            return ""
        found = declared(self.config)
        for one in self._request.paths:
            file, suite, name = one.split("::")
            path = self.config.invocation_params.dir / file
            try:
                suites = {known.name: known for known in found.suites(path)}
                names = [target.name for target in found.targets(suites[suite], path)] if suite in suites else []
            except NotCollectedError:
                return ""
            if suite not in suites:
                return f"found no suite {suite!r} in {file}{did_you_mean(suite, suites)}"
            if name not in names:
                hint = did_you_mean(name, names) or "; `retarget list` shows all"
                return f"found no target {name!r} in {file}::{suite}{hint}"
        return ""

    # ------------------------------------------------------------ what is shown

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print how a target ended, as `pytest -v` does; a failure with all that is known of it."""
        record = record_of(report)
        if record is None or self.config is None:
            return
        self.outcomes.append(record.outcome)
        word = _WORDS.get(record.outcome, record.outcome.upper())
        reason = f" ({shown(record.reason)})" if record.reason else ""
        file, _, name = report.nodeid.partition("::")
        self._writer.line(f"{display_path(self.config.rootpath / file)}::{name} {word}{reason}")
        if record.outcome.is_bad and report.longrepr is not None:
            report.toterminal(self._writer)
        elif record.hint:
            self._writer.line(f"hint: {record.hint}")
        self._writer.flush()

    def notes(self) -> Iterator[str]:
        """Yield what there is to say besides targets, once the session has ended."""
        plugins = self.config.pluginmanager if self.config is not None else None
        collection: CollectionHooks | None = plugins and plugins.get_plugin("retarget-matrix")
        terminal: TerminalHooks | None = plugins and plugins.get_plugin("retarget-matrix-terminal")
        if collection is not None and terminal is not None:
            for note in terminal.notes:
                yield f"note: {note}" if note in collection.notes else note
            yield from terminal.errors
            yield from self._requirements.errors if self._requirements is not None else ()
            yield from terminal.unselected


def _with_front(known: Sequence[str], front: str) -> Sequence[str]:
    """Return a name, or the one that begins so. Raises `pytest.UsageError` where several do."""
    matching = sorted({one for one in known if one.startswith(front)})
    if front in matching:
        return [front]
    if len(matching) > 1:
        some = ", ".join(matching[:5]) + (", …" if len(matching) > 5 else "")
        msg = f"found {len(matching)} targets whose names begin with {front!r}: {some}; expected one, or '{front}*'"
        raise pytest.UsageError(msg)
    return matching


def _counts(outcomes: Sequence[Outcome]) -> str:
    words = [_WORDS.get(outcome, outcome).lower() for outcome in outcomes]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
