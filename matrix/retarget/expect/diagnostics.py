"""The effects of rules in a session, and errors for those that contradict each other, have no effect, or have
expired."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path

from retarget.declare.sources import FileName
from retarget.expect.matching import GOLDEN, Assignment, Effect, GoldenAssignment, golden_rule
from retarget.model import Expectation, Origin, Suite, Target
from retarget.model.devices import TRAITS
from retarget.model.locations import SourceLocations
from retarget.model.names import matches_case
from retarget.support.errors import Diagnostic, DiagnosticsError, did_you_mean
from retarget.support.toml import KeyPath, Problem
from retarget.targets.selection import Selector, names_devices

_EXPIRED_GOLDEN = "bounds nothing any more: decide anew what the bound is, or take the rule out"
_HINTS = 10
"""How many errors are given a nearest name: it is sought among all there are."""


CaseUse = tuple[str, str, tuple[str, ...], frozenset[tuple[str, str]]]
"""A rule that names cases, in builtin types, which cross xdist's channel: its file and key path, its entries, and the
modules that it reaches, as (suite, name) pairs."""


def expired_diagnostics(rules: Iterable[Expectation]) -> tuple[Diagnostic, ...]:
    """Return an error for each rule that excuses nothing any more."""
    return SourceLocations.diagnostics((rule.origin, _expired(rule)) for rule in rules if rule.is_expired)


def _expired(rule: Expectation) -> Problem:
    does = _EXPIRED_GOLDEN
    if rule.outcome != GOLDEN:
        does = "excuses nothing any more: mend what it excused, or decide anew how long it may fail"
    return Problem(("until",), f"found {rule.until}, which is past; this rule {does} ({rule.reason})")


_OF_DEVICES = re.compile(rf"\(\s*({'|'.join({*TRAITS} - {'name'})})\s*=")
"""Keyword arguments that only `on(…)` has. Keyword marks, such as `driver(name='vulkan')`, have `name`, too."""


def stale_diagnostics(
    rules: Iterable[Expectation], effects: Mapping[Origin, Effect], *, modules: Sequence[str], tags: Sequence[str]
) -> tuple[Diagnostic, ...]:
    """Return an error for each rule without effect, each entry of `match` and each word of `when` without one.

    `effects` are what the rules were seen to do in all suites that they serve; `modules` and `tags` are all names and
    words there are, for a hint.
    """
    found = [(rule.origin, problem) for rule in rules for problem in _stale(rule, effects.get(rule.origin, Effect()))]
    hinted = []
    for number, (origin, (problem, word)) in enumerate(found):
        known = tags if problem.path[0] == "when" else modules
        hint = did_you_mean(word, known) if number < _HINTS and word else ""
        if problem.path[0] == "when" and _OF_DEVICES.search(word):
            device = f"on{word[word.index('(') :]}"
            hint = f"; did you mean {device!r}? It asks for the device that was opened"
        hinted.append((origin, Problem(problem.path, problem.message + (hint or "; remove it"))))
    return SourceLocations.diagnostics(hinted)


def unknown_case_diagnostics(
    uses: Iterable[CaseUse], names: Mapping[tuple[str, str], Iterable[str]]
) -> tuple[Diagnostic, ...]:
    """Return an error for each entry of a rule's `case` that matches none, where all cases that it may match are known.

    `names` are those of the cases of each module, by (suite, name).
    """
    problems = []
    for file, key_path, cases, modules in uses:
        if not modules <= names.keys():
            continue
        known = list(dict.fromkeys(name for module in sorted(modules) for name in names[module]))
        for index, entry in enumerate(cases):
            if not any(matches_case(entry, name) for name in known):
                hint = did_you_mean(entry, known) or "; remove it"
                message = f"found {entry!r}, which matches no case of the modules that this rule is about{hint}"
                origin = Origin(file=Path(file), key_path=key_path)
                problems.append((origin, Problem(("case", index), message)))
    return SourceLocations.diagnostics(problems)


def _stale(rule: Expectation, effect: Effect) -> Iterator[tuple[Problem, str]]:
    """Yield what of a rule has no effect, with the word that a nearer one may be sought for."""
    unknown_words = [
        (index, term.text) for index, term in enumerate(Selector.of_rule(rule.when).terms) if index not in effect.words
    ]  # a word that no target has keeps entries from matching: one cause, one error
    for _, word in unknown_words:
        yield Problem(("when",), f"found the word {word!r}, which no target has as a tag"), word
    for index, entry in enumerate(rule.match):
        path: KeyPath = ("match", index)
        if index not in effect.named:
            yield Problem(path, f"found {entry!r}, which names no module that this rule serves"), entry
        elif index not in effect.matched and not unknown_words:
            where = f" with {rule.when!r}" if rule.when else ""
            stages = f" that can fail at {' or '.join(rule.stages)}" if rule.outcome != "skip" else ""
            if rule.outcome == GOLDEN:
                stages = f" that has the metric {rule.signature.partition(' ')[0]}, one of {rule.stages[0]} targets"
            device = '; a compile target has the device of target_from = "host:…", others have none'
            hint = device if names_devices(rule.when) and rule.stages == ("compile",) else ""
            yield Problem(path, f"found {entry!r}, which{where} matches no target{stages}{hint}"), ""


def _may_name(rule: Expectation, suite: Suite) -> bool:
    """Whether a rule names a module of a suite. Without its kind's package a suite has no module that is known."""
    names = [module.name for module in suite.modules]
    return not names or any(fnmatchcase(name, entry) for name in names for entry in rule.match)


