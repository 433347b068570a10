"""Rules that contradict each other, have no effect, or have expired, worded as errors with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from retarget.expect.golden import GOLDEN
from retarget.expect.matching import Contradiction, Effect
from retarget.expect.verdict import is_expired
from retarget.model import Expectation, Origin
from retarget.model.case_names import matches_case
from retarget.model.devices import TRAITS
from retarget.model.locations import SourceLocations, diagnostics_at
from retarget.support.errors import Diagnostic, did_you_mean
from retarget.support.toml.keypaths import KeyPath, Problem
from retarget.targets.selection import names_devices, rule_terms

__all__ = [
    "CaseUse",
    "contradiction_diagnostics",
    "expired_diagnostics",
    "stale_diagnostics",
    "unknown_case_diagnostics",
]

_EXPIRED_GOLDEN = "bounds nothing any more: decide anew what the bound is, or take the rule out"
_HINTS = 10
"""How many errors are given a nearest name: it is sought among all there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseUse:
    """A rule that names cases: its entries, and the modules that it reaches, as (suite, name) pairs."""

    origin: Origin
    cases: tuple[str, ...]
    modules: frozenset[tuple[str, str]]


def contradiction_diagnostics(contradictions: Iterable[Contradiction]) -> tuple[Diagnostic, ...]:
    """Return an error for each pair of rules, at the later of the two."""
    locations = SourceLocations()
    problems = []
    for contradiction in contradictions:
        first, second = contradiction.rules
        what = "bound or date" if first.outcome == GOLDEN else "stage, signature, outcome or date"
        message = (
            f"found another {what} than {first.origin.key_path} at "
            f"{locations.location(first.origin)}, which is as specific and also matches {contradiction.target}; "
            "expected that they agree, or that one is more specific"
        )
        problems.append((second.origin, Problem((), message)))
    return diagnostics_at(problems)


def expired_diagnostics(rules: Iterable[Expectation], day: date) -> tuple[Diagnostic, ...]:
    """Return an error for each rule that excuses nothing any more on `day`."""
    return diagnostics_at(
        (
            rule.origin,
            Problem(
                ("until",),
                f"found {rule.until}, which is past; this rule {_EXPIRED_GOLDEN} ({rule.reason})"
                if rule.outcome == GOLDEN
                else f"found {rule.until}, which is past; this rule excuses nothing any more: mend what it excused, "
                f"or decide anew how long it may fail ({rule.reason})",
            ),
        )
        for rule in rules
        if is_expired(rule, day)
    )


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
    return diagnostics_at(hinted)


def unknown_case_diagnostics(
    uses: Iterable[CaseUse], names: Mapping[tuple[str, str], Iterable[str]]
) -> tuple[Diagnostic, ...]:
    """Return an error for each entry of a rule's `case` that matches none, where all cases that it may match are known.

    `names` are those of the cases of each module, by (suite, name).
    """
    problems = []
    for use in uses:
        if not use.modules <= names.keys():
            continue
        known = list(dict.fromkeys(name for module in sorted(use.modules) for name in names[module]))
        for index, entry in enumerate(use.cases):
            if not any(matches_case(entry, name) for name in known):
                hint = did_you_mean(entry, known) or "; remove it"
                message = f"found {entry!r}, which matches no case of the modules that this rule is about{hint}"
                problems.append((use.origin, Problem(("case", index), message)))
    return diagnostics_at(problems)


def _stale(rule: Expectation, effect: Effect) -> Iterator[tuple[Problem, str]]:
    """Yield what of a rule has no effect, with the word that a nearer one may be sought for."""
    strangers = [
        (index, term.text) for index, term in enumerate(rule_terms(rule.when)) if index not in effect.words
    ]  # a word that no target has keeps entries from matching: one cause, one error
    for _, word in strangers:
        yield Problem(("when",), f"found the word {word!r}, which no target has as a tag"), word
    for index, entry in enumerate(rule.match):
        path: KeyPath = ("match", index)
        if index not in effect.named:
            yield Problem(path, f"found {entry!r}, which names no module that this rule serves"), entry
        elif index not in effect.matched and not strangers:
            where = f" with {rule.when!r}" if rule.when else ""
            stages = f" that can fail at {' or '.join(rule.stages)}" if rule.outcome != "skip" else ""
            if rule.outcome == GOLDEN:
                stages = f" that has the metric {rule.signature.partition(' ')[0]}, one of {rule.stages[0]} targets"
            device = '; a compile target has the device of target_from = "host:…", others have none'
            hint = device if names_devices(rule.when) and rule.stages == ("compile",) else ""
            yield Problem(path, f"found {entry!r}, which{where} matches no target{stages}{hint}"), ""
