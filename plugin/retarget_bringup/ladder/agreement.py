"""What expectations say of a rung, and where a ladder says something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from retarget.expect.matching import COMPILE_STAGES
from retarget.expect.verdict import is_expired, today
from retarget.model import Expectation
from retarget.model.locations import SourceLocations
from retarget.model.rungs import Rung

from retarget_bringup.ladder.states import LadderTarget, TargetState

__all__ = ["CHANCE", "disagreements", "rungs_of"]

CHANCE = frozenset({"flaky", "intermittent"})
"""The outcomes of rules by which a target may pass, too."""

_AT_COMPILE = dict.fromkeys(COMPILE_STAGES, frozenset({Rung.NONE}))
_STOPPED = frozenset({Rung.COMPILES, Rung.LOADS, Rung.DISPATCHES})
_AT_RUN = {
    "load": frozenset({Rung.COMPILES}),
    "run": frozenset({Rung.LOADS, Rung.DISPATCHES}),
    "compare": frozenset({Rung.COMPLETES}),
    "crash": _STOPPED,
    "timeout": _STOPPED,
}
_CHECKED = {
    "compile": frozenset({Rung.NONE}),
    **dict.fromkeys(("load", "run", "compare"), frozenset({Rung.COMPILES})),
    **dict.fromkeys(("crash", "timeout"), frozenset({Rung.NONE, Rung.COMPILES})),
}
"""Of a compile target, whose artifact may be checked."""


def rungs_of(target: LadderTarget) -> frozenset[Rung]:
    """Return the rungs that the rules in force for a target leave it, none where no rule says how far it comes.

    Each rule that names cases is about at least one of them, and the lowest case counts.
    """
    compiled = target.compile_rules.whole
    if compiled is not None and _says(compiled):
        at_compile = _of(compiled, _AT_COMPILE, target)
        if compiled is not target.rules.whole:  # otherwise it is judged where the target runs, if it compiles
            return at_compile
        return at_compile | _of(compiled, _AT_RUN, target)
    stages = _AT_RUN if target.runs else _CHECKED
    said = [_of(rule, stages, target) for rule in target.rules.all if _says(rule)]
    top = min((max(one, default=Rung.STABLE) for one in said), default=Rung.STABLE)
    return frozenset(rung for one in said for rung in one if rung <= top)


def _says(rule: Expectation) -> bool:
    return rule.outcome != "skip" and not is_expired(rule, today())


def _of(rule: Expectation, stages: dict[str, frozenset[Rung]], target: LadderTarget) -> frozenset[Rung]:
    found = frozenset(rung for stage in rule.stages for rung in stages.get(stage, ()))
    return found | {target.top, Rung.STABLE} if rule.outcome in CHANCE else found


def disagreements(states: Iterable[TargetState], ladder: str) -> Iterator[str]:
    """Yield each target of which a rule and the ladder, a file of that name, say different things."""
    locations = SourceLocations()
    for one in states:
        allowed = rungs_of(one.target)
        if one.line is None or not allowed or one.line.rung in allowed:
            continue
        rule = next(rule for rule in one.target.all_rules if _says(rule))
        rungs = " or ".join(rung.word for rung in sorted(allowed))
        where = f"{locations.location(rule.origin)}: {rule.origin.key_path}"
        at = f"{ladder}:{one.line.number}" if one.line.number else ladder
        says = f"says that {one.id} fails at {' or '.join(rule.stages)}, which is the rung {rungs}"
        yield f"{where}: {says}; {at} says {one.line.rung.word}: expected that both agree"
