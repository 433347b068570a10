"""The record of a trial that has ended."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from retarget.expect.verdict import excuse_text
from retarget.model import RunTarget
from retarget.results.record import BAD, Outcome, Sibling, TargetRecord
from retarget.session.trial.attempts import UnexpectedPassError
from retarget.session.trial.failures import AsExpected, Skip, SkipKind, failure_fields
from retarget.session.trial.trial import Trial

_OUTCOMES = {SkipKind.BLOCKED: Outcome.BLOCKED, SkipKind.LOST: Outcome.NOT_RUN}
_UNAVAILABLE = frozenset({SkipKind.UNAVAILABLE, SkipKind.UNSUITABLE, SkipKind.LOST})


def trial_outcome(trial: Trial, error: BaseException | None, *, was_tried: bool) -> tuple[Outcome, str]:
    """Return a target's outcome and the reason for it. `error` is what its trial raised, None if it raised nothing.

    `was_tried` is false where this was before the attempt: the target could not be tried.
    """
    if isinstance(error, Skip):
        return _OUTCOMES.get(error.kind, Outcome.SKIPPED), error.reason
    if isinstance(error, AsExpected):
        return (Outcome.INTERMITTENT, trial.record.reason) if error.by_chance else (Outcome.XFAILED, error.reason)
    if error is None:
        return _passed(trial)
    if isinstance(error, UnexpectedPassError):
        return Outcome.XPASSED, ""
    return Outcome.FAILED if was_tried else Outcome.ERROR, ""


def finish(
    trial: Trial,
    error: BaseException | None,
    outcome_and_reason: tuple[Outcome, str],
    *,
    started: float,
    ended: float,
    with_digests: bool = False,
) -> TargetRecord:
    """Return the record of a trial that has ended with an error, or none.

    `started`, where the trial never began, and `ended` are times in seconds since the epoch. `with_digests`: the files
    of the cases are read for their digests.
    """
    outcome, reason = outcome_and_reason
    failure = error.error if isinstance(error, AsExpected) and error.error is not None else error
    skip = error if isinstance(error, Skip) else None
    kind = skip.kind if skip is not None else None
    return replace(
        trial.record,
        outcome=outcome,
        reason=reason,
        hint=skip.hint if skip is not None else "",
        unavailable=kind in _UNAVAILABLE,
        unsuitable=kind is SkipKind.UNSUITABLE,
        blocked_by=skip.by if skip is not None and kind is SkipKind.BLOCKED else "",
        excused=kind is SkipKind.RULE,
        unchanged=trial.record.unchanged and outcome in {Outcome.PASSED, Outcome.XFAILED},
        siblings=_siblings(trial, trial.target) if outcome in BAD and isinstance(trial.target, RunTarget) else (),
        **(trial.digests if with_digests else {}),
        started=trial.record.started or started,
        ended=ended,
        **(failure_fields(failure) if failure is not None else {}),
    )


def _passed(trial: Trial) -> tuple[Outcome, str]:
    record = trial.record
    if record.outcome is Outcome.INTERMITTENT:
        return record.outcome, record.reason
    if record.attempt == 1:
        return Outcome.PASSED, ""
    rule = trial.in_force.rules.whole or trial.in_force.compile_rule
    reason = f"{trial.nodeid} passed at attempt {record.attempt}"
    return Outcome.FLAKY, f"{reason} ({excuse_text(rule)})" if rule is not None else reason


def _siblings(trial: Trial, target: RunTarget) -> Sequence[Sibling]:
    others = trial.suite.run_targets(target.compile.module.name)
    return tuple(
        Sibling(
            target=other.name,
            compiler=other.compile.compiler.name,
            runtime=other.runtime.name,
            driver=other.runtime.driver,
        )
        for other in others
        if other.name != target.name
    )
