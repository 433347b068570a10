"""One target, chosen on the command line, what it does, compiled and run by the engine in worker processes, and how it
fails."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from retarget.cli import add_path_arguments, add_toolchain_argument, one_target
from retarget.extension import UnavailableError
from retarget.model import CompileOutcome, CompileTarget, Failure, Observation, RunOutcome, RunTarget, Suite, Target
from retarget.session import Commands, Engine, ReferenceRuns, Registry, RuleSet, TargetRules
from retarget.support import RetargetError, display_path, first_line, strip_colour


class Chosen(Struct, frozen=True, kw_only=True):
    """A target with its suite, and all targets of that: what its cases are to agree with is among them."""

    registry: Registry
    suite: Suite
    target: Target
    others: Sequence[Target] = ()

    @property
    def id(self) -> str:
        """Its node id, relative to the current folder."""
        return f"{display_path(self.suite.origin.file)}::{self.suite.name}::{self.target.name}"

    @property
    def compiled(self) -> CompileTarget:
        """The target that compiles the module: this one, or the one that it runs."""
        return self.target if isinstance(self.target, CompileTarget) else self.target.compile

    @property
    def checks(self) -> bool:
        """Whether its kind runs nothing, and judges artifacts."""
        return self.registry.artifact_checker(self.compiled.kind) is not None

    @property
    def rules(self) -> TargetRules:
        """The rules for the target, as far as they are known without its devices."""
        return RuleSet.of(self.suite, self.registry).rules_for(self.target)


class Attempt(Struct, frozen=True, kw_only=True):
    """The outcome of one try of a target. It passed without a failure; where it could not be tried, `unavailable` says
    why.

    `compiled` and `ran` are what the engine says, as far as it came. `builds` name what compiled and what ran it,
    `seconds` are wall time, of the compile that of when it was done.
    """

    failure: Failure | None = None
    observation: Observation | None = None
    unavailable: str = ""
    compiled: CompileOutcome | None = None
    ran: RunOutcome | None = None
    builds: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether it was tried and did not fail."""
        return self.failure is None and not self.unavailable

    def same(self, other: Attempt) -> bool:
        """Whether both failed, and in one way at least both: at the same stage with the same signature."""
        if self.observation is None or other.observation is None:
            return False
        ways = {(way.stage, way.signature) for way in other.observation.distinct_failures}
        return any((way.stage, way.signature) in ways for way in self.observation.distinct_failures)

    def __str__(self) -> str:
        if self.passed:
            return "passes"
        if self.failure is None or self.observation is None:
            return self.unavailable
        summary = first_line(strip_colour(self.failure.summary))
        return f"{self.observation.stage}: {summary}" if summary else self.observation.stage


def add_target_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Declare how a subcommand takes one target, which an `optional` one may be without."""
    what = "a target: its node id, or its name as `retarget list` shows it"
    parser.add_argument("target", nargs="?" if optional else None, default="", help=what)
    add_path_arguments(parser)
    add_toolchain_argument(parser)
    parser.add_argument(
        "--case", action="append", default=[], metavar="NAME", help="only this case, or glob of cases; may be repeated"
    )


def chosen_target(arguments: argparse.Namespace) -> Chosen:
    """Return the one target that is meant. Raises `argparse.ArgumentError`, and what reading declarations raises."""
    selection, one, target = one_target(arguments, arguments.target)
    return Chosen(registry=selection.registry, suite=one.suite, target=target, others=one.targets)


def attempt(engine: Engine, chosen: Chosen) -> Attempt:
    """Compile a target, and run it if it is one that runs. Expectations are not applied, but that a case which a rule
    skips is skipped."""
    try:
        outcome = engine.compile(chosen.compiled)
        started = time.monotonic()
        run = _ran(engine, chosen, outcome)
        if run is None:
            found = None if outcome.failure is None else outcome.failure.observation
            said = _said(outcome.failure, found, seconds=outcome.seconds, builds=(outcome.build,))
            return replace(said, compiled=outcome)
        if (run.names or chosen.checks) and not run.cases and run.failure is None:
            which = f" of {', '.join(run.names)}" if run.names else ""
            return Attempt(unavailable=f"found no case{which} that --case selects and no rule skips")
    except (UnavailableError, RetargetError) as error:
        return Attempt(unavailable=first_line(str(error)))
    builds = (outcome.build, *(one.runtime for one in run.devices))
    found = None if run.failure is None else run.failure.observed_in(run.cases)
    said = _said(run.failure, found, seconds=outcome.seconds + time.monotonic() - started, builds=builds)
    return replace(said, compiled=outcome, ran=run)


def by_hand(engine: Engine, chosen: Chosen, found: Attempt, extensions: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that do by hand what a target did, to be pasted into a shell."""
    words = Commands(registry=chosen.registry, folder=Path.cwd(), compiles=True, extensions=extensions)
    compiled = engine.generated(chosen.compiled)
    if isinstance(chosen.target, RunTarget):
        failed = [case for case in found.ran.cases if case.failure is not None] if found.ran is not None else []
        return words.script(words.run(replace(chosen.target, compile=compiled), cases=failed))
    return words.script(words.check(compiled) if chosen.checks else words.compile(compiled))


