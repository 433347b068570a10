"""The verdict of a rule on what was observed, and its text."""

from __future__ import annotations

from datetime import date
from enum import StrEnum, auto

from msgspec import Struct

from retarget.model import Expectation, Golden
from retarget.model.outcomes import Observation
from retarget.model.signatures import CRASH, TIMEOUT, contains_signature


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
        expected = f"expected to {expected_text(self.rule)}"
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
            expected = _told(" or ".join(self.rule.stages), self.rule.signature)
            lines.append(("expected", f"passed, or {expected}" if self.rule.outcome == "intermittent" else expected))
            lines.append(("found", observed_text(self.observation)))
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


def today() -> date:
    """Return the current day where this process runs."""
    return date.today()


def is_expired(rule: Expectation | Golden) -> bool:
    """Return whether a rule excuses nothing any more today. On its `until` it still does."""
    return rule.until is not None and today() > rule.until


def judge(rule: Expectation | None, observation: Observation | None) -> Verdict:
    """Return the verdict of a rule on an observation; None means that the target passed. Without a rule: nothing."""

    def verdict(ruling: Ruling) -> Verdict:
        return Verdict(ruling=ruling, rule=rule, observation=observation)

    if rule is None or (rule.outcome == "skip" and not is_expired(rule)):
        return verdict(Ruling.PLAIN)
    if is_expired(rule):
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


def excuse_text(rule: Expectation | Golden) -> str:
    """Return why a rule excuses or bounds something: the reason, and where the error is reported."""
    return f"{rule.reason} ({rule.issue})" if rule.issue else rule.reason


def expected_text(rule: Expectation) -> str:
    """Return what a rule expects, after "expected to": `fail at compile`, `pass or fail at run or time out`."""
    stages = [stage for stage in rule.stages if stage not in {CRASH, TIMEOUT}]
    words = ["pass"] if rule.outcome == "intermittent" else []
    words += [f"fail at {' or '.join(stages)}"] if stages else []
    words += ["crash"] if CRASH in rule.stages else []
    words += ["time out"] if TIMEOUT in rule.stages else []
    return " or ".join(words)


def observed_text(observation: Observation | None) -> str:
    """Return an observation as a person reads it: `compile: failed to legalize …`, `crash: SIGFPE`, `passed`."""
    if observation is None:
        return "passed"
    return "; ".join(_told(way.stage, way.signature) for way in observation.distinct_failures)


def _told(stage: str, signature: str) -> str:
    return f"{stage}: {signature}" if signature else stage


def _happened(observation: Observation) -> str:
    if observation.stage == CRASH:
        return f"crashed: {observation.signature}"
    return "timed out" if observation.stage == TIMEOUT else f"failed at {observation.stage}"
