"""The hooks that count targets as they are reported, and show the summary at the end.

At its end each process has findings: what it compiled, notes, errors of expectations. Workers of xdist send theirs to
the controller, which shows them all.

Rows are compiler configs, columns runtime configs, one table per suite. A suite in which all went well is one line.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field
from retarget.results import Outcome, Result, TargetRecord
from retarget.session import SessionErrors
from retarget.support import counted, log_group, size_text

from pytest_retarget.collect.hooks import CollectionHooks
from pytest_retarget.internals import ReprExceptionInfo, terminal_writer
from pytest_retarget.items.targets import MatrixItem, PlainWhereItMust
from pytest_retarget.options import SETTINGS, Settings
from pytest_retarget.record import fail_session, record_of
from pytest_retarget.report.recording import case_status, log_cases
from pytest_retarget.session.declared import cache_dir, declared
from pytest_retarget.session.services import SERVICES

OUTPUT = "retarget"
"""Where an xdist worker's output has its findings."""

_STATUS: dict[Outcome, tuple[str, str, tuple[str, dict[str, bool]]]] = {
    Outcome.BLOCKED: ("blocked", "b", ("BLOCKED", {"yellow": True})),
    Outcome.FLAKY: ("flaky", "f", ("FLAKY", {"yellow": True})),
    Outcome.NOT_RUN: ("not run", "n", ("NOT RUN", {"yellow": True})),
    Outcome.INTERMITTENT: ("intermittent", "i", ("INTERMITTENT", {"yellow": True})),
}
"""Category, letter and word of the outcomes that pytest does not know."""


