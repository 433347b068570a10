"""Judges the results of a target by those of others: who agrees with whom, and whether that is a majority. Runs in
worker processes only.

Each compiler config has one vote, which its runtime configs share: artifacts that are the same are no further witness.
Two targets agree if one's results hold when the other's are expected. A target passes if it and those that agree with
it have more than half of the votes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from retarget.arrays.comparison import failing_results

if TYPE_CHECKING:
    from retarget.model.calls import Array, Tolerance
    from retarget.model.outcomes import Mismatch

_Results = Mapping[str, Sequence["Array"]]
"""The results of a case by target: `compiler/runtime`, or a compiler config alone."""


def outvoted(
    own: str, results: Sequence[Array], others: _Results, tolerances: Mapping[str, Tolerance]
) -> tuple[list[Mismatch], tuple[str, ...]]:
    """Return how the results of the target `own` differ where they are none of a majority, and the targets that are one
    against it; none where there is no majority. There is another target at least."""
    sides = {own: results, **others}
    ours = _agreeing(own, sides, tolerances)
    if _is_majority(ours, sides):
        return [], ()
    most = most_agreed(others, tolerances)
    agreeing = most if _is_majority(most, sides) else ()
    against = next(name for name in (*agreeing, *others) if name not in ours)
    labels = _labels(sides, tolerances)
    if agreeing:
        rest = _words(labels[name] for name in sides if name not in agreeing)
        said = f"{_words(labels[name] for name in agreeing)} agree, {rest} differ{'' if ' and ' in rest else 's'}"
    else:
        differing = _words(labels[name] for name in others if name not in ours)
        said = f"no majority: {labels[own]} differs from {differing}"
        same = [labels[name] for name in ours if labels[name] != labels[own]]
        said += f", agrees with {_words(same)}" if same else ""
    label, other = labels[own], labels[against]
    beside = {labels[name]: found for name, found in others.items() if labels[name] not in {label, other}}
    first, *more = failing_results(results, others[against], tolerances, sides=(label, other), beside=beside)
    first = replace(first, summary=f"{said}: {first.summary}", report=f"{said}\n{first.report}")
    return [first, *more], agreeing


def most_agreed(sides: _Results, tolerances: Mapping[str, Tolerance]) -> tuple[str, ...]:
    """Return the targets that agree with that one of them with which most do, that one first."""
    groups = [_agreeing(name, sides, tolerances) for name in sides]
    return max(groups, key=lambda group: _votes(group, sides))


def _agreeing(own: str, sides: _Results, tolerances: Mapping[str, Tolerance]) -> tuple[str, ...]:
    """Return those whose results are those of `own`, which comes first."""

    def agrees(name: str) -> bool:
        one, other = sides[own], sides[name]
        return not (failing_results(one, other, tolerances) and failing_results(other, one, tolerances))

    return own, *(name for name in sides if name != own and agrees(name))


def _is_majority(group: Collection[str], sides: _Results) -> bool:
    return 2 * _votes(group, sides) > _votes(sides, sides)


def _votes(group: Collection[str], sides: _Results) -> Fraction:
    runs = Counter(map(_compiler, sides))
    return sum((Fraction(1, runs[_compiler(name)]) for name in group), Fraction(0))


def _compiler(name: str) -> str:
    return name.partition("/")[0]


def _labels(sides: _Results, tolerances: Mapping[str, Tolerance]) -> Mapping[str, str]:
    """Return what targets are called: by their compiler config where all of its runtime configs agree."""
    labels: dict[str, str] = {}
    for name in sides:
        same = {other: found for other, found in sides.items() if _compiler(other) == _compiler(name)}
        is_one = len(_agreeing(next(iter(same)), same, tolerances)) == len(same)
        labels[name] = _compiler(name) if is_one else name
    return labels


def _words(names: Iterable[str]) -> str:
    words = [*dict.fromkeys(names)]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
