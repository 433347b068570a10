"""What an expectation makes of a target's outcome, in pytest's terms.

What failed as expected is an xfail. A target that was expected to fail and passed, or failed otherwise, fails and says
so: there the rule stands, this it expected, that happened. A flaky target is tried again. An intermittent one may pass
or fail as its rule says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from _pytest.outcomes import XFailed
from retarget.errors import RetargetError
from retarget.expectations_verdict import Ruling, Verdict, excuse, judge, observed_text, today
from retarget.model import Expectation
from retarget.outcomes import Failure, Observation
from retarget.places import Places
from retarget.signatures import observe_all

from .failures import StageFailedError, strip_colour

__all__ = ["INTERMITTENT", "AsExpected", "Attempts", "OtherwiseError", "UnexpectedPassError", "attempts", "settle"]

INTERMITTENT = "retarget_intermittent"
"""The attribute that the report of an intermittent target has, whose rule allows what it did."""


class AsExpected(XFailed):
    """A target failed as its rule, or that of its compile target, says. `error` is how; None where another tells it.
    `by_chance` tells that the rule is an intermittent one."""

    def __init__(self, reason: str, error: Exception | None = None, *, by_chance: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error
        self.by_chance = by_chance


class UnexpectedPassError(RetargetError):
    """A target was expected to fail and passed."""


class OtherwiseError(StageFailedError):
    """A target failed in another way than its rule says, or every time, or after its rule has expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """How often a target was tried: the last attempt's error, None if it passed, and those of the attempts before."""

    error: StageFailedError | None
    before: tuple[StageFailedError, ...] = ()

    @property
    def observation(self) -> Observation | None:
        """How the last attempt failed in all its cases, as rules tell it."""
        return _observed(self.error) if self.error is not None else None


def attempts(
    rule: Expectation | None, once: Callable[[], StageFailedError | None], again: Callable[[], None]
) -> Attempts:
    """Try a target; and again, `again` being called before, while it fails as a flaky rule says and has retries left.

    `once` returns the error with which it failed, None if it passed.
    """
    before: list[StageFailedError] = []
    while True:
        error = once()
        is_left = rule is not None and len(before) < rule.retries
        if error is None or not is_left or _verdict(rule, error).ruling is not Ruling.AGAIN:
            return Attempts(error=error, before=tuple(before))
        before.append(error)
        again()


def settle(rule: Expectation | None, tried: Attempts, places: Places) -> None:
    """Raise what a rule makes of a target's outcome, if it did not just pass. `places` knows where rules stand.

    Raises `AsExpected`, `UnexpectedPassError`, `OtherwiseError`, or the target's own `StageFailedError`.
    """
    error = tried.error
    verdict = _verdict(rule, error)
    if verdict.ruling is Ruling.EXCUSED and rule is not None:
        raise AsExpected(excuse(rule), error)
    if verdict.ruling is Ruling.PASSED:
        msg = f"{verdict.headline}\n\n{_block(verdict, places)}"
        raise UnexpectedPassError(msg)
    if error is None:
        return
    if verdict.ruling is Ruling.CHANCE and rule is not None:
        raise AsExpected(excuse(rule), error, by_chance=True)
    if verdict.ruling is Ruling.AGAIN and rule is not None:
        raise OtherwiseError(error.failure, _every_time(rule, tried.before, error, places), error.place)
    if verdict.ruling in {Ruling.OTHERWISE, Ruling.EXPIRED}:
        first, _, rest = str(error).partition("\n")
        why = _of_case(verdict, error)
        cause = first if why is None else f"{why.stage}: {strip_colour(why.summary)}"
        head = verdict.headline if (why or error.failure).transient else f"{verdict.headline}: {cause}"
        text = f"{head}\n\n{_block(verdict, places)}\n\n{first}\n{rest}".rstrip("\n")
        raise OtherwiseError(error.failure, text, error.place)
    raise error


def _verdict(rule: Expectation | None, error: StageFailedError | None) -> Verdict:
    """Judge; what says nothing of the target is neither excused nor held against the rule."""
    if error is not None and error.failure.no_verdict:
        return Verdict(ruling=Ruling.PLAIN)
    return judge(rule, _observed(error) if error is not None else None, day=today())


def _observed(error: StageFailedError) -> Observation:
    return observe_all(error.failure, error.cases)


def _of_case(verdict: Verdict, error: StageFailedError) -> Failure | None:
    """The failure of the case that a verdict names; None where it names none."""
    name = verdict.observation.case if verdict.observation is not None else ""
    return next((case.failure for case in error.cases if name and case.name == name and case.failure is not None), None)


def _block(verdict: Verdict, places: Places) -> str:
    place = places.place(verdict.rule.origin) if verdict.rule is not None else ""
    lines = verdict.lines(place)
    width = max(len(word) for word, _ in lines)
    return "\n".join([*(f"{word.ljust(width)}  {text}" for word, text in lines), verdict.next_step])


def _every_time(rule: Expectation, before: Sequence[StageFailedError], last: StageFailedError, places: Places) -> str:
    """Word a flaky target that failed at every attempt."""
    errors = (*before, last)
    first, _, rest = str(last).partition("\n")
    lines = [f"failed at each of {len(errors)} attempts: {first}", ""]
    lines += [f"attempt {number}  {observed_text(_observed(error))}" for number, error in enumerate(errors, 1)]
    lines += [f"flaky by   {places.place(rule.origin)}: {excuse(rule)}", rest]
    return "\n".join(lines).rstrip("\n")
