"""The verdict of a rule on what was observed, and its text.

Rules that name cases: which one is in force for a case, and the verdict of all rules of a target on its cases.

Rules without `case` speak of the cases that no other rule names, all together: they excuse the target if each of these
that failed did so as the rule says. Rules with `case` are strict for each case that they select.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum, auto

from msgspec import Struct
from msgspec.structs import replace

from retarget.model import Expectation, Target
from retarget.model.devices import DeviceTraits
from retarget.model.names import is_glob, matches_case
from retarget.model.outcomes import CaseOutcome, Failure, Observation, first_failure
from retarget.model.signatures import contains_signature
from retarget.support.errors import RetargetError, display_path
from retarget.targets.selection import Selector


class Ruling(StrEnum):
    """The verdict of a rule on an observation."""

    PLAIN = auto()
    """The target's own outcome counts."""

    EXCUSED = auto()
    """It failed as expected."""

    CHANCE = auto()
    """The result of an intermittent target is chance: it passed, or failed as the rule says."""

    AGAIN = auto()
    """It failed as flaky targets do: to be tried again."""

    PASSED = auto()
    """It was expected to fail and passed: a failure."""

    OTHERWISE = auto()
    """It was expected to fail and failed otherwise: a failure."""

    EXPIRED = auto()
    """It failed, and the rule that would have excused it has expired: a failure."""


class Verdict(Struct, frozen=True, kw_only=True):
    """A ruling on one target, with the rule in force and what was observed (None: it passed).

    Where the rule does not allow one of several ways in which cases failed, this way is the observation. `case` is the
    one that the rule names; empty where the rule speaks of the target.
    """

    ruling: Ruling
    rule: Expectation | None = None
    observation: Observation | None = None
    case: str = ""

    @property
    def headline(self) -> str:
        """One line on a broken or expired rule; empty where the target's own outcome says all."""
        if self.rule is None or self.ruling not in {Ruling.PASSED, Ruling.OTHERWISE, Ruling.EXPIRED}:
            return ""
        if self.ruling is Ruling.EXPIRED:
            whose = f"the expectation of case '{self.case}'" if self.case else "its expectation"
            return f"{whose} expired on {self.rule.until}"
        expected = f"expected to {self.rule.expected}"
        if self.case:
            expected = f"case '{self.case}' is {expected}"
        if self.observation is None:
            return f"{expected}, but passed"
        case = f"case '{self.observation.case}' " if self.observation.case else ""
        if self.observation.stage not in self.rule.stages:
            return f"{expected}, but {case}{_happened(self.observation)}"
        return f"{expected}, but {case}failed in another way" if case else f"{expected} in another way"

    def lines(self, location: str) -> tuple[tuple[str, str], ...]:
        """The information for a person's decision, as (word, text) pairs. `location` is the rule's source location."""
        if self.rule is None:
            return ()
        lines = [("case", self.case)]
        lines += [("expectation", location), ("reason", self.rule.reason), ("issue", self.rule.issue)]
        if self.ruling is Ruling.EXPIRED:
            lines.append(("until", str(self.rule.until)))
        else:
            signature = f": {self.rule.signature}" if self.rule.signature else ""
            expected = f"{' or '.join(self.rule.stages)}{signature}"
            lines.append(("expected", f"passed, or {expected}" if self.rule.outcome == "intermittent" else expected))
            lines.append(("found", self.observation.text if self.observation is not None else "passed"))
            lines.append(("case", self.observation.case if self.observation is not None else ""))
        return tuple((word, text) for word, text in lines if text)

    @property
    def next_step(self) -> str:
        """The advice about a broken or expired rule."""
        if self.ruling is Ruling.EXPIRED:
            return "next: mend it, or decide anew how long it is excused and change `until`"
        what = "case" if self.case else "target"
        first = f"take the {what} out of the rule" if self.observation is None else "if it is so now, change the rule"
        if self.rule is not None and self.rule.outcome != "xfail":
            return f"next: {first}"  # no update settles it
        return f"next: {first}, or let `pytest --retarget-update-expectations` do it"


_ON_PASS = {"flaky": Ruling.PLAIN, "intermittent": Ruling.CHANCE}
_ON_FAILURE = {"flaky": Ruling.AGAIN, "intermittent": Ruling.CHANCE}


