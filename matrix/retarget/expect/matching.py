"""Which rule is in force for a target, golden rules too, and what each rule was seen to match.

Of the rules that match a target and are judged at it, the most specific one is in force: a module's own name goes
before a glob, then the glob with more literal characters, then more traits of devices in `when`, then more words, then
the nearer folder. Two that are equal in all of this and say different things contradict each other. Rules that name
cases are apart: for a case they go before all others, and of them first the one with its name, or the glob with more
literal characters.

Which devices a target has is known when they are opened. Until then rules that ask for devices are possible ones.

Rules are found by module: a name costs one look-up, and globs are tried once per module.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar

from msgspec import Struct, field
from msgspec.structs import replace

from retarget.expect.verdict import RankedRule, TargetRules, allows, case_rank, says
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, Expectation, Golden, Origin, RunTarget, Suite, Target
from retarget.model.devices import DeviceTraits
from retarget.model.locations import SourceLocations
from retarget.model.metrics import Metric
from retarget.model.names import is_glob
from retarget.model.outcomes import Observation
from retarget.support.errors import Diagnostic
from retarget.support.toml import Problem
from retarget.targets.selection import Selector, Term, names_devices

COMPILE_STAGES = frozenset({"compile", "crash", "timeout"})
"""Stages at which a compile target can fail."""

RUN_STAGES = frozenset({"load", "run", "compare", "crash", "timeout"})
"""Stages at which a run target can fail."""

Specificity = tuple[bool, int, int, int, int]

_GLOB_MAGIC = re.compile(r"\[[^\]]*\]|[*?]")


class Contradiction(Struct, frozen=True, kw_only=True):
    """Two equally specific rules that match a target and say different things."""

    target: str
    rules: tuple[Expectation, Expectation]


class Effect(Struct, frozen=True, kw_only=True):
    """The observed effect of a rule: which entries of its `match` name a module, which match a target that is judged by
    it, and which words of its `when` are true of any target at all. All by index. `modules` are those whose targets it
    matches, as (suite, name) pairs, if it names cases."""

    named: frozenset[int] = frozenset()
    matched: frozenset[int] = frozenset()
    words: frozenset[int] = frozenset()
    modules: frozenset[tuple[str, str]] = frozenset()

    def __or__(self, other: Effect) -> Effect:
        return Effect(
            named=self.named | other.named,
            matched=self.matched | other.matched,
            words=self.words | other.words,
            modules=self.modules | other.modules,
        )


class RulesInForce(Struct, frozen=True, kw_only=True):
    """`rules` are those of the target, `compiled` those of its compile target; of a compile target itself, the same.
    `deferred` are the compile target's that are judged at run targets, if the compile passes."""

    rules: TargetRules = field(default_factory=TargetRules)
    compiled: TargetRules = field(default_factory=TargetRules)
    deferred: frozenset[Origin] = frozenset()

    @property
    def all(self) -> tuple[Expectation, ...]:
        """All that are about the target, its cases or the compile target."""
        return (*self.rules.all, *self.compiled.wholes)

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
        return next((rule for rule in rules if not rule.is_expired), None)


