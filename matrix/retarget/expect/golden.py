"""Which golden rules are in force for a target. They are matched as expectations are, apart for each metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from retarget.expect.matching import Assignment, RuleSet
from retarget.model import Expectation, Golden, Origin, Target
from retarget.model.devices import DeviceTraits
from retarget.model.metrics import Metric, quantity_text

__all__ = ["GOLDEN", "GoldenAssignment", "assign_goldens", "bound_text", "golden_rule"]

GOLDEN = "golden"
"""The outcome of an expectation that stands for a golden rule, for the matching of rules and its diagnostics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenAssignment:
    """The golden rules of one suite, and what was seen of them: an assignment for each metric."""

    goldens: Mapping[Origin, Golden] = field(default_factory=dict)
    assignments: tuple[Assignment, ...] = ()

    def of(self, target: Target, devices: Sequence[DeviceTraits]) -> tuple[Golden, ...]:
        """Return those in force for a target on its devices. Raises `RetargetError` where two contradict each other."""
        found = (one.of(target.name).on(target, devices).whole for one in self.assignments)
        return tuple(self.goldens[rule.origin] for rule in found if rule is not None)


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
    """Return the golden rules of a suite's targets: for each metric the most specific one is in force."""
    targets = tuple(targets)
    by_metric = [[golden_rule(golden) for golden in goldens if golden.metric is metric] for metric in Metric]
    return GoldenAssignment(
        goldens={golden.origin: golden for golden in goldens},
        assignments=tuple(RuleSet(rules).assign(targets) for rules in by_metric if rules),
    )
