"""How far the compiles of a session are, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["BuildActivity"]

_ENOUGH_DONE = 3
_ENOUGH_SECONDS = 5.0
"""How many compiles must be done, in how many seconds of compiling, before the rest is estimated from them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildActivity:
    """`done` of `total` compiles have an outcome, from the cache or for `spent` seconds of compiling, over all workers.

    `running` are those that go on: what is compiled, and for how many seconds so far; the longest first. On a cluster
    `ran` of `runs` run targets have an outcome, and `running` is what its workers do, and where.
    """

    done: int = 0
    total: int = 0
    spent: float = 0.0
    running: tuple[tuple[str, float], ...] = ()
    ran: int = 0
    runs: int = 0

    @property
    def goes_on(self) -> bool:
        """Whether something is left to do."""
        return self.done < self.total or self.ran < self.runs

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes if it costs as much as what is done, by as many workers as compile now.

        None where there is nothing to estimate it from: too little is done, or all that is left runs already, and for
        longer than a compile takes on average.
        """
        if self.runs or self.done < _ENOUGH_DONE or self.spent < _ENOUGH_SECONDS or not self.running:
            return None
        cost = self.spent / self.done
        queued = max(0, self.total - self.done - len(self.running))
        left = [max(0.0, cost - seconds) for _, seconds in self.running]
        seconds = max(*left, (queued * cost + sum(left)) / len(left))
        return seconds or None

    @classmethod
    def together(cls, parts: Iterable[BuildActivity]) -> BuildActivity:
        """Return the activity of processes that each have all the compiles of a session to do, and share a cache."""
        found = list(parts)
        return cls(
            done=max((one.done for one in found), default=0),
            total=max((one.total for one in found), default=0),
            spent=sum(one.spent for one in found),
            running=tuple(sorted((job for one in found for job in one.running), key=lambda job: -job[1])),
        )
