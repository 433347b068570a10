"""`retarget ci verify`: of the declarations without hardware, or of results against the plan that they answer to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from retarget.expect.verdict import today
from retarget.results.files import read_results
from retarget.results.plan import read_plan
from retarget.support.errors import DiagnosticsError, RetargetError
from retarget.support.text import counted, printable
from retarget.targets.collected import collect

from retarget_ci.emit.files import emitted_files, emitted_problems
from retarget_ci.lock import LOCK_FILE, Coverage, coverage_of
from retarget_ci.model import CI_FILE, CiConfig
from retarget_ci.schema import add_file_argument, declared_ci
from retarget_ci.verify.declared import budget_problems, declared_problems, file_problems, skipped_by_rules, waived
from retarget_ci.verify.results import verify_results

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
    parser.add_argument(
        "--history",
        default="",
        metavar="FOLDER|URL",
        help="a history of `retarget history add`: also find legs that take longer than the budget of their event",
    )
    add_file_argument(parser)
    parser.set_defaults(act=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    if arguments.results is not None:
        return _verify_results(arguments.plan or _PLAN, arguments.results)
    if arguments.plan is not None:
        msg = f"found --plan {arguments.plan} without --results, expected --results DIR with the results of its legs"
        raise argparse.ArgumentError(None, msg)
    return _verify_declared(arguments)


def _verify_declared(arguments: argparse.Namespace) -> int:
    config, day = declared_ci(arguments), today()
    others: list[str] = []
    diagnostics = [*file_problems(config, day), *emitted_problems(config)]
    done: list[str] = []
    try:
        declared = collect(config.folder, config.paths, arguments.retarget_extension)
        coverage = coverage_of(config, declared, durations=_durations(arguments.history))
    except DiagnosticsError as error:
        diagnostics += error.diagnostics
    except RetargetError as error:
        others.append(str(error))
    else:
        diagnostics += declared_problems(config, declared, coverage, day)
        diagnostics += budget_problems(config, coverage) if arguments.history else ()
        done = [*_summary(config, coverage, skipped_by_rules(declared), day)]
    if diagnostics or others:
        found = DiagnosticsError(tuple(dict.fromkeys(diagnostics))).diagnostics
        lines = [*map(str, found), *(line for text in others for line in text.splitlines())]
        sys.stderr.writelines(f"{printable(line)}\n" for line in lines)
        return 1
    sys.stdout.writelines(f"{line}\n" for line in done)
    return 0


def _durations(history: str) -> Mapping[str, float]:
    """Return seconds by target id, as a history has them; none where none is given."""
    if not history:
        return {}
    from retarget.results.history import durations
    from retarget.results.history_files import read_history

    found = read_history(history)
    sys.stderr.writelines(f"warning: left out of the history: {line}\n" for line in found.damaged)
    return durations(found)


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
    plan = read_plan(file)
    found = verify_results(plan, read_results(results, if_any=not plan.legs))
    for problem in found.problems:
        sys.stderr.write(f"{printable(problem)}\n")
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