class Assignment(Struct, frozen=True, kw_only=True):
    """The rules in force for one suite's targets.

    `rules` has the rules of each target that has some, by the target's name.
    `deferred` has pairs of a compile target's name and a rule that may be in force for it and for a run target of its,
    and can be met there: if the compile passes, the rule
    is judged at the run targets. `effects` are those of all rules, matched or not.
    """

    rules: Mapping[str, TargetRules] = field(default_factory=dict)
    deferred: frozenset[tuple[str, Origin]] = frozenset()
    contradictions: tuple[Contradiction, ...] = ()
    effects: Mapping[Origin, Effect] = field(default_factory=dict)

    def of(self, target: str) -> TargetRules:
        """Return the rules of a target."""
        return self.rules.get(target) or TargetRules()

    nothing: ClassVar[RulesInForce] = RulesInForce()
    """What is in force for a target that no rule is about: one object for all."""

    def in_force(self, target: Target) -> RulesInForce:
        """Return the rules that are about a target or its compile target."""
        compiled = target.compiled.item
        rules, of_compiled = self.of(target.name), self.of(compiled)
        if not of_compiled.wholes and not rules.all:
            return self.nothing
        origins = {rule.origin for rule in of_compiled.wholes}
        deferred = frozenset(origin for origin in origins if (compiled, origin) in self.deferred)
        return RulesInForce(rules=rules, compiled=of_compiled, deferred=deferred)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """An error for each pair of rules that contradict each other, at the later of the two."""
        locations = SourceLocations()
        problems = []
        for contradiction in self.contradictions:
            first, second = contradiction.rules
            what = "bound or date" if first.outcome == GOLDEN else "stage, signature, outcome or date"
            message = (
                f"found another {what} than {first.origin.key_path} at "
                f"{locations.location(first.origin)}, which is as specific and also matches {contradiction.target}; "
                "expected that they agree, or that one is more specific"
            )
            problems.append((second.origin, Problem((), message)))
        return SourceLocations.diagnostics(problems)


def is_judged_at(rule: Expectation, target: Target, *, checks_artifacts: bool = False) -> bool:
    """Return whether a target can fail at one of the rule's stages. What is skipped is skipped whatever it is.

    `checks_artifacts` means that the suite's kind runs nothing: its compile targets can fail at all stages.
    """
    if rule.cases and isinstance(target, CompileTarget) and not checks_artifacts:
        return False
    if rule.outcome == "skip":
        return True
    stages = COMPILE_STAGES if isinstance(target, CompileTarget) else RUN_STAGES
    if checks_artifacts:
        stages = COMPILE_STAGES | RUN_STAGES
    return not stages.isdisjoint(rule.stages)


def specificity(rule: Expectation, entry: str) -> Specificity:
    """Return how specific a rule is where `entry` of its `match` matches: the larger, the more specific.

    It is a name or a glob, the literal characters of a glob, the traits of devices and the words of `when`, the depth
    of the file's folder.
    """
    is_name = not is_glob(entry)
    literal = 0 if is_name else len(_GLOB_MAGIC.sub("", entry))
    terms = Selector.of_rule(rule.when).terms
    traits, words = sum(len(term.traits) for term in terms), sum(not term.traits for term in terms)
    return is_name, literal, traits, words, len(rule.origin.file.parts)


class _Used(Struct):
    """The observed effects of a rule so far."""

    rule: Expectation
    selector: Selector | None
    named: set[int] = field(default_factory=set)
    matched: set[int] = field(default_factory=set)
    modules: set[tuple[str, str]] = field(default_factory=set)


class _Candidate(Struct, frozen=True):
    """A rule that matches a module by some entries of its `match`."""

    used: _Used
    entries: tuple[int, ...]
    specificity: Specificity


