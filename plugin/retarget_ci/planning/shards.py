"""Cutting targets into legs by their durations: to a budget, disjoint and complete, stable.

Units are put in the order of a digest of their names and cut where the sum of their durations passes each leg's share.
A unit more or less shifts each cut by at most its own duration, so that few others change their leg.
"""

from __future__ import annotations

import hashlib
import math
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
    """Return the units of each leg, none of them empty: as few legs as stay within the budget (seconds), at most
    `capacity`, whose durations are about equal."""
    ordered = sorted(units, key=lambda unit: (hashlib.sha256(unit.name.encode()).digest(), unit.name))
    total = sum(unit.seconds for unit in ordered)
    most = max(1, min(capacity, len(ordered)))
    count = min(most, max(1, math.ceil(total / budget)))
    found = _cut(ordered, total, count)
    while count < most and any(sum(unit.seconds for unit in shard) > budget for shard in found):
        count += 1
        found = _cut(ordered, total, count)
    return found


def _cut(ordered: Sequence[Unit], total: float, count: int) -> Sequence[Sequence[Unit]]:
    """Put each unit into the share that its middle falls into."""
    found: list[list[Unit]] = [[] for _ in range(count)]
    before = 0.0
    for unit in ordered:
        share = (before + unit.seconds / 2) * count / total if total else 0
        found[min(count - 1, int(share))].append(unit)
        before += unit.seconds
    return [shard for shard in found if shard]
