"""What became of each case of a target, as its rules judge it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from retarget.expect.cases import TargetRules, TargetVerdict
from retarget.expect.verdict import Ruling, excuse, is_expired, today
from retarget.model.case_names import is_one_of
from retarget.model.outcomes import CaseOutcome, Failure
from retarget.model.signatures import observe
from retarget.results.record import CaseRecord, Outcome, TimesRecord
from retarget.support.text import strip_colour

__all__ = ["case_records"]


def case_records(
    rules: TargetRules, verdict: TargetVerdict, cases: Sequence[CaseOutcome], names: Sequence[str], only: Sequence[str]
) -> Iterator[CaseRecord]:
    """Yield a record of each case of a target, in order. `only` are the cases that `--retarget-case` selects."""
    ran = {case.name: case for case in cases}
    for name in names or ran:
        case = ran.get(name)
        if case is None:
            rule = rules.of(name)
            is_excused = rule is not None and rule.outcome == "skip" and not is_expired(rule, today())
            why_not = "the run ended before it" if is_one_of(name, only) else "not selected by --retarget-case"
            reason = excuse(rule) if rule is not None and is_excused else why_not
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
    one, seen = verdict.of(case.name), observe(failure)
    is_expected = case.name in verdict.expected
    rule = one.rule if one is not None and is_expected else None
    line = f"{failure.stage}: {' '.join(strip_colour(failure.summary).split())}"
    return CaseRecord(
        name=case.name,
        outcome=Outcome.XFAILED if is_expected else Outcome.FAILED,
        seconds=case.seconds,
        stage=seen.stage,
        signature=seen.signature,
        reason=excuse(rule) if rule is not None else line,
        no_verdict=failure.no_verdict,
        agree_with=case.agree_with,
        lacking=failure.lacking,
        dispatches=_counts(case),
    )


def _counts(case: CaseOutcome) -> str:
    return " ".join(f"{device}={count}" for device, count in case.dispatches)
