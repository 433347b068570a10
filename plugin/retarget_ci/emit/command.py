"""`retarget ci emit` writes the workflows, `retarget ci legs` tells them the legs of a plan."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from retarget.cli.support import table
from retarget.results.plan import read_plan
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.files import write_atomically

from retarget_ci.emit.files import SYSTEMS, emitted_files, left_over_files
from retarget_ci.emit.gitlab import child_pipeline
from retarget_ci.emit.jobs import jobs_of, legs_of_jobs
from retarget_ci.model import CiConfig
from retarget_ci.schema import add_file_argument, declared_ci

__all__ = ["add"]


def add(subparsers: Any) -> None:
    """Declare the actions."""
    parser = subparsers.add_parser(
        "emit",
        help="write the workflows of the CI system",
        description="Write the workflows of ci.toml's events. They call `retarget ci` and hold nothing of a plan.",
    )
    parser.add_argument("system", nargs="*", help="github or gitlab (those that `emit` in ci.toml names)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    add_file_argument(parser)
    parser.set_defaults(act=_emit)
    parser = subparsers.add_parser("legs", help="the legs of a plan, as a table or in the words of a CI system")
    parser.add_argument("plan", type=Path, help="what `retarget ci plan` wrote")
    parser.add_argument("--format", choices=("text", "github", "gitlab"), default="text", help="(text)")
    add_file_argument(parser)
    parser.set_defaults(act=_legs)


def _emit(arguments: argparse.Namespace) -> int:
    config = declared_ci(arguments)
    systems = tuple(arguments.system) or config.emit
    _check_systems(config, systems)
    old = 0
    for relative, text in emitted_files(config, systems).items():
        path = config.folder / relative
        try:
            is_same = path.is_file() and path.read_bytes() == text.encode()
            if not is_same and not arguments.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, text.encode())
        except OSError as error:
            msg = f"cannot write {display_path(path)}: {error.strerror or error}"
            raise RetargetError(msg) from error
        old += not is_same
        if not is_same:
            _say(path, "is not what ci.toml gives" if arguments.check else "written")
    for relative in left_over_files(config):
        old += 1
        if not arguments.check:
            (config.folder / relative).unlink()
        _say(config.folder / relative, "is for nothing in ci.toml" if arguments.check else "removed")
    if old and arguments.check:
        sys.stdout.write("write them again with `retarget ci emit`\n")
    return 1 if old and arguments.check else 0


def _say(path: Path, what: str) -> None:
    sys.stdout.write(f"{display_path(path)}: {what}\n")


def _check_systems(config: CiConfig, systems: tuple[str, ...]) -> None:
    for system in systems:
        if system not in SYSTEMS:
            hint = did_you_mean(system, SYSTEMS) or f"; expected one of {', '.join(SYSTEMS)}"
            raise argparse.ArgumentError(None, f"found the CI system {system!r}{hint}")
    if not systems:
        where = display_path(config.file)
        expected = 'expected CI systems to write for, such as emit = ["github"]'
        msg = f"{where}: found no emit, {expected}; or name one here"
        raise RetargetError(msg)


def _legs(arguments: argparse.Namespace) -> int:
    plan = read_plan(arguments.plan)
    if arguments.format == "text":
        rows = [
            (leg.name, leg.kind, leg.runner, str(len(leg.ids)), f"{leg.seconds:.0f} s", " ".join(leg.needs))
            for leg in plan.legs
        ]
        sys.stdout.write(f"{table(('leg', 'kind', 'runner', 'targets', 'predicted', 'needs'), rows)}\n")
    elif arguments.format == "github":
        for job, legs in legs_of_jobs(plan, jobs_of(declared_ci(arguments))).items():
            matrix = [{"leg": leg.name, "runner": leg.runner, "labels": leg.labels} for leg in legs]
            sys.stdout.write(f"{job}={json.dumps(matrix, separators=(',', ':'))}\n")
    else:
        sys.stdout.write(child_pipeline(declared_ci(arguments), plan))
    return 0