def judge(rule: Expectation | None, observation: Observation | None) -> Verdict:
    """Return the verdict of a rule on an observation; None means that the target passed. Without a rule: nothing."""

    def verdict(ruling: Ruling) -> Verdict:
        return Verdict(ruling=ruling, rule=rule, observation=observation)

    if rule is None or (rule.outcome == "skip" and not rule.is_expired):
        return verdict(Ruling.PLAIN)
    if rule.is_expired:
        return verdict(Ruling.PLAIN if observation is None else Ruling.EXPIRED)
    if observation is None:
        return verdict(_ON_PASS.get(rule.outcome, Ruling.PASSED))
    for way in observation.distinct_failures:
        if not allows(rule, way):
            return Verdict(ruling=Ruling.OTHERWISE, rule=rule, observation=way)
    return verdict(_ON_FAILURE.get(rule.outcome, Ruling.EXCUSED))


def allows(rule: Expectation, way: Observation) -> bool:
    """Return whether failing in this one way is what a rule says."""
    return way.stage in rule.stages and contains_signature(way.signature, rule.signature)


def _happened(observation: Observation) -> str:
    return f"{observation.ending}: {observation.signature}" if observation.is_crash else observation.ending


_BROKEN = frozenset({Ruling.PASSED, Ruling.OTHERWISE, Ruling.EXPIRED})


class RankedRule(Struct, frozen=True, kw_only=True):
    """An entry of a rule's `case`, empty for a rule without. Of those that match a case the one with the highest `rank`
    is in force."""

    pattern: str
    rule: Expectation
    rank: tuple[object, ...]


def case_rank(pattern: str) -> tuple[bool, int]:
    """Return how specific an entry of `case` is: a name goes before a glob, then more literal characters."""
    return not is_glob(pattern), sum(character not in "*?[]" for character in pattern) if is_glob(pattern) else 0


class TargetRules(Struct, frozen=True, kw_only=True):
    """The rules in force for one target: `whole` for all of it, `by_case` for some of its cases, by falling rank.

    Where its devices decide and are not known, `possible` are all rules that may be in force, by falling rank; the
    others are those without a device.
    """

    whole: Expectation | None = None
    by_case: tuple[RankedRule, ...] = ()
    possible: tuple[RankedRule, ...] = ()

    def on(self, target: Target, devices: Sequence[DeviceTraits]) -> TargetRules:
        """Return the rules in force for the target on its devices. Raises `RetargetError` where two contradict each
        other there."""
        if not self.possible:
            return self
        there = replace(target, devices=tuple(devices))
        holding = [one for one in self.possible if Selector.of_rule(one.rule.when)(there)]
        _refuse_contradiction(target.name, [one for one in holding if not one.pattern])
        return TargetRules.of_holding(holding)

    @classmethod
    def of_holding(cls, rules: Sequence[RankedRule]) -> TargetRules:
        """Return those in force of rules that hold, by falling rank."""
        whole = next((one.rule for one in rules if not one.pattern), None)
        return cls(whole=whole, by_case=tuple(one for one in rules if one.pattern))

    def of(self, case: str) -> Expectation | None:
        """Return the rule that names a case. Raises `RetargetError` where two do, equally, and differ."""
        found = [one for one in self.by_case if matches_case(one.pattern, case)]
        _refuse_contradiction(f"case {case!r}", found)
        return found[0].rule if found else None

    def skipping(self) -> tuple[tuple[str, bool], ...]:
        """Return the entries as (name or glob, whether its cases are not to be run), by falling rank; none if none."""
        pairs = [(one.pattern, one.rule.outcome == "skip" and not one.rule.is_expired) for one in self.by_case]
        return tuple(pairs) if any(skips for _, skips in pairs) else ()

    @property
    def all(self) -> tuple[Expectation, ...]:
        """All the rules, possible ones too, each once."""
        rules = [*self.wholes, *(one.rule for one in (*self.by_case, *self.possible))]
        return tuple({rule.origin: rule for rule in rules}.values())

    @property
    def wholes(self) -> tuple[Expectation, ...]:
        """The rule in force for the target as a whole, or those that may be, by falling rank."""
        possible = tuple(one.rule for one in self.possible if not one.pattern)
        return possible or (() if self.whole is None else (self.whole,))

    @property
    def retries(self) -> int:
        """How many further attempts a flaky target or case has."""
        return max((rule.retries for rule in self.all), default=0)


