"""Results in short: how many targets have which outcome, failures that have one cause, and how two results differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from retarget.model.signatures import normalise
from retarget.results.record import CaseRecord, Outcome, TargetRecord
from retarget.support.text import listed


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Failures of one stage and signature; the first record is that of the smallest module (see `among`)."""

    stage: str
    signature: str
    records: tuple[TargetRecord, ...]

    @classmethod
    def among(cls, records: Iterable[TargetRecord]) -> list[FailureGroup]:
        """Return the failures by stage and signature, the largest group first; `unexplained` ones, too.

        Of a group, the target whose module compiles fastest comes first: the smallest one as far as records tell.
        """
        groups: dict[tuple[str, str], list[TargetRecord]] = {}
        results = {record.nodeid: record for record in records}
        lost = TargetRecord.unexplained(results)
        for record in results.values():
            if (state := State.of(record)).is_bad or record.nodeid in lost:
                groups.setdefault((state.stage, state.signature), []).append(record)
        ordered = sorted(groups.items(), key=lambda one: (-len(one[1]), one[0]))
        return [
            cls(stage=stage, signature=signature, records=tuple(sorted(found, key=_size)))
            for (stage, signature), found in ordered
        ]


def by_outcome(records: Iterable[TargetRecord]) -> dict[Outcome, int]:
    """Return how many records have each outcome that any has, in the order of `Outcome`."""
    counted = Counter(record.outcome for record in records)
    return {outcome: counted[outcome] for outcome in Outcome if counted[outcome]}


def by_config(records: Iterable[TargetRecord]) -> dict[tuple[str, str], dict[Outcome, int]]:
    """Return the same for each pair of compiler and runtime config, sorted; the runtime of compile targets is empty."""
    configs: dict[tuple[str, str], list[TargetRecord]] = {}
    for record in records:
        configs.setdefault((record.compiler, record.runtime), []).append(record)
    return {config: by_outcome(found) for config, found in sorted(configs.items())}


def _size(record: TargetRecord) -> tuple[bool, float, str]:
    seconds = record.compile.seconds if record.compile is not None else 0.0
    return not seconds, seconds, record.nodeid


SEPARATOR = "; "
"""Between the words for one combination of circumstances."""


