"""Judges a target's outcome, and each case, by its expectations.

A target that was expected to fail and passed, or failed otherwise, fails; the
message has the rule's source location, what the rule expected and what happened. A flaky target is tried again. An
intermittent one may pass or fail as its rule says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from retarget.expect.verdict import Ruling, TargetRules, TargetVerdict, Verdict, judge_target
from retarget.model.locations import SourceLocations
from retarget.model.names import is_one_of
from retarget.model.outcomes import CaseOutcome, Failure, Observation
from retarget.results.record import CaseRecord, Outcome, TimesRecord
from retarget.session.trial.failures import AsExpected, StageFailedError
from retarget.support.errors import RetargetError
from retarget.support.text import strip_colour

SHOWN_RULES = 3
"""How many cases that are not as their rules say are shown; the others are counted."""


class UnexpectedPassError(RetargetError):
    """A target, or cases of it, were expected to fail and passed."""


class OtherwiseError(StageFailedError):
    """A target failed in another way than its rule says, or every time, or after its rule has expired."""


class Attempts(Struct, frozen=True, kw_only=True):
    """How often a target was tried: the last attempt's error, None if it passed, and those of the attempts before.

    `cases` are those that the last attempt came to, `names` all that the module has, if these became known.
    """

    error: StageFailedError | None
    before: tuple[StageFailedError, ...] = ()
    cases: tuple[CaseOutcome, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def observation(self) -> Observation | None:
        """How the last attempt failed in all its cases, as rules describe it; None where it passed."""
        return self.error.observation if self.error is not None else None

    def verdict(self, rules: TargetRules) -> TargetVerdict:
        """The verdict of rules on the last attempt. Raises `RetargetError` where they contradict each other on a
        case."""
        failure = self.error.failure if self.error is not None else None
        return judge_target(rules, failure, self.cases, names=self.names)


def attempts(rules: TargetRules, once: Callable[[], Attempts], again: Callable[[Attempts], None]) -> Attempts:
    """Try a target with `once`; and again, `again` being called before with what failed, while it fails as flaky rules
    say and has retries left."""
    before: list[StageFailedError] = []
    while True:
        tried = once()
        is_left = len(before) < rules.retries
        if tried.error is None or not is_left or tried.verdict(rules).ruling is not Ruling.AGAIN:
            return replace(tried, before=tuple(before))
        before.append(tried.error)
        again(tried)


def raise_verdict(rules: TargetRules, tried: Attempts, locations: SourceLocations) -> None:
    """Raise the verdict of rules on a target's outcome, unless it simply passed. `locations` locates rules in files.

    Raises `AsExpected`, `UnexpectedPassError`, `OtherwiseError`, or the target's own `StageFailedError`.
    """
    error = tried.error
    verdict = tried.verdict(rules)
    if verdict.broken:
        _raise_broken(verdict, tried, locations)
    if error is None:
        return
    if verdict.ruling is Ruling.PLAIN:
        raise error
    if verdict.ruling is Ruling.AGAIN:
        text = _every_time(verdict, tried.before, error, locations)
        raise OtherwiseError(error.failure, text, error.location, error.cases, commands=error.commands)
    raise AsExpected(_excuse(verdict, tried), error, by_chance=verdict.ruling is Ruling.CHANCE)


def _raise_broken(verdict: TargetVerdict, tried: Attempts, locations: SourceLocations) -> NoReturn:
    """Fail for rules that do not hold; with what failed, unless all that did was expected."""
    first, *others = verdict.broken
    error = tried.error
    blocks = [*(_block(one, locations) for one in verdict.broken[:SHOWN_RULES])]
    if left := [one.case for one in others[SHOWN_RULES - 1 :]]:
        blocks.append(f"and {_named(left)}")
    blocks[-1] += f"\n{first.next_step}"
    more = f" (and {_named([one.case for one in others])})" if others else ""
    if error is None or verdict.ruling is Ruling.PASSED:
        raise UnexpectedPassError("\n\n".join([f"{first.headline}{more}", *blocks]))
    head, line = f"{first.headline}{more}", str(error).partition("\n")[0]
    if first.observation is not None:
        why = _of_case(first, error)
        cause = line if why is None else f"{why.stage}: {strip_colour(why.summary)}"
        head += "" if (why or error.failure).transient else f": {cause}"
    text = "\n\n".join([head, *blocks, str(error)])
    raise OtherwiseError(error.failure, text, error.location, error.cases, commands=error.commands)


def _named(cases: Sequence[str]) -> str:
    """`2 more cases: a, b`; the cases that no rule names are `the others`."""
    names = [f"case '{name}'" if name else "the other cases" for name in cases[:SHOWN_RULES]]
    rest = len(cases) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")


def _excuse(verdict: TargetVerdict, tried: Attempts) -> str:
    """Why a target's failures are excused; and of how many cases, where not all failed."""
    why = "; ".join(dict.fromkeys(rule.excuse for rule in verdict.rules))
    total, failed = len(tried.names or tried.cases), len(verdict.expected)
    if failed in {0, total}:
        return why
    left = total - len(tried.cases)
    not_run = f", {left} not run" if left > 0 else ""
    return f"{failed} of {total} cases failed as expected{not_run}: {why}"