class TargetVerdict(Struct, frozen=True, kw_only=True):
    """The verdict of rules on a target. `ruling` is on all of it.

    `verdicts` are those on cases that a rule names, in the order run, then the one on all others (its `case` is empty).
    `expected` names the cases that failed as a rule says.
    """

    ruling: Ruling
    verdicts: tuple[Verdict, ...]
    expected: tuple[str, ...] = ()

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """The verdicts on rules that do not hold."""
        return tuple(one for one in self.verdicts if one.ruling in _BROKEN)

    @property
    def rules(self) -> tuple[Expectation, ...]:
        """The rules that excuse a failure, each once."""
        found = {one.rule.origin: one.rule for one in self.verdicts if one.rule is not None and _excuses(one)}
        return tuple(found.values())

    def of(self, case: str) -> Verdict | None:
        """Return the verdict on a case: its own, or the one on all others."""
        return next((one for one in self.verdicts if one.case in {case, ""}), None)


def judge_target(
    rules: TargetRules, failure: Failure | None, cases: Sequence[CaseOutcome], *, names: Sequence[str] = ()
) -> TargetVerdict:
    """Return the verdict of rules on a target; `failure` is its own, None if it passed, `cases` are those that were
    run.

    `names` are those of all its cases, if they are known: a rule is not broken by a pass of some of them. An
    inconclusive failure is neither excused nor counted against a rule. Raises `RetargetError` where two rules
    contradict each other on a case.
    """
    if failure is not None and failure.no_verdict:
        return TargetVerdict(ruling=Ruling.PLAIN, verdicts=(Verdict(ruling=Ruling.PLAIN),))
    verdicts: list[Verdict] = []
    rest: list[CaseOutcome] = []
    for case in cases:
        rule = rules.of(case.name)
        if rule is None:
            rest.append(case)
        elif case.failure is None or not case.failure.no_verdict:
            seen = case.failure.observation if case.failure is not None else None
            verdicts.append(replace(judge(rule, seen), case=case.name))
    others = _of_rest(rules, failure, rest, is_all=not verdicts, cases=cases)
    if others is not None and others.ruling is Ruling.PASSED:
        ran = {case.name for case in cases}
        if any(name not in ran and rules.of(name) is None for name in names):
            others = Verdict(ruling=Ruling.PLAIN)
    verdicts += [others] if others is not None else []
    expected = {one.case for one in verdicts if one.case and _excuses(one)}
    if others is not None and _excuses(others):
        expected |= {case.name for case in rest if case.failure is not None}
    return TargetVerdict(
        ruling=_ruling(verdicts),
        verdicts=tuple(verdicts),
        expected=tuple(case.name for case in cases if case.name in expected),
    )


def _of_rest(
    rules: TargetRules,
    failure: Failure | None,
    rest: Sequence[CaseOutcome],
    *,
    is_all: bool,
    cases: Sequence[CaseOutcome],
) -> Verdict | None:
    """The verdict on the cases that no rule names; None where there are none."""
    if is_all:
        seen = failure.observed_in(cases) if failure is not None else None
        return judge(rules.whole, seen)
    is_of_case = failure is None or any(case.failure == failure for case in cases)
    why = first_failure(rest) if is_of_case else failure
    if not rest and why is None:
        return None
    if why is not None and why.no_verdict:
        return Verdict(ruling=Ruling.PLAIN)
    return judge(rules.whole, why.observed_in(rest) if why is not None else None)


def _ruling(verdicts: Sequence[Verdict]) -> Ruling:
    """The consequence for the target: a failure where there is one, else what the strongest rule says."""
    if any(one.ruling is Ruling.PLAIN and one.observation is not None for one in verdicts):
        return Ruling.PLAIN
    order = (Ruling.OTHERWISE, Ruling.EXPIRED, Ruling.PASSED, Ruling.AGAIN, Ruling.EXCUSED, Ruling.CHANCE)
    rulings = {one.ruling for one in verdicts}
    return next((ruling for ruling in order if ruling in rulings), Ruling.PLAIN)


def _excuses(verdict: Verdict) -> bool:
    return verdict.ruling in {Ruling.EXCUSED, Ruling.CHANCE} and verdict.observation is not None


def says(rule: Expectation) -> tuple[object, ...]:
    """Return what a rule says, which equally specific ones must agree in."""
    return frozenset(rule.stages), rule.signature, rule.outcome, rule.retries, rule.until


def _refuse_contradiction(what: str, rules: Sequence[RankedRule]) -> None:
    """Raise `RetargetError` if one of some rules, by falling rank, is as high as the first and says something else."""
    for other in rules[1:]:
        if other.rank == rules[0].rank and says(other.rule) != says(rules[0].rule):
            both = " and ".join(
                f"{display_path(one.rule.origin.file)}: {one.rule.origin.key_path}" for one in (rules[0], other)
            )
            msg = (
                f"{what}: found two expectations, {both}, that are equally specific for it and say "
                "different things; expected that they agree, or that one names it more exactly"
            )
            raise RetargetError(msg)
