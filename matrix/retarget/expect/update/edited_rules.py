"""The rules of several suites while they are being edited: what is in force where, and what was changed."""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from retarget.expect.matching import RuleSet, Specificity, is_judged_at, specificity
from retarget.model import CompileTarget, Expectation, Origin, Suite, Target
from retarget.model.names import is_glob
from retarget.model.outcomes import Observation
from retarget.support.toml import parse_key_path
from retarget.targets.selection import Selector

Key = tuple[str, str]
"""Names of a suite and of one of its targets."""

Observations = Mapping[Key, Observation | None]
"""The observation: how a target failed, None if it passed. Others were not observed."""


class SuiteTargets(Struct, frozen=True, kw_only=True):
    """A suite and what it expands to. `checks_artifacts` is as for `retarget.expect.matching.is_judged_at`.

    Targets whose names are `elsewhere` stand on a device that was seen with other configs only: rules must not
    contradict each other there, and need say nothing of it.
    """

    suite: Suite
    targets: tuple[Target, ...]
    checks_artifacts: bool = False
    elsewhere: frozenset[str] = frozenset()


def key_of(target: Target) -> Key:
    """Return the names of a target and of its suite."""
    return target.compiled.suite, target.name


def module_of(target: Target) -> str:
    """Return the name of the module that a target is about."""
    return target.compiled.module.name


def cell_of(target: Target) -> tuple[str, str, str]:
    """Return the names of a target's suite, compiler config and runtime config, the last empty for a compile target;
    and its devices, as part of that."""
    compiled = target.compiled
    runtime = "" if isinstance(target, CompileTarget) else target.runtime.name
    return compiled.suite, compiled.compiler.name, " ".join((runtime, *map(str, target.devices or ())))


