"""`--retarget-benchmark`: what is measured of targets that pass, held against golden rules, and shown at the end."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Metric, RunTarget
from retarget.results import GoldenRules, Measurement, Sessions
from retarget.session import host_identity
from retarget.support import RetargetError, counted

from pytest_retarget.options import SETTINGS
from pytest_retarget.session.declared import declared

if TYPE_CHECKING:
    from retarget.results import SessionResults, TargetRecord
    from retarget.session import Trial

_SHOWN = 10
"""How many targets the end of the session shows, the slowest."""


class GoldenError(RetargetError):
    """A target passed, and does not keep a golden rule."""


class Benchmark:
    """The benchmark of one session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._settings = config.stash[SETTINGS]
        self._began = time.time()
        # as the session's results name them
        self._goldens = GoldenRules(platform.node(), host_identity()[:12], self._earlier)
        self._slowest: list[tuple[float, str, str]] = []
        self._unjudged: list[str] = []
        self._timed = 0

    def prepare(self, trial: Trial) -> None:
        """Before a target runs, see to it that nothing is compiled beside it."""
        if isinstance(trial.target, RunTarget):
            trial.services.engine.finish_compiles()

    def judge(self, trial: Trial, path: Path, *, passes: bool = True) -> None:
        """Record what was measured of a target that passed, of the suite file `path`. Raises `GoldenError` for golden
        rules that it breaks. One that fails as expected is not measured, and no rule judged."""
        record = trial.record
        if passes and isinstance(trial.target, CompileTarget):
            if record.compile is None or not record.compile.artifact:
                return
            self._record_statistics(trial, trial.target)
        if passes:
            self._count(trial.record)
        found = declared(self._config)
        suite = next(one for one in found.suites(path) if one.name == trial.target.compiled.suite)
        results = self._goldens.judge(suite, found.targets(suite, path), trial.target, trial.record, passes=passes)
        trial.update_record(goldens=tuple(one for _, one in results))
        self._unjudged += [
            f"{trial.target.name}: {_of_case(one.case)}{one.text}" for _, one in results if one.verdict == "not judged"
        ]
        if broken := [(rule, one) for rule, one in results if one.verdict == "broken"]:
            lines = []
            for rule, one in broken:
                lines.append(f"{_of_case(one.case)}{one.text}")
                lines.append(f"golden   {trial.services.locations.location(rule.origin)}: {one.rule}")
                lines.append(f"reason   {rule.excuse}")
            more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
            lines.append("next: find what changed, or if it is so now, change the bound")
            msg = f"golden rule broken: {lines[0]}{more}\n\n" + "\n".join(lines)
            raise GoldenError(msg)

    def _record_statistics(self, trial: Trial, target: CompileTarget) -> None:
        from msgspec.structs import replace

        with suppress(RetargetError, UnavailableError):  # it is compiled; what counts its dispatches is not
            found = trial.services.engine.program_statistics(target)
            if found is not None and (compiled := trial.record.compile) is not None:
                trial.update_record(compile=replace(compiled, dispatches=found.dispatches, transient=found.transient))

    def _earlier(self) -> Sequence[SessionResults]:
        """The results of earlier sessions. Raises `RetargetError` for results that cannot be read."""
        baseline = self._settings.benchmark.baseline if self._settings.benchmark else None
        place = baseline or self._settings.results
        if place is None:
            return ()
        sessions = Sessions.read([place], if_any=baseline is None)
        return [one for one in sessions if one.start.started < self._began]

    def _count(self, record: TargetRecord) -> None:
        for one in Measurement.of(record):
            if one.metric is Metric.LATENCY:
                self._timed += 1
                spread = f" -+ {100 * one.spread:.2g} %" if one.spread < 1 else ""
                text = f"{one.metric.text(one.value)}{spread}, {counted(one.calls, 'call')}"
                self._slowest.append((one.value, text, f"{record.nodeid} {_of_case(one.case)}".rstrip(": ")))
                self._slowest = sorted(self._slowest, reverse=True)[:_SHOWN]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the slowest, and the rules that could not be judged."""
        if not self._timed and not self._unjudged:
            return
        terminalreporter.section("retarget benchmark")
        more = f", the slowest {_SHOWN}" if self._timed > _SHOWN else ""
        terminalreporter.line(f"latency of {counted(self._timed, 'case')} (median of warm calls){more}:")
        for _, text, name in self._slowest:
            terminalreporter.line(f"  {text:<36} {name}")
        if self._unjudged:
            terminalreporter.line(f"golden rules not judged: {len(self._unjudged)}")
            for line in self._unjudged[: None if terminalreporter.verbosity > 0 else _SHOWN]:
                terminalreporter.line(f"  {line}")


def _of_case(case: str) -> str:
    return f"case {case!r}: " if case else ""
