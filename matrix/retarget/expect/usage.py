"""The rules that were read, what they did, and which of them are errors. Contradictions are reported before.

A rule without effect can only be detected where all suites in its scope were collected. What was declared counts, not
what a selection leaves of it; and where less than folders were requested, nothing is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from retarget.declare.files import SUITE_FILE, discover
from retarget.expect.diagnostics import CaseUse, expired_diagnostics, stale_diagnostics
from retarget.expect.golden import golden_rule
from retarget.expect.matching import Assignment, Effect
from retarget.expect.verdict import is_expired, today
from retarget.model import Expectation, Origin, Suite, Target
from retarget.support.errors import Diagnostic, DiagnosticsError

__all__ = ["CaseUse", "RuleUsage"]


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
        """Enter what the rules, also golden ones, were seen to do in a suite, all of whose targets are `targets`."""
        self.read((*suite.expectations, *map(golden_rule, suite.goldens)))
        for origin, effect in assignment.effects.items():
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
        expired = expired_diagnostics((rule for rule in rules if whole or rule.origin in self._in_force), today())
        if not whole:
            return DiagnosticsError(expired).diagnostics

        is_judged = self._judgement(suites)
        doubtful = (rule for rule in rules if not _is_whole(rule, self._effects.get(rule.origin, Effect())))
        stale = [rule for rule in doubtful if not is_expired(rule, today()) and is_judged(rule)]
        stale_ones = stale_diagnostics(stale, self._effects, modules=list(self._modules), tags=list(self._tags))
        return DiagnosticsError((*expired, *stale_ones)).diagnostics

    def case_uses(self, suites: Mapping[Path, Sequence[Suite]], *, whole: bool) -> tuple[CaseUse, ...]:
        """Return the rules that name cases, of those whose suites were all seen; arguments are as for `diagnostics`."""
        naming = [rule for rule in self._rules.values() if rule.cases and not is_expired(rule, today())]
        if not whole or not naming:
            return ()
        is_judged = self._judgement(suites)
        return tuple(
            CaseUse(origin=rule.origin, cases=rule.cases, modules=effect.modules)
            for rule in naming
            if (effect := self._effects.get(rule.origin)) is not None and effect.modules and is_judged(rule)
        )

    def _judgement(self, suites: Mapping[Path, Sequence[Suite]]) -> Callable[[Expectation], bool]:
        """Return the function that decides whether all suites that a rule serves were collected."""

        @cache
        def is_complete(folder: Path) -> bool:
            return all(is_collected(file) for file in discover([folder]))

        def is_collected(file: Path) -> bool:
            return file in suites and {suite.name for suite in suites[file]} <= self._collected.get(file, set())

        def is_judged(rule: Expectation) -> bool:
            file = rule.origin.file
            return is_collected(file) if file.name == SUITE_FILE else is_complete(file.parent)

        return is_judged


def _is_whole(rule: Expectation, effect: Effect) -> bool:
    """Return whether every entry of `match` had an effect, which is what nearly all rules are like."""
    return not rule.when and len(effect.matched) == len(rule.match)
