"""Reasons about the failure of a run target from the outcomes of the module's other targets. Pure.

Two run targets of one module and compiler config share an artifact, unless records say otherwise: a run by a tool may
need another one. Nothing is concluded from what did not run; a failure that was expected counts as a failure, and a
pass that was not as a pass. Where a module has several cases each is looked at by itself: what fails in another case,
too, may fail there for another reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace
from retarget.model import MAJORITY, Observation, Stage
from retarget.results import Outcome, TargetRecord

_PASSED = frozenset({Outcome.PASSED, Outcome.PARTIAL, Outcome.FLAKY, Outcome.XPASSED})
_FAILED = frozenset({Outcome.FAILED, Outcome.XFAILED})

_INCONCLUSIVE = "Inconclusive: nothing that ran this module passes, and it does not all fail alike."
_SHOWN = 12
"""How many targets are listed; the others are counted."""
_SUMMARY = 100
"""Characters shown of why another target failed."""
_CASES = 4
"""How many cases are named; the others are counted."""


def stage_of(record: TargetRecord) -> str:
    """Return the stage at which a target failed, as expectations name it; empty where it did not."""
    return record.observation.stage if record.observation is not None else ""


def passes(record: TargetRecord) -> bool:
    """Return whether a target passed."""
    return record.outcome in _PASSED


def fails(record: TargetRecord) -> bool:
    """Return whether a target itself failed. A failure without a stage is another target's."""
    return record.outcome in _FAILED and record.observation is not None


def _gives_outputs(record: TargetRecord) -> bool:
    """Whether another run would give outputs to look at."""
    seen = record.observation
    return not record.runs_external and not (seen is not None and (seen.is_crash or seen.is_timeout))


def _shares_artifact(record: TargetRecord, other: TargetRecord) -> bool:
    """Whether two targets of a compiler config ran one artifact, as far as is known."""
    made = {one.compile.artifact for one in (record, other) if one.compile is not None and one.compile.artifact}
    return len(made) < 2


def _at(record: TargetRecord, name: str) -> TargetRecord:
    """The known outcome of one case: that it passed or failed as the target did, or by itself, or was not run."""
    cases = {case.name: case for case in record.tried_cases}
    if not (fails(record) or record.outcome is Outcome.XPASSED) or not cases:
        left_out = {case.name for case in record.cases if passes(record) and case.outcome is Outcome.NOT_RUN}
        return replace(record, outcome=Outcome.NOT_RUN) if name in left_out else record
    if (case := cases.get(name)) is None or case.lacking:
        return replace(record, outcome=Outcome.NOT_RUN, observation=None)
    if not case.stage:
        return replace(record, outcome=Outcome.PASSED, observation=None)
    outcome = Outcome.FAILED if record.outcome is Outcome.XPASSED else record.outcome
    return replace(record, outcome=outcome, observation=Observation(stage=case.stage, signature=case.signature))


def _how(record: TargetRecord) -> tuple[str, str]:
    """Stage and signature: those for which both are the same fail alike, if maybe by other values."""
    seen = record.observation
    return (seen.stage, seen.signature) if seen is not None else ("", "")


def _failures(record: TargetRecord) -> dict[str, tuple[str, str]]:
    """How each case failed, by name; under an empty name how the target did, if that was in no case.

    Where a target fails although some of its cases fail as expected, these do not count.
    """
    left_out = Outcome.XFAILED if record.outcome is Outcome.FAILED else None
    cases = record.tried_cases
    failed = {case.name: (case.stage, case.signature) for case in cases if case.stage and case.outcome is not left_out}
    return failed or {"": _how(record)}