def _of_case(verdict: Verdict, error: StageFailedError) -> Failure | None:
    """The failure of the case that a verdict names; None where it names none."""
    name = verdict.case or (verdict.observation.case if verdict.observation is not None else "")
    return next((case.failure for case in error.cases if name and case.name == name and case.failure is not None), None)


def _block(verdict: Verdict, locations: SourceLocations) -> str:
    location = locations.location(verdict.rule.origin) if verdict.rule is not None else ""
    lines = verdict.lines(location)
    width = max(len(word) for word, _ in lines)
    return "\n".join(f"{word.ljust(width)}  {text}" for word, text in lines)


def _every_time(
    verdict: TargetVerdict, before: Sequence[StageFailedError], last: StageFailedError, locations: SourceLocations
) -> str:
    """Word a flaky target that failed at every attempt."""
    errors = (*before, last)
    first, _, rest = str(last).partition("\n")
    lines = [f"failed at each of {len(errors)} attempts: {first}", ""]
    lines += [f"attempt {number}  {error.observation.text}" for number, error in enumerate(errors, 1)]
    rules = {one.rule.origin: one.rule for one in verdict.verdicts if one.ruling is Ruling.AGAIN and one.rule}
    lines += [*(f"flaky by   {locations.location(rule.origin)}: {rule.excuse}" for rule in rules.values()), rest]
    return "\n".join(lines).rstrip("\n")


def case_records(
    rules: TargetRules, verdict: TargetVerdict, cases: Sequence[CaseOutcome], names: Sequence[str], only: Sequence[str]
) -> Iterator[CaseRecord]:
    """Yield a record of each case of a target, in order. `only` are the cases that `--retarget-case` selects."""
    ran = {case.name: case for case in cases}
    for name in names or ran:
        case = ran.get(name)
        if case is None:
            rule = rules.of(name)
            is_excused = rule is not None and rule.outcome == "skip" and not rule.is_expired
            why_not = "the run ended before it" if is_one_of(name, only) else "not selected by --retarget-case"
            reason = rule.excuse if rule is not None and is_excused else why_not
            yield CaseRecord(name=name, outcome=Outcome.NOT_RUN, reason=reason, excused=is_excused)
        elif case.failure is None:
            one = verdict.of(name)
            is_unexpected = one is not None and bool(one.case) and one.ruling is Ruling.PASSED
            yield CaseRecord(
                name=name,
                outcome=Outcome.FAILED if is_unexpected else Outcome.PASSED,
                seconds=case.seconds,
                reason=one.headline if one is not None and is_unexpected else "",
                agree_with=case.agree_with,
                dispatches=_counts(case),
                times=TimesRecord.of(case.times) if case.times is not None else None,
            )
        else:
            yield _failed(case, case.failure, verdict)


def _failed(case: CaseOutcome, failure: Failure, verdict: TargetVerdict) -> CaseRecord:
    one, seen = verdict.of(case.name), failure.observation
    is_expected = case.name in verdict.expected
    rule = one.rule if one is not None and is_expected else None
    line = f"{failure.stage}: {' '.join(strip_colour(failure.summary).split())}"
    return CaseRecord(
        name=case.name,
        outcome=Outcome.XFAILED if is_expected else Outcome.FAILED,
        seconds=case.seconds,
        stage=seen.stage,
        signature=seen.signature,
        reason=rule.excuse if rule is not None else line,
        no_verdict=failure.no_verdict,
        agree_with=case.agree_with,
        lacking=failure.lacking,
        agreeing=case.agreeing,
        dispatches=_counts(case),
    )


def _counts(case: CaseOutcome) -> str:
    return " ".join(f"{device}={count}" for device, count in case.dispatches)
