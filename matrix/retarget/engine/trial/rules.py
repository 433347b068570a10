"""The rules in force for one target and for the compile that it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from retarget.expect.cases import TargetRules
from retarget.expect.matching import Assignment
from retarget.expect.verdict import is_expired, today
from retarget.model import CompileTarget, Expectation, Target

__all__ = ["NO_RULES", "RulesInForce"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesInForce:
    """`rules` are those of the target, `compile_rule` is that of its compile target; of a compile target itself, the
    same. `is_deferred`: the compile target's rule is judged at run targets, if the compile passes."""

    rules: TargetRules = field(default_factory=TargetRules)
    compile_rule: Expectation | None = None
    is_deferred: bool = False

    @classmethod
    def of(cls, target: Target, assignment: Assignment) -> RulesInForce:
        """Return those of a target among the rules in force for its suite."""
        compiled = (target if isinstance(target, CompileTarget) else target.compile).item
        rules, compile_rule = assignment.of(target.name), assignment.rules.get(compiled)
        if compile_rule is None and not rules.all:
            return NO_RULES
        return cls(rules=rules, compile_rule=compile_rule, is_deferred=compiled in assignment.deferred)

    @property
    def compile_rules(self) -> TargetRules:
        """Those in force for the compile target's compile, which has no cases."""
        return TargetRules(whole=self.compile_rule)

    @property
    def skipping(self) -> Expectation | None:
        """The expectation that has the target skipped, None if there is none."""
        rules = [rule for rule in (self.rules.whole, self.compile_rule) if rule is not None and rule.outcome == "skip"]
        return next((rule for rule in rules if not is_expired(rule, today())), None)


NO_RULES = RulesInForce()
"""Those of a target that no rule is about: one object for all."""
