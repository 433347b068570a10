"""The search: Hypothesis makes programs, in rounds; each new way to fail is reduced by it, and kept.

A round is made without running anything, so that its programs are compiled side by side. Where one fails in a new way,
Hypothesis makes the round again from the same seed, now with a test that fails there, and reduces what fails.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field
from retarget.support import RetargetError

from retarget_fuzz.targets import Failed, Runner, digest_of

if TYPE_CHECKING:
    from retarget_fuzz.found import Finding, Findings
    from retarget_fuzz.programs.program import Program

_ROUND = 32
"""Programs of a round."""

_FRUITLESS = 8
"""Rounds without a program after which there will be none."""

_TRIES = 300
_SECONDS = 120.0
"""When the reduction of one failure ends."""


class Statistics(Struct, kw_only=True):
    """What a search did. `programs` were run, `rejected` ones were begun and left, `reductions` are those run to reduce
    a failure. By config, `failures` counts the programs that failed, `excused` those of them that a rule of a suite
    knows, `known` those that an earlier finding explains, `unsteady` those that did not fail a second time."""

    programs: int = 0
    rejected: int = 0
    reductions: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    excused: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    unsteady: Counter[str] = field(default_factory=Counter)


class Watcher(Protocol):
    """What is told of a search as it goes on."""

    def progress(self, doing: str) -> None:
        """A program was run. `doing` says what for."""
        ...

    def found(self, finding: Finding, failed: Failed) -> None:
        """A program that fails in a new way is kept, as small as it gets."""
        ...

    def passed(self, program: Program) -> None:
        """A program failed nowhere."""
        ...


class _OverError(BaseException):
    """Ends what Hypothesis does: no `Exception`, which it would take for a failure."""


class Search:
    """Programs of a strategy, run until the time is up or there are enough."""

    def __init__(
        self,
        runner: Runner,
        strategy: Any,
        findings: Findings,
        watcher: Watcher,
        *,
        seed: int,
        seconds: float | None = None,
        most: int | None = None,
    ) -> None:
        """`strategy` makes programs. Its numbers come from the `seed` alone."""
        self.statistics = Statistics()
        self._runner = runner
        self._strategy = self._counted(strategy)
        self._findings = findings
        self._watcher = watcher
        self._seed = seed
        self._seeds = random.Random(seed)  # noqa: S311  (no secret)
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._most = most
        self._seen: set[str] = set()
        self._begun = 0

    @property
    def is_over(self) -> bool:
        """Whether the time is up, or as many programs as were asked for have run."""
        is_late = self._ends is not None and time.monotonic() > self._ends
        return is_late or (self._most is not None and self.statistics.programs >= self._most)

    def run(self) -> None:
        """Search. Raises `RetargetError`, also where the strategy makes no program."""
        fruitless = 0
        while not self.is_over:
            seed = self._seeds.getrandbits(64)
            made = self._make(seed)
            fruitless = 0 if made else fruitless + 1
            if fruitless == _FRUITLESS:
                msg = f"no new program was made in {_FRUITLESS} rounds; expected more dialects or element types"
                raise RetargetError(msg)
            self._runner.submit(made)
            for program in made:
                if self.is_over:
                    return
                self._try(program, seed)
            self._runner.forget()

    def _make(self, seed: int) -> list[Program]:
        """Return the programs of a round that are new."""
        from hypothesis import Phase

        made: list[Program] = []

        def keep(program: Program) -> None:
            if (digest := digest_of(program)) not in self._seen:
                self._seen.add(digest)
                made.append(program)

        self._begun = 0
        self._given(keep, seed, (Phase.generate,))
        self.statistics.rejected += self._begun
        return made

    def _try(self, program: Program, seed: int) -> None:
        """Run a program, and keep each new way to fail."""
        failures = self._runner.failures(program)
        self.statistics.programs += 1
        self._watcher.progress("")
        if not failures:
            self._watcher.passed(program)
        for failed in self._new(program, failures):
            smallest = self._reduced(program, failed, seed)
            alike = [one for one in self._runner.failures(smallest) if one.way == failed.way]
            finding = self._findings.add(smallest, alike or [failed], seed=self._seed)
            finding.count(failed)
            self._watcher.found(finding, (alike or [failed])[0])
            self._findings.write()

    def _new(self, program: Program, failures: Sequence[Failed]) -> Iterator[Failed]:
        """Yield those that nothing explains, and count the others."""
        features = program.features()
        for failed in failures:
            name = failed.config.name
            self.statistics.failures[name] += 1
            if (finding := self._findings.of(failed, features)) is not None:
                finding.count(failed)
                self.statistics.known[name] += 1
            elif failed.config.excuses(failed.way, self._runner.engine):
                self.statistics.excused[name] += 1
            elif not self._runner.fails_again(program, failed):
                self.statistics.unsteady[name] += 1
            else:
                yield failed

    def _reduced(self, program: Program, failed: Failed, seed: int) -> Program:
        """Return the smallest program seen that fails in this way on this config."""
        from hypothesis import Phase

        kind = type("FailedError", (Exception,), {})
        smallest = program
        digests = {digest_of(program)}
        ends = time.monotonic() + _SECONDS
        is_reached = False

        def run(program: Program) -> None:
            nonlocal smallest, is_reached
            digest = digest_of(program)
            if not is_reached and digest not in digests:
                return  # what the round made before it
            is_reached = True
            if digest not in digests:
                if len(digests) > _TRIES or time.monotonic() > ends:
                    raise _OverError
                digests.add(digest)
                self.statistics.reductions += 1
                self._watcher.progress(f"reducing {failed.way.text}")
            failures = self._runner.failures(program, (failed.config,))
            if any(one.way == failed.way and not self._findings.of(one, program.features()) for one in failures):
                smallest = min(smallest, program, key=_size)
                raise kind

        with suppress(Exception):  # ours, or Hypothesis's words for one that does not always fail
            self._given(run, seed, (Phase.generate, Phase.shrink))
        return smallest

    def _given(self, test: Callable[[Program], None], seed: int, phases: Sequence[Any]) -> None:
        """Have Hypothesis call a test with the programs of a round."""
        import hypothesis

        settings = hypothesis.settings(
            max_examples=_ROUND,
            database=None,
            deadline=None,
            phases=phases,
            derandomize=False,
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=hypothesis.Verbosity.quiet,
            suppress_health_check=list(hypothesis.HealthCheck),
        )

        def called(program: Program) -> None:
            test(program)

        with suppress(_OverError, hypothesis.errors.Unsatisfiable):
            hypothesis.seed(seed)(settings(hypothesis.given(program=self._strategy)(called)))()

    def _counted(self, strategy: Any) -> Any:
        """Return a strategy that counts what it begins and does not end."""
        from hypothesis import strategies

        @strategies.composite
        def counted(draw: Callable[[Any], Program]) -> Program:
            self._begun += 1
            program = draw(strategy)
            self._begun -= 1
            return program

        return counted()


def _size(program: Program) -> tuple[int, int]:
    """The measure of what is smaller: the text, then the elements."""
    return len(program.module()), sum(array.size for array in program.inputs)