def conclusion(failing: TargetRecord, others: Sequence[TargetRecord]) -> str:
    """Return one sentence or two on what the failure points to; a line each for cases that differ in it."""
    names = set(_failures(failing))
    apart = bool(failing.tried_cases) and any(other.tried_cases and set(_failures(other)) != names for other in others)
    texts: dict[str, list[str]] = {}
    known = {case.name: case for case in failing.cases}
    what = "this case" if apart else "this module"
    for case in _failures(failing):
        mine, seen = _at(failing, case), [_at(other, case) for other in others]
        agree_with, lacking = (known[case].agree_with, known[case].lacking) if case in known else ("", "")
        if lacking == MAJORITY:
            text = (
                f"This says nothing of compiler config {failing.compiler}: no other target gave results to agree with."
            )
        elif lacking:
            text = (
                f"This says nothing of compiler config {failing.compiler}: compiler config {lacking}, whose results "
                "are expected, gave none."
            )
        elif case and stage_of(mine) == Stage.LOAD and not any(map(passes, seen)):
            text = (
                f"This says nothing of compiler config {failing.compiler}: the inputs of the case or its expected "
                "results could not be had, so nothing was called."
            )
        elif agree_with == MAJORITY:
            text = _outvoted(mine, seen, known[case].agreeing, what)
        else:
            text = _against(mine, seen, agree_with, what) if agree_with else _concluded(mine, seen, what)
        texts.setdefault(text, []).append(case)
    if len(texts) == 1 and not apart:
        return next(iter(texts))
    for cases in texts.values():
        if len(cases) > _CASES + 1:
            cases[_CASES:] = [f"{len(cases) - _CASES} more"]
    return "\n".join(f"{_list(cases)}: {text}" for text, cases in texts.items())


def _outvoted(failing: TargetRecord, others: Sequence[TargetRecord], agreeing: Sequence[str], what: str) -> str:
    """A case that is to agree with most targets: those that do are as if they had passed, run here or not."""
    if stage_of(failing) != Stage.COMPARE:
        return _concluded(failing, others, what)
    if not agreeing:
        return (
            "Inconclusive: no majority of the targets agrees, so that none of those that differ is known to be wrong."
        )
    agrees = [f"{other.compiler}/{other.runtime}" in agreeing for other in others]
    passed = (replace(other, outcome=Outcome.PASSED, observation=None) for other in others)
    seen = [one if agreed else other for one, other, agreed in zip(passed, others, agrees, strict=True)]
    return _concluded(failing, seen, what)


def _against(failing: TargetRecord, others: Sequence[TargetRecord], reference: str, what: str) -> str:
    """A case that expects what another config gives: that one's own targets pass whatever it gives."""
    if stage_of(failing) != Stage.COMPARE:
        return _concluded(failing, others, what)
    rest = [other for other in others if other.compiler != reference]
    if any(passes(other) for other in rest):
        return _concluded(failing, rest, what)
    third = [other for other in rest if other.compiler != failing.compiler and fails(other)]
    if not third:
        return (
            f"This points to compiler config {failing.compiler} or to {reference}, whose results are expected: no "
            f"third compiler config has run {what}."
        )
    if any(_how(other) == _how(failing) for other in third):
        return (
            f"This points to compiler config {reference}, whose results are expected: nothing else that ran {what} "
            "agrees with them."
        )
    return _concluded(failing, rest, what)


def _concluded(failing: TargetRecord, others: Sequence[TargetRecord], what: str) -> str:
    same = _Group(failing, (other for other in others if other.compiler == failing.compiler))
    cross = _Group(failing, (other for other in others if other.compiler != failing.compiler))
    runtime = f"runtime config {failing.runtime}" + (f" (driver {failing.driver})" if failing.driver else "")
    compiler = f"compiler config {failing.compiler}"
    if same.passing:
        return _points_to_runtime(failing, runtime, same, cross)
    if elsewhere := _passing_elsewhere(failing, same, cross):
        return (
            f"This points to {runtime}: everything that ran on it fails alike, and what {_compilers(elsewhere)} made "
            f"of this module passes on {_list(other.runtime for other in elsewhere)}."
        )
    if same.ran:
        return _points_to_compiler(failing, compiler, same, cross, what)
    return _without_the_artifact(failing, compiler, runtime, cross, what)