class TerminalHooks:
    """The hooks of one process."""

    def __init__(self, config: pytest.Config, collection: CollectionHooks) -> None:
        self._config = config
        self._settings = config.stash[SETTINGS]
        self._is_worker = hasattr(config, "workerinput")
        self._collection = collection
        self._tally = Tally()
        self._judged = SessionErrors(self._settings.cases)
        self.errors: Sequence[str] = ()
        """What is wrong besides targets, once the session has finished."""
        self.unselected: list[str] = []
        """The values of `--retarget-case` that match no case, once the session has finished."""

    @property
    def notes(self) -> Sequence[str]:
        """The notes of collecting and running targets, once the session has finished."""
        return tuple(self._tally.notes)

    # ------------------------------------------------------------ as targets are reported

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a target; and show colours only where there are some."""
        record = record_of(report)
        if self._is_worker or record is None:
            return
        was_compiled_elsewhere = self._settings.artifacts is not None and record.compile is not None
        is_blocked = bool(record.blocked_by) and not (was_compiled_elsewhere or self._settings.update_expectations)
        self._judged.add(record, has_failed=report.failed, is_blocked=is_blocked)
        if report.when == "call":
            log_cases(self._config, report, record)
        if isinstance(report.longrepr, ReprExceptionInfo):
            traceback = report.longrepr.reprtraceback
            one_line = self._config.getoption("tbstyle", "auto") == "line" and report.when == "call"
            shown = [] if one_line else traceback.reprentries  # pytest adds the one line to calls only
            traceback.reprentries = [PlainWhereItMust(entry.lines) for entry in shown]
        status = self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        if status and status[0]:  # without pytest's terminal nobody knows one
            self._tally.add(record, status[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport, config: pytest.Config
    ) -> tuple[str, str, str | tuple[str, dict[str, bool]]] | None:
        """Blocked, flaky, intermittent, unchanged and not run are categories of their own; so are cases."""
        record = record_of(report)
        if record is None:
            return case_status(report, config)
        if report.failed:
            return None
        return not_run_again(record, self._settings) if record.unchanged else _STATUS.get(record.outcome)

    # ------------------------------------------------------------ at the end

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand in the findings. Errors of expectations are no success."""
        findings = self._findings(session)
        if self._is_worker:
            output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]  # set by xdist
            output[OUTPUT] = findings
            return
        self._take(findings)
        self.errors, self.unselected = self._judged.errors(), self._judged.unselected()
        if self.errors:
            fail_session(session)
        elif session.exitstatus == pytest.ExitCode.OK and self._tally.reasons.get(NOT_RUN):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif self.unselected:
            fail_session(session, pytest.ExitCode.USAGE_ERROR)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take an xdist worker's findings."""
        if findings := getattr(node, "workeroutput", {}).get(OUTPUT):
            self._take(findings)

    def _findings(self, session: pytest.Session) -> dict[str, Any]:
        """The state of this process at its end, as builtin types. Expectations are checked where targets were run."""
        services = self._config.stash.get(SERVICES, None)
        if services is not None and session.exitstatus != pytest.ExitCode.INTERRUPTED:
            services.engine.flush()
        rules: dict[str, Any] = {"errors": [], "case_uses": ()}
        ignores_rules = self._settings.ignore_expectations or self._settings.update_expectations
        if not ignores_rules and not self._config.getoption("collectonly"):
            items = [item for item in getattr(session, "items", ()) if isinstance(item, MatrixItem)]
            found = declared(self._config)
            found.usage.use(rule for item in items for rule in item.in_force.all)
            rules = found.findings(self._config)
        return {
            "compiles": services.statistics() if services is not None else {},
            "notes": [*self._collection.notes, *(services.engine.notes if services is not None else ())],
            **rules,
        }

    def _take(self, findings: Mapping[str, Any]) -> None:
        self._tally.add_compiles(findings["compiles"], findings["notes"])
        self._judged.add_rules(findings["errors"], findings["case_uses"])

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """The table, the reasons, the figures; errors even where nothing ran."""
        if config.option.no_summary:
            return
        if self.errors:
            terminalreporter.write_sep("=", "expectations", red=True)
            for error in self.errors:
                terminalreporter.write_line(error, red=True)
        for missing in self.unselected:
            terminalreporter.write_line(f"ERROR: {missing}", red=True)
        if config.getoption("collectonly") or not self._tally.cells:
            for note in self._tally.notes:
                terminalreporter.write_line(f"note: {note}", yellow=True)
            return
        verbosity = config.get_verbosity()
        if verbosity < -1:
            return
        with log_group("target matrix", terminalreporter.write_line):
            if verbosity >= 0:
                terminalreporter.write_sep("=", "target matrix")
            for line in self._tally.lines(width=terminal_writer(terminalreporter).fullwidth, verbosity=verbosity):
                markup = {"red": True} if line.bad else {"green": True} if line.fine else {}
                terminalreporter.write_line(line.text, **markup)
        if compiles := self._tally.compile_line():
            where = "" if self._settings.no_cache else f" (cache: {_home(cache_dir(config))})"
            terminalreporter.write_line(compiles + where)
        if shared := self._tally.shared_line():
            terminalreporter.write_line(shared)
        export = self._settings.export
        if export is not None and self._tally.keys:
            terminalreporter.write_line(f"artifacts exported to {_home(export)}, for --retarget-artifacts")


def not_run_again(record: TargetRecord, settings: Settings) -> tuple[str, str, tuple[str, dict[str, bool]]]:
    """Return category, letter and word of a target whose result is that of an earlier run."""
    outcome = str(record.outcome)
    if not settings.changed:
        word = {Outcome.XFAILED: "XFAIL"}.get(record.outcome, outcome.upper())
        return "reused", "r", (f"{word} (reused)", {"green": True})
    when = f" {moment(record.reused.ended)}" if record.reused is not None else ""
    return "unchanged", "u", (f"UNCHANGED ({outcome}{when})", {"cyan": True})


def _home(path: Path) -> str:
    """`~/.cache/retarget`, as people write it."""
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(path)


NOT_RUN = "not run"
"""Where a device was lost, as pytest's terminal counts it."""

