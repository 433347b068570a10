"""`retarget ci verify`: of the declarations (what no leg runs) without hardware,
or of results against the plan that they answer to.

Each check yields problems of declarations; `retarget.model.locations.diagnostics_at` gives them their lines.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from retarget.model import Origin, RunTarget, SourceLocations, Suite, Target
from retarget.results import Plan, Sessions
from retarget.session import Assignment, Declared, DeclaredTarget, RuleSet, RuleUsage, Selector
from retarget.support import Diagnostic, DiagnosticsError, Problem, RetargetError, counted, did_you_mean, listed, shown

from retarget_ci import CI_FILE, LOCK_FILE
from retarget_ci.emit.command import emitted_files, emitted_problems
from retarget_ci.lock import Coverage, coverage_of, lock_of, lock_problems
from retarget_ci.planning.plan import ByWords, kinds_of, notes_of
from retarget_ci.schema import CiConfig, Event, Waiver, declared_ci
from retarget_ci.verify_results import verify_results

_PLAN = Path("plan.json")


def add(subparsers: Any) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "verify",
        help="find what CI loses: targets that no leg runs, files out of date; with --results, planned targets "
        "without a result",
        description="Without --results: every target is run by a leg of some event or waived, every runner, label, tag "
        "and waiver is of use, and the emitted files are up to date. With --results: every target of the plan has "
        "exactly one result, from its leg, and none failed. All errors are listed.",
    )
    parser.add_argument(
        "--plan", type=Path, metavar="FILE", help=f"with --results: the plan that they answer to ({_PLAN})"
    )
    parser.add_argument(
        "--results", nargs="+", type=Path, metavar="DIR", help="results of all legs: folders, or files in them"
    )
    parser.set_defaults(act=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    if arguments.results is not None:
        return _verify_results(arguments.plan or _PLAN, arguments.results)
    if arguments.plan is not None:
        msg = f"found --plan {arguments.plan} without --results, expected --results DIR with the results of its legs"
        raise argparse.ArgumentError(None, msg)
    return _verify_declared(arguments)


def _verify_declared(arguments: argparse.Namespace) -> int:
    config, day = declared_ci(), date.today()
    others: list[str] = []
    diagnostics = [*SourceLocations.diagnostics(file_problems(config, day)), *emitted_problems(config)]
    done: list[str] = []
    try:
        declared = Declared.collect(config.folder, config.paths, arguments.retarget_extension)
        coverage = coverage_of(config, declared)
    except DiagnosticsError as error:
        diagnostics += error.diagnostics
    except RetargetError as error:
        others.append(str(error))
    else:
        diagnostics += declared_problems(config, declared, coverage, day)
        done = [
            *(f"note: {note}" for note in notes_of(config, declared)),
            *_summary(config, coverage, skipped_by_rules(declared), day),
        ]
    if diagnostics or others:
        found = DiagnosticsError(tuple(dict.fromkeys(diagnostics))).diagnostics
        lines = [*map(str, found), *(line for text in others for line in text.splitlines())]
        sys.stderr.writelines(f"{shown(line, None)}\n" for line in lines)
        return 1
    sys.stdout.writelines(f"{line}\n" for line in done)
    return 0


def _summary(config: CiConfig, coverage: Coverage, skipped: Collection[str], day: date) -> Iterator[str]:
    """Yield what was verified. Rules skip the targets `skipped`, which no leg runs then."""
    events = ", ".join(
        f"{name!r} runs {len(coverage.runs[name].keys() - skipped)} in {counted(len(plan.legs), 'leg')}"
        + (f" (rules skip {more} more)" if (more := len(coverage.runs[name].keys() & skipped)) else "")
        for name, plan in coverage.plans.items()
    )
    without = len(waived(config, coverage, day))
    also = f"; {without} waived" if without else ""
    yield f"verified {CI_FILE}: {counted(len(coverage.targets), 'target')}: {events}{also}"
    yield f"up to date: {', '.join([LOCK_FILE, *map(str, emitted_files(config))])}"


def _verify_results(file: Path, results: Sequence[Path]) -> int:
    plan = Plan.read(file)
    found = verify_results(plan, Sessions.read(results, if_any=not plan.legs))
    for line in (*(f"note: {text}" for text in found.notes), *found.problems):
        sys.stderr.write(f"{shown(line, None)}\n")
    what = f"the plan of the event {plan.event!r} ({counted(len(plan.legs), 'leg')})"
    if problems := len(found.problems):
        targets = sum(len(leg.ids) for leg in plan.legs)
        with_result = f"{sum(found.outcomes.values())} of {counted(targets, 'target')} have a result"
        sys.stderr.write(f"{counted(problems, 'problem')} of {what}; {with_result}\n")
        return 1
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(found.outcomes.items()))
    counts += f"; {found.reused} of them reused from earlier runs" if found.reused else ""
    outcomes = f": {counts}" if counts else ""
    targets = sum(found.outcomes.values())
    sys.stdout.write(f"verified {what}: {counted(targets, 'target')} with one result each{outcomes}\n")
    return 0


Found = Iterator[tuple[Origin, Problem]]


def declared_problems(config: CiConfig, declared: Declared, coverage: Coverage, day: date) -> Iterator[Diagnostic]:
    """Yield what is lost on `day`, what is of no use in `ci.toml` and in expectations, and what of `ci.lock` is not so.

    `coverage` is that of `declared`.
    """
    yield from SourceLocations.diagnostics(_coverage_problems(config, coverage, day))
    yield from _rule_problems(declared)
    yield from lock_problems(config.folder, lock_of(config, coverage))


def file_problems(config: CiConfig, day: date) -> Found:
    """Yield what is wrong with `ci.toml` by itself on `day`: labels of no runner, waivers that have ended."""
    used = {label for runner in config.runners for label in runner.labels}
    for at, label in enumerate(config.labels):
        if label not in used:
            expected = "expected a [[runner]] with it, or remove it"
            yield config.origin(), Problem(("labels", at), f"found {label!r}, which no runner has; {expected}")
    for waiver in config.waivers:
        if waiver.until < day:
            expected = "give its targets a runner, or decide anew how long they may do without"
            message = f"found {waiver.until}, which is past; this waives nothing any more: {expected} ({waiver.reason})"
            yield config.origin(waiver), Problem(("until",), message)


def _coverage_problems(config: CiConfig, coverage: Coverage, day: date) -> Found:
    """Yield runners, selections and waivers that are of no use, and targets that no leg runs and no waiver excuses on
    `day`."""
    used = {runner for runs in coverage.runs.values() for runner in runs.values()}
    for runner in config.runners:
        if runner.name not in used:
            why = "no target needs what it has, or the runners before it take them all"
            message = f"found the runner {runner.name!r}, which no leg of any event uses: {why}; move or remove it"
            yield config.origin(runner), Problem(("name",), message)
    kinds = kinds_of(coverage.targets.values())
    for event in config.events:
        yield from _unknown(event, kinds, config) or _empty(event, coverage, config)
    for waiver in config.waivers:
        yield from _unknown(waiver, kinds, config) or _vain(waiver, kinds, coverage, config)
    excused = waived(config, coverage, day)
    yield from _dead((name for name in coverage.unrun if name not in excused), coverage)


def waived(config: CiConfig, coverage: Coverage, day: date) -> Collection[str]:
    """Return the targets that no leg runs and that a waiver which holds on `day` selects."""
    selects = [ByWords(waiver.select) for waiver in config.waivers if waiver.until >= day]
    return {name for name in coverage.unrun if any(one(coverage.targets[name]) for one in selects)}


def skipped_by_rules(declared: Declared) -> Collection[str]:
    """Return the ids of the targets that rules skip on any device."""
    return {
        one.id
        for _, targets, assignment in _assigned(declared)
        for one in targets
        if assignment.in_force(one.target).skipping is not None
    }


def _assigned(declared: Declared) -> Iterator[tuple[Suite, list[DeclaredTarget], Assignment]]:
    """Yield each suite with its targets and what its rules say of them."""
    suites: dict[str, list[DeclaredTarget]] = {}
    for one in declared.targets:
        suites.setdefault(one.suite_id, []).append(one)
    for targets in suites.values():
        suite = targets[0].suite
        yield suite, targets, RuleSet.of(suite, declared.registry).assign([one.target for one in targets])


def _rule_problems(declared: Declared) -> tuple[Diagnostic, ...]:
    """Return the errors of expectations: rules that match nothing, words that no target has, and what has ended."""
    usage = RuleUsage()
    files: dict[Path, list[Suite]] = {}
    for suite, targets, assignment in _assigned(declared):
        usage.add(suite, assignment, [one.target for one in targets])
        usage.collected(suite.origin.file, suite)
        files.setdefault(suite.origin.file, []).append(suite)
    return usage.diagnostics(files, whole=True)


def _unknown(of: Event | Waiver, kinds: Sequence[Target], config: CiConfig) -> list[tuple[Origin, Problem]]:
    """Return the words of a selection that are true of no target."""
    found = []
    for term in Selector(of.select).terms:
        if not any(map(term.selector, kinds)):
            what = f"found {term.text!r} in column {term.column}, which no target has as a tag"
            found.append(
                (
                    config.origin(of),
                    Problem(("select",), f"{what}{did_you_mean(term.text, sorted(term.choices(kinds)))}"),
                )
            )
    return found


def _empty(event: Event, coverage: Coverage, config: CiConfig) -> Found:
    """Yield that an event runs nothing."""
    if not coverage.runs.get(event.name):
        what = "selects only targets that no runner takes" if event.name in coverage.plans else "selects no target"
        yield (
            config.origin(event),
            Problem(("select",), f"found {event.select!r}, which {what}: this event runs nothing"),
        )


def _vain(waiver: Waiver, kinds: Sequence[Target], coverage: Coverage, config: CiConfig) -> Found:
    """Yield that a waiver waives nothing."""
    selects = Selector(waiver.select)
    if not any(map(selects, kinds_of(coverage.targets[name] for name in coverage.unrun))):
        what = "only targets that legs run" if any(map(selects, kinds)) else "no target"
        yield (
            config.origin(waiver),
            Problem(("select",), f"found {waiver.select!r}, which selects {what}; remove this waiver"),
        )


def _dead(names: Iterable[str], coverage: Coverage) -> Found:
    """Yield the cells whose targets no leg runs, with the reason."""
    groups: dict[tuple[Origin, str, str, str], list[str]] = {}
    for name in names:
        one = coverage.targets[name]
        runtime = one.target.runtime.name if isinstance(one.target, RunTarget) else ""
        key = one.suite.origin, one.compiled.compiler.name, runtime, coverage.unrun[name]
        groups.setdefault(key, []).append(one.compiled.module.name)
    for (origin, compiler, runtime, why), modules in groups.items():
        what = counted(len(modules), "run target" if runtime else "compile target")
        where = f"{compiler!r} on {runtime!r}" if runtime else f"{compiler!r}"
        found = f"found {what} of {where} that no leg of any event runs ({listed(modules)}): {why}"
        expected = "expected a runner and an event that run them, or a [[waiver]] in ci.toml"
        yield origin, Problem((), f"{found}; {expected}")
