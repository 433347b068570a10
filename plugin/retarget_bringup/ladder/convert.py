"""`retarget bringup convert NAME`: what a ladder says of targets below the top as expectations, and the other way.

A rule says more than a rung: how a target fails, and why. So rules made from a ladder get both from results where these
are given, and a rule that becomes a line of the ladder is gone with its reason.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from retarget.engine.cache.folder import cache_of_command
from retarget.engine.engine import Engine
from retarget.expect.update.by_case import CasesSeen
from retarget.expect.update.edited_rules import Key, Observations, SuiteTargets, key_of
from retarget.expect.update.edits import diff, put_in_place, rewritten
from retarget.expect.update.plan import plan_update
from retarget.expect.update.suites import expanded, served_suites
from retarget.expect.verdict import today
from retarget.model import RunTarget
from retarget.model.outcomes import Observation
from retarget.model.rungs import Rung
from retarget.results.files import read_results
from retarget.results.record import Outcome, TargetRecord
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import user_path
from retarget.support.text import counted
from retarget.targets.collected import collect

from retarget_bringup.ladder.agreement import CHANCE, disagreements, rungs_of
from retarget_bringup.ladder.files import Ladder, Line, read_ladder, write_ladder
from retarget_bringup.ladder.settings import Settings, find_settings, read_settings
from retarget_bringup.ladder.states import TargetState, ladder_targets, states

__all__ = ["add"]

_STAGES = {
    Rung.NONE: "compile",
    Rung.COMPILES: "load",
    Rung.LOADS: "run",
    Rung.DISPATCHES: "run",
    Rung.COMPLETES: "compare",
}
"""The stage at which a target on a rung fails."""

_DOUBT = "it is not known here whether what they name is gone"


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "convert",
        prog="retarget bringup convert",
        help="what a ladder says as expectations, or expectations as lines of the ladder",
        description="Write [[expectation]] rules for the targets that bringup/NAME.ladder has below the top, or take "
        "the rules that are in force for its targets into the ladder. What is written is shown as a diff.",
    )
    parser.add_argument("name", metavar="NAME", help="the ladder: bringup/NAME.toml")
    parser.add_argument("--to", choices=("expectations", "ladder"), required=True, help="what to write")
    parser.add_argument(
        "--results",
        nargs="+",
        default=[],
        metavar="DIR",
        help="results that say how targets fail: their signatures, and which cases (for --to expectations)",
    )
    parser.set_defaults(act=_convert)


def _convert(arguments: argparse.Namespace) -> int:
    settings = read_settings(find_settings(arguments.name, Path.cwd()))
    if arguments.results and arguments.to == "ladder":
        msg = "--results: found it with --to ladder, which takes rungs from rules; --raise takes them from results"
        raise argparse.ArgumentError(None, msg)
    ladder = read_ladder(settings.ladder_file)
    if ladder.unsettled:
        raise RetargetError("\n".join(map(str, ladder.unsettled)))
    extensions = arguments.retarget_extension
    sessions = read_results([user_path(path) for path in arguments.results]) if arguments.results else ()
    declared = collect(settings.root, settings.paths, extensions, mark=settings.select)
    with Engine(registry=declared.registry, cache=cache_of_command().folder, extensions=extensions) as engine:
        found = states(ladder_targets(declared, engine), sessions, ladder, stable=settings.stable)
    if wrong := [*disagreements(found, display_path(ladder.file))]:
        raise RetargetError("\n".join([*wrong, "nothing was written: change one of the two first"]))
    known = [one for one in found if not one.is_permanent]
    files = {one.suite.origin.file for one in declared.targets}
    suites = [expanded(suite, declared.registry) for suite in served_suites(files, declared.registry)]
    to_ladder = arguments.to == "ladder"
    said = _to_ladder(known, suites, settings, ladder) if to_ladder else _to_expectations(known, suites, settings)
    sys.stdout.write(f"{said}\n")
    return 0


def _to_expectations(known: Sequence[TargetState], suites: Sequence[SuiteTargets], settings: Settings) -> str:
    """Write rules for the lines below the top whose targets have none."""
    seen: dict[Key, Observation | None] = {}
    cases: dict[Key, CasesSeen] = {}
    written = guessed = 0
    for one in known:
        line, of = one.line, one.target.declared
        if of is None or line is None or one.is_unseen or line.rung >= one.top or rungs_of(one.target):
            continue
        key = (of.suite.name, of.compiled.item if line.rung is Rung.NONE else of.target.name)
        record = one.record if one.rung == line.rung else None
        if record is not None and record.observation is None:  # its compile target says why it has no artifact
            record = one.compiled
        written += 1
        if record is not None and record.observation is not None:
            seen[key] = record.observation
            if (failed := _cases(record)) is not None:
                cases[key] = failed
        else:
            stage = _STAGES[line.rung] if one.target.runs or line.rung is Rung.NONE else "compare"
            seen[key] = Observation(stage=stage, signature="")
            guessed += 1
    _rewrite(suites, seen, cases)
    text = f"{counted(written, 'target')} of {display_path(settings.ladder_file)} below the top became rules"
    return text + (f"; {guessed} of them without a signature: give --results that say how they fail" if guessed else "")


def _cases(record: TargetRecord) -> CasesSeen | None:
    seen = {
        one.name: Observation(stage=one.stage, signature=one.signature) if one.stage else None
        for one in record.cases
        if one.outcome is not Outcome.NOT_RUN and not one.no_verdict
    }
    return CasesSeen(names=tuple(one.name for one in record.cases), seen=seen) if seen else None


def _to_ladder(known: Sequence[TargetState], suites: Sequence[SuiteTargets], settings: Settings, ladder: Ladder) -> str:
    """Take the rules in force out of the files, and say in the ladder what they said of its targets."""
    candidates = {key_of(of.target): one for one in known if (of := one.target.declared) and rungs_of(one.target)}
    for key in [key for key, one in candidates.items() if not one.target.digest or not _is_sayable(one)]:
        del candidates[key]
    by_compile: dict[Key, set[Key]] = {}
    for target in (target for one in suites for target in one.targets if isinstance(target, RunTarget)):
        by_compile.setdefault((target.compile.suite, target.compile.item), set()).add(key_of(target))
    passed: dict[Key, Observation | None] = {}
    cases: dict[Key, CasesSeen] = {}
    left = 0
    now = {line.target: line for line in ladder.lines}
    for key, one in candidates.items():
        of_compile = (key[0], one.target.declared.compiled.item if one.target.declared else "")
        if one.target.compile_rules.whole is not None:
            if not by_compile.get(of_compile, set()) <= candidates.keys():
                left += 1  # the rule serves targets that are not in this ladder
                continue
            passed[of_compile] = None
        passed[key] = None
        if names := [pattern for rule in one.target.rules.by_case for pattern in rule.rule.cases]:
            cases[key] = CasesSeen(names=tuple(names), seen=dict.fromkeys(names))  # a glob matches itself
        if one.line is None or one.is_unseen:
            now[one.id] = Line(target=one.id, rung=min(rungs_of(one.target)), digest=one.target.digest)
    taken = len(passed.keys() & candidates.keys())
    _rewrite(suites, passed, cases)
    if taken:
        write_ladder(settings.ladder_file, now.values(), ladder.devices)
    text = f"{counted(taken, 'target')} of rules became lines of {display_path(settings.ladder_file)}"
    if left:
        text += f"\n{counted(left, 'target')} left to rules, which serve targets that are not in this ladder"
    if taken:
        text += f"\npytest fails for them from now on: `retarget bringup {settings.name} --check` holds what they reach"
    return text


def _is_sayable(one: TargetState) -> bool:
    """Whether a ladder can say what the rules do: not that a failure is chance, or excused until a day."""
    return not any(rule.outcome in CHANCE or rule.until is not None for rule in one.target.all_rules)


def _rewrite(suites: Sequence[SuiteTargets], seen: Observations, cases: Mapping[Key, CasesSeen]) -> None:
    """Make the rules say what was observed, and print the diff. Raises `RetargetError`; nothing is written then."""
    update = plan_update(suites, seen, day=today(), doubt=lambda _: _DOUBT, cases=cases)
    files = rewritten(update.edits)
    for line in (line for file in files for line in diff(file)):
        sys.stdout.write(f"{line}\n")
    put_in_place(files)
