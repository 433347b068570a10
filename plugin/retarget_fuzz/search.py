"""The search: Hypothesis makes programs, in rounds; each new way to fail is reduced by it, and kept.

A round is made without running anything, so that its programs are compiled side by side while the next one is made.
Where one fails in a new way, Hypothesis makes its round again from the same seed, now with a test that fails there, and
reduces what fails.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from retarget.support import RetargetError

from retarget_fuzz.found import Finding, Findings, may_stand_for
from retarget_fuzz.targets import Failed, Runner

if TYPE_CHECKING:
    from retarget_fuzz.programs.program import Program

_ROUND = 32
"""Programs of a round."""

_FRUITLESS = 8
"""Rounds without a new program after which there will be none."""

_TRIES, _SECONDS = 300, 120.0
"""When the reduction of one failure ends, if the time of the search is not up before."""


class Watcher:
    """Takes part in a search: its methods are called while it runs."""

    def progress(self, doing: str) -> None:
        """A program is run. `doing` says what for."""

    def found(self, finding: Finding, failed: Failed) -> None:
        """A program that fails in a new way is kept, as small as it gets."""

    def passed(self, program: Program) -> None:
        """A program fails nowhere."""


class _OverError(BaseException):
    """Ends what Hypothesis does: no `Exception`, which it would take for a failure."""


class Search:
    """Programs of a strategy, run until the time is up or there are enough.

    `programs` were run, `reductions` are those run to reduce a failure.
    """

    def __init__(
        self,
        runner: Runner,
        strategy: Any,
        findings: Findings,
        *,
        seed: int,
        seconds: float | None = None,
        most: int | None = None,
    ) -> None:
        """`strategy` makes programs. Its numbers come from the `seed` alone."""
        self.programs = self.reductions = 0
        self._runner, self._findings = runner, findings
        self._strategy = strategy
        self._seed = seed
        self._seeds = random.Random(seed)  # noqa: S311  (no secret)
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._most = most
        self._seen: set[str] = set()
        self._smallest: Program

    def run(self, watcher: Watcher) -> None:
        """Search. Raises `RetargetError`, also where the strategy makes no program."""
        made, seed = self._make()
        while made and not self._is_over:
            self._runner.submit(made)
            ahead = self._make()
            for program in made:
                if self._is_over:
                    return
                self._try(program, seed, watcher)
            self._runner.forget()
            made, seed = ahead

    @property
    def _is_over(self) -> bool:
        is_late = self._ends is not None and time.monotonic() > self._ends
        return is_late or self.programs == self._most

    def _make(self) -> tuple[Sequence[Program], int]:
        """Return the programs of the next round that has new ones, and its seed; none when enough are made."""
        from hypothesis import Phase

        made: list[Program] = []

        def keep(program: Program) -> None:
            if len(self._seen) != self._most and program.digest not in self._seen:
                self._seen.add(program.digest)
                made.append(program)

        for _ in range(_FRUITLESS):
            seed = self._seeds.getrandbits(64)
            self._given(keep, seed, (Phase.generate,))
            if made or len(self._seen) == self._most:
                return made, seed
        msg = f"no new program was made in {_FRUITLESS} rounds; expected more dialects or element types"
        raise RetargetError(msg)

    def _try(self, program: Program, seed: int, watcher: Watcher) -> None:
        """Run a program, and keep each new way to fail."""
        failures = self._runner.failures(program)
        self.programs += 1
        watcher.progress("")
        if self._runner.passes(program):
            watcher.passed(program)
        for failed in self._new(program, failures):
            self._smallest = program
            try:
                is_smallest = self._reduce(program, failed, seed, watcher)
                alike = [one for one in self._runner.failures(self._smallest) if one.way == failed.way] or [failed]
            except KeyboardInterrupt:
                self._findings.add(self._smallest, [failed], seed=self._seed, of=program).count(failed)
                raise
            finding = self._findings.add(self._smallest, alike, seed=self._seed, of=program, is_reduced=is_smallest)
            finding.count(failed)
            watcher.found(finding, alike[0])
            self._findings.write()

    def _new(self, program: Program, failures: Sequence[Failed]) -> Iterator[Failed]:
        """Yield those that nothing explains, and count all."""
        features = program.features()
        for failed in failures:
            name, counts = failed.config.name, self._runner.counts
            counts[name, "failed"] += 1
            if (finding := self._findings.of(failed, features)) is not None:
                finding.count(failed)
                counts[name, "known findings"] += 1
            elif failed.config.excuses(failed, self._runner.engine):
                counts[name, "known by rules"] += 1
            elif not self._runner.fails_again(program, failed):
                counts[name, "not repeated"] += 1
            else:
                yield failed

    def _reduce(self, program: Program, failed: Failed, seed: int, watcher: Watcher) -> bool:
        """Make `_smallest` the smallest program seen that fails so on this config, and in no way that is known. Return
        whether there was time for that."""
        from hypothesis import Phase
        from hypothesis.errors import HypothesisException

        kind = type("FailedError", (Exception,), {})
        tried, started, had_time = set[str](), time.monotonic(), True
        seconds = _SECONDS if self._ends is None else min(_SECONDS, self._ends - started)

        def fails(candidate: Program, most: float, share: float) -> bool:
            nonlocal had_time
            if not may_stand_for(candidate, program, failed.way.stage):
                return False  # of something else
            if candidate.digest not in tried:
                is_late = time.monotonic() > started + share * seconds
                had_time = had_time and not is_late
                if is_late or len(tried) > most:
                    raise _OverError
                tried.add(candidate.digest)
                self.reductions += 1
                watcher.progress(f"reducing {failed.way.text}")
            failures = self._runner.failures(candidate, (failed.config,))
            features, this = candidate.features(), (failed.way, failed.place)
            return any((one.way, one.place) == this and not self._findings.of(one, features) for one in failures)

        def run(candidate: Program) -> None:
            if not tried and candidate.digest != program.digest:
                return  # the round made it before
            if fails(candidate, _TRIES, 0.7):
                self._smallest = min(self._smallest, candidate, key=_size)
                raise kind

        with suppress(kind, HypothesisException):  # which has words for what does not always fail
            self._given(run, seed, (Phase.generate, Phase.shrink))
        with suppress(_OverError):  # then what Hypothesis leaves beside it
            while smaller := next((one for one in self._smallest.smaller() if fails(one, math.inf, 1)), None):
                self._smallest = smaller
        return had_time

    def _given(self, test: Callable[[Program], None], seed: int, phases: Sequence[Any]) -> None:
        """Have Hypothesis call a test with the programs of a round. Raises what that raises."""
        import hypothesis

        from retarget_fuzz.programs.strategies import by_seed_alone

        settings = hypothesis.settings(
            max_examples=_ROUND,
            database=None,
            deadline=None,
            phases=phases,
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        with by_seed_alone(), suppress(_OverError, hypothesis.errors.Unsatisfiable):
            given: Any = hypothesis.given(self._strategy)
            hypothesis.seed(seed)(settings(given(test)))()


def _size(program: Program) -> tuple[int, int]:
    return len(program.module()), sum(array.size for array in program.inputs)
