"""Cutting targets into legs by their durations: to a budget, disjoint and complete, stable.

Units are put in the order of a digest of their names and cut where the sum of their durations passes each leg's share.
A unit more or less shifts each cut by about its own duration, so that few others change their leg.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retarget.model import CompileTarget
from retarget.targets.collected import DeclaredTarget

__all__ = ["COMPILE_SECONDS", "RUN_SECONDS", "Durations", "Unit", "shards"]


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


COMPILE_SECONDS = 2.0
RUN_SECONDS = 0.5
"""What is taken for a target of configs that no history knows."""

_SHORTEST = 0.001


class Durations:
    """Predicted seconds of targets: a target's own, else the median of those of its configs, else a default."""

    def __init__(self, known: Mapping[str, float], targets: Iterable[DeclaredTarget] = ()) -> None:
        """`known` are seconds by target id; `targets` are those that medians are taken of."""
        self._known = known
        by_configs: dict[tuple[str, str], list[float]] = {}
        for one in targets if known else ():
            if (seconds := known.get(one.id)) is not None:
                by_configs.setdefault(_configs(one), []).append(seconds)
        self._medians = {configs: statistics.median(found) for configs, found in by_configs.items()}

    def of(self, one: DeclaredTarget) -> float:
        """Return the seconds of a target, above 0."""
        seconds = self._known.get(one.id) if self._known else None
        if seconds is None:
            default = COMPILE_SECONDS if isinstance(one.target, CompileTarget) else RUN_SECONDS
            seconds = self._medians.get(_configs(one), default) if self._medians else default
        return max(seconds, _SHORTEST)


def _configs(one: DeclaredTarget) -> tuple[str, str]:
    runtime = "" if isinstance(one.target, CompileTarget) else one.target.runtime.name
    return one.compiled.compiler.name, runtime