WORDS = {
    "passed": "ok",
    "flaky": "flaky",
    "intermittent": "intermittent",
    "failed": "FAIL",
    "error": "ERROR",
    "blocked": "block",
    NOT_RUN: "not run",
    "skipped": "skip",
    "xfailed": "xfail",
    "xpassed": "XPASS",
    "unchanged": "unchanged",
    "reused": "reused",
}
"""How an outcome reads in a cell, in this order. Other plugins' outcomes follow under their own names."""

BAD = frozenset({"failed", "error", "blocked", "xpassed", NOT_RUN})
"""Outcomes that make a suite show its table."""

BLOCKERS = 4
"""How many of the targets that block others are named; the others are counted, unless -v asks for all."""

COMPILE_COLUMN = "compile"
NOTHING = "-"
INDENT = "  "
GAP = "  "


class Line(Struct, frozen=True, kw_only=True):
    """One line of the summary. `bad` and `fine` say how to colour it; neither: not at all."""

    text: str
    bad: bool = False
    fine: bool = False


Suite = tuple[str, str]
Cell = tuple[str, str]


class Tally(Struct, kw_only=True):
    """Counts per suite, compiler config and runtime config, and what else the end of the session shows."""

    cells: dict[Suite, dict[Cell, Counter[str]]] = field(default_factory=dict)
    order: dict[Suite | tuple[Suite, Cell], tuple[int, int]] = field(default_factory=dict)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    chances: dict[str, Counter[str]] = field(default_factory=dict)
    kept: dict[str, list[TargetRecord]] = field(default_factory=dict)
    devices: dict[str, dict[str, None]] = field(default_factory=dict)
    builds: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    compiles: Counter[str] = field(default_factory=Counter)
    processes: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    def add(self, record: TargetRecord, category: str) -> None:
        """Count one report."""
        suite, cell = (record.file, record.suite), (record.compiler, record.runtime)
        self.cells.setdefault(suite, {}).setdefault(cell, Counter())[category] += 1
        position = (record.line, record.position)
        self.order[suite] = min(position, self.order.get(suite, position))
        self.order[suite, cell] = min(position, self.order.get((suite, cell), position))
        if record.unchanged:
            self.kept.setdefault(category, []).append(record)
        elif category == "intermittent":
            self.chances.setdefault(record.reason, Counter())[_chance(record)] += 1
        elif record.reason:
            self.reasons.setdefault(category, Counter())[record.reason] += 1
            if record.hint:
                self.hints[record.reason] = record.hint
        for device in record.devices:
            name = ", ".join(filter(None, (device.name, device.note)))
            self.devices.setdefault(f"{device.driver}: {name}", {})[record.runtime] = None
        if build := ", ".join(record.runtime_builds):
            self.builds.setdefault(("runtime", build), {})[record.runtime] = None
        if (compiled := record.compile) is not None:
            self.keys.add(compiled.key)
            if compiled.build:
                self.builds.setdefault(("compiler", compiled.build), {})[record.compiler] = None

    def add_compiles(self, statistics: Mapping[str, float], notes: Sequence[str] = ()) -> None:
        """Add one process's compile statistics, and the damage that its store found and repaired."""
        self.notes.update(dict.fromkeys(notes))
        if statistics:
            self.processes += 1
            self.compiles.update(statistics)

    def lines(self, *, width: int, verbosity: int) -> Iterator[Line]:
        """The tables, then skip reasons and devices. `width` is the terminal's, in columns; `verbosity` is pytest's:
        below 0 only what went wrong, was flaky or intermittent is shown, above 0 every table."""
        cells = {suite: self._ordered(suite) for suite in sorted(self.cells, key=lambda one: (one[0], self.order[one]))}
        short = [suite for suite in cells if verbosity <= 0 and not any(map(_is_bad, cells[suite].values()))]
        label = max((len(name) for _, name in short), default=0)
        for suite, counts in cells.items():
            if suite not in short:
                yield from table(suite[1], counts, width)
            elif verbosity >= 0:
                total = sum(counts.values(), Counter[str]())
                yield Line(
                    text=f"{suite[1].ljust(label)}{GAP}{count_text(total)}",
                    fine=not total["flaky"] and not total["intermittent"],
                )
        yield from (Line(text=f"note: {note}") for note in self.notes)
        for reason, count in self.reasons.get(NOT_RUN, Counter()).most_common():
            yield Line(text=f"not run: {reason} ({counted(count, 'target')})", bad=True)
        if verbosity >= 0:
            yield from self._reasons(in_full=verbosity > 0)
        yield from (Line(text=f"flaky: {reason}") for reason in sorted(self.reasons.get("flaky", Counter())))
        for reason, results in sorted(self.chances.items()):
            which = ", ".join(f"{count} {result}" for result, count in results.most_common())
            yield Line(text=f"intermittent: {reason} ({counted(results.total(), 'target')}: {which})")
        yield from (Line(text=_not_run(category, records)) for category, records in self.kept.items())
        if verbosity >= 0:
            for device, runtimes in sorted(self.devices.items()):
                own = device.partition(": ")[0]
                used = "" if set(runtimes) == {own} else f" ({', '.join(sorted(runtimes))})"
                yield Line(text=f"device: {device}{used}")
            for (sort, build), configs in sorted(self.builds.items()):
                yield Line(text=f"{sort}: {build} ({', '.join(sorted(configs))})")

    def compile_line(self) -> str:
        """`compiled 12, reused 30; 41.2 s of compiling`, or nothing where nothing was to be had.

        The seconds are those of all workers together: more than the clock's where several compiled at a time.
        """
        compiled, reused = int(self.compiles["compiled"]), int(self.compiles["reused"])
        if self.processes > 1:  # what one process compiled, the others count as reused
            reused = max(0, len(self.keys) - compiled)
        if not compiled and not reused:
            return ""
        took = f"; {self.compiles['seconds']:.1f} s of compiling" if compiled else ""
        return f"compiled {compiled}, reused {reused}{took}"

    def shared_line(self) -> str:
        """`3 of 5 outcomes from the shared store (12.3 MiB), 2 uploaded (1.1 MiB)`; nothing where it was not asked."""
        fetched, uploaded = int(self.compiles["fetched"]), int(self.compiles["uploaded"])
        asked = fetched + int(self.compiles["absent"])
        if not asked and not uploaded:
            return ""
        read, written = (
            f" ({size_text(size)})" if (size := self.compiles[f"{what}_bytes"]) else ""
            for what in ("fetched", "uploaded")
        )
        put = f", {uploaded} uploaded{written}" if uploaded else ""
        asked_by_one = f"{fetched} of {counted(asked, 'outcome')}"
        of = asked_by_one if self.processes < 2 else counted(fetched, "outcome")  # several ask for the same
        return f"{of} from the shared store{read}{put}"

    def _ordered(self, suite: Suite) -> dict[Cell, Counter[str]]:
        """A suite's cells in declared order."""
        cells = self.cells[suite]
        return {cell: cells[cell] for cell in sorted(cells, key=lambda one: self.order[suite, one])}

    def _reasons(self, *, in_full: bool) -> Iterator[Line]:
        for reason, count in self.reasons.get("skipped", Counter()).most_common():
            yield Line(text=f"skipped: {reason} ({counted(count, 'target')})")
            if hint := self.hints.get(reason):
                yield from (Line(text=f"{INDENT}{line}") for line in hint.splitlines())
        blocked = self.reasons.get("blocked", Counter()).most_common()
        shown = blocked if in_full or len(blocked) <= BLOCKERS + 1 else blocked[:BLOCKERS]
        yield from (Line(text=f"{reason} ({counted(count, 'target')})") for reason, count in shown)
        if rest := blocked[len(shown) :]:
            count = sum(count for _, count in rest)
            yield Line(text=f"blocked by {len(rest)} others ({counted(count, 'target')}; -v names them)")