def _ran(engine: Engine, chosen: Chosen, compiled: CompileOutcome) -> RunOutcome | None:
    """Run an artifact, or judge it if its kind runs nothing; None where there is none. Raises `UnavailableError` and
    `RetargetError`."""
    if (artifact := compiled.artifact) is None:
        return None
    target, rules = chosen.target, chosen.rules
    skipping = rules.on(target, engine.traits(target) if rules.possible else ()).skipping()
    if not isinstance(target, RunTarget):
        return engine.check(target, artifact, skipping=skipping) if chosen.checks else RunOutcome(devices=())
    engine.devices_of(target)
    with closing(ReferenceRuns(engine)) as runs:
        return engine.run(target, artifact, references=runs.of(target, chosen.others), skipping=skipping)


def _said(
    failure: Failure | None, observation: Observation | None, *, seconds: float, builds: Sequence[str]
) -> Attempt:
    named = tuple(dict.fromkeys(filter(None, builds)))
    if failure is not None and failure.no_verdict:
        return Attempt(unavailable=f"no verdict: {first_line(failure.summary)}", builds=named, seconds=seconds)
    return Attempt(failure=failure, observation=observation, builds=named, seconds=seconds)


class FailedTarget(Struct, frozen=True, kw_only=True):
    """A target that failed. `way` is the first way in which it did, and that of the bundle, `failure` its failure.

    `ran` is None where it is a compile that failed. `cases` are the names of those that failed in this way.
    """

    chosen: Chosen
    compiled: CompileOutcome
    ran: RunOutcome | None
    failure: Failure
    way: Observation
    cases: tuple[str, ...] = ()

    @property
    def case(self) -> str:
        """The first case that failed in this way; empty where none did."""
        return self.cases[0] if self.cases else ""

    def expectation(self) -> str:
        """Return what the rule in force says of the target, or of the case that failed; empty where there is none."""
        devices = self.ran.devices if self.ran is not None else self.compiled.devices
        rules = self.chosen.rules.on(self.chosen.target, [device.traits for device in devices])
        rule = rules.of(self.case) or rules.whole
        if rule is None:
            return ""
        expected = f"expected to {rule.expected}" if rule.stages else rule.outcome
        return "; ".join(filter(None, (f"{expected}: {rule.reason}", rule.issue)))


_RUNS = 3
"""How often a target is run until it fails."""


def find_failure(engine: Engine, chosen: Chosen) -> FailedTarget:
    """Compile a target, and run it until it fails; return how it does.

    Raises `RetargetError` where it passes, where it cannot run here, and where its failure says nothing of it.
    """
    if isinstance(chosen.target, RunTarget) and chosen.target.runtime.run_under:
        msg = f"{chosen.id} runs behind run_under, which a bundle does not hold: it cannot be reproduced alone"
        raise RetargetError(msg)
    if isinstance(chosen.target, RunTarget) and (host := chosen.target.runtime.host) is not None:
        msg = f"{chosen.id} runs on host {host.name!r}: what a bundle reproduces runs on the machine that opens it"
        raise RetargetError(msg)
    for _ in range(_RUNS):
        found = attempt(engine, chosen)
        if found.unavailable:
            msg = f"{chosen.id} cannot be tried here: {found.unavailable}"
            raise RetargetError(msg)
        if chosen.checks and found.ran is not None and not found.passed:
            msg = (
                f"{chosen.id} is judged and not run, which no bundle holds: `retarget run '{chosen.id}'` reproduces it"
            )
            raise RetargetError(msg)
        if not found.passed:
            return failed_target(chosen, found)
        if found.ran is None or not found.ran.devices:
            break  # nothing ran: it is the same each time
    times = f" in {_RUNS} runs" if found.ran is not None and found.ran.devices else ""
    msg = f"{chosen.id} passes{times}: there is no failure to pack"
    raise RetargetError(msg)


def failed_target(chosen: Chosen, found: Attempt) -> FailedTarget:
    """Return a failure that an attempt has shown. Raises `RetargetError` where it shows none."""
    if found.failure is None or found.observation is None or found.compiled is None:
        msg = f"{chosen.id}: {found}"
        raise RetargetError(msg)
    way = found.observation.distinct_failures[0]
    cases = found.ran.cases if found.ran is not None else ()
    same = [one for one in cases if one.failure is not None and one.failure.observation == way]
    return FailedTarget(
        chosen=chosen,
        compiled=found.compiled,
        ran=found.ran,
        failure=next((one.failure for one in same if one.failure is not None), found.failure),
        way=way,
        cases=tuple(one.name for one in same),
    )
