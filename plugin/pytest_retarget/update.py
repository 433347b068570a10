"""`--retarget-update-expectations`: what a run showed becomes the rules.

Where targets run, what was observed is reported as it will be judged once the rules are written: a failure as an
expected one, a pass as a pass. What says nothing of a target stays a failure and is never written; so does the failure
of a flaky target, another one than that of an intermittent target, and one whose rule has expired. At the end the
process that shows the reports writes the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.expect.diagnostics import expired_diagnostics
from retarget.expect.update.edited_rules import key_of
from retarget.expect.update.edits import Rewritten, diff, put_in_place, rewritten
from retarget.expect.update.plan import CasesSeen, Kept, SuiteTargets, plan_update
from retarget.expect.update.suites import expanded, served_suites
from retarget.expect.verdict import is_expired, observed_text, today
from retarget.model import Expectation
from retarget.model.outcomes import Observation, Stage
from retarget.results.record import CaseRecord, Outcome, Result, TargetRecord
from retarget.support.checkout import incomplete
from retarget.support.errors import DiagnosticsError, RetargetError, display_path
from retarget.support.text import counted
from retarget.targets.expansion import compile_target_name

from pytest_retarget.items.base import MatrixItem
from pytest_retarget.options.settings import SETTINGS
from pytest_retarget.record import record_of
from pytest_retarget.session.declared import declared

__all__ = ["UpdateExpectations"]

_NAMED = 4
"""How many entries that match nothing are named; the others are counted."""

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


class UpdateExpectations:
    """The hooks of one session that updates its expectations."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._seen: dict[tuple[str, str], Observation | None] = {}
        self._compiled: dict[tuple[str, str], Observation | None] = {}
        self._cases: dict[tuple[str, str], CasesSeen] = {}
        self._files: set[Path] = set()
        self._reported: set[tuple[str, str]] = set()
        self._crashed = ""
        self._lines: list[tuple[str, dict[str, bool]]] = []

    # ------------------------------------------------------------ where targets run

    def adjust(
        self, item: MatrixItem, report: pytest.TestReport, _: BaseException | None, record: TargetRecord
    ) -> TargetRecord:
        """Report what was observed as the rules to be written will judge it."""
        if report.when != "call":
            return record
        if record.result is Result.UNKNOWN:
            seen = item.trial.compile_observation
            if record.outcome is not Outcome.BLOCKED or seen is None or not _is_written(item.in_force.compile_rule):
                return record
            report.wasxfail = f"{item.compile_target.name} is expected to fail: {observed_text(seen)}"
            report.longrepr = None
            return replace(record, outcome=Outcome.XFAILED)
        failed = [one for one in record.cases if one.outcome is Outcome.FAILED and one.stage]
        record = replace(record, cases=tuple(_as_written(item, case) for case in record.cases))
        if record.result is Result.PASSED:
            if report.failed:
                report.outcome, report.longrepr = "passed", None
                record = replace(record, outcome=Outcome.PASSED)
            return record
        if item.runtime is not None and record.stage == Stage.COMPILE:
            rules = [item.in_force.compile_rule]
        else:
            rules = [item.rules.of(one.name) or item.rules.whole for one in failed] or [item.rules.whole]
        if all(map(_is_written, rules)):
            report.outcome = "skipped"
            report.wasxfail = observed_text(record.observation)
            record = replace(record, outcome=Outcome.XFAILED)
        return record

    # ------------------------------------------------------------ where reports are shown

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what was observed."""
        record = record_of(report)
        if self._is_worker or record is None:
            return
        key = (record.suite, record.target)
        self._files.add(Path(record.file))
        self._reported.add(key)
        if record.result is Result.UNKNOWN:
            return
        seen = record.observation if record.result is Result.FAILED else None
        compile_key = (record.suite, compile_target_name(record.module, record.compiler))
        if record.runtime and record.stage == Stage.COMPILE:
            self._compiled[compile_key] = seen
            return
        self._seen[key] = seen
        self._keep_cases(key, record.cases)
        if record.runtime:
            self._compiled.setdefault(compile_key, None)

    def _keep_cases(self, key: tuple[str, str], cases: Sequence[CaseRecord]) -> None:
        """Keep what was observed of a target's cases."""
        seen = {
            one.name: Observation(stage=one.stage, signature=one.signature) if one.stage else None
            for one in cases
            if one.outcome is not Outcome.NOT_RUN and not one.no_verdict
        }
        if seen:
            names = tuple(one.name for one in cases)
            self._cases[key] = CasesSeen(names=names, seen=seen, is_selection=bool(self._config.stash[SETTINGS].cases))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A pytest worker that died leaves the run incomplete."""
        if error:
            self._crashed = f"the pytest worker {node.gateway.id} died"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the rules, if the run came to its end."""
        if self._is_worker or self._config.getoption("collectonly") or not self._files:
            return
        if why := self._unfinished(session):
            self._say(f"expectations: nothing was written, because {why}", yellow=True)
            return
        try:
            self._update(session)
        except RetargetError as error:
            for line in str(error).splitlines():
                self._say(line, red=True)
            if isinstance(error, DiagnosticsError):
                self._say("expectations: nothing was written, because of these errors", yellow=True)
            self._fail(session)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show what was written."""
        if self._lines:
            terminalreporter.write_sep("=", "expectations")
        for line, markup in self._lines:
            terminalreporter.write_line(line, **markup)

    # ------------------------------------------------------------ the update

    def _unfinished(self, session: pytest.Session) -> str:
        """Why the run says nothing on the whole; empty if it came to its end."""
        stopped = session.shouldfail or session.shouldstop
        if stopped:
            return f"the run ended early: {stopped}" if isinstance(stopped, str) else "the run ended early"
        if session.exitstatus in {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR}:
            return "the run was interrupted"
        return self._crashed

    def _update(self, session: pytest.Session) -> None:
        registry = declared(self._config).registry
        suites = served_suites(self._files, registry)
        if unknown := dict.fromkeys(text for suite in suites for text in registry.unknown(suite)):
            msg = "\n".join([*unknown, "expectations: nothing was written, because without these nothing is known"])
            raise RetargetError(msg)
        everything = [expanded(suite, registry) for suite in suites]
        update = plan_update(
            everything,
            {**self._compiled, **self._seen},
            day=today(),
            doubt=lambda file: self._doubt(file.parent, everything),
            cases=self._cases,
        )
        files = rewritten(update.edits)
        for file in files:
            for line in diff(file):
                self._say(line, **({_COLOURS[line[0]]: True} if line[:1] in _COLOURS else {}))
        put_in_place(files)
        for file in files:
            self._say(_changes_text(file))
        if not files:
            self._say(f"expectations: nothing to change, {counted(len(update.excused), 'failure')} as expected")
        if update.left:
            which = ", ".join(name for _, name in update.left[:8]) + (", …" if len(update.left) > 8 else "")
            self._say(f"expectations: left to you, as flaky, intermittent or past their date: {which}", yellow=True)
            self._fail(session)
        for kept in update.kept:
            self._say(_kept_text(kept, in_full=self._config.get_verbosity() > 1), yellow=True)
        now = served_suites(self._files, registry) if files else suites  # rules went, others are on other lines
        expired = expired_diagnostics(
            {rule.origin: rule for suite in now for rule in suite.expectations}.values(), today()
        )
        for diagnostic in expired:
            self._say(str(diagnostic), red=True)
        if expired:
            self._fail(session)

    def _doubt(self, folder: Path, suites: Iterable[SuiteTargets]) -> str:
        """Why it is unknown in this run that something the rules of a folder name is gone; empty if it is known."""
        served = [one for one in suites if one.suite.folder.is_relative_to(folder)]
        left_out = sum(key_of(target) not in self._reported for one in served for target in one.targets)
        if left_out:
            return f"this run left out {counted(left_out, 'target')} of the suites there"
        return incomplete(folder, (module.path for one in served for module in one.suite.modules))

    def _fail(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _say(self, line: str, **markup: bool) -> None:
        self._lines.append((line, markup))


def _as_written(item: MatrixItem, case: CaseRecord) -> CaseRecord:
    """Return a case as the rules to be written will judge it."""
    if case.outcome is not Outcome.FAILED:
        return case
    if not case.stage:
        return replace(case, outcome=Outcome.PASSED, reason="")
    return replace(case, outcome=Outcome.XFAILED) if _is_written(item.rules.of(case.name) or item.rules.whole) else case


def _is_written(rule: Expectation | None) -> bool:
    """Return whether a failure becomes a rule where this one is in force: not where only a person can settle it."""
    return rule is None or not (rule.outcome in {"flaky", "intermittent"} or is_expired(rule, today()))


def _kept_text(kept: Kept, *, in_full: bool) -> str:
    count = len(kept.entries)
    names = ", ".join(map(repr, kept.entries if in_full else kept.entries[:_NAMED]))
    names += ", … (-vv shows all)" if count > _NAMED and not in_full else ""
    what = "entry of `match` matches" if count == 1 else "entries of `match` match"
    return (
        f"expectations: {count} {what} nothing here and stay{'s' if count == 1 else ''} in {display_path(kept.file)}: "
        f"{names}; {kept.doubt}, so they may be missing rather than gone: remove by hand what is gone"
    )


def _changes_text(file: Rewritten) -> str:
    edit = file.edit
    rules, targets = counted(edit.rules, "rule"), counted(edit.targets, "target")
    changed = len(edit.changes) - edit.removed
    counts = f"+{len(edit.new)}, -{edit.removed}, ~{changed}"
    return f"expectations: {rules} for {targets} in {display_path(edit.file)} ({counts})"
