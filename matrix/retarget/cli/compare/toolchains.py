"""`retarget compare --toolchains A,B`: every selected target compiled, and run, with both,
and what changed from one to the other."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from retarget.cli.support import read_declared
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Origin, RunTarget, Target, Toolchain
from retarget.model.locations import SourceLocations
from retarget.model.outcomes import CompileOutcome, Failure, RunOutcome
from retarget.results.overview import Change, State
from retarget.results.record import Outcome
from retarget.session.engine import Engine
from retarget.session.references import ReferenceRuns
from retarget.support.errors import RetargetError, did_you_mean
from retarget.support.scratch import ScratchFolder
from retarget.support.text import counted, first_line, listed, strip_colour
from retarget.targets.collected import Selection
from retarget.worker.artifact import is_recorded

_TargetT = TypeVar("_TargetT", bound=Target)
ENVIRONMENT = "environment"
"""The name that stands for the installed toolchain."""

_BLOCKED = "its compile target fails"
"""Why a target is not compared that could be."""


def run(arguments: argparse.Namespace) -> int:
    """Compare and print. Return 1 if a target that passed with the first toolchain fails or cannot run with the second,
    or if none could be compared, or none of those that run; else 0.

    Raises `argparse.ArgumentError` for a toolchain that is not declared and a selection without targets.
    """
    names = tuple(name.strip() for name in str(arguments.toolchains).split(","))
    if len(set(names)) != 2 or len(names) != 2 or not all(names):
        msg = f"found --toolchains {arguments.toolchains}, expected two, such as: --toolchains iree-3.12.0,environment"
        raise argparse.ArgumentError(None, msg)
    paths = [arguments.module, *(arguments.path if arguments.path != ["."] else ())] if arguments.module else ["."]
    selection = read_declared(arguments, paths)
    before, after = (_named(selection, name) for name in names)
    targets = _distinct(selection)
    if not targets:
        msg = f"found no target to compare in {', '.join(paths)}; `retarget list` shows all"
        raise argparse.ArgumentError(None, msg)
    with (
        ScratchFolder("compare") as scratch,
        Engine(registry=selection.registry, extensions=arguments.retarget_extension) as engine,
        closing(ReferenceRuns(engine)) as first,
        closing(ReferenceRuns(engine)) as second,
    ):
        sides = tuple(
            _Side(name=name, toolchain=one, engine=engine, references=references, folder=scratch.subfolder())
            for name, one, references in zip(names, (before, after), (first, second), strict=True)
        )
        for target, _ in targets:
            for side in sides:
                side.submit(target)
        compared = [_compared(sides, target, others) for target, others in targets]
    builds = tuple(tuple(dict.fromkeys(side.builds)) for side in sides)
    result = Comparison(toolchains=(names[0], names[1]), builds=(builds[0], builds[1]), targets=tuple(compared))
    sys.stdout.write("\n".join(result.text()) + "\n")
    return 1 if result.is_bad else 0


# ---------------------------------------------------------------- what is compared


def _named(selection: Selection, name: str) -> Toolchain | None:
    """Return a declared toolchain, or that of a path; None for what is installed. Raises `argparse.ArgumentError`."""
    if os.sep in name:
        return Toolchain(name=name, path=Path.cwd() / name, origin=Origin(file=Path("--toolchains"), key_path=""))
    found = [one for one in selection.toolchains if one.name == name]
    if len(found) > 1:
        where = " and ".join(SourceLocations().location(one.origin) for one in found)
        msg = f"found the toolchain {name!r} declared at {where}; expected a folder below one of them"
        raise argparse.ArgumentError(None, msg)
    if not found and name != ENVIRONMENT:
        known = [*dict.fromkeys(one.name for one in selection.toolchains), ENVIRONMENT]
        hint = did_you_mean(name, known) or f"; expected one of {', '.join(known)}"
        msg = f"found the toolchain {name!r}, which no file declares{hint}, or a path"
        raise argparse.ArgumentError(None, msg)
    return found[0] if found else None


def _distinct(selection: Selection) -> list[tuple[Target, Sequence[Target]]]:
    """Return the targets that are selected or needed by a run target that is, each with all targets of its suite.

    Configs that differ in name and toolchain alone are the same ones here. Targets without toolchains are left out.
    """
    registry = selection.registry
    found: dict[object, tuple[Target, Sequence[Target]]] = {}
    for one in selection.suites:
        for selected in one.selected:
            for target in (selected.compile, selected) if isinstance(selected, RunTarget) else (selected,):
                compiled = target.compiled
                compiler = registry.compilers.get(compiled.compiler.compiler)
                if compiler is not None and compiler.overrides("toolchain_environment"):
                    found.setdefault(_key(one.suite.name, target), (target, one.targets))
    return list(found.values())


def _key(suite: str, target: Target) -> object:
    compiled = target.compiled
    compiler = replace(compiled.compiler, name="", toolchain=None, tags=())
    runtime = replace(target.runtime, name="", toolchain=None, tags=()) if isinstance(target, RunTarget) else None
    return suite, compiled.module.name, compiler, compiled.flags, runtime


# ---------------------------------------------------------------- comparing


class _Side(Struct, kw_only=True):
    """One of the two toolchains at work. Outputs of the present run are in `folder`."""

    name: str
    toolchain: Toolchain | None
    engine: Engine
    references: ReferenceRuns
    folder: Path
    builds: list[str] = field(default_factory=list)

    def own(self, target: _TargetT) -> _TargetT:
        """Return a target as this toolchain compiles and runs it."""
        return self.engine.registry.with_toolchain(target, self.toolchain)

    def submit(self, target: Target) -> None:
        """Queue the compile of a target."""
        with suppress(UnavailableError, RetargetError):  # said when its outcome is asked for
            self.engine.submit([self.own(target).compiled])

    def compiled(self, target: Target) -> CompileOutcome:
        """Compile. Raises `UnavailableError` and `RetargetError`."""
        outcome = self.engine.compile(self.own(target).compiled)
        self.builds += [outcome.build] if outcome.build else []
        return outcome

    def checked(self, target: CompileTarget, outcome: CompileOutcome) -> Failure | None:
        """Return how a compile target failed: the compile, or the check of its artifact if its kind has one."""
        if outcome.artifact is None or self.engine.registry.artifact_checker(target.kind) is None:
            return outcome.failure
        return self.engine.check(self.own(target), outcome.artifact).failure

    def ran(self, target: RunTarget, others: Sequence[Target], outcome: CompileOutcome) -> RunOutcome:
        """Run an artifact, and record its outputs. Raises `UnavailableError` and `RetargetError`."""
        if outcome.artifact is None:
            raise UnavailableError(_BLOCKED)
        own = self.own(target)
        moved = [self.engine.registry.with_toolchain(one, self.toolchain, like=target) for one in others]
        references = self.references.of(own, moved)
        self.engine.devices(own.runtime)
        shutil.rmtree(self.folder, ignore_errors=True)
        record = None if own.runtime.run_under else self.folder
        run = self.engine.run(own, outcome.artifact, record=record, references=references)
        if run.failure is not None and run.failure.no_verdict:
            raise UnavailableError(run.failure.summary)
        return run


def _compared(sides: Sequence[_Side], target: Target, others: Sequence[Target]) -> Compared:
    compiled = target.compiled
    nothing = Compared(suite=compiled.suite, target=target.name, runs=isinstance(target, RunTarget))
    outcomes: list[CompileOutcome] = []
    failures: list[Failure | None] = []
    try:
        for side in sides:
            outcomes.append(side.compiled(target))
            if isinstance(target, CompileTarget):
                failures.append(side.checked(target, outcomes[-1]))
        if isinstance(target, RunTarget):
            return _compared_runs(nothing, sides, target, others, outcomes)
    except (UnavailableError, RetargetError) as error:
        return _lost(nothing, error) if failures == [None] else replace(nothing, reason=first_line(str(error)))
    digests = tuple(one.artifact.digest for one in outcomes if one.artifact is not None)
    return replace(nothing, states=(_state(failures[0]), _state(failures[1])), artifacts=digests)


def _lost(nothing: Compared, error: Exception) -> Compared:
    """Return that a target passed with the first toolchain and cannot be tried with the second."""
    return replace(nothing, states=(_state(None), State(Outcome.SKIPPED, signature=first_line(str(error)))))


def _compared_runs(
    nothing: Compared,
    sides: Sequence[_Side],
    target: RunTarget,
    others: Sequence[Target],
    outcomes: Sequence[CompileOutcome],
) -> Compared:
    before = sides[0].ran(target, others, outcomes[0])
    try:
        after = sides[1].ran(target, others, outcomes[1])
    except (UnavailableError, RetargetError) as error:
        if before.failure is not None or outcomes[1].artifact is None:
            raise
        return _lost(nothing, error)
    values = ""
    folders = (sides[0].folder, sides[1].folder)
    if before.failure is None and after.failure is None and all(map(is_recorded, folders)):
        difference = sides[0].engine.compare(folders, (sides[0].name, sides[1].name)).first
        if difference is not None:
            values = f"{difference.case}, {difference.place}: {difference.mismatch.summary}"
    states = (_state(before.failure), _state(after.failure))
    return replace(nothing, states=states, values=values, worse_cases=_worse_cases(before, after))


def _worse_cases(before: RunOutcome, after: RunOutcome) -> tuple[str, ...]:
    """Return the cases that passed and do not any more, of a target that passes with both, or fails with both."""
    passing = {case.name for case in after.cases if case.failure is None}
    worse = (case.name for case in before.cases if case.failure is None and case.name not in passing)
    is_alike = (before.failure is None) is (after.failure is None)
    return tuple(worse) if is_alike and (after.cases or after.failure is None) else ()


def _state(failure: Failure | None) -> State:
    if failure is None:
        return State(Outcome.PASSED)
    return State(Outcome.FAILED, failure.stage, strip_colour(failure.summary))


_CHANGES = {
    Change.BROKEN: "regressed",
    Change.STOPPED: "no longer run",
    Change.MENDED: "fixed",
    Change.OTHER: "fails otherwise",
}
_VALUES, _SAME, _NOT_COMPARED = "different values", "same", "not compared"
"""A target's outcome with the second toolchain, compared with the first."""