class EditedRules:
    """Rules by origin, new ones last. `update_in_force` works out, after changes, which rule is `in_force` for each
    target; the compile targets that leave theirs to their run targets if they pass (`deferred`); and for each target
    the rules that say something else of it than an equally specific one (`conflicting`).

    Entries of `match` that match nothing here stay in their rule.
    """

    def __init__(self, suites: Sequence[SuiteTargets], *, added: str = "new") -> None:
        """`added` begins the key paths of added rules; those that another one takes over must begin otherwise there."""
        self._suites = {one.suite.name: one for one in suites}
        self.targets: dict[Key, Target] = {key_of(target): target for one in suites for target in one.targets}
        self._modules: dict[str, dict[str, list[Target]]] = {name: {} for name in self._suites}
        for (suite, _), target in self.targets.items():
            self._modules[suite].setdefault(module_of(target), []).append(target)
        self.original: dict[Origin, Expectation] = {}
        self._serving: dict[Origin, list[str]] = {}
        for one in suites:
            for rule in one.suite.expectations:
                self.original.setdefault(rule.origin, rule)
                self._serving.setdefault(rule.origin, []).append(one.suite.name)
        self.rules = dict(self.original)
        self._added = added
        self._after: dict[Origin, Origin | None] = {}
        self._first: dict[Key, Origin] = {}
        self.update_in_force()
        self._first = {key: rule.origin for key, rule in self.in_force.items()}

    def suites(self) -> list[SuiteTargets]:
        """Return the suites with the rules that serve them now."""
        found = []
        for name, one in self._suites.items():
            rules = tuple(rule for origin, rule in self.rules.items() if name in self._served_by(origin))
            found.append(replace(one, suite=replace(one.suite, expectations=rules)))
        return found

    def folder(self, key: Key) -> Path:
        """Return the folder of a target's suite."""
        return self._suites[key[0]].suite.folder

    # ------------------------------------------------------------ what the rules say, as of `update_in_force`

    def is_elsewhere(self, key: Key) -> bool:
        """Return whether a target stands on a device that was seen with other configs only."""
        return key[1] in self._suites[key[0]].elsewhere

    def update_in_force(self) -> None:
        """Work out what is in force, after changes."""
        self.in_force: dict[Key, Expectation] = {}
        self.deferred: set[Key] = set()
        pairs: dict[tuple[Origin, Origin], str] = {}
        for name, one in zip(self._suites, self.suites(), strict=True):
            assignment = RuleSet(one.suite.expectations, checks_artifacts=one.checks_artifacts).assign(one.targets)
            rules_in_force = {target: found.whole for target, found in assignment.rules.items() if found.whole}
            self.in_force |= {(name, target): rule for target, rule in rules_in_force.items()}
            pairs_deferred = ((target, origin) for target, origin in assignment.deferred if target in rules_in_force)
            self.deferred |= {(name, one) for one, origin in pairs_deferred if rules_in_force[one].origin == origin}
            for found in assignment.contradictions:
                pairs[found.rules[0].origin, found.rules[1].origin] = name
        self.conflicting: dict[Key, list[Expectation]] = {}
        for first, second in pairs:
            self._add_conflicting(self.rules[first], self.rules[second])

    def _add_conflicting(self, first: Expectation, second: Expectation) -> None:
        """Note, for each target that two rules quarrel about, which is to give way."""
        for name in self.reach(first):
            if _specificity(first, name) == _specificity(second, name):
                for key in self.selected(first, name) & self.selected(second, name):
                    loser = first if self._yields(first, key) > self._yields(second, key) else second
                    self.conflicting.setdefault(key, []).append(loser)

    def _yields(self, rule: Expectation, key: Key) -> tuple[bool, bool, bool]:
        """How readily a rule gives way for a target: least the one that was in force for it, then what is not xfail."""
        was_in_force = self._first.get(key) == (self.part_of(rule) or rule.origin)
        return not was_in_force, rule.outcome == "xfail", self.original.get(rule.origin) != rule

    # ------------------------------------------------------------ what rules reach

    def reach(self, rule: Expectation) -> dict[str, list[Target]]:
        """Return all targets of the modules that a rule names, where it is judged, by module; whatever its `when`."""
        found: dict[str, list[Target]] = {}
        for suite in self._served_by(rule.origin):
            modules, checks = self._modules[suite], self._suites[suite].checks_artifacts
            names = (fnmatch.filter(modules, entry) if is_glob(entry) else [entry] for entry in rule.match)
            for name in dict.fromkeys(itertools.chain.from_iterable(names)):
                targets = modules.get(name, ())
                judged = [target for target in targets if is_judged_at(rule, target, checks_artifacts=checks)]
                if judged:
                    found.setdefault(name, []).extend(judged)
        return found

    def selects(self, rule: Expectation, target: Target) -> bool:
        """Return whether a rule's expression selects a target that it reaches."""
        return Selector.of_rule(rule.when)(target)

    def selected(self, rule: Expectation, module: str) -> set[Key]:
        """Return what a rule selects of a module if it names it."""
        targets = self.reach(replace(rule, match=(module,))).get(module, ())
        return {key_of(target) for target in targets if self.selects(rule, target)}

    def is_outranked(self, rule: Expectation, module: str, keys: Set[Key]) -> bool:
        """Return whether another rule is at least as specific for some of a module's targets as one that names it."""
        others = [one for one in self.rules.values() if one.origin != rule.origin]
        above = [one for one in others if (_specificity(one, module) or ()) >= specificity(rule, module)]
        return any(keys & self.selected(one, module) for one in above)

    def _served_by(self, origin: Origin) -> Sequence[str]:
        first = self._after.get(origin) or origin
        if first not in self._serving:  # a new rule: it will serve its folder and everything below
            folder = origin.file.parent
            below = [name for name, one in self._suites.items() if one.suite.folder.is_relative_to(folder)]
            self._serving[first] = below
        return self._serving[first]

    # ------------------------------------------------------------ changes

    def add(self, rule: Expectation, *, after: Origin | None = None) -> None:
        """Add a rule to its file: at the end, or after the one that it was a part of."""
        origin = Origin(file=rule.origin.file, key_path=f"{self._added}[{len(self._after)}]")
        self._after[origin] = self._after.get(after) or after if after is not None else None
        self.rules[origin] = replace(rule, origin=origin)

    def part_of(self, rule: Expectation) -> Origin | None:
        """Return the rule that a new one was a part of; None if it was none."""
        return self._after.get(rule.origin)

    def take_over(self, other: EditedRules) -> None:
        """Make the rules that `other` was given what they became there."""
        for origin in other.original.keys() - other.rules.keys():
            self.rules.pop(origin, None)
        for origin, rule in other.rules.items():
            if origin in other.original:
                self.rules[origin] = rule
            else:
                self.add(rule, after=other.part_of(rule))


def _specificity(rule: Expectation, module: str) -> Specificity | None:
    """How specific a rule is for a module; None if it does not name it."""
    return max((specificity(rule, entry) for entry in rule.match if names_module(entry, module)), default=None)


def index_of(origin: Origin) -> int:
    """Return which rule of its file one is."""
    _, index = parse_key_path(origin.key_path)
    return int(index)


def names_module(entry: str, module: str) -> bool:
    """Return whether an entry of a `match` is a module's name, or a glob that it fits."""
    return fnmatch.fnmatchcase(module, entry) if is_glob(entry) else entry == module


def with_modules(match: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
    """Add modules to a `match`, in order if it is in order."""
    more = sorted({*names} - {*match})
    return tuple(sorted([*match, *more])) if list(match) == sorted(match) else (*match, *more)


def without_modules(rule: Expectation, kept: Iterable[str], dropped: Iterable[str]) -> tuple[str, ...]:
    """Return what a rule's `match` is for the kept modules, with what names neither them nor the dropped ones.

    A glob that names a dropped module too gives way to names; so does one that would be less specific than before.
    """
    kept_names, dropped_names = sorted(kept), set(dropped)
    entries = [entry for entry in rule.match if not any(names_module(entry, name) for name in dropped_names)]
    for name in kept_names:
        naming = [entry for entry in rule.match if names_module(entry, name)]
        if max(naming, key=lambda entry: specificity(rule, entry)) not in entries:
            entries.append(name)
    return tuple(dict.fromkeys(entries))
