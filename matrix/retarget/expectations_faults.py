"""Rules that contradict each other, have no effect, or have expired, worded as faults with their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .errors import Fault, did_you_mean
from .expectations import Contradiction, Effect
from .expectations_verdict import is_expired
from .keypaths import KeyPath, Problem, parse_key_path
from .model import Expectation, Origin
from .places import Places
from .selection import terms

__all__ = ["contradiction_faults", "expired_faults", "stale_faults"]

_HINTS = 10
"""How many faults are given a nearest name: it is sought among all there are."""

_ALIKE = 3
"""How many faults of one sort in one file stand by themselves, unless all are asked for; more become one."""

_NAMED = 3
"""How many entries such a fault names."""


def contradiction_faults(contradictions: Iterable[Contradiction]) -> tuple[Fault, ...]:
    """Return a fault for each pair of rules, at the later of the two."""
    places = Places()
    problems = []
    for contradiction in contradictions:
        first, second = contradiction.rules
        message = (
            f"found another stage, signature, outcome or date than {first.origin.key_path} at "
            f"{places.place(first.origin)}, which is as specific and also matches {contradiction.target}; "
            "expected that they agree, or that one is more specific"
        )
        problems.append((second.origin, Problem((), message)))
    return _faults(problems)


def expired_faults(rules: Iterable[Expectation], day: date) -> tuple[Fault, ...]:
    """Return a fault for each rule that excuses nothing any more on `day`."""
    return _faults(
        (
            rule.origin,
            Problem(
                ("until",),
                f"found {rule.until}, which is past; this rule excuses nothing any more: mend what it excused, "
                f"or decide anew how long it may fail ({rule.reason})",
            ),
        )
        for rule in rules
        if is_expired(rule, day)
    )


def stale_faults(
    rules: Iterable[Expectation],
    effects: Mapping[Origin, Effect],
    *,
    modules: Sequence[str],
    tags: Sequence[str],
    in_full: bool,
) -> tuple[Fault, ...]:
    """Return a fault for each rule without effect, each entry of `match` and each word of `when` without one.

    `effects` are what the rules were seen to do in all suites that they serve; `modules` and `tags` are all names and
    words there are, for a hint. Unless `in_full`, many of one sort in one file, as in a tree of which a part is not
    there, become one fault.
    """
    groups: dict[tuple[Path, str], list[tuple[Origin, _Stale]]] = {}
    for rule in rules:
        for stale in _stale(rule, effects.get(rule.origin, Effect())):
            groups.setdefault((rule.origin.file, stale.sort), []).append((rule.origin, stale))
    told: list[tuple[Origin, Problem]] = []
    hints = _HINTS
    for (_, sort), found in groups.items():
        if len(found) > _ALIKE and not in_full:
            origin, first = found[0]
            names = ", ".join(list(dict.fromkeys(repr(stale.text) for _, stale in found))[:_NAMED])
            what = f"the first of {len(found)} {sort}: {names}, … (-vv shows all)"
            told.append((origin, Problem(first.problem.path, f"{what}; remove them, or check out what they name")))
            continue
        for origin, stale in found:
            known = tags if stale.problem.path[0] == "when" else modules
            hint = did_you_mean(stale.text, known) if hints > 0 and stale.is_unknown else ""
            hints -= 1
            told.append((origin, Problem(stale.problem.path, stale.problem.message + (hint or "; remove it"))))
    return _faults(told)


@dataclass(frozen=True, slots=True)
class _Stale:
    """What of a rule has no effect: an entry or a word, and of what sort that is. An unknown one may be misspelt."""

    problem: Problem
    sort: str
    text: str
    is_unknown: bool = True


def _stale(rule: Expectation, effect: Effect) -> Iterator[_Stale]:
    """Yield what of a rule has no effect."""
    strangers = [
        (index, term.text) for index, term in enumerate(terms(rule.when)) if index not in effect.words
    ]  # a word that no target has keeps entries from matching: one cause, one fault
    for _, word in strangers:
        problem = Problem(("when",), f"found the word {word!r}, which no target has as a tag")
        yield _Stale(problem, "words of `when` that no target has as a tag", word)
    for index, entry in enumerate(rule.match):
        path: KeyPath = ("match", index)
        if index not in effect.named:
            problem = Problem(path, f"found {entry!r}, which names no module that this rule serves")
            yield _Stale(problem, "entries of `match` that name no module", entry)
        elif index not in effect.matched and not strangers:
            where = f" with {rule.when!r}" if rule.when else ""
            stages = f" that can fail at {' or '.join(rule.stages)}" if rule.outcome != "skip" else ""
            problem = Problem(path, f"found {entry!r}, which{where} matches no target{stages}")
            yield _Stale(problem, "entries of `match` that match no target that the rule is about", entry, False)


def _faults(found: Iterable[tuple[Origin, Problem]]) -> tuple[Fault, ...]:
    from .files import faults_of  # only a fault pays for it

    by_file: dict[Path, list[Problem]] = {}
    for origin, problem in found:
        path = (*parse_key_path(origin.key_path), *problem.path)
        by_file.setdefault(origin.file, []).append(Problem(path, problem.message))
    faults: list[Fault] = []
    for file, problems in by_file.items():
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            text = ""
        faults += faults_of(file, text, problems)
    return tuple(faults)
