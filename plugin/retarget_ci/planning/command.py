"""`retarget ci plan`: the legs of an event, for people and as a file."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from retarget.cli import text_table
from retarget.results import History, Plan
from retarget.session import Declared
from retarget.support import Checkout, counted, display_path, write_files

from retarget_ci.planning.plan import make_plan, notes_of
from retarget_ci.schema import Event, declared_ci


def add(subparsers: Any) -> None:
    """Declare the action."""
    parser = subparsers.add_parser("plan", help="which leg runs which targets")
    parser.add_argument("--event", required=True, metavar="NAME", help="the event of ci.toml to plan for")
    parser.add_argument("-o", dest="output", type=Path, metavar="FILE", help="write the plan to this file, as JSON")
    parser.set_defaults(act=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    config = declared_ci()
    event = config.event(arguments.event)
    declared = Declared.collect(config.folder, config.paths, arguments.retarget_extension)
    sys.stderr.writelines(f"note: {note}\n" for note in notes_of(config, declared))
    known = {}
    if place := config.history_of(event):
        known = durations_in(place if "://" in place else str(config.folder / place))
    plan = make_plan(config, event, declared, today=date.today(), durations=known)
    plan = replace(plan, revision=Checkout(config.folder).revision)
    if arguments.output is not None:
        write_files([(arguments.output, plan.text)], force=True)
    sys.stdout.write(summary(plan, event))
    if arguments.output is not None:
        sys.stdout.write(f"written to {display_path(arguments.output.absolute())}\n")
    return 0


def durations_in(place: str) -> dict[str, float]:
    """Return seconds by target id, as the history in a place has them, which need not be there yet."""
    history = History.read(place, if_any=True)
    sys.stderr.writelines(f"warning: left out of the history: {line}\n" for line in history.damaged)
    return history.durations()


def summary(plan: Plan, event: Event) -> str:
    """Return a plan for people."""
    rows = [(leg.name, leg.runner, str(len(leg.ids)), _duration(leg.seconds), " ".join(leg.needs)) for leg in plan.legs]
    lines = [text_table(("leg", "runner", "targets", "predicted", "needs"), rows)] if rows else []
    count = sum(len(leg.ids) for leg in plan.legs)
    lines.append(f"{counted(count, 'target')} in {counted(len(plan.legs), 'leg')} for event {plan.event!r}")
    lines += [f"waived until {one.until}: {counted(len(one.ids), 'target')} ({one.reason})" for one in plan.waived]
    long = [leg for leg in plan.legs if leg.seconds > event.budget_seconds]
    lines += [
        f"warning: {leg.name} is predicted to take {_duration(leg.seconds)}, more than the budget of "
        f"{_duration(event.budget_seconds)}; raise the capacity of runner {leg.runner!r} or the budget"
        for leg in long
    ]
    return "\n".join(lines) + "\n"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(max(1, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
