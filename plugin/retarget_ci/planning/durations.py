"""How long targets take, as far as a history knows it."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping

from retarget.model import CompileTarget
from retarget.targets.collected import DeclaredTarget

__all__ = ["COMPILE_SECONDS", "RUN_SECONDS", "Durations"]

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