class RuleUsage:
    """The rules of one session, or of one `retarget check`."""

    def __init__(self) -> None:
        self._rules: dict[Origin, Expectation] = {}
        self._effects: dict[Origin, Effect] = {}
        self._in_force: set[Origin] = set()
        self._collected: dict[Path, set[str]] = {}
        self._modules: dict[str, None] = {}
        self._tags: dict[str, None] = {}

    def read(self, rules: Iterable[Expectation]) -> None:
        """Enter rules, whether or not they serve a suite."""
        for rule in rules:
            self._rules[rule.origin] = rule

    def add(self, suite: Suite, assignment: Assignment, targets: Sequence[Target]) -> None:
        """Enter what the rules, also golden ones, do in a suite, all of whose targets are `targets`."""
        self.read((*suite.expectations, *map(golden_rule, suite.goldens)))
        goldens = GoldenAssignment.assign(suite.goldens, targets).assignments if suite.goldens else ()
        for origin, effect in chain.from_iterable(one.effects.items() for one in (assignment, *goldens)):
            self._effects[origin] = self._effects.get(origin, Effect()) | effect
        self._modules.update(dict.fromkeys(module.name for module in suite.modules))
        for tags in {target.tags for target in targets}:
            self._tags.update(dict.fromkeys(tags))

    def collected(self, path: Path, suite: Suite) -> None:
        """Enter that a suite of the file `path` was seen as a whole, with all the words of its targets."""
        self._collected.setdefault(path, set()).add(suite.name)

    def use(self, rules: Iterable[Expectation]) -> None:
        """Enter rules that are in force for targets of the selection."""
        self._in_force.update(rule.origin for rule in rules)

    def diagnostics(self, suites: Mapping[Path, Sequence[Suite]], *, whole: bool) -> tuple[Diagnostic, ...]:
        """Return the errors of the rules, in the order of files and lines.

        `suites` are those of each file read. `whole` means that the user named folders only, so that rules that no
        selected target has are judged too.
        """
        rules = self._rules.values()
        expired = expired_diagnostics(rule for rule in rules if whole or rule.origin in self._in_force)
        if not whole:
            return DiagnosticsError(expired).diagnostics

        is_judged = self._judgement(suites)
        stale = [rule for rule in rules if not rule.is_expired and is_judged(rule)]
        stale_ones = stale_diagnostics(stale, self._effects, modules=list(self._modules), tags=list(self._tags))
        return DiagnosticsError((*expired, *stale_ones)).diagnostics

    def case_uses(self, suites: Mapping[Path, Sequence[Suite]]) -> tuple[CaseUse, ...]:
        """Return the rules in force that name cases, of those that can be judged."""
        in_force = (rule for origin, rule in self._rules.items() if origin in self._in_force)
        naming = [rule for rule in in_force if rule.cases and not rule.is_expired]
        is_judged = self._judgement(suites)
        return tuple(
            (str(rule.origin.file), rule.origin.key_path, rule.cases, effect.modules)
            for rule in naming
            if (effect := self._effects.get(rule.origin)) is not None and effect.modules and is_judged(rule)
        )

    def _judgement(self, suites: Mapping[Path, Sequence[Suite]]) -> Callable[[Expectation], bool]:
        """Return the function that decides whether all files that a rule serves were read, and all suites collected
        that may have a module which it names."""

        @cache
        def suites_below(folder: Path) -> tuple[Path, ...]:
            return tuple(FileName.SUITE.below([folder]))

        @cache
        def left_out(file: Path) -> tuple[Suite, ...]:
            return tuple(one for one in suites[file] if one.name not in self._collected.get(file, set()))

        def is_judged(rule: Expectation) -> bool:
            file = rule.origin.file
            files = [file] if file.name == FileName.SUITE else suites_below(file.parent)
            return all(one in suites and not any(_may_name(rule, suite) for suite in left_out(one)) for one in files)

        return is_judged