def _points_to_runtime(failing: TargetRecord, runtime: str, same: _Group, cross: _Group) -> str:
    """What the compiler config made passes elsewhere."""
    sharing = [other for other in same.passing if _shares_artifact(other, failing)]
    where = _list(other.runtime for other in sharing or same.passing)
    if not sharing:
        compiler = f"compiler config {failing.compiler}"
        return f"This points to {compiler} or to {runtime}: what passes on {where} is another artifact of {compiler}."
    if alike := [other for other in same.failing if _shares_artifact(other, failing)]:
        fails = _list([failing.runtime, *(other.runtime for other in alike)])
        return f"This points to the runtime configs {fails}: the same artifact passes on {where}."
    text = f"This points to {runtime}: the same artifact passes on {where}."
    if there := [other for other in cross.passing if other.runtime == failing.runtime]:
        text += f" But what {_compilers(there)} made of this module passes on {failing.runtime} too."
    return text


def _passing_elsewhere(failing: TargetRecord, same: _Group, cross: _Group) -> list[TargetRecord]:
    """Where all on a runtime config fails alike, what passes of these artifacts elsewhere; where not, nothing."""
    there = [other for other in cross.ran if other.runtime == failing.runtime]
    fails_elsewhere = len(same.unlike) < len(same.failing)  # alike
    if fails_elsewhere or not all(fails(other) and _how(other) == _how(failing) for other in there):
        return []
    compilers = {other.compiler for other in there}
    return [other for other in cross.passing if other.compiler in compilers]


def _points_to_compiler(failing: TargetRecord, compiler: str, same: _Group, cross: _Group, what: str) -> str:
    """What the compiler config made passes nowhere, and ran elsewhere."""
    alike = not same.unlike
    is_one = all(_shares_artifact(other, failing) for other in same.ran)
    artifact = "its artifact" if is_one else "each of its artifacts"
    fails = f"{artifact} fails {'alike on' if alike else 'on'} every runtime config it ran on"
    fails += "" if alike else ", though not alike"
    if not cross.ran:
        is_data = stage_of(failing) == Stage.LOAD and alike
        module = "the data of its cases" if is_data else "the module and what it expects"
        return f"This points to {compiler} or to {module}: {fails}, and no other compiler config has run {what}."
    if not cross.failing:
        return f"This points to {compiler}: {fails}, and what {_compilers(cross.passing)} made of this module passes."
    if cross.passing:
        return (
            f"This points to {compiler} and what it has in common with {_compilers(cross.failing, cross.passing)}: "
            f"{fails}, and what {_compilers(cross.passing, cross.failing)} made of this module passes."
        )
    if alike and not cross.unlike:
        return (
            "This points to the module, or to what it expects: every compiler config fails alike on every runtime "
            "config it ran on."
        )
    return _INCONCLUSIVE


def _without_the_artifact(failing: TargetRecord, compiler: str, runtime: str, cross: _Group, what: str) -> str:
    """The artifact ran nowhere else."""
    if not cross.ran:
        return f"Inconclusive: nothing else has run {what}."
    there = [other for other in cross.passing if other.runtime == failing.runtime]
    if not cross.failing and there:
        return f"This points to {compiler}: what {_compilers(there)} made of this module passes on {failing.runtime}."
    if not cross.failing:
        return (
            f"This points to {compiler} or to {runtime}, which nothing else has run {what} on: what "
            f"{_compilers(cross.passing)} made of it passes on {_list(other.runtime for other in cross.passing)}."
        )
    if cross.passing:
        failed, passed = _ways(cross.failing, cross.passing), _ways(cross.passing, cross.failing)
        return (
            f"This points to what {compiler} on {failing.runtime} has in common with {failed}, which failed as well; "
            f"{passed} passed."
        )
    if not cross.unlike:
        return "This points to the module, or to what it expects: every compiler config that ran it fails alike."
    return _INCONCLUSIVE


