"""Cutting targets into legs by their durations: to a budget, disjoint and complete, stable.

Units are put in the order of a digest of their names and cut where the sum of their durations passes each leg's share.
A unit more or less shifts each cut by about its own duration, so that few others change their leg.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Unit", "shards"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Targets that stay together, such as those of a module. `seconds` are predicted, above 0."""

    name: str
    ids: tuple[str, ...]
    seconds: float


def shards(units: Sequence[Unit], *, budget: float, capacity: int) -> Sequence[Sequence[Unit]]:
    """Return the units of each leg, none of them empty: few legs that stay within the budget (seconds), but for units
    that are longer by themselves; where that takes more than `capacity`, so many whose durations are about equal."""
    ordered = sorted(units, key=lambda unit: (hashlib.sha256(unit.name.encode()).digest(), unit.name))
    filled = _filled(ordered, budget)
    equal = _cut(ordered, min(capacity, len(filled)))
    fits = all(sum(unit.seconds for unit in shard) <= budget for shard in equal)
    return equal if fits or len(filled) > capacity else filled


def _filled(ordered: Sequence[Unit], budget: float) -> Sequence[Sequence[Unit]]:
    """Begin a leg where the next unit would exceed the budget."""
    found: list[list[Unit]] = []
    left = 0.0
    for unit in ordered:
        if not found or unit.seconds > left:
            found.append([])
            left = budget
        found[-1].append(unit)
        left -= unit.seconds
    return found


def _cut(ordered: Sequence[Unit], count: int) -> Sequence[Sequence[Unit]]:
    """Put each unit into the share that its middle falls into."""
    total = sum(unit.seconds for unit in ordered)
    found: list[list[Unit]] = [[] for _ in range(count)]
    before = 0.0
    for unit in ordered:
        found[min(count - 1, int((before + unit.seconds / 2) * count / total))].append(unit)
        before += unit.seconds
    return [shard for shard in found if shard]
