"""An item as expectations see it: which rules are in force for it, and what was observed of it."""

from __future__ import annotations

import pytest
from retarget.expect.cases import CaseRule, TargetRules, TargetVerdict
from retarget.expect.matching import Assignment
from retarget.expect.verdict import Ruling, excuse, is_expired, observed_text, today
from retarget.model import CompileTarget, Expectation, Target
from retarget.model.outcomes import Observation

from pytest_retarget.items.expected import Attempts
from pytest_retarget.items.skips import Excused
from pytest_retarget.items.subtests import CaseResult, case_results
from pytest_retarget.report.summary import PASSED

__all__ = ["Standing"]


class Standing(pytest.Item):
    """An item whose target expectations may be in force for."""

    target: Target
    rule: Expectation | None = None
    """The expectation in force for the target as a whole."""
    by_case: tuple[CaseRule, ...] = ()
    """The expectations in force for cases of the target."""
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

    case_results: tuple[CaseResult, ...] = ()
    """What became of the target's cases; empty where they did not become known."""

    cases_missed: tuple[str, ...] = ()
    """The names of the target's cases where `--retarget-case` selects none of them."""

    @property
    def rules(self) -> TargetRules:
        """All expectations in force for the target."""
        return TargetRules(whole=self.rule, by_case=self.by_case)

    @property
    def compile_rules(self) -> TargetRules:
        """Those in force for the compile target's compile, which has no cases."""
        return TargetRules(whole=self.compile_rule)

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
        if assignment.by_case and (by_case := assignment.by_case.get(self.target.name)):
            self.by_case = by_case
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

    def observe(self, tried: Attempts, rules: TargetRules | None) -> None:
        """Keep how the target came out, before anything is made of it; and that a flaky one passed in the end, or that
        `rules`, by which it is judged, call the result chance."""
        self.also_observed = ()
        verdict = tried.verdict(rules) if rules is not None else None
        if verdict is not None and rules is not None:
            self._keep_cases(tried, rules, verdict)
        if tried.error is not None and tried.error.failure.no_verdict:
            self.observed = None
        else:
            seen = tried.observation
            self.also_observed = tuple((way.stage, way.signature) for way in seen.also) if seen is not None else ()
            self.observed = (seen.stage, seen.signature) if seen is not None else PASSED
            if verdict is not None and verdict.ruling is Ruling.CHANCE:
                rule = next(one.rule for one in verdict.verdicts if one.ruling is Ruling.CHANCE)
                self.note_chance(rule, observed_text(seen))
        if tried.before:
            self.note("attempts", len(tried.before) + 1)
        if tried.before and tried.error is None:
            self.flaky = f"{self.nodeid} passed at attempt {len(tried.before) + 1}"

    def _keep_cases(self, tried: Attempts, rules: TargetRules, verdict: TargetVerdict) -> None:
        """Keep what became of each case; of several, in the target's properties too."""
        why_not = "not selected by --retarget-case" if tried.error is None else "the run ended before it"
        self.case_results = tuple(case_results(rules, verdict, tried.cases, tried.names, why_not))
        if len(self.case_results) > 1:
            for result in self.case_results:
                self.note(f"case_outcome.{result.name}", result.outcome)
                self.note(f"case_seconds.{result.name}", result.seconds)

    def note_chance(self, rule: Expectation | None, result: str) -> None:
        """Keep that the target's result, or that of its compile target, is chance."""
        self.by_chance = excuse(rule) if rule is not None else result
        self.note("intermittent", result)