class Compared(Struct, frozen=True, kw_only=True):
    """A target with both toolchains, whether it `runs`, and its `states`; None where it was not tried.

    `artifacts` are the SHA-256 digests of what was compiled, `values` is the first difference of the values of two runs
    that passed. `worse_cases` passed with the first toolchain alone, of a target that fails or passes with both.
    `reason` says why it was not compared.
    """

    suite: str
    target: str
    runs: bool
    states: tuple[State, State] | None = None
    artifacts: tuple[str, ...] = ()
    values: str = ""
    worse_cases: tuple[str, ...] = ()
    reason: str = ""

    @property
    def change(self) -> str:
        """What changed."""
        if self.states is None:
            return _NOT_COMPARED
        if self.worse_cases:
            return _CHANGES[Change.BROKEN]
        if (change := State.change(*self.states)) is not None:
            return _CHANGES[change]
        return _VALUES if self.values else _SAME

    @property
    def results(self) -> tuple[str | None, str | None]:
        """Its failures, empty where it passed; None where it was not tried."""
        if self.states is None:
            return None, None
        before, after = ("" if one.is_good else f"{one.stage or one.outcome}: {one.signature}" for one in self.states)
        return before, after


class Comparison(Struct, frozen=True, kw_only=True):
    """All targets, in order. `builds` are those of each toolchain."""

    toolchains: tuple[str, str]
    builds: tuple[Sequence[str], Sequence[str]]
    targets: tuple[Compared, ...]

    @property
    def is_bad(self) -> bool:
        """Whether a target that passed fails or cannot run, or nothing at all was compared, or no run for want of
        something."""
        changes = {one.change for one in self.targets}
        worse = {_CHANGES[change] for change in (Change.BROKEN, Change.STOPPED)}
        return bool(worse & changes) or bool(self.lacking)

    @property
    def lacking(self) -> str:
        """What was to be compared, and was not for any target; empty for neither compiles nor runs."""
        lacking = {one.runs for one in self.targets if one.states is None and one.reason != _BLOCKED}
        lacking -= {one.runs for one in self.targets if one.states is not None}
        return " and ".join(f"no {'run' if runs else 'compile'}" for runs in sorted(lacking))

    def text(self) -> Iterator[str]:
        """Yield the lines of the report: what matters most first."""
        before, after = self.toolchains
        yield f"{before} → {after}: {counted(len(self.targets), 'target')}"
        for name, builds in zip(self.toolchains, self.builds, strict=True):
            yield from (f"  {name}: {build}" for build in builds)
        for change in (*_CHANGES.values(), _VALUES):
            found = [one for one in self.targets if one.change == change]
            if found:
                yield f"{change} ({len(found)}):"
            yield from (f"  {one.suite}::{one.target}  {_described(one)}" for one in found)
        same = Counter(bool(one.results[0]) for one in self.targets if one.change == _SAME)
        yield f"same: {same[False]} pass, {same[True]} fail"
        both = [one.artifacts for one in self.targets if len(one.artifacts) == 2]
        if both:
            yield f"artifacts: {sum(before == after for before, after in both)} of {len(both)} byte-identical"
        reasons = Counter(one.reason for one in self.targets if one.change == _NOT_COMPARED)
        if reasons:
            yield f"not compared ({reasons.total()}):"
            yield from (f"  {reason} ({counted(count, 'target')})" for reason, count in reasons.most_common())
        if self.lacking:
            yield f"{self.lacking} was compared: exit status 1"


def _described(one: Compared) -> str:
    before, after = (text or "passed" for text in one.results)
    cases = f" ({listed(one.worse_cases)})" if one.worse_cases else ""
    return one.values if one.change == _VALUES else f"{before} → {after}{cases}"
