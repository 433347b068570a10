"""Which golden rules are in force for a target. They are matched as expectations are, apart for each metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retarget.expect.matching import Assignment, RuleSet
from retarget.model import Expectation, Golden, Origin, Target
from retarget.model.metrics import Metric, quantity_text

__all__ = ["GOLDEN", "GoldenAssignment", "assign_goldens", "bound_text", "golden_rule"]

GOLDEN = "golden"
"""The outcome of an expectation that stands for a golden rule, for the matching of rules and its diagnostics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenAssignment:
    """The golden rules of one suite: those in force for each target, by its name, and what was seen of the rules."""

    goldens: Mapping[str, tuple[Golden, ...]] = field(default_factory=dict)
    assignments: tuple[Assignment, ...] = ()


def golden_rule(golden: Golden) -> Expectation:
    """Return the expectation that is matched in a golden rule's place: it is judged at the same targets, and says the
    same as another one only where the bounds are equal."""
    return Expectation(
        match=golden.match,
        when=golden.when,
        stages=("run",) if golden.metric.is_of_runs else ("compile",),
        signature=f"{golden.metric} {golden.most} {golden.within}",
        outcome=GOLDEN,
        reason=golden.reason,
        issue=golden.issue,
        until=golden.until,
        origin=golden.origin,
    )


def bound_text(golden: Golden) -> str:
    """Return a rule's metric and bound: `latency at most 12.5 ms`, `latency within 10 % of the baseline`."""
    if golden.most is not None:
        return f"{golden.metric} at most {quantity_text(golden.metric, golden.most)}"
    return f"{golden.metric} within {100 * (golden.within or 0):g} % of the baseline"


def assign_goldens(goldens: Sequence[Golden], targets: Iterable[Target]) -> GoldenAssignment:
    """Return the golden rules in force for a suite's targets: for each metric the most specific one."""
    by_origin: dict[Origin, Golden] = {golden.origin: golden for golden in goldens}
    found: dict[str, list[Golden]] = {}
    assignments = []
    targets = tuple(targets)
    for metric in Metric:
        if rules := [golden_rule(golden) for golden in goldens if golden.metric is metric]:
            assignment = RuleSet(rules).assign(targets)
            assignments.append(assignment)
            for name, rule in assignment.rules.items():
                found.setdefault(name, []).append(by_origin[rule.origin])
    return GoldenAssignment(
        goldens={name: tuple(of_target) for name, of_target in found.items()}, assignments=tuple(assignments)
    )
