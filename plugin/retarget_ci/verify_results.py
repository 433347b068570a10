"""Results against their plan: every planned target has exactly one result, from its leg, under the plan's digest.

Pure: a plan and sessions in, problems out. A problem is a text of one line, or of several where it names targets; the
first says where: `leg 'linux-1': …`. What each is caused by is reported once: of a leg that answers to another plan no
target is missing too, and a compile that failed counts once with the run targets that it blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from retarget.results import Leg, Outcome, Plan, SessionResults, TargetRecord
from retarget.support import Checkout, counted, did_you_mean, display_path, first_line, listed, shown

_LONGEST = 200
"""Characters of a signature or reason that are shown."""

_DIGITS = 12
"""Digits of a digest that are shown."""

_EXIT_STATUSES = {
    2: "it was interrupted, or a collection failed",
    3: "an internal error",
    4: "wrong usage, or invalid declarations",
    5: "it collected no target",
}
"""pytest's, other than 0 and 1: https://docs.pytest.org/en/stable/reference/exit-codes.html."""


class Verified(Struct, frozen=True, kw_only=True):
    """The results of a plan. `failures` are the problems of targets that failed, `lost` all others.

    `outcomes` counts the results of planned targets, `reused` those among them that are of earlier runs. `notes` are
    what is no problem and yet worth a look.
    """

    lost: tuple[str, ...]
    failures: tuple[str, ...]
    outcomes: Mapping[str, int]
    reused: int = 0
    notes: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.lost, *self.failures)


def verify_results(plan: Plan, sessions: Sequence[SessionResults]) -> Verified:
    """Compare results with the plan that they answer to."""
    found = _Results(plan, sessions)
    lost = [*found.unplanned_sessions()]
    for leg in plan.legs:
        lost += [f"leg {leg.name!r}: {problem}" for problem in found.leg(leg)]
    lost += found.revisions()
    failures = tuple(found.failures())
    outcomes = Counter(str(record.outcome) for record in found.results.values())
    reused = sum(record.unchanged for record in found.results.values())
    notes = (*found.unknown_revisions(), *found.versions())
    return Verified(lost=tuple(lost), failures=failures, outcomes=outcomes, reused=reused, notes=notes)


