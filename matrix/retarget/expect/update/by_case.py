"""From the observations of single cases to the rules with `case`: which go, are narrowed, or are new.

Cases of a target that all fail alike need no such rule. Where some pass, or fail in another way, each way in which some
fail becomes a rule that names them. Rules that name the same cases, and new ones for these, form a slice: within it,
`case` left out, they are rules like all others, and are narrowed, widened and joined as these are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from retarget.expect.matching import RuleSet
from retarget.expect.update.covering import fit_rules
from retarget.expect.update.edited_rules import EditedRules, Key, Observations, SuiteTargets, key_of, module_of
from retarget.expect.verdict import TargetRules, allows
from retarget.model import Expectation, Origin, RunTarget, Target
from retarget.model.outcomes import Observation


class CasesSeen(Struct, frozen=True, kw_only=True):
    """The observed failures of a target's cases. `seen` says how each failed that was run, None if it passed.

    `names` are those of all of its cases; `is_selection` means that only some of them were requested.
    """

    names: tuple[str, ...]
    seen: Mapping[str, Observation | None]
    is_selection: bool = False


class _Slice(Struct):
    """The rules that name certain cases, and what was observed of these. New ones repeat `source`, if there is one."""

    cases: tuple[str, ...]
    source: Expectation | None
    seen: dict[Key, Observation | None] = field(default_factory=dict)


def without_cases(suites: Iterable[SuiteTargets]) -> list[SuiteTargets]:
    """Return suites with the rules that name no case alone."""
    return [_with_rules(one, [rule for rule in one.suite.expectations if not rule.cases]) for one in suites]


def plan_cases(suites: Sequence[SuiteTargets], seen: Observations, cases: Mapping[Key, CasesSeen]) -> CaseUpdate:
    """Return the changes that make rules with `case` match what was observed.

    Raises `RetargetError` where rules contradict each other on a case.
    """
    plan = CaseUpdate(suites, seen, cases)
    plan.observe()
    for one in plan.slices():
        edited, added = plan.edited(one)
        plan.changed |= edited
        plan.new += added
    return plan


class CaseUpdate:
    """Rules with `case` as they are to be. `plain` is what is left for rules without, of all that was observed.

    `changed` are rules by origin as they are to be, None if one goes; `new` pairs of a rule and the one that it is a
    part of, None if it is alone.
    """

    def __init__(self, suites: Sequence[SuiteTargets], seen: Observations, cases: Mapping[Key, CasesSeen]) -> None:
        self._suites = suites
        self._cases = cases
        self.plain: dict[Key, Observation | None] = dict(seen)
        self.changed: dict[Origin, Expectation | None] = {}
        self.new: list[tuple[Expectation, Expectation | None]] = []
        self._targets: dict[Key, Target] = {key_of(target): target for one in suites for target in one.targets}
        self._rules = {rule.origin: rule for one in suites for rule in one.suite.expectations}
        self._slices: dict[tuple[frozenset[str], Origin | None], _Slice] = {}

    @property
    def names_cases(self) -> bool:
        """Whether rules with `case` are or were there."""
        return bool(self.changed or self.new) or any(rule.cases for rule in self._rules.values())

    def _now(self, rules: Iterable[Expectation]) -> list[Expectation]:
        """Return rules as they are now."""
        return [now for rule in rules if (now := self.changed.get(rule.origin, rule)) is not None]

    def observe(self) -> None:
        """Sort what was observed by the rules that are in force, and by those that are missing."""
        for one in self._suites:
            book = RuleSet(self._now(one.suite.expectations), checks_artifacts=one.checks_artifacts)
            for target in one.targets:
                if (key := key_of(target)) in self._cases:
                    self._observe(key, book.rules_for(target), self._cases[key])

    def _observe(self, key: Key, rules: TargetRules, cases: CasesSeen) -> None:
        by_rule: dict[Origin, dict[str, Observation | None]] = {}
        rest: dict[str, Observation | None] = {}
        for name, way in cases.seen.items():
            rule = rules.of(name)
            (rest if rule is None else by_rule.setdefault(rule.origin, {}))[name] = way
        missing: list[tuple[str, Observation, Expectation | None]] = []
        is_covered = False
        for origin, ways in by_rule.items():
            rule = next(one for one in rules.all if one.origin == origin)
            if not self._is_ours(rule):
                is_covered = True
                continue
            holds = all(way is not None and allows(rule, way) for way in ways.values())
            self._slice(rule.cases, None).seen[key] = next(iter(ways.values())) if holds else None
            is_covered = is_covered or holds
            if not holds:
                missing += [(name, way, _source(rule, way)) for name, way in ways.items() if way is not None]
                missing += [(name, _seen_by(rule), rule) for name in cases.names if _is_left(name, rule, rules, cases)]
        if rules.whole is not None and not self._is_ours(rules.whole):
            self.plain[key] = _observation(rest)
            if self.plain[key] is None and _is_cut(rules, cases):
                del self.plain[key]
        else:
            missing += self._of_rest(key, rules, rest, missing, cases, is_covered=is_covered)
        for way, source, names in _grouped(missing):
            self._slice(names, source).seen[key] = way

    def _of_rest(
        self,
        key: Key,
        rules: TargetRules,
        rest: Mapping[str, Observation | None],
        missing: Sequence[tuple[str, Observation, Expectation | None]],
        cases: CasesSeen,
        *,
        is_covered: bool,
    ) -> Iterator[tuple[str, Observation, Expectation | None]]:
        """Yield the failures of cases that no rule names, unless a rule without `case` does for all of them."""
        whole = rules.whole
        failed = {name: way for name, way in rest.items() if way is not None}
        if _is_cut(rules, cases) and (cases.is_selection or whole is not None):  # the others may do what it says
            self.plain.pop(key, None)
            yield from ((name, way, None) for name, way in failed.items() if _source(whole, way) is None)
            return
        is_alike = len(failed) == len(rest) and len(set(failed.values())) == 1
        holds = is_alike and all(_source(whole, way) for way in failed.values())
        is_all = len(failed) == len(cases.names) and not missing and not is_covered
        if holds or (is_alike and is_all):
            self.plain[key] = _observation(rest)
            return
        self.plain[key] = None
        yield from ((name, way, _source(whole, way)) for name, way in failed.items())

    def _is_ours(self, rule: Expectation) -> bool:
        """Return whether it is an update that settles a rule, and not a person."""
        return rule.outcome == "xfail" and not rule.is_expired

    def _slice(self, cases: Sequence[str], source: Expectation | None) -> _Slice:
        key = (frozenset(cases), source.origin if source is not None else None)
        return self._slices.setdefault(key, _Slice(tuple(sorted(cases)), source))

    def slices(self) -> Iterable[_Slice]:
        """The edits, those of existing rules first."""
        return sorted(self._slices.values(), key=lambda one: (one.source is not None, one.cases))

    def edited(
        self, one: _Slice
    ) -> tuple[dict[Origin, Expectation | None], list[tuple[Expectation, Expectation | None]]]:
        """Edit a slice. Return its rules that change, and its new ones as in `CaseUpdate.new`."""
        cases = frozenset(one.cases)
        naming = [rule for rule in self._now(self._rules.values()) if cases.issubset(rule.cases)]
        named = () if one.source is not None else naming
        there = {rule.origin: rule for rule in named if cases == {*rule.cases} and self._is_ours(rule)}
        modules = None if there else {module_of(self._targets[key]) for key in one.seen}
        # What flaky, intermittent and skip rules that name all of these cases are in force for stays theirs.
        others = {rule.origin: rule for rule in naming if there and rule.outcome != "xfail"}
        rules = EditedRules([_sliced(suite, others | there, modules) for suite in self._suites])
        fit_rules(rules, one.seen)
        found = {rule.origin: rule for rule in rules.rules.values()}
        changed: dict[Origin, Expectation | None] = {}
        for origin, rule in there.items():
            now = found.get(origin)
            if now is None or (now.match, now.when) != (rule.match, rule.when):
                changed[origin] = None if now is None else replace(rule, match=now.match, when=now.when)
        new = [
            self._named(rule, one, there.get(rules.part_of(rule) or origin))
            for origin, rule in found.items()
            if origin not in there and origin not in others
        ]
        return changed, new

    def _named(
        self, rule: Expectation, one: _Slice, part_of: Expectation | None
    ) -> tuple[Expectation, Expectation | None]:
        """A new rule, with the cases that it is about, and in the words of the one that it comes from; and that one."""
        if one.source is None:
            return replace(rule, cases=one.cases if part_of is None else part_of.cases), part_of
        origin = Origin(file=one.source.origin.file, key_path="")
        return replace(one.source, match=rule.match, when=rule.when, cases=one.cases, origin=origin), one.source


def _source(rule: Expectation | None, way: Observation) -> Expectation | None:
    """The rule whose words a new one takes over: one that covers more than this, in the same words."""
    return rule if rule is not None and allows(rule, way) else None


def _seen_by(rule: Expectation) -> Observation:
    return Observation(stage=rule.stages[0], signature=rule.signature)


def _is_left(name: str, rule: Expectation, rules: TargetRules, cases: CasesSeen) -> bool:
    """Return whether a rule that goes is in force for a case that was not run: its content for this case stays."""
    now = rules.of(name) if name not in cases.seen else None
    return now is not None and now.origin == rule.origin


def _is_cut(rules: TargetRules, cases: CasesSeen) -> bool:
    """Return whether some of the cases that no rule names were not run."""
    return any(name not in cases.seen and rules.of(name) is None for name in cases.names)


def _grouped(
    missing: Iterable[tuple[str, Observation, Expectation | None]],
) -> Iterable[tuple[Observation, Expectation | None, list[str]]]:
    """The cases that fail in one way, or as one rule says that is to be taken over."""
    groups: dict[tuple[Observation, Origin | None], tuple[Observation, Expectation | None, list[str]]] = {}
    for name, way, source in missing:
        failure = _seen_by(source) if source is not None else way
        key = (failure, source.origin if source is not None else None)
        groups.setdefault(key, (failure, source, []))[2].append(name)
    return groups.values()


def _observation(seen: Mapping[str, Observation | None]) -> Observation | None:
    """How a target failed in some cases; None if all passed."""
    ways = [way for way in dict.fromkeys(seen.values()) if way is not None]
    return dataclasses.replace(ways[0], also=tuple(ways[1:])) if ways else None


def _with_rules(one: SuiteTargets, rules: Sequence[Expectation]) -> SuiteTargets:
    return replace(one, suite=replace(one.suite, expectations=tuple(rules)))


def _sliced(one: SuiteTargets, rules: Mapping[Origin, Expectation], modules: Container[str] | None) -> SuiteTargets:
    """A suite's targets that have cases, with these rules alone, as if they named none; only of some modules, if these
    are given."""
    own = [replace(rules[rule.origin], cases=()) for rule in one.suite.expectations if rule.origin in rules]
    targets = one.targets
    if not one.checks_artifacts:
        targets = tuple(target for target in targets if isinstance(target, RunTarget))
    if modules is not None:
        targets = tuple(target for target in targets if module_of(target) in modules)
    return replace(_with_rules(one, own), targets=targets)
