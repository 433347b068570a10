"""`retarget repro --reduce`: the smallest case and module that still fail at the same stage with the same signature.

Smaller cases and modules are tried with the real compiler and device. A compiler makes a module smaller by variants of
it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace
from retarget.extension import Compiler
from retarget.model import RunTarget, Stage, Target
from retarget.session import TIMEOUTS, Engine
from retarget.support import RetargetError, first_line

from retarget_repro.attempt import Attempt, Chosen, attempt

_COMPUTES_ELSE = "; what is left computes something else: see whether what is expected of it is still right"

_SLOWER = 5
"""How many times longer than the failure a candidate may take."""


class Reduced(Struct, frozen=True, kw_only=True):
    """The reduced module. `target` has the reduced module's file; `cases` are those to run, all where there are none.

    `steps` are the edits that were kept. `before` and `after` say what the module has, with its size in bytes.
    """

    target: Target
    cases: tuple[str, ...]
    steps: tuple[str, ...]
    before: str
    after: str
    cases_before: int
    tries: int
    seconds: float
    why_not: str = ""

    def text(self) -> Iterator[str]:
        """Yield lines for a person."""
        if self.cases:
            yield f"cases: {self.cases_before} → {len(self.cases)} ({', '.join(self.cases)})"
        yield f"module: {self.before} → {self.after}" if self.steps else f"module: {self.before}, not reduced"
        yield from (f"  {step}" for step in self.steps)
        yield f"{self.tries} {'try' if self.tries == 1 else 'tries'} in {self.seconds:.0f} s{self.why_not}"


def reduce_failure(
    chosen: Chosen,
    found: Attempt,
    folder: Path,
    *,
    extensions: Sequence[str] = (),
    cases: Sequence[str] = (),
    seconds: float,
    note: Callable[[str], None],
) -> Reduced:
    """Reduce a failure to the first case that fails, and its module to the smallest that still fails in this way.

    Of its cases those in `cases` are run, all if there are none. Files are written to `folder`.

    Raises `RetargetError` for a target that does not fail.
    """
    if found.observation is None or found.failure is None:
        msg = f"{chosen.id} does not fail: {found}"
        raise RetargetError(msg)
    at_compile = found.failure.stage is Stage.COMPILE
    first = replace(found, observation=found.observation.distinct_failures[0])
    work = _Reduction(
        chosen=replace(chosen, target=chosen.compiled) if at_compile else chosen,
        found=first,
        folder=folder,
        extensions=extensions,
        ends=time.monotonic() + seconds,
        note=note,
    )
    started = time.monotonic()
    failing = next((case.name for case in found.cases if case.failure is not None), "")
    first_case = (failing,) if failing and len(found.cases) > 1 and work.fails(work.chosen, (failing,)) else ()
    before, after = work.shrink(first_case or cases)
    smallest = work.chosen.compiled.module.path
    if work.steps:
        path = folder / chosen.compiled.module.path.with_suffix(smallest.suffix).name
        shutil.copyfile(smallest, path)
        chosen = _with_module(chosen, path)
    return Reduced(
        target=chosen.target,
        cases=first_case,
        steps=tuple(work.steps),
        before=before,
        after=after,
        cases_before=len(found.cases),
        tries=work.tries,
        seconds=time.monotonic() - started,
        why_not=work.why_not + (_COMPUTES_ELSE if work.steps and found.failure.stage is Stage.COMPARE else ""),
    )


class _Reduction(Struct, kw_only=True):
    chosen: Chosen
    found: Attempt
    folder: Path
    extensions: Sequence[str]
    ends: float
    note: Callable[[str], None]
    tries: int = 0
    steps: list[str] = field(default_factory=list)
    why_not: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.ends

    def fails(self, chosen: Chosen, cases: Sequence[str], engine: Engine | None = None) -> bool:
        """Whether a target still fails in the same way."""
        self.tries += 1
        if engine is not None:
            return attempt(engine, chosen).same(self.found)
        with self._engine(cases) as own:
            return attempt(own, chosen).same(self.found)

    def shrink(self, cases: Sequence[str]) -> tuple[str, str]:
        """Keep what is smaller and fails, until nothing is or it is over. Return what the module had, and has."""
        compiler = self.chosen.registry.compilers.get(self.chosen.compiled.compiler.compiler)
        path = self.chosen.compiled.module.path
        size = f"{path.stat().st_size} bytes"
        is_made = self.chosen.registry.module_generator(self.chosen.compiled.kind) is not None
        if compiler is None or is_made or not compiler.overrides("shrink_command"):
            self.why_not = "; its compiler makes no smaller variants of such a module"
            return size, size
        registry = self.chosen.registry
        env = registry.environment() | dict(registry.worker_environment(self.chosen.compiled.compiler))
        keep_types = isinstance(self.chosen.target, RunTarget)
        refused: dict[str, None] = {}
        first = has = ""
        is_smaller = False
        with self._engine(cases) as engine:
            for number in range(1_000_000):
                folder = self.folder / f"{number}"
                folder.mkdir()
                try:
                    contents, variants = _smaller_variants(
                        compiler, path, folder, refused=refused, keep_types=keep_types, env=env
                    )
                except RetargetError as error:
                    self.why_not = f"; {error}"
                    break
                has = f"{contents}, {path.stat().st_size} bytes"
                first = first or has
                if not variants and is_smaller:  # what was refused may go now
                    refused, is_smaller = dict.fromkeys(self.steps[:1]), False
                    continue
                if self.is_over or not variants:
                    break
                if (smaller := self._smaller(variants, cases, engine, refused)) is not None:
                    path, is_smaller = smaller, len(self.steps) > 1
                if not self.steps:  # as the compiler prints it, it fails otherwise: so will all that is less
                    break
        if self.is_over:
            self.why_not = "; more time might leave less"
        return first or size, has or size

    def _smaller(
        self, found: Sequence[_Variant], cases: Sequence[str], engine: Engine, refused: dict[str, None]
    ) -> Path | None:
        """Keep the first variant that fails, and return its file; None where none does. Each one tried is `refused`."""
        for name, path in found if self.steps else found[:1]:
            refused[name] = None
            smaller = _with_module(self.chosen, path)
            if self.fails(smaller, cases, engine):
                self.chosen = smaller
                self.steps.append(name)
                self.note(f"{name}: fails in the same way ({path.stat().st_size} bytes)")
                return path
            if self.is_over:
                break
        return None

    def _engine(self, cases: Sequence[str]) -> Engine:
        """Return an engine that keeps what candidates give apart, and waits for them as long as for the failure."""
        observed = self.found.observation
        is_slow = observed is not None and observed.is_timeout
        timeout = TIMEOUTS.compile if is_slow else max(30.0, _SLOWER * self.found.seconds)
        return Engine(
            registry=self.chosen.registry,
            cache=self.folder / "cache",
            extensions=self.extensions,
            cases=cases,
            compiles=1,
            timeouts=replace(TIMEOUTS, compile=timeout, run=timeout),
        )


def _with_module(chosen: Chosen, path: Path) -> Chosen:
    compiled = replace(chosen.compiled, module=replace(chosen.compiled.module, path=path))
    target = replace(chosen.target, compile=compiled) if isinstance(chosen.target, RunTarget) else compiled
    return replace(chosen, target=target)


# ---------------------------------------------------------------- what the compiler has


_SECONDS = 120
"""How long a compiler may take to write variants."""


_Variant = tuple[str, Path]
"""What was done to make a module smaller, and its file."""


def _smaller_variants(
    compiler: Compiler,
    source: Path,
    folder: Path,
    *,
    refused: Iterable[str] = (),
    keep_types: bool,
    env: Mapping[str, str],
) -> tuple[str, Sequence[_Variant]]:
    """Let a compiler write variants of a module to a folder, but those whose names are `refused`; return them, and what
    the module has: `3 functions, 40 ops`.

    Raises `RetargetError` where it fails, as for a module that does not parse.
    """
    command = [*compiler.shrink_command(source, folder, keep_types)]
    try:
        done = subprocess.run(
            command,
            input="\n".join(refused),
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        msg = f"{command[0]} writes no smaller variants: {error}"
        raise RetargetError(msg) from error
    has, *lines = done.stdout.splitlines() or [""]
    if done.returncode or not has:
        msg = f"no smaller variants can be made: {first_line(done.stderr, f'exit status {done.returncode}')}"
        raise RetargetError(msg)
    written = [line.partition("\t") for line in lines]
    return has, [(name, Path(path)) for path, _, name in written if name]