class _Results:
    """The sessions of each leg, and the result of each planned target: the last attempt in a session of its leg."""

    def __init__(self, plan: Plan, sessions: Sequence[SessionResults]) -> None:
        self._plan, self._digest = plan, plan.digest
        self._leg_of = {one: leg.name for leg in plan.legs for one in leg.ids}
        self._sessions: dict[str, list[SessionResults]] = {leg.name: [] for leg in plan.legs}
        self._unplanned: list[SessionResults] = []
        for session in sessions:
            self._sessions.get(session.start.leg, self._unplanned).append(session)
        self.results = {
            one: record
            for leg, of_leg in self._sessions.items()
            for session in of_leg
            if session.start.plan == self._digest
            for one, record in session.latest.items()
            if self._leg_of.get(one) == leg
        }

    def unplanned_sessions(self) -> Iterator[str]:
        """Yield the sessions of no leg of the plan."""
        for session in self._unplanned:
            name = session.start.leg
            where = _files(session)
            if name:
                near = did_you_mean(name, self._sessions)
                yield f"{where}: found results of the leg {name!r}, which the plan does not have{near}"
            else:
                expected = "expected `retarget ci run`, or pytest with --retarget-plan and --retarget-leg"
                yield f"{where}: found results of a session that ran no leg of a plan; {expected}"

    def leg(self, leg: Leg) -> Iterator[str]:
        """Yield what is wrong with the sessions of a leg, failures aside."""
        sessions = self._sessions[leg.name]
        if not sessions:
            why = "was its job skipped, cancelled, or its results not uploaded?"
            yield f"found no results; {_missing(leg.ids)}; {why}"
        if len(sessions) > 1:
            which = ", ".join(_files(session) for session in sessions)
            yield f"found {len(sessions)} sessions, expected one: {which}; keep the results of one of them"
        for session in sessions:
            if session.start.plan != self._digest:
                found = f"to the plan {session.start.plan[:_DIGITS]}…" if session.start.plan else "to no plan"
                expected = f"expected {self._digest[:_DIGITS]}…; plan once, and run each leg with that plan"
                yield f"{_files(session)} answers {found}, {expected}"
            else:
                yield from self._session(leg, session)

    def _session(self, leg: Leg, session: SessionResults) -> Iterator[str]:
        """Yield what is wrong with a session of a leg that answers to the plan."""
        start, end, where = session.start, session.end, _files(session)
        ids = {record.nodeid for record in session.records}
        missing = [one for one in leg.ids if one not in ids]
        if (start.selected, start.digest) != (len(leg.ids), leg.digest):
            selected = f"selected {counted(start.selected, 'target')} of the digest {start.digest[:_DIGITS]}…"
            expected = f"planned are {len(leg.ids)} of {leg.digest[:_DIGITS]}…"
            yield f"{where}: its session {selected}, {expected}; were declarations or options others?"
        if end is None:
            reached = f"{len(leg.ids) - len(missing)} of {len(leg.ids)} targets"
            rest = f"; {_missing(missing)}" if missing else ""
            yield f"{where}: the session was killed: it has no end, and results of {reached}{rest}"
        else:
            if not session.is_complete:
                lines = f"found {counted(len(session.records), 'result')}, its end counts {end.records}"
                yield f"{where}: lines of it are lost: {lines}"
            if missing:
                yield f"{where}: {_missing(missing)}"
            if end.status in _EXIT_STATUSES or end.status < 0:
                why = _EXIT_STATUSES.get(end.status, "a signal")
                yield f"{where}: pytest ended with status {end.status}: {why}"
            elif session.failed_otherwise:
                excuses = Counter(_one_line(record.reason) for record in session.records if record.excused)
                is_all = session.records and excuses.total() == len(session.records)
                nothing = (
                    f"rules skip all of its targets ({'; '.join(excuses)[:_LONGEST]}): a leg that runs nothing fails"
                )
                why = f"but {nothing}" if is_all else f"{session.fault_cause}; see the log of the leg"
                yield f"{where}: pytest ended with status {end.status}, {why}"
        planned = set(leg.ids)
        others: dict[str, list[str]] = {}
        for one in sorted(ids - planned):
            others.setdefault(self._leg_of.get(one, ""), []).append(one)
        for name, which in sorted(others.items()):
            what = f"which the leg {name!r} is to run" if name else "which the plan does not have"
            yield _listing(f"{where}: found results of {counted(len(which), 'target')}, {what}", which)
        yield from _other_sources(session, self._digest)
        yield from _twice(session)
        yield from self._without_verdict(leg, [one for one in session.latest.values() if one.nodeid in planned])

    def _without_verdict(self, leg: Leg, records: Iterable[TargetRecord]) -> Iterator[str]:
        """Yield why targets have no verdict although their leg was to give one, each reason once."""
        why: dict[str, list[str]] = {}
        for record in records:
            if reason := self._reason(leg, record):
                why.setdefault(reason, []).append(record.nodeid)
        for reason, ids in why.items():
            yield _listing(f"{counted(len(ids), 'target')} {reason}", ids)

    def _reason(self, leg: Leg, record: TargetRecord) -> str:
        """Return why a result is none, to follow `2 targets`; empty where it is one."""
        said = _one_line(record.reason) or "no reason was given"
        if record.outcome is Outcome.NOT_RUN:
            return f"did not run: {said}"
        if record.unavailable and record.outcome in {Outcome.SKIPPED, Outcome.ERROR}:
            return f"found no device or tool, which the runner {leg.runner!r} promises: {said}"
        if record.outcome is Outcome.SKIPPED and not record.excused:
            return f'skipped, and no rule with outcome = "skip" says so: {said}'
        if record.outcome is Outcome.PARTIAL:
            return f"ran without some of their cases: {_one_line(listed(record.missing_cases))}"
        return self._unblocked(record) if record.outcome is Outcome.BLOCKED else self._other_compile(leg, record)

    def _unblocked(self, record: TargetRecord) -> str:
        """Return what is wrong with a blocked target: what blocks it is no failure; empty where it is one.

        A blocking target without any result is a separate problem.
        """
        cause = record.blocker_in(self.results)
        if isinstance(cause, str):
            is_lost = cause not in self._leg_of
            return f"blocked by {cause}, which the plan does not have: {_one_line(record.reason)}" if is_lost else ""
        if cause.outcome is Outcome.BLOCKED:
            return f"blocked by {cause.nodeid}, which they block"
        why = f"which has no failed result ({cause.outcome}): {_one_line(record.reason)}"
        return "" if cause.blocks else f"blocked by {cause.nodeid}, {why}"

    def _other_compile(self, leg: Leg, record: TargetRecord) -> str:
        """Return that a run target ran another compile than its build leg made; empty where it did not."""
        built = self.results.get(record.compile_id) if leg.needs else None
        if built is None or built.compile is None or record.compile is None:
            return ""
        if built.compile.returns_checks == record.compile.returns_checks and built.compile.key != record.compile.key:
            key, made = record.compile.key[:_DIGITS], built.compile.key[:_DIGITS]
            return (
                f"ran other compiles than the build leg made ({key}…, not {made}…): were flags or declarations others?"
            )
        return ""

    def revisions(self) -> Iterator[str]:
        """Yield that legs ran on different commits, or on another than that of the plan."""
        legs = self._revisions()
        legs.pop("", None)
        which = "; ".join(
            f"{Checkout.short(revision)}: {', '.join(map(repr, names))}" for revision, names in legs.items()
        )
        planned = self._plan.revision
        if len(legs) > 1:
            yield f"found legs of {len(legs)} revisions, expected one: {which}"
        elif legs and planned and planned.rstrip("+") != next(iter(legs)).rstrip("+"):
            plans = Checkout.short(planned)
            yield f"found legs of another revision than the plan's, {plans}: {which}; plan and run one commit"

    def unknown_revisions(self) -> Iterator[str]:
        """Yield which legs are of no known commit, where others are, and which ran with edits of it."""
        legs = self._revisions()
        if "" in legs and (len(legs) > 1 or self._plan.revision):
            yield f"{counted(len(legs['']), 'leg')} found no git commit: {listed(legs[''])}"
        edited = [name for revision, names in legs.items() if revision.endswith("+") for name in names]
        if edited and self._plan.revision and not self._plan.revision.endswith("+"):
            legs_with = f"{counted(len(edited), 'leg')} ran in a checkout with edits"
            yield f"{legs_with}, which the plan's had not: {listed(edited)}"

    def _revisions(self) -> dict[str, list[str]]:
        """Return the legs that ran on each commit; on none that is known by the empty text."""
        legs: dict[str, list[str]] = {}
        for name, sessions in self._sessions.items():
            for session in sessions:
                legs.setdefault(session.start.revision, []).append(name)
        return legs

    def versions(self) -> Iterator[str]:
        """Yield the compiler and runtime configs that were of several versions."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        for record in self.results.values():
            built = record.compile.build if record.compile is not None else ""
            for config, builds in ((record.compiler, (built,)), (record.runtime, record.runtime_builds)):
                for build in filter(None, builds):
                    tool, _, version = build.partition(" (")[0].rpartition(" ")
                    found.setdefault((config, tool), {}).setdefault(version, record.leg)
        for (config, tool), legs in found.items():
            if len(legs) > 1:
                which = listed([f"{version} in {leg!r}" for version, leg in legs.items()])
                yield f"config {config!r} was of {len(legs)} versions of {tool}: {which}"

    def failures(self) -> Iterator[str]:
        """Yield what failed, by outcome and signature, the largest group first."""
        blocked = Counter(record.blocker for record in self.results.values() if record.outcome is Outcome.BLOCKED)
        groups: dict[str, list[str]] = {}
        for record in self.results.values():
            if record.outcome.is_bad and not (record.unavailable and record.outcome is Outcome.ERROR):
                groups.setdefault(f"{record.outcome}: {_signature(record)}", []).append(record.nodeid)
        for what, ids in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
            follows = sum(blocked[one] for one in ids)
            also = f", which block {counted(follows, 'run target')}" if follows else ""
            yield _listing(f"{what} ({counted(len(ids), 'target')}{also})", ids)


def _other_sources(session: SessionResults, digest: str) -> Iterator[str]:
    """Yield that records name another leg or plan than their session does."""
    own = (session.start.leg, digest)
    if ids := [record.nodeid for record in session.records if (record.leg, record.plan) != own]:
        yield _listing(f"{_files(session)}: {counted(len(ids), 'result')} of another leg or plan than its session", ids)


def _twice(session: SessionResults) -> Iterator[str]:
    """Yield that targets have several results of one attempt, the error of a teardown after the result aside."""
    records = (record for record in session.records if record.outcome is not Outcome.ERROR)
    counts = Counter((record.nodeid, record.attempt) for record in records)
    if ids := sorted({nodeid for (nodeid, _), count in counts.items() if count > 1}):
        yield _listing(f"{_files(session)}: {counted(len(ids), 'target')} with several results of one attempt", ids)


def _signature(record: TargetRecord) -> str:
    said = record.observation.text if record.observation is not None else record.message
    for name in filter(None, (record.target, f"{record.module}_{record.compiler}")):
        said = said.replace(name, "…")  # so that many targets have one signature
    return _one_line(said) or "no reason was given"


def _one_line(text: str) -> str:
    """Return the first line of a text from elsewhere: printable, and not too long."""
    return shown(first_line(text[: 10 * _LONGEST]), _LONGEST)


def _files(session: SessionResults) -> str:
    return ", ".join(map(display_path, session.files))


def _missing(ids: Sequence[str]) -> str:
    return _listing(f"{counted(len(ids), 'target')} without a result", ids)


def _listing(what: str, ids: Sequence[str]) -> str:
    """Return a statement on targets with the first few of them."""
    return f"{what}: {listed(ids)}"
