"""An item as expectations see it: which rules are in force for it, and what was observed of it."""

from __future__ import annotations

import pytest
from retarget.expectations import Assignment
from retarget.expectations_verdict import Ruling, excuse, is_expired, judge, observed_text, today
from retarget.model import CompileTarget, Expectation, Target
from retarget.outcomes import Observation

from .expected import Attempts
from .skips import Excused
from .summary import PASSED

__all__ = ["Standing"]


class Standing(pytest.Item):
    """An item whose target expectations may be in force for."""

    target: Target
    rule: Expectation | None = None
    """The expectation in force for the target."""
    compile_rule: Expectation | None = None
    """The one in force for the compile target; of a compile target itself, the same."""
    is_deferred = False
    """Whether the compile target's rule is judged at run targets, if the compile passes."""
    observed: tuple[str, str] | None = None
    """(stage, signature) of how the target failed, or `PASSED`; None where nothing is known of it."""
    also_observed: tuple[tuple[str, str], ...] = ()
    """The other ways in which cases of it failed."""
    compile_observed: Observation | None = None
    """How the compile target failed that blocks this one, or that excuses it."""
    flaky = ""
    """How a flaky target passed in the end; empty for any other."""
    by_chance = ""
    """Why the result of an intermittent target is chance, where its rule allows what was observed; empty for others."""

    @property
    def compile_target(self) -> CompileTarget:
        """The target that compiles the module: this one, or the one it needs."""
        raise NotImplementedError

    def note(self, name: str, value: object) -> None:
        """Add a property to the report, for junit and for whoever reads reports. Empty values are left out."""
        text = f"{value:.6f}" if isinstance(value, float) else str(value)
        if text:
            self.user_properties.append((f"retarget.{name}", text))

    def serve(self, assignment: Assignment) -> None:
        """Take the rules in force for the target and its compile target from those of its suite."""
        compiled = self.compile_target.name
        rule, compile_rule = assignment.rules.get(self.target.name), assignment.rules.get(compiled)
        if rule is not None:
            self.rule = rule
        if compile_rule is not None:
            self.compile_rule = compile_rule
            self.is_deferred = compiled in assignment.deferred

    @property
    def skipping(self) -> Expectation | None:
        """The expectation that has the target skipped, None if there is none."""
        rules = [rule for rule in (self.rule, self.compile_rule) if rule is not None and rule.outcome == "skip"]
        return next((rule for rule in rules if not is_expired(rule, today())), None)

    def skip_as_expected(self) -> None:
        """Skip if an expectation says so."""
        if (rule := self.skipping) is not None:
            raise Excused(excuse(rule))

    def observe(self, tried: Attempts, rule: Expectation | None) -> None:
        """Keep how the target came out, before anything is made of it; and that a flaky one passed in the end, or that
        `rule`, by which it is judged, calls the result chance."""
        self.also_observed = ()
        if tried.error is not None and tried.error.failure.no_verdict:
            self.observed = None
        else:
            seen = tried.observation
            self.also_observed = tuple((way.stage, way.signature) for way in seen.also) if seen is not None else ()
            self.observed = (seen.stage, seen.signature) if seen is not None else PASSED
            if rule is not None and judge(rule, seen, day=today()).ruling is Ruling.CHANCE:
                self.note_chance(rule, observed_text(seen))
        if tried.before:
            self.note("attempts", len(tried.before) + 1)
        if tried.before and tried.error is None:
            self.flaky = f"{self.nodeid} passed at attempt {len(tried.before) + 1}"

    def note_chance(self, rule: Expectation, result: str) -> None:
        """Keep that the target's result, or that of its compile target, is chance."""
        self.by_chance = excuse(rule)
        self.note("intermittent", result)