def reference(failing: TargetRecord, others: Sequence[TargetRecord]) -> TargetRecord | None:
    """Return the target whose outputs are the best comparison for values that differ; None where there is none.

    One that passes; else one that passes in a case that fails here, and has its outputs. First of all, of the same
    artifact.
    """
    differing = [case for case, (stage, _) in _failures(failing).items() if stage == Stage.COMPARE]
    passing = [
        other for other in others if _gives_outputs(other) and any(passes(_at(other, case)) for case in differing)
    ]
    if not _gives_outputs(failing):
        return None
    return min(
        passing,
        key=lambda other: (not passes(other), other.compiler != failing.compiler, other.runtime != failing.runtime),
        default=None,
    )


def listing(failing: TargetRecord, others: Sequence[TargetRecord]) -> Iterator[str]:
    """Yield a line for each of the others, those of the same artifact first."""
    ordered = sorted(others, key=lambda other: other.compiler != failing.compiler)
    shown, rest = ordered[:_SHOWN], ordered[_SHOWN:]
    if len(rest) == 1:
        shown, rest = ordered, []
    width = max((len(other.target) for other in shown), default=0)
    for other in shown:
        yield f"  {other.target.ljust(width)}  {_line(failing, other)}"
    if rest:
        counts = Counter(other.outcome for other in rest)
        yield f"  … {len(rest)} more: {', '.join(f'{count} {word}' for word, count in counts.items())}"


class _Group:
    """Those of a number of targets that ran to a verdict."""

    def __init__(self, failing: TargetRecord, others: Iterable[TargetRecord]) -> None:
        self.ran = [other for other in others if passes(other) or fails(other)]
        self.passing = [other for other in self.ran if passes(other)]
        self.failing = [other for other in self.ran if fails(other)]
        self.unlike = [other for other in self.failing if _how(other) != _how(failing)]


def _line(failing: TargetRecord, other: TargetRecord) -> str:
    if other.outcome in _PLAIN:
        return _PLAIN[other.outcome]
    how = other.message if len(other.message) <= _SUMMARY else f"{other.message[: _SUMMARY - 1]}…"
    word = str(other.outcome)
    if other.outcome is Outcome.BLOCKED or (other.outcome is Outcome.XFAILED and not stage_of(other)):
        return how or word
    if other.outcome is Outcome.FAILED and _failures(other) == _failures(failing):
        word = "failed alike"
        how = "" if other.message == failing.message else how
    elif other.outcome is Outcome.XFAILED:
        word = "failed as expected"
    elif other.outcome is Outcome.INTERMITTENT:
        how = how or "passed"
    return f"{word}: {how}" if how else word


_PLAIN = {
    Outcome.NOT_RUN: "not run",
    Outcome.PASSED: "passed",
    Outcome.PARTIAL: "passed in the cases that were run",
    Outcome.FLAKY: "passed at another attempt",
    Outcome.XPASSED: "passed, though expected to fail",
}


def _compilers(group: Iterable[TargetRecord], rest: Iterable[TargetRecord] = ()) -> str:
    """The compiler configs; of those that are in the rest too, where."""
    mixed = {other.compiler for other in rest}
    where: dict[str, list[str]] = {}
    for other in group:
        where.setdefault(other.compiler, []).append(other.runtime)
    return _list(f"{name} (on {_list(on)})" if name in mixed else name for name, on in where.items())


def _ways(group: Sequence[TargetRecord], rest: Iterable[TargetRecord]) -> str:
    """`a on r` for each; `a` where that is all of several."""
    mixed = {other.compiler for other in rest}
    count = Counter(other.compiler for other in group)
    return _list(
        other.compiler
        if count[other.compiler] > 1 and other.compiler not in mixed
        else f"{other.compiler} on {other.runtime}"
        for other in group
    )


def _list(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; each once."""
    once = list(dict.fromkeys(words))
    return once[0] if len(once) == 1 else f"{', '.join(once[:-1])} and {once[-1]}"
