"""Product declarations: one config per combination of its axes.

axes = { opt = ["O0", "O3"], threads = [1, 2] }       four configs, `threads` turning fastest
exclude = [{ opt = "O0", threads = 2 }]               three
name = "cpu-{opt}-{threads}"                          every axis in the name; `{{opt}}` is the text `{opt}`

The axes of one declaration have at most `MAX_COMBINATIONS`, those that `exclude` leaves out included.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence

from retarget.support.errors import did_you_mean
from retarget.support.toml import KeyPath, Problem

MAX_COMBINATIONS = 10_000
"""How many configs one declaration may expand to: reading so many takes seconds, and nobody runs them all."""

AxisValue = str | int
Axes = Mapping[str, Sequence[AxisValue]]
Combination = Mapping[str, AxisValue]

_AXIS = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}|\{([A-Za-z_][A-Za-z0-9_-]*)\}")


def combinations(axes: Axes, exclude: Sequence[object]) -> tuple[tuple[Combination, ...], tuple[Problem, ...]]:
    """Return the combinations that `exclude` leaves, in order, and what is wrong with either.

    Without axes there is one combination, the empty one.
    """
    problems = list(_axis_problems(axes))
    if problems:
        return (), tuple(problems)
    count = math.prod(len(values) for values in axes.values())
    if count > MAX_COMBINATIONS:
        sizes = " x ".join(str(len(values)) for values in axes.values())
        expected = f"expected at most {MAX_COMBINATIONS}; shorten an axis, or declare what is needed one by one"
        return (), (Problem(("axes",), f"found {count} combinations ({sizes}), {expected}"),)
    everything = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    left_out: set[int] = set()
    for index, exclusion in enumerate(exclude):
        path: KeyPath = ("exclude", index)
        wanted, diagnostic = _exclusion(axes, exclusion)
        if diagnostic:
            problems.append(Problem((*path, *diagnostic.path), diagnostic.message))
            continue
        matched = [at for at, combination in enumerate(everything) if wanted.items() <= combination.items()]
        if not matched:
            problems.append(Problem(path, "found a combination that the axes do not have, expected one that they have"))
        left_out.update(matched)
    kept = [combination for at, combination in enumerate(everything) if at not in left_out]
    if not kept and not problems:
        problems.append(Problem(("exclude",), "found every combination, expected one to be left"))
    return tuple(kept), tuple(problems)


def _axis_problems(axes: Axes) -> Sequence[Problem]:
    problems = []
    for axis, values in axes.items():
        if not _AXIS.fullmatch(axis):
            message = f"found the axis {axis!r}, expected a letter or '_', then letters, digits, '_' and '-'"
            problems.append(Problem(("axes", axis), message))
        if not values:
            problems.append(Problem(("axes", axis), "found an empty axis, expected at least one value"))
        first: dict[str, int] = {}
        problems += [
            Problem(("axes", axis, index), f"found {str(value)!r} a second time, expected distinct values")
            for index, value in enumerate(values)
            if first.setdefault(str(value), index) != index
        ]
    return problems


def _exclusion(axes: Axes, exclusion: object) -> tuple[Combination, Problem | None]:
    """Return one entry of `exclude` as axis → value, or what is wrong with it."""
    if not axes:
        return {}, Problem((), "found a combination, but this config has no axes")
    if isinstance(exclusion, Sequence):
        if len(exclusion) != len(axes):
            expected = f"expected {len(axes)}, one for each of {', '.join(axes)}"
            return {}, Problem((), f"found {len(exclusion)} values, {expected}")
        exclusion = dict(zip(axes, exclusion, strict=True))
    if not isinstance(exclusion, Mapping) or not exclusion:
        return {}, Problem((), "found an empty table, expected axes and values")
    for axis in exclusion:
        if axis not in axes:
            expected = f"expected one of {', '.join(axes)}{did_you_mean(axis, axes)}"
            return {}, Problem((axis,), f"found the unknown axis {axis!r}, {expected}")
    return exclusion, None


def fill(text: str, combination: Combination) -> str:
    """Return `text` with the values in place of their axes. Unknown axes stay (`placeholders` finds them)."""
    if not combination or "{" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        doubled, axis = match.groups()
        if doubled is not None:
            return f"{{{doubled}}}"
        return str(combination.get(axis, match.group()))

    return _PLACEHOLDER.sub(value, text)


def placeholders(text: str) -> frozenset[str]:
    """Return the axes that `text` uses."""
    return frozenset(match.group(2) for match in _PLACEHOLDER.finditer(text) if match.group(2) is not None)