def moment(seconds: float) -> str:
    """Return when something was, as short as it is clear: `14:02` today, `2026-11-21` before."""
    when, today = time.localtime(seconds), time.localtime()
    return time.strftime("%H:%M" if when[:3] == today[:3] else "%Y-%m-%d", when)


def _not_run(category: str, records: Sequence[TargetRecord]) -> str:
    """Say of how many targets an earlier result holds; and of which runs these are."""
    counts = Counter(one.outcome for one in records).most_common()
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counts)
    text = f"{counted(len(records), 'target')} ({outcomes})"
    if category == "unchanged":
        return f"unchanged since their last run: {text}; without --retarget-changed they run, too"
    runs = [one.reused for one in records if one.reused is not None]
    ended = [one.ended for one in runs]
    when = dict.fromkeys(moment(seconds) for seconds in (min(ended), max(ended)))
    where = ", ".join(sorted({one.host for one in runs}))
    return f"reused: {text}, run {' to '.join(when)} on {where}; without --retarget-reuse-results they run again"


def table(name: str, cells: Mapping[Cell, Counter[str]], width: int) -> Iterator[Line]:
    """One suite's table; as a list where the table would be wider than the terminal."""
    rows = list(dict.fromkeys(compiler for compiler, _ in cells))
    columns = sorted(dict.fromkeys(runtime for _, runtime in cells), key=bool)
    texts: dict[Cell, str] = {}
    for column in columns:
        aligned = _aligned([count_text(cells[row, column]) if (row, column) in cells else NOTHING for row in rows])
        texts |= {(row, column): text for row, text in zip(rows, aligned, strict=True)}
    widths = {
        column: max(len(column or COMPILE_COLUMN), *(len(texts[row, column]) for row in rows)) for column in columns
    }
    first = max(len(name), *(len(INDENT + row) for row in rows))
    if first + sum(len(GAP) + one for one in widths.values()) > width:
        yield from _list(name, cells)
        return
    yield Line(text=_row(name, first, [(column or COMPILE_COLUMN, widths[column]) for column in columns]))
    for row in rows:
        line = _row(INDENT + row, first, [(texts[row, column], widths[column]) for column in columns])
        yield Line(text=line, bad=any(_is_bad(cells.get((row, column))) for column in columns))