class State(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A result in short: the outcome, and for a failure its stage and signature, in the words of expectations.

    A target that was skipped or is blocked has the reason as its signature, a partial one the cases without an outcome.
    `cases` are those that failed, of a target with several; empty where nothing asked for them. `places` are the
    circumstances in which it is so: devices, hosts, toolchains, each combination as a text; empty where nothing says.
    `goldens` are words for golden rules that it leaves open (`TargetRecord.open_goldens`), `left` its `open_cases`.
    `passed` are further circumstances of a failure: those in which the target was as expected, in all of its cases.
    """

    outcome: Outcome
    stage: str = ""
    signature: str = ""
    cases: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    goldens: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether it is as the expectations say."""
        return self.outcome.is_good

    @property
    def is_bad(self) -> bool:
        """Whether it is a failure that no expectation excuses."""
        return self.outcome.is_bad

    @property
    def has_verdict(self) -> bool:
        """Whether it is either."""
        return self.is_good or self.is_bad

    @property
    def settled(self) -> State:
        """The same, with `passed` for `flaky`: what a look back compares, where chance is counted by itself."""
        return replace(self, outcome=Outcome.PASSED, stage="", signature="") if self.outcome is Outcome.FLAKY else self

    @property
    def anywhere(self) -> State:
        """The same, whatever the circumstances and golden rules, and how it failed by chance."""
        how = (self.stage, self.signature) if self.outcome is not Outcome.INTERMITTENT else ("", "")
        return State(self.outcome, *how, self.cases)

    def mends_besides(self, failure: State) -> bool:
        """Whether a target that failed was as expected in the circumstances of a failure. It judges no golden rule."""
        besides = State(Outcome.PASSED, places=self.passed)
        return bool(self.passed) and not failure.goldens and not besides.silence_on(failure)

    def silence_on(self, failure: State) -> str:
        """Return why a result says nothing of an earlier failure; empty where it replaces it. It does in all of the
        circumstances of the failure, and of a broken golden rule where it judges it and does not fail."""
        known = [{*place.split(SEPARATOR)} for place in self.places]
        for words in (place.split(SEPARATOR) for place in failure.places):
            if lacking := min(([one for one in words if one not in own] for own in known), key=len, default=[]):
                return f"not on {' and '.join(lacking)}"
        if left := [one for one in self.left if one in failure.left and not self.is_bad]:
            return f"no outcome of {listed(left)}"
        is_other = self.stage != failure.stage or self.signature not in {"", failure.signature}
        if self.outcome is Outcome.INTERMITTENT and self.stage and failure.is_bad and is_other:
            return "by chance it failed in another way"
        is_judged = not failure.goldens or (not self.is_bad and {*self.goldens}.isdisjoint(failure.goldens))
        return "" if is_judged else "its golden rule was not judged"

    def missing_since(self, before: State) -> str:
        """Return the devices on which a target had a verdict before, and has none, where it has one on others of them;
        empty for none."""
        now, was = ({*map(_devices, (*one.places, *one.passed))} - {""} for one in (self, before))
        is_missing = self.has_verdict and before.has_verdict and was & now and was - now
        return f"not on {' or '.join(sorted(was - now))}" if is_missing else ""

    def __str__(self) -> str:
        where = f" at {self.stage}" if self.stage else ""
        cases = f" in {listed(self.cases)}" if self.cases else ""
        return f"{self.outcome}{where}{f': {self.signature}' if self.signature else ''}{cases}"

    def fails_beyond(self, other: State) -> bool:
        """Whether a case fails that did not, of a target that failed in others; or where it was as expected."""
        is_further = bool(other.cases) and not {*self.cases} <= {*other.cases}
        on_each = (State(self.outcome, places=(place,)) for place in self.places if self.is_bad)
        return is_further or any(map(other.mends_besides, on_each))

    @staticmethod
    def change(before: State | None, after: State | None) -> Change | None:
        """Return how a result differs from an earlier one; None where it does not. A state of None is no target."""
        if before is None or after is None:
            return None if before is after else Change.GONE if after is None else Change.NEW
        if after.is_bad > before.is_bad or (after.is_bad == before.is_bad and after.fails_beyond(before)):
            return Change.BROKEN
        if after.missing_since(before):
            return Change.STOPPED
        if before.anywhere == after.anywhere:
            return None
        if before.is_bad and after.is_good:
            return Change.OTHER if after.silence_on(before) else Change.MENDED
        return Change.STOPPED if before.has_verdict > after.has_verdict else Change.OTHER

    @classmethod
    def of(cls, record: TargetRecord) -> State:
        """Return the result of a target in short; its circumstances are a matter of its session (`Sessions.states`)."""
        outcome, seen = record.outcome, record.observation
        if outcome in {Outcome.SKIPPED, Outcome.BLOCKED}:
            return cls(outcome, "", normalise(record.reason))
        if outcome is Outcome.PARTIAL:
            return cls(outcome, "", f"no outcome of {listed(record.missing_cases)}")
        if outcome is Outcome.XPASSED:
            return cls(outcome, "", "passed, but a rule expects a failure")
        if not outcome.is_bad and outcome is not Outcome.XFAILED:
            by_chance = (seen.stage, seen.signature) if seen is not None and outcome is Outcome.INTERMITTENT else ()
            return cls(outcome, *by_chance)
        if seen is not None and seen.signature:
            return cls(outcome, seen.stage, seen.signature)
        stage = seen.stage if seen is not None else record.stage
        return cls(outcome, stage, normalise(record.message or record.reason) or "failed without a message")

    @classmethod
    def by_case(cls, record: TargetRecord) -> State:
        """The same, with the cases that failed, but for those that do by chance."""
        state, bad = cls.of(record), {Outcome.FAILED, Outcome.XFAILED}
        several = len(record.cases) > 1 and state.outcome in bad
        failing = (one.name for one in record.cases if several and one.outcome in bad)
        return replace(state, cases=tuple(failing))


class Change(StrEnum):
    """How a target's result differs from an earlier one."""

    BROKEN = "newly broken"
    """It fails, and did not before, or fails in further cases."""
    STOPPED = "no longer run"
    """It was as expected or failed, and is skipped, blocked, not run or run in part now, or on fewer of its devices."""
    GONE = "gone"
    """It is not among the targets any more."""
    MENDED = "newly mended"
    """It failed, and is as expected now, in the same circumstances and as to the same golden rules."""
    OTHER = "changed otherwise"
    """Another stage, signature or outcome, or as expected where that says nothing of the failure."""
    NEW = "new"
    """It was not among the targets before."""


def _devices(place: str) -> str:
    no_device = "the host ", "the toolchain ", "the declared "
    return SEPARATOR.join(word for word in place.split(SEPARATOR) if not word.startswith(no_device))


class Difference(NamedTuple):
    """How the state of a target differs from an earlier one; None where it is not among the targets."""

    target: str
    change: Change
    before: State | None
    after: State | None


def is_worse(one: Difference) -> bool:
    """Whether a result is worse than before, or new and bad."""
    is_worse = one.change in {Change.BROKEN, Change.STOPPED, Change.GONE}
    return is_worse or (one.before is None and one.after is not None and one.after.is_bad)


def worse_cases(target: str, before: TargetRecord, after: TargetRecord) -> Iterator[Difference]:
    """Yield which cases of a target are worse than before: the target may have failed then, in another case. One that
    passed and fails as the same rules excuse is worse: they were there for others."""
    was, now = ({one.name: _state_of_case(one) for one in record.cases} for record in (before, after))
    known = dict.fromkeys((*was, *now)) if was and now else {}
    names = [name for name in known if name not in after.unselected_cases]
    digests = {(one.outcome, one.case_digest, *(device.name for device in one.devices)) for one in (before, after)}
    has_same_rules = len(digests) == 1 and before.outcome is Outcome.XFAILED and bool(before.case_digest)
    for one in differences((f"{target} [{name}]", was.get(name), now.get(name)) for name in names):
        outcomes = [state.outcome for state in (one.before, one.after) if state is not None]
        if has_same_rules and outcomes == [Outcome.PASSED, Outcome.XFAILED]:
            yield one._replace(change=Change.BROKEN)
        elif is_worse(one):
            yield one


def _state_of_case(case: CaseRecord) -> State:
    return State(Outcome.BLOCKED if case.no_verdict else case.outcome, case.stage, case.signature)


def differences(states: Iterable[tuple[str, State | None, State | None]]) -> Iterator[Difference]:
    """Yield what differs, of targets with their states before and after."""
    for target, before, after in states:
        if (change := State.change(before, after)) is not None:
            if change in {Change.OTHER, Change.STOPPED} and before and after:
                silence = after.silence_on(before) if before.is_bad and after.is_good else ""
                words = filter(None, (after.signature, after.missing_since(before) or silence))
                after = replace(after, signature="; ".join(words))  # noqa: PLW2901
            yield Difference(target, change, before, after)
