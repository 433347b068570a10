"""Suites as trials use them, read module by module: a process that runs one target expands no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from retarget.engine.trial.compile_trial import CompileTrial
from retarget.engine.trial.rules import NO_RULES, RulesInForce
from retarget.engine.trial.run_trial import RunTrial
from retarget.engine.trial.services import TrialServices
from retarget.engine.trial.trial import Trial
from retarget.expect.cases import TargetRules
from retarget.expect.diagnostics import contradiction_diagnostics
from retarget.expect.matching import Assignment, RuleSet
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, RunTarget, Suite, Target
from retarget.model.locations import suite_line
from retarget.support.errors import DiagnosticsError, display_path
from retarget.targets.expansion import expand

__all__ = ["SuiteHome"]


class SuiteHome:
    """A suite, as `retarget.engine.trial.trial.Home` says. With `ignores_rules`, no expectations are in force."""

    def __init__(self, suite: Suite, registry: Registry, *, ignores_rules: bool = False) -> None:
        self.suite = suite
        self.registry = registry
        self._ignores_rules = ignores_rules
        self._modules = {module.name: module for module in suite.modules}
        self._targets: dict[str, tuple[Target, ...]] = {}
        self._rules: dict[str, TargetRules] = {}
        self._assignments: dict[str, Assignment] = {}

    @property
    def nodeid(self) -> str:
        """What the node ids of its targets start with."""
        return f"{display_path(self.path)}::{self.suite.name}"

    @property
    def path(self) -> Path:
        """Its `suite.toml`."""
        return self.suite.origin.file

    @cached_property
    def line(self) -> int | None:
        """Where the suite's table starts, 0-based; None if that is unknown."""
        return suite_line(self.suite.origin)

    def rules(self, target: str) -> TargetRules:
        """The expectations in force for a target of a module that `targets` was called for."""
        return self._rules.get(target, TargetRules())

    def run_targets(self, module: str) -> Sequence[RunTarget]:
        """All run targets of a module, in declared order."""
        return [target for target in self.targets(module) if isinstance(target, RunTarget)]

    def targets(self, module: str) -> Sequence[Target]:
        """All targets of a module, in declared order. Raises `DiagnosticsError` for errors of the suite."""
        if module not in self._targets:
            self._targets[module] = expand(replace(self.suite, modules=(self._modules[module],)), self.registry)
        return self._targets[module]

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all its targets. Raises `DiagnosticsError`."""
        return [target.name for target in expand(self.suite, self.registry)]

    def find(self, name: str) -> Target | None:
        """Return the target with a name; None where the suite has none. Raises `DiagnosticsError`."""
        for module in self._modules:
            if name.startswith(f"{module}_"):
                found = next((target for target in self.targets(module) if target.name == name), None)
                if found is not None:
                    return found
        return None

    def retries(self, target: Target) -> int:
        """Return how many further attempts a flaky target has. Raises `DiagnosticsError` as `trial` does."""
        self._assignment(target)
        return self.rules(target.name).retries

    def trial(self, target: Target, services: TrialServices, *, position: int = 0) -> Trial:
        """Return a trial of a target. Raises `DiagnosticsError` for rules that contradict each other."""
        assignment = self._assignment(target)
        rules = RulesInForce.of(target, assignment) if assignment is not None else NO_RULES
        sort = CompileTrial if isinstance(target, CompileTarget) else RunTrial
        return sort(target=target, home=self, services=services, position=position, rules=rules)

    def _assignment(self, target: Target) -> Assignment | None:
        """Find the rules in force for the targets of a target's module."""
        if not self.suite.expectations or self._ignores_rules:
            return None
        module = (target if isinstance(target, CompileTarget) else target.compile).module.name
        if module in self._assignments:
            return self._assignments[module]
        targets = self.targets(module)
        checks = self.registry.artifact_checker(self.suite.kind) is not None
        assignment = RuleSet(self.suite.expectations, checks_artifacts=checks).assign(targets)
        if assignment.contradictions:
            raise DiagnosticsError(contradiction_diagnostics(assignment.contradictions))
        self._rules.update({one.name: assignment.of(one.name) for one in targets})
        self._assignments[module] = assignment
        return assignment
