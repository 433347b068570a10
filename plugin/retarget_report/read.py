"""Results and plans → the report: every target once, with its attempts, the state that a cell shows, and its
place in the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Self

from msgspec import Struct, field
from retarget.results import History, Outcome, Plan, SessionResults, Sessions, TargetRecord, Waived

LAST_RUNS = 60
"""How many runs before this one the page shows."""


class Target(Struct, frozen=True, kw_only=True):
    """A target as the page shows it. `runtime` is empty for a compile target.

    `attempts` are the records of the newest session that came to it, by attempt; the last is the result. There are none
    where only a plan names the target. `leg` is that of the plan, `waiver` why no leg runs it. `sessions` counts those
    that have a result of it.
    """

    id: str
    suite_file: str
    suite: str
    module: str
    compiler: str
    runtime: str
    state: State
    attempts: tuple[TargetRecord, ...] = ()
    leg: str = ""
    waiver: str = ""
    sessions: int = 0

    @property
    def record(self) -> TargetRecord | None:
        """The result."""
        return self.attempts[-1] if self.attempts else None

    @property
    def stage(self) -> str:
        """Where it failed, in the words of expectations; empty where it did not."""
        if (record := self.record) is None:
            return ""
        if record.observation is not None:
            return record.observation.stage
        return record.stage if record.outcome in {Outcome.FAILED, Outcome.XFAILED} else ""

    @property
    def signature(self) -> str:
        """How it failed; empty where it did not."""
        observation = self.attempts[-1].observation if self.attempts else None
        return observation.signature if observation is not None else ""


class Report(Struct, frozen=True, kw_only=True):
    """All that the page is made of. `targets` are in the order of suite files, suites and declarations.

    `attributions` say by target id what the other targets suggest of its failure. `outside` counts the targets with a
    result of none of the plans; it is 0 without plans. `history` has the runs before and, as the last, the sessions.
    """

    title: str
    sessions: tuple[SessionResults, ...]
    targets: tuple[Target, ...]
    plans: tuple[Plan, ...] = ()
    attributions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    outside: int = 0
    history: History | None = None


def read_report(results: Iterable[Path], plans: Iterable[Path] = (), *, title: str = "", history: str = "") -> Report:
    """Read results, plans and a history (a folder or a URL). Of a plan there may be no results and no history yet.

    Raises `RetargetError` for what their readers refuse.
    """
    read = tuple(Plan.read(path) for path in plans)
    sessions = Sessions.read(results, if_any=bool(read))
    targets, outside = _targets(sessions, read)
    counting = {(one.record.session, one.id) for one in targets if one.record is not None}
    said = (one for session in sessions for one in session.attributions if (one.session, one.nodeid) in counting)
    return Report(
        title=title or "retarget",
        sessions=sessions,
        targets=tuple(targets),
        plans=read,
        attributions={one.nodeid: (one.sentence, one.section) for one in said},
        outside=outside,
        history=History.read(history, last=LAST_RUNS, now=sessions, if_any=bool(read)) if history else None,
    )


def _targets(sessions: Sequence[SessionResults], plans: Sequence[Plan]) -> tuple[list[Target], int]:
    attempts = Sessions(sessions).attempts
    counted = Counter(target for session in sessions for target in {record.nodeid for record in session.records})
    legs = {one: leg for plan in plans for leg in plan.legs for one in leg.ids}
    waived = {one: waiver for plan in plans for waiver in plan.waived for one in waiver.ids}
    compilers = {records[-1].compiler for records in attempts.values()}
    ids = legs.keys() | waived.keys() | attempts.keys()
    parents = {nodeid.rpartition("_")[0] for nodeid in ids}
    lost = TargetRecord.unexplained({one: records[-1] for one, records in attempts.items()}, planned=legs)
    compilers |= {nodeid.rpartition("_")[2] for nodeid in ids & parents}

    def target(nodeid: str, records: Sequence[TargetRecord]) -> Target:
        planned, waiver = legs.get(nodeid), waived.get(nodeid)
        result = records[-1] if records else None
        unseen = State.MISSING if planned is not None else State.WAIVED
        if result is not None and result.module:
            names = (result.file, result.suite, result.module, result.compiler, result.runtime)
        else:
            names = _named(nodeid, compilers)
        return Target(
            id=nodeid,
            suite_file=names[0],
            suite=names[1],
            module=names[2],
            compiler=names[3],
            runtime=names[4],
            state=State.UNEXPLAINED if nodeid in lost else state_of(result) if result is not None else unseen,
            attempts=tuple(records),
            leg=planned.name if planned is not None else "",
            waiver=_reason(waiver) if waiver is not None else "",
            sessions=counted[nodeid],
        )

    found = [target(*pair) for pair in attempts.items()]
    found.sort(key=lambda target: (target.suite_file, target.attempts[-1].line, target.attempts[-1].position))
    unseen = [target(nodeid, ()) for nodeid in sorted((legs.keys() | waived.keys()) - attempts.keys())]
    of_plans = {plan.digest for plan in plans}
    others = (one for one, records in attempts.items() if one not in legs or records[-1].plan not in of_plans)
    outside = sum(one not in waived for one in others) if plans else 0
    return _grouped([*found, *unseen]), outside


def _reason(waiver: Waived) -> str:
    return " · ".join(filter(None, (waiver.reason, waiver.issue, f"until {waiver.until}" if waiver.until else "")))


def _named(nodeid: str, compilers: set[str]) -> tuple[str, str, str, str, str]:
    """Return file, suite, module, compiler and runtime of an id: `suites/a/suite.toml::a::foo_llvm-cpu_local-task`.

    Names of configs have no `_`. The part before the last is the compiler config of a run target.
    """
    file, suite, name = ("", "", *nodeid.split("::", 2))[-3:]
    parts = name.rsplit("_", 2)
    if len(parts) == 3 and parts[1] in compilers:
        return file, suite, parts[0], parts[1], parts[2]
    module, _, compiler = name.rpartition("_")
    return file, suite, module, compiler, ""


def _grouped(targets: Iterable[Target]) -> list[Target]:
    """Put targets that only a plan names behind those of their suite."""
    groups: dict[tuple[str, str], list[Target]] = {}
    for target in targets:
        groups.setdefault((target.suite_file, target.suite), []).append(target)
    return list(chain.from_iterable(groups.values()))


class State(StrEnum):
    """The outcomes of records, and what only a plan or the machine tells, in the order of the legend.

    The value is the word in the address, `code` the letter in the data, `sort` what it counts as in totals: `good` (as
    expected), `bad`, or `none` (it says nothing of the target).
    """

    code: str
    glyph: str
    label: str
    sort: str
    meaning: str

    def __new__(cls, word: str, *look: str) -> Self:
        self = str.__new__(cls, word)
        self._value_ = word
        self.code, self.glyph, self.label, self.sort, self.meaning = look
        return self

    OK = "ok", "p", "✓", "ok", "good", "passed"
    XFAIL = "xfail", "x", "≈", "xfail", "good", "failed as its expectation says"
    FAIL = "fail", "f", "✗", "fail", "bad", "failed, at the stage named in the cell"
    XPASS = "xpass", "u", "!", "xpass", "bad", "passed, but was expected to fail"
    ERROR = "error", "e", "‼", "error", "bad", "its setup or teardown failed"
    MISSING = "missing", "m", "?", "missing", "bad", "planned, but has no result"
    UNEXPLAINED = "unexplained", "c", "⊗", "unexplained", "bad", "blocked by a target that has no failure here"
    FLAKY = "flaky", "k", "↻", "flaky", "good", "failed, was tried again, and passed"
    INTERMITTENT = "intermittent", "i", "∿", "chance", "good", "passes or fails by chance, as its rule allows"
    BLOCKED = "blocked", "b", "⊘", "blocked", "none", "not run because another target failed"
    UNAVAILABLE = "unavailable", "n", "∅", "no device", "none", "something that it needs is not on the machine"
    SKIPPED = "skipped", "s", "-", "skipped", "none", "skipped, with a reason"
    NOT_RUN = "not-run", "o", "…", "not run", "none", "its session ended before it, or lost its device"
    PARTIAL = "partial", "h", "◐", "partial", "none", "as expected in its cases that ran; others did not"
    WAIVED = "waived", "w", "◌", "waived", "none", "a waiver lets it stay without a run"


STATES = {
    Outcome.PASSED: State.OK,
    Outcome.PARTIAL: State.PARTIAL,
    Outcome.FLAKY: State.FLAKY,
    Outcome.INTERMITTENT: State.INTERMITTENT,
    Outcome.XFAILED: State.XFAIL,
    Outcome.XPASSED: State.XPASS,
    Outcome.FAILED: State.FAIL,
    Outcome.ERROR: State.ERROR,
    Outcome.BLOCKED: State.BLOCKED,
    Outcome.SKIPPED: State.SKIPPED,
    Outcome.NOT_RUN: State.NOT_RUN,
}
"""What each outcome is; but a skip where something is missing is `UNAVAILABLE`."""


def state_of(record: TargetRecord) -> State:
    """Return the state of a target according to its record."""
    if record.outcome is Outcome.SKIPPED and record.unavailable:
        return State.UNAVAILABLE
    return STATES[record.outcome]
