"""`retarget ci run`: the commands of legs, on this machine. The emitted workflow calls it for each leg."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.cli import run_session, words_for_pytest
from retarget.results import Leg, Plan
from retarget.support import RetargetError, did_you_mean, display_path

from retarget_ci.schema import declared_ci

_EACH = "compile or run"
"""The requirements of a leg: each of its targets. Its runner promises to have what they need."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "run",
        help="run legs of a plan on this machine",
        description="Run legs of a plan, those that build first, each as a session of pytest. A target that cannot run "
        "here fails its leg. All legs run; the exit status is that of the first session that has another than 0.",
    )
    parser.add_argument("plan", type=Path, help="what `retarget ci plan` wrote")
    parser.add_argument("leg", nargs="*", help="legs of the plan")
    parser.add_argument("--runner", metavar="NAME", help="all legs of this runner")
    parser.add_argument("--results", type=Path, metavar="DIR", help="write what happened to each target to this folder")
    parser.add_argument(
        "--artifacts",
        type=Path,
        default=Path("artifacts"),
        metavar="DIR",
        help="where legs that build write artifacts, and those that run take them from (artifacts)",
    )
    parser.add_argument(
        "--pytest-args", default="", metavar="TEXT", help="further arguments of pytest: --pytest-args='-q -n 2'"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the commands and run nothing")
    parser.set_defaults(act=_run)


def _run(arguments: argparse.Namespace) -> int:
    config = declared_ci()
    plan = Plan.read(arguments.plan)
    event = config.event(plan.event)
    legs = legs_of(plan, arguments.leg, runner=arguments.runner)
    more = words_for_pytest(arguments.pytest_args)
    if not arguments.dry_run:
        _check_artifacts(legs, arguments.artifacts, display_path(arguments.plan))
    first = 0
    for leg in legs:
        runner = config.runner(leg.runner)
        env = {**dict(config.env), **dict(runner.env)}
        plan_file, artifacts, results = (
            path and Path(os.path.relpath(path, config.folder))
            for path in (arguments.plan, arguments.artifacts, arguments.results)
        )
        command = command_of(
            leg,
            plan,
            plan_file=plan_file,
            artifacts=artifacts,
            results=results,
            more=[*runner.pytest, *event.pytest, *more],
        )
        shown = shlex.join([*(f"{name}={value}" for name, value in env.items()), "pytest", *command[3:]])
        if arguments.dry_run:
            sys.stdout.write(f"{shown}\n")
            continue
        sys.stdout.write(f"leg {leg.name}: {shown}\n")
        sys.stdout.flush()
        status = run_session(command, config.folder, env={**os.environ, **env})
        if status:
            status = status if status > 0 else 128 - status  # ended by a signal: as shells say it
            sys.stdout.write(f"leg {leg.name}: exit status {status}\n")
        first = first or status
    return first


def legs_of(plan: Plan, names: Sequence[str], *, runner: str | None = None) -> tuple[Leg, ...]:
    """Return the legs named and those of `runner`, those that build first.

    Raises `RetargetError` for a name that the plan does not have, `argparse.ArgumentError` where nothing is named.
    """
    known = ", ".join(leg.name for leg in plan.legs) or "none"
    if not names and runner is None:
        raise argparse.ArgumentError(None, f"found no leg, expected names of legs, or --runner; the plan has: {known}")
    for name in names:
        if plan.leg(name) is None:
            hint = did_you_mean(name, [leg.name for leg in plan.legs]) or f"; expected one of: {known}"
            msg = f"the plan of the event {plan.event!r} has no leg {name!r}{hint}"
            raise RetargetError(msg)
    runners = dict.fromkeys(leg.runner for leg in plan.legs)
    if runner is not None and runner not in runners:
        hint = did_you_mean(runner, runners) or f"; expected one of: {', '.join(runners) or 'none'}"
        msg = f"the plan of the event {plan.event!r} has no leg for the runner {runner!r}{hint}"
        raise RetargetError(msg)
    chosen = [leg for leg in plan.legs if leg.name in names or leg.runner == runner]
    return tuple(sorted(chosen, key=lambda leg: leg.kind != "build"))


def command_of(
    leg: Leg, plan: Plan, *, plan_file: Path, artifacts: Path, results: Path | None, more: Sequence[str] = ()
) -> list[str]:
    """Return the command of a leg, for the folder of `ci.toml`, to which ids are relative.

    The plan has its targets, so that no command names a target.
    """
    options = ["--retarget-plan", str(plan_file), "--retarget-leg", leg.name, "--retarget-require", _EACH]
    if results is not None:
        options += ["--retarget-results", str(results)]
    if leg.kind == "build":
        options += ["--retarget-export", str(artifacts)]
    elif leg.needs:
        options += ["--retarget-artifacts", str(artifacts)]
    paths = [f"./{path}" if path.startswith("-") else path for path in plan.paths]
    return [sys.executable, "-m", "pytest", "--rootdir=.", *paths, *options, *more]


def _check_artifacts(legs: Sequence[Leg], artifacts: Path, plan: str) -> None:
    """Raise `RetargetError` if a leg needs artifacts that nothing has written and nothing will."""
    builds = {leg.name for leg in legs if leg.kind == "build"}
    for leg in legs:
        if not builds.issuperset(leg.needs) and not artifacts.is_dir():
            first = f"`retarget ci run {plan} {' '.join(leg.needs)} --artifacts {display_path(artifacts)}`"
            found = f"found no folder {display_path(artifacts)}"
            msg = f"the leg {leg.name!r} takes artifacts of {', '.join(leg.needs)}, {found}; run first: {first}"
            raise RetargetError(msg)
