"""`retarget ci emit` writes the workflows, `retarget ci legs` tells them the legs of a plan.

The files that `ci.toml` emits: a pure function of it, with which `retarget ci verify` compares what is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from retarget.results import Plan
from retarget.session import Declared
from retarget.support import Diagnostic, display_path, write_files

from retarget_ci import CI_FILE, LOCK_FILE
from retarget_ci.emit.github import github_workflow
from retarget_ci.emit.gitlab import child_pipeline, gitlab_pipeline
from retarget_ci.emit.jobs import legs_of_jobs
from retarget_ci.lock import coverage_of, lock_of, text_problems, written
from retarget_ci.schema import CiConfig, Event, declared_ci


def add(subparsers: Any) -> None:
    """Declare the actions."""
    parser = subparsers.add_parser(
        "emit",
        help="write the workflows of the CI system, and ci.lock",
        description="Write the workflows of ci.toml's events, which call `retarget ci` and hold nothing of a plan, and "
        "ci.lock, which says what each event runs where.",
    )
    parser.set_defaults(act=_emit)
    parser = subparsers.add_parser("legs", help="the legs of a plan, in the words of a CI system")
    parser.add_argument("plan", type=Path, help="what `retarget ci plan` wrote")
    parser.add_argument("--format", choices=("github", "gitlab"), required=True, help="the CI system")
    parser.set_defaults(act=_legs)


def _emit(arguments: argparse.Namespace) -> int:
    config = declared_ci()
    declared = Declared.collect(config.folder, config.paths, arguments.retarget_extension)
    files = {**emitted_files(config), Path(LOCK_FILE): lock_of(config, coverage_of(config, declared))}
    for path in write_files([(config.folder / relative, text) for relative, text in files.items()], force=True):
        sys.stdout.write(f"written: {display_path(path)}\n")
    for path in left_over_files(config):
        path.unlink()
        sys.stdout.write(f"removed: {display_path(path)}\n")
    return 0


def _legs(arguments: argparse.Namespace) -> int:
    plan = Plan.read(arguments.plan)
    if arguments.format == "github":
        for job, legs in legs_of_jobs(plan).items():
            matrix = [
                {"leg": leg.name, "runner": leg.runner, "labels": leg.labels, "compiles": not leg.needs} for leg in legs
            ]
            sys.stdout.write(f"{job}={json.dumps(matrix, separators=(',', ':'))}\n")
    else:
        sys.stdout.write(child_pipeline(declared_ci(), plan))
    return 0


_HEADER = "# Written by `retarget ci emit` from ci.toml. Change that and write it again: `retarget ci verify` compares."

_GITHUB = Path(".github/workflows")
_GITLAB = Path(".gitlab/retarget.yml")


def emitted_files(config: CiConfig) -> dict[Path, str]:
    """Return the content of each file, by its path from the folder of `ci.toml`, for the systems of its `emit`.

    Raises `RetargetError` where Jinja is missing.
    """
    files: dict[Path, str] = {}
    for system in config.emit:
        if system == "github":
            for event in config.events:
                files[_GITHUB / _name(event)] = github_workflow(config, event, _HEADER)
        else:
            files[_GITLAB] = gitlab_pipeline(config, _HEADER)
    return files


def _name(event: Event) -> str:
    return f"retarget-{event.name}.yml"


def left_over_files(config: CiConfig) -> Iterator[Path]:
    """Yield the files that were emitted for an event that `ci.toml` has no longer, or for no system of its `emit`."""
    wanted = {_GITHUB / _name(event) for event in config.events} if "github" in config.emit else set()
    wanted |= {_GITLAB} if "gitlab" in config.emit else set()
    for path in [*sorted((config.folder / _GITHUB).glob("retarget-*.yml")), config.folder / _GITLAB]:
        if path.relative_to(config.folder) not in wanted and (written(path) or "").startswith(f"{_HEADER}\n"):
            yield path


def emitted_problems(config: CiConfig) -> Iterator[Diagnostic]:
    """Yield what is other than `ci.toml` gives it. Raises as `emitted_files` does."""
    for relative, expected in emitted_files(config).items():
        path = config.folder / relative
        yield from text_problems(path, written(path), expected)
    for path in left_over_files(config):
        message = f"found a file that nothing in {CI_FILE} gives any more; `retarget ci emit` removes it"
        yield Diagnostic(file=path, message=message)
