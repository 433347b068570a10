"""The rules in force for one target and for the compile that it needs."""

from __future__ import annotations

from msgspec import Struct, field

from retarget.expect.cases import TargetRules
from retarget.expect.matching import Assignment
from retarget.expect.verdict import is_expired, today
from retarget.model import CompileTarget, Expectation, Origin, Target


class RulesInForce(Struct, frozen=True, kw_only=True):
    """`rules` are those of the target, `compiled` those of its compile target; of a compile target itself, the same.
    `deferred` are the compile target's that are judged at run targets, if the compile passes."""

    rules: TargetRules = field(default_factory=TargetRules)
    compiled: TargetRules = field(default_factory=TargetRules)
    deferred: frozenset[Origin] = frozenset()

    @classmethod
    def of(cls, target: Target, assignment: Assignment) -> RulesInForce:
        """Return those of a target among the rules in force for its suite."""
        compiled = (target if isinstance(target, CompileTarget) else target.compile).item
        rules, of_compiled = assignment.of(target.name), assignment.of(compiled)
        if not of_compiled.wholes and not rules.all:
            return NO_RULES
        origins = {rule.origin for rule in of_compiled.wholes}
        deferred = frozenset(origin for origin in origins if (compiled, origin) in assignment.deferred)
        return cls(rules=rules, compiled=of_compiled, deferred=deferred)

    @property
    def wholes(self) -> tuple[Expectation, ...]:
        """All that are about the whole target or the compile target."""
        return (*self.rules.wholes, *self.compiled.wholes)

    @property
    def asks_devices(self) -> bool:
        """Whether devices decide which rules are in force."""
        return bool(self.rules.possible or self.compiled.possible)

    @property
    def compile_rule(self) -> Expectation | None:
        """The rule in force for the compile target."""
        return self.compiled.whole

    @property
    def is_deferred(self) -> bool:
        """Whether the compile target's rule is judged at run targets, if the compile passes."""
        return self.compile_rule is not None and self.compile_rule.origin in self.deferred

    @property
    def compile_rules(self) -> TargetRules:
        """Those in force for the compile target's compile, which has no cases."""
        return TargetRules(whole=self.compile_rule)

    @property
    def skipping(self) -> Expectation | None:
        """The expectation that has the target skipped, None if there is none, or if devices decide it."""
        sure = [one.whole for one in (self.rules, self.compiled) if one.whole is not None and not one.possible]
        rules = [rule for rule in sure if rule.outcome == "skip"]
        return next((rule for rule in rules if not is_expired(rule, today())), None)


NO_RULES = RulesInForce()
"""Those of a target that no rule is about: one object for all."""
