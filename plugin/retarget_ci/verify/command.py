"""`retarget ci verify`: of the declarations without hardware, or of results against the plan that they answer to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from retarget.results.files import read_results
from retarget.results.plan import read_plan
from retarget.support.text import counted

from retarget_ci.schema import add_file_argument
from retarget_ci.verify.results import verify_results

__all__ = ["add"]

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
    add_file_argument(parser)
    parser.set_defaults(act=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    if arguments.results is not None:
        return _verify_results(arguments.plan or _PLAN, arguments.results)
    if arguments.plan is not None:
        msg = f"found --plan {arguments.plan} without --results, expected --results DIR with the results of its legs"
        raise argparse.ArgumentError(None, msg)
    return 0


def _verify_results(file: Path, results: Sequence[Path]) -> int:
    plan = read_plan(file)
    found = verify_results(plan, read_results(results))
    for problem in found.problems:
        sys.stderr.write(f"{problem}\n")
    what = f"the plan of the event {plan.event!r} ({counted(len(plan.legs), 'leg')})"
    if problems := len(found.problems):
        targets = sum(len(leg.ids) for leg in plan.legs)
        with_result = f"{sum(found.outcomes.values())} of {counted(targets, 'target')} have a result"
        sys.stderr.write(f"{counted(problems, 'problem')} of {what}; {with_result}\n")
        return 1
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(found.outcomes.items()))
    targets = sum(found.outcomes.values())
    sys.stdout.write(f"verified {what}: {counted(targets, 'target')} with one result each: {outcomes}\n")
    return 0
