"""The one thing to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct
from retarget.model.rungs import Rung
from retarget.support.text import counted

from retarget_bringup.status.model import Blocker, DriverStatus, Moves, Next

_LACKS = {
    Rung.NONE.word: "is not found",
    Rung.FOUND.word: "opens no device",
    Rung.OPENS.word: "does not pass its conformance checks",
}


class Situation(Struct, frozen=True, kw_only=True):
    """Where a bring-up stands. `unstable` targets match and are not stable, which takes `stable_runs` runs. The ladder
    `is_raised` where it says all that was found. `missing` is why the rest was not tried, empty where all was."""

    name: str
    drivers: Sequence[DriverStatus]
    blockers: Sequence[Blocker]
    moved: Moves
    unstable: int
    stable_runs: int
    is_raised: bool
    missing: str

    @property
    def next(self) -> Next:
        """The next steps: a driver, as nothing runs without; what fell; the blocker that frees the most; a driver that
        is not here, as modules compile without; runs that show what is stable; the ladder."""
        return next(self._steps())

    def _steps(self) -> Iterator[Next]:
        own = f"retarget bringup {shlex.quote(self.name)}"
        yield from self._of_drivers([one for one in self.drivers if one.rung != Rung.NONE.word])
        yield from self._of_blockers()
        yield from self._of_drivers([one for one in self.drivers if one.rung == Rung.NONE.word])
        if self.unstable:
            yield Next(
                what=f"run what matches again: {counted(self.unstable, 'target')} not stable yet",
                why=f"all that was tried matches; stable takes {self.stable_runs} runs",
                command=f"{own} --runs {self.stable_runs}",
            )
        if not self.is_raised:
            why = "what was found is not in it yet"
            yield Next(what="raise the ladder, and commit it", why=why, command=f"{own} --raise")
        if self.missing:
            yield Next(what="run the rest where it can run", why=self.missing)
        yield Next(what="add modules", why="all targets are stable, and the ladder says so")

    def _of_drivers(self, drivers: Sequence[DriverStatus]) -> Iterator[Next]:
        for driver in drivers:
            if lacks := _LACKS.get(driver.rung):
                first = f", first {driver.failed[0].name}: {driver.failed[0].message}" if driver.failed else ""
                yield Next(
                    what=f"mend the driver {driver.name}, which {lacks}{first}",
                    why="nothing runs without its driver",
                    command=f"retarget bringup driver {shlex.quote(driver.name)}",
                )

    def _of_blockers(self) -> Iterator[Next]:
        fallen = {move.target for move in self.moved.down}
        counts = [len(fallen.intersection(one.targets)) for one in self.blockers]
        if any(counts):
            since = self.moved.revision or "the ladder"
            why = f"{counted(max(counts), 'target')} fell by it since {since}, and a ladder only rises"
            yield _mend(self.blockers[counts.index(max(counts))], why)
        for first in self.blockers[:1]:
            as_many = sum(one.frees == first.frees for one in self.blockers) > 1
            most = "as many as any other does, in the smallest module" if as_many else "more than any other does"
            rest = f", {most}" if len(self.blockers) > 1 else ", and no other is below matches"
            yield _mend(first, f"it frees {counted(first.frees, 'target')}{rest}")


def _mend(blocker: Blocker, why: str) -> Next:
    where = f"{blocker.stage}: " if blocker.stage else ""
    said = (blocker.message or blocker.signature).removeprefix(where)
    return Next(what=f"mend in {blocker.module}: {where}{said}", why=why, command=blocker.command)