def count_text(counts: Mapping[str, int]) -> str:
    """`11 ok, 1 FAIL`."""
    order = [*WORDS, *(name for name in counts if name not in WORDS)]
    return ", ".join(f"{counts[name]} {WORDS.get(name, name)}" for name in order if counts.get(name))


def _row(first: str, width: int, cells: Sequence[tuple[str, int]]) -> str:
    return (first.ljust(width) + "".join(GAP + text.ljust(column) for text, column in cells)).rstrip()


def _list(name: str, cells: Mapping[Cell, Counter[str]]) -> Iterator[Line]:
    label = max(len(column or COMPILE_COLUMN) for _, column in cells)
    yield Line(text=name)
    for row in dict.fromkeys(compiler for compiler, _ in cells):
        yield Line(text=INDENT + row)
        for (compiler, column), counts in cells.items():
            if compiler == row:
                text = f"{INDENT * 2}{(column or COMPILE_COLUMN).ljust(label)}{GAP}{count_text(counts)}"
                yield Line(text=text, bad=_is_bad(counts))


def _aligned(texts: Sequence[str]) -> list[str]:
    """Put the first numbers of a column below each other."""
    digits = {text: text.find(" ") for text in texts if text != NOTHING}
    return [" " * (max(digits.values()) - digits[text]) + text if text in digits else text for text in texts]


def _is_bad(counts: Counter[str] | None) -> bool:
    return counts is not None and any(counts[name] for name in BAD)


def _chance(record: TargetRecord) -> str:
    """The result of an intermittent target."""
    if record.result is not Result.FAILED or record.observation is None:
        return record.chance
    return record.observation.ending
