"""`retarget ci emit` writes the workflows, `retarget ci legs` tells them the legs of a plan.

The files that `ci.toml` emits: a pure function of it, with which `retarget ci verify` compares what is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from retarget.results import Plan
from retarget.session import Declared
from retarget.support import Diagnostic, DiagnosticsError, did_you_mean, display_path, write_files

from retarget_ci import CI_FILE, LOCK_FILE
from retarget_ci.emit.github import github_workflow
from retarget_ci.emit.gitlab import child_pipeline, gitlab_pipeline
from retarget_ci.emit.jobs import legs_of_jobs
from retarget_ci.lock import coverage_of, lock_of, lock_problems, text_problems, written
from retarget_ci.schema import CiConfig, Event, declared_ci

SYSTEMS = ("github", "gitlab")


def add(subparsers: Any) -> None:
    """Declare the actions."""
    parser = subparsers.add_parser(
        "emit",
        help="write the workflows of the CI system, and ci.lock",
        description="Write the workflows of ci.toml's events, which call `retarget ci` and hold nothing of a plan, and "
        "ci.lock, which says what each event runs where.",
    )
    parser.add_argument("system", nargs="*", help="github or gitlab (those that `emit` in ci.toml names)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not up to date")
    parser.set_defaults(act=_emit)
    parser = subparsers.add_parser("legs", help="the legs of a plan, in the words of a CI system")
    parser.add_argument("plan", type=Path, help="what `retarget ci plan` wrote")
    parser.add_argument("--format", choices=SYSTEMS, required=True, help="the CI system")
    parser.set_defaults(act=_legs)


def _emit(arguments: argparse.Namespace) -> int:
    config = declared_ci()
    for system in arguments.system:
        if system not in SYSTEMS:
            hint = did_you_mean(system, SYSTEMS) or f"; expected one of {', '.join(SYSTEMS)}"
            raise argparse.ArgumentError(None, f"found the CI system {system!r}{hint}")
    systems = arguments.system or config.emit
    lock = lock_of(
        config, coverage_of(config, Declared.collect(config.folder, config.paths, arguments.retarget_extension))
    )
    if arguments.check:
        found = DiagnosticsError([*emitted_problems(config, systems), *lock_problems(config.folder, lock)])
        sys.stderr.write(f"{found}\n" if found.diagnostics else "")
        return 1 if found.diagnostics else 0
    files = {**emitted_files(config, systems), Path(LOCK_FILE): lock}
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


def emitted_files(config: CiConfig, systems: Sequence[str] | None = None) -> dict[Path, str]:
    """Return the content of each file, by its path from the folder of `ci.toml`; `systems` default to its `emit`.

    Raises `RetargetError` where Jinja is missing.
    """
    files: dict[Path, str] = {}
    for system in config.emit if systems is None else systems:
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


def emitted_problems(config: CiConfig, systems: Sequence[str] | None = None) -> Iterator[Diagnostic]:
    """Yield what is other than `ci.toml` gives it. Raises as `emitted_files` does."""
    for relative, expected in emitted_files(config, systems).items():
        path = config.folder / relative
        yield from text_problems(path, written(path), expected)
    for path in left_over_files(config):
        message = f"found a file that nothing in {CI_FILE} gives any more; `retarget ci emit` removes it"
        yield Diagnostic(file=path, message=message)