class RuleSet:
    """The rules that serve one suite."""

    def __init__(self, rules: Sequence[Expectation], *, checks_artifacts: bool = False) -> None:
        """`rules` in order, those of the outermost folder first; `checks_artifacts` as for `is_judged_at`."""
        self._checks_artifacts = checks_artifacts
        self._used = [_Used(rule, Selector.of_rule(rule.when) if rule.when else None) for rule in rules]
        self._by_name: dict[str, dict[int, list[int]]] = {}
        self._globs: list[tuple[re.Pattern[str], int, int]] = []
        for number, used in enumerate(self._used):
            for index, entry in enumerate(used.rule.match):
                if is_glob(entry):
                    self._globs.append((re.compile(fnmatch.translate(entry)), number, index))
                else:
                    self._by_name.setdefault(entry, {}).setdefault(number, []).append(index)
        self._any_glob = re.compile("|".join(pattern.pattern for pattern, _, _ in self._globs) or r"(?!)")
        self._of_module = cache(self._find)
        self._holds: dict[tuple[object, ...], bool] = {}
        self._kinds: dict[tuple[int, int, int], Target] = {}  # one of all that share tags and configs
        self._contradictions: dict[tuple[Origin, Origin], Contradiction] = {}

    @classmethod
    def of(cls, suite: Suite, registry: Registry) -> RuleSet:
        """Return the expectations of a suite, whose kind one of the extensions may have."""
        return cls(suite.expectations, checks_artifacts=registry.artifact_checker(suite.kind) is not None)

    @classmethod
    def of_goldens(cls, goldens: Sequence[Golden]) -> Sequence[RuleSet]:
        """Return the golden rules of each metric that has some."""
        by_metric = [[golden_rule(golden) for golden in goldens if golden.metric is metric] for metric in Metric]
        return [cls(rules) for rules in by_metric if rules]

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Those found so far, at the first target of each pair of rules."""
        return tuple(self._contradictions.values())

    def rules_for(self, target: Target) -> TargetRules:
        """Return the rules in force for a target; where its devices are not known, with those that may be."""
        wholes: list[RankedRule] = []
        cases: list[RankedRule] = []
        compiled = target.compiled
        for candidate in self._matching(target):
            rule = candidate.used.rule
            if not rule.cases:
                wholes.append(RankedRule(pattern="", rule=rule, rank=candidate.specificity))
                continue
            candidate.used.modules.add((compiled.suite, compiled.module.name))
            ranks = ((pattern, (*case_rank(pattern), *candidate.specificity)) for pattern in rule.cases)
            cases += [RankedRule(pattern=pattern, rule=rule, rank=rank) for pattern, rank in ranks]
        cases.sort(key=lambda one: one.rank, reverse=True)
        is_sure = target.devices is not None or not any(names_devices(one.rule.when) for one in (*wholes, *cases))
        sure = next((at for at, one in enumerate(wholes) if is_sure or not names_devices(one.rule.when)), len(wholes))
        wholes = [one for at, one in enumerate(wholes) if at <= sure or one.rank == wholes[sure].rank]
        if is_sure:
            self._check(target, wholes)
            self._check(target, cases)
            return TargetRules.of_holding((*wholes, *cases))
        if isinstance(target, CompileTarget) and not target.may_ask_devices:
            return self.rules_for(replace(target, devices=()))
        # Whether some device has what two rules ask for is seen when it is opened; here, for one that a rule names.
        possible = (*wholes, *cases)
        terms = (term for one in possible for term in Selector.of_rule(one.rule.when).terms if term.traits)
        for traits in dict.fromkeys(term.traits for term in terms):
            there = DeviceTraits(**{name: str(text) for name, text in traits})
            self.rules_for(replace(target, devices=(there,)))
        nowhere = self.rules_for(replace(target, devices=()))
        return replace(nowhere, possible=possible)

    def _check(self, target: Target, rules: Sequence[RankedRule]) -> None:
        """Note which rules in force contradict each other: equally specific ones that say different things."""
        first: dict[tuple[object, ...], Expectation] = {}
        for one in rules:
            other = first.setdefault((one.pattern, *one.rank), one.rule)
            if says(other) != says(one.rule):
                contradiction = Contradiction(target=target.name, rules=(other, one.rule))
                self._contradictions.setdefault((other.origin, one.rule.origin), contradiction)

    def _matching(self, target: Target) -> Iterator[_Candidate]:
        """Yield the rules that match a target and are judged at it, the most specific first."""
        compiled = target.compiled
        candidates = self._of_module(compiled.module.name)
        for candidate in candidates:
            used = candidate.used
            if not is_judged_at(used.rule, target, checks_artifacts=self._checks_artifacts):
                continue
            if self._matches(used, target):
                used.matched.update(candidate.entries)
                yield candidate

    def excuses(self, target: Target, way: Observation) -> bool:
        """Return whether a rule knows a way to fail by its diagnostic, of whatever module, with a target's configs."""
        return any(
            used.rule.signature and not used.rule.is_expired and allows(used.rule, way) and self._matches(used, target)
            for used in self._used
        )

    def assign(self, targets: Iterable[Target]) -> Assignment:
        """Return the rules of the suite's targets, each compile target before its run targets."""
        rules: dict[str, TargetRules] = {}
        deferred: set[tuple[str, Origin]] = set()
        compiles: dict[tuple[object, ...], str] = {}
        for target in targets:
            compiled = target.compiled
            runtime = target.runtime if isinstance(target, RunTarget) else None
            self._kinds.setdefault((id(target.tags), id(compiled.compiler), id(runtime)), target)
            if not self._of_module(compiled.module.name):
                continue  # most modules have no rule
            found = self.rules_for(target)
            if found.wholes or found.by_case or found.possible:
                rules[target.name] = found
            if target is compiled:
                compiles[compiled.item, compiled.devices] = target.name
            elif (name := compiles.get((compiled.item, compiled.devices))) in rules:
                both = {rule.origin for rule in rules[name].wholes} & {rule.origin for rule in found.wholes}
                deferred |= {(name, origin) for origin in both}
        return Assignment(
            rules=rules, deferred=frozenset(deferred), contradictions=self.contradictions, effects=self._effects()
        )

    def _find(self, name: str) -> tuple[_Candidate, ...]:
        """Return the rules that match a module, the most specific first, and of equal ones the first declared."""
        found = {number: list(indices) for number, indices in self._by_name.get(name, {}).items()}
        if self._any_glob.match(name):
            for pattern, number, index in self._globs:
                if pattern.match(name):
                    found.setdefault(number, []).append(index)
        candidates = []
        for number, indices in sorted(found.items()):
            used = self._used[number]
            used.named.update(indices)
            most = max(specificity(used.rule, used.rule.match[index]) for index in indices)
            candidates.append(_Candidate(used, tuple(indices), most))
        return tuple(sorted(candidates, key=lambda candidate: candidate.specificity, reverse=True))

    def _matches(self, used: _Used, target: Target) -> bool:
        if used.selector is None:
            return True
        if isinstance(target, CompileTarget):
            if target.devices is None and names_devices(used.rule.when) and not target.may_ask_devices:
                target = replace(target, devices=())
            key = (used.rule.when, target.tags, target.compiler.name, "", target.devices)
        else:
            key = (used.rule.when, target.tags, target.compile.compiler.name, target.runtime.name, target.devices)
        known = self._holds.get(key)
        if known is None:
            known = self._holds[key] = used.selector(target)
        return known

    def _effects(self) -> dict[Origin, Effect]:
        @cache
        def is_known(term: Term) -> bool:
            return any(term.selector(target) for target in self._kinds.values())

        return {
            used.rule.origin: Effect(
                named=frozenset(used.named),
                matched=frozenset(used.matched),
                modules=frozenset(used.modules),
                words=frozenset(
                    index
                    for index, term in enumerate(Selector.of_rule(used.rule.when).terms)
                    if term.traits or is_known(term)
                ),
            )
            for used in self._used
        }


GOLDEN = "golden"
"""The outcome of an expectation that stands for a golden rule, for the matching of rules and its diagnostics."""


class GoldenAssignment(Struct, frozen=True, kw_only=True):
    """The golden rules of one suite, and what was seen of them: an assignment for each metric."""

    goldens: Mapping[Origin, Golden] = field(default_factory=dict)
    assignments: tuple[Assignment, ...] = ()

    def of(self, target: Target, devices: Sequence[DeviceTraits]) -> tuple[Golden, ...]:
        """Return those in force for a target on its devices. Raises `RetargetError` where two contradict each other."""
        found = (one.of(target.name).on(target, devices).whole for one in self.assignments)
        return tuple(self.goldens[rule.origin] for rule in found if rule is not None)

    @classmethod
    def assign(cls, goldens: Sequence[Golden], targets: Iterable[Target]) -> GoldenAssignment:
        """Return the golden rules of a suite's targets: for each metric the most specific one is in force."""
        targets = tuple(targets)
        return cls(
            goldens={golden.origin: golden for golden in goldens},
            assignments=tuple(rules.assign(targets) for rules in RuleSet.of_goldens(goldens)),
        )


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
