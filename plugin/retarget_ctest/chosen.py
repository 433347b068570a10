"""The targets that a command line names: by ids, which are read directly, or as pytest selects them.

Suites are read module by module: a process that runs one target expands no others.
"""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.cli.support import read_declared, request_of
from retarget.declare.files import SUITE_FILE
from retarget.declare.load import DeclarationLoader
from retarget.declare.scope import redirections
from retarget.engine.cache.store import Store
from retarget.engine.trial.compile_trial import CompileTrial
from retarget.engine.trial.rules import NO_RULES, RulesInForce
from retarget.engine.trial.run_trial import RunTrial
from retarget.engine.trial.services import TrialServices
from retarget.engine.trial.trial import Trial
from retarget.expect.cases import TargetRules
from retarget.expect.diagnostics import contradiction_diagnostics
from retarget.expect.matching import Assignment, RuleSet
from retarget.extension.registry import Registry, load_extensions
from retarget.model import CompileTarget, RunTarget, Suite, Target
from retarget.model.locations import suite_line
from retarget.model.names import is_glob
from retarget.support.errors import DiagnosticsError, RetargetError, did_you_mean, display_path
from retarget.targets.expansion import expand

from retarget_ctest.settings import SessionSettings

if TYPE_CHECKING:
    from retarget.engine.trial.session import PlainUse

__all__ = ["Chosen", "SuiteHome", "choose"]


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


Targets = Sequence[tuple[SuiteHome, Target]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """`targets` with their suites, in declared order; `by_name` if names or ids choose them. `rule_errors` and
    `named_cases` are of the rules that pytest judges with these paths, as in
    `retarget.targets.pytest_selection.Selection`."""

    targets: Targets
    registry: Registry
    by_name: bool = False
    rule_errors: tuple[str, ...] = ()
    named_cases: Sequence[PlainUse] = ()


def choose(arguments: argparse.Namespace, settings: SessionSettings, extensions: Sequence[str]) -> Chosen:
    """Return the targets that are named.

    Raises `argparse.ArgumentError` for names that no target has, and what reading declarations raises.
    """
    words: list[str] = arguments.target
    if "" in words:
        msg = "found an empty target; expected an id, a name, a glob or a folder ('.' for the current one)"
        raise argparse.ArgumentError(None, msg)
    if words and not (arguments.mark or arguments.keyword) and all(map(_is_id, words)):
        found, registry = _by_ids(arguments, list(dict.fromkeys(words)), settings, extensions)
        return Chosen(targets=found, registry=registry, by_name=True)
    paths = [word for word in words if "::" in word or Path(word).exists()]
    names = [word for word in words if word not in paths]
    if not words and not (arguments.mark or arguments.keyword):
        msg = "expected targets: ids, names or globs as `retarget list` shows them, folders, or -m or -k"
        raise argparse.ArgumentError(None, msg)
    request = replace(request_of(arguments, paths or ["."]), judges_rules=not arguments.ignore_expectations)
    selection = read_declared(request)
    homes = [
        (SuiteHome(one.suite, selection.registry, ignores_rules=arguments.ignore_expectations), one.selected)
        for one in selection.suites
    ]
    found = [(home, target) for home, selected in homes for target in selected]
    if names:
        found = list(_by_names(found, names, ", ".join(paths or ["."])))
    if not found:
        msg = f"found no target in {', '.join(paths or ['.'])} that is selected; `retarget list` shows all"
        raise argparse.ArgumentError(None, msg)
    return Chosen(
        targets=found,
        registry=selection.registry,
        by_name=bool(names),
        rule_errors=selection.rule_errors,
        named_cases=selection.named_cases,
    )


def _is_id(word: str) -> bool:
    file, *rest = word.split("::")
    return len(rest) == 2 and Path(file).name == SUITE_FILE and Path(file).is_file()


def _by_ids(
    arguments: argparse.Namespace, ids: Sequence[str], settings: SessionSettings, extensions: Sequence[str]
) -> tuple[Targets, Registry]:
    """Return the targets with these ids. No other suite is read than theirs."""
    # what is installed was checked when the ids were listed; the check takes a tenth of the start
    registry = load_extensions(extensions, checked=not extensions)
    try:
        store = Store(settings.cache)
        kept = store if store.exists else None
        toolchains = redirections((*settings.toolchains, *arguments.retarget_toolchain), Path.cwd())
        loader = DeclarationLoader(registry, toolchains, kept)
    except RetargetError as error:
        raise argparse.ArgumentError(None, str(error)) from error
    homes: dict[tuple[str, str], SuiteHome] = {}
    found: list[tuple[SuiteHome, Target]] = []
    for written in ids:
        file, suite, name = written.split("::")
        if (file, suite) not in homes:
            # as pytest does: a link stays what the user wrote
            suites = {one.name: one for one in loader.load_suite_file(Path.cwd() / file)}
            if suite not in suites:
                msg = f"found no suite {suite!r} in {display_path(Path(file))}{did_you_mean(suite, suites)}"
                raise argparse.ArgumentError(None, msg)
            homes[file, suite] = SuiteHome(suites[suite], registry, ignores_rules=arguments.ignore_expectations)
        home = homes[file, suite]
        if (target := home.find(name)) is None:
            hint = did_you_mean(name, home.names) or "; `retarget list` shows all"
            msg = f"found no target {name!r} in {file}::{suite}{hint}"
            raise argparse.ArgumentError(None, msg)
        found.append((home, target))
    try:
        loader.check_redirections()
    except RetargetError as error:
        raise argparse.ArgumentError(None, str(error)) from error
    return found, registry


def _by_names(found: Targets, names: Sequence[str], where: str) -> Targets:
    """Return the targets with these names: whole, as globs, or by a part of the front that no other has."""
    known = [target.name for _, target in found]
    wanted: set[str] = set()
    for name in names:
        if is_glob(name):
            matching: Sequence[str] = fnmatch.filter(known, name)
        else:
            matching = [name] if name in known else _with_front(known, name)
        if not matching:
            msg = f"found no target {name!r} in {where}{did_you_mean(name, known) or '; `retarget list` shows all'}"
            raise argparse.ArgumentError(None, msg)
        wanted.update(matching)
    return [(home, target) for home, target in found if target.name in wanted]


def _with_front(known: Sequence[str], front: str) -> Sequence[str]:
    """Return the name that begins so. Raises `argparse.ArgumentError` where several do."""
    matching = sorted({one for one in known if one.startswith(front)})
    if len(matching) > 1:
        shown = ", ".join(matching[:5]) + (", …" if len(matching) > 5 else "")
        msg = f"found {len(matching)} targets whose names begin with {front!r}: {shown}; expected one, or '{front}*'"
        raise argparse.ArgumentError(None, msg)
    return matching
