"""`ci.lock`: what the legs of each event run, and where, so that a renamed or lost target shows in review.

    # a comment
    runner NAME ["LABEL", …]
    EVENT RUNNER SUITE COMPILER-CONFIG RUNTIME-CONFIG TARGETS DIGEST

A line per runner and one per cell, sorted, so that changes in different places merge. A cell is all targets of one
suite and one pair of configs that one event runs on one runner. The runtime config is `-` for compile targets; event
and runner are `-` for targets that no leg of any event runs, which a waiver has to excuse. The digest covers the ids of
the targets and their tags.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple
from retarget.model import RunTarget
from retarget.results import Plan
from retarget.session import Declared, DeclaredTarget
from retarget.support import Diagnostic, read_regular

from retarget_ci import LOCK_FILE
from retarget_ci.planning.assign import Placement, Refused
from retarget_ci.planning.plan import ByWords, make_plan
from retarget_ci.schema import CiConfig

NONE = "-"
"""Stands for no event, no runner and no runtime config: no name is this."""

_HEADER = "# What each event runs where. `retarget ci emit` writes this file, `retarget ci verify` checks it."
_WRITE = "`retarget ci emit` writes it"
_DIGITS = 16
_WIDTH = 200
"""Characters that are shown of a line."""


class Cell(Struct, frozen=True, kw_only=True, order=True):
    """The targets of a suite and a pair of configs that an event runs on a runner; see the module."""

    event: str = NONE
    runner: str = NONE
    suite: str
    compiler: str
    runtime: str = NONE

    def __str__(self) -> str:
        return " ".join(astuple(self))


def lock_text(runners: Mapping[str, Sequence[str]], cells: Mapping[Cell, Iterable[tuple[str, Sequence[str]]]]) -> str:
    """Return the file's text: `runners` are names with labels, the targets of `cells` are ids with tags."""
    lines = [f"runner {name} {json.dumps([*labels], ensure_ascii=False)}" for name, labels in sorted(runners.items())]
    for cell, targets in sorted(cells.items()):
        texts = sorted(f"{one} {' '.join(sorted(tags))}\n" for one, tags in targets)
        digest = hashlib.sha256("".join(texts).encode()).hexdigest()[:_DIGITS]
        lines.append(f"{cell} {len(texts)} {digest}")
    return "\n".join([_HEADER, *lines, ""])


def lock_problems(folder: Path, expected: str) -> Iterator[Diagnostic]:
    """Yield what the file in a folder says otherwise than its `expected` text does."""
    yield from text_problems(folder / LOCK_FILE, written(folder / LOCK_FILE), expected)


def written(file: Path) -> str | None:
    """Return the text of a file as it is, what is no UTF-8 replaced; None where there is no file to read."""
    try:
        return read_regular(file).decode("utf-8", "replace")
    except OSError:
        return None


def text_problems(file: Path, found: str | None, expected: str) -> Iterator[Diagnostic]:
    """Yield that a file which `retarget ci emit` writes is not there (None), or its first line that differs."""
    if found is None:
        yield Diagnostic(file=file, message=f"found no such file; {_WRITE}")
    elif found != expected:
        there, here = found.split("\n"), expected.split("\n")
        at = next(at for at in range(len(here) + 1) if there[at : at + 1] != here[at : at + 1])
        shown = [_shown(lines[at]) if at < len(lines) else "the end of the file" for lines in (there, here)]
        message = f"found {shown[0]}, expected {shown[1]}; {_WRITE}"
        yield Diagnostic(file=file, line=at + 1, key_path="", message=message)


def _shown(line: str) -> str:
    return repr(line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…")


class Coverage(Struct, frozen=True, kw_only=True):
    """All `targets` by their ids; the plan of each event that selects any, by its name; the runner of each target that
    an event runs, by event and id; and why no leg of any event runs the others, by id."""

    targets: Mapping[str, DeclaredTarget]
    plans: Mapping[str, Plan]
    runs: Mapping[str, Mapping[str, str]]
    unrun: Mapping[str, str]


def coverage_of(config: CiConfig, declared: Declared) -> Coverage:
    """Plan every event. A target without a runner is no error here, and an event that selects nothing has no plan.

    Raises `RetargetError` for profiles of runners and case files that are invalid.
    """
    from retarget_ci.files import WaiverTable  # imports pydantic

    anything = WaiverTable(select="", reason="", until=date.max)
    lenient = config.model_copy(update={"waivers": [anything]})
    plans: dict[str, Plan] = {}
    for event in config.events:
        if chosen := list(filter(ByWords(event.select), declared.targets)):
            plans[event.name] = make_plan(lenient, event, declared, today=date.min, chosen=chosen)
    runs = {name: {one: leg.runner for leg in plan.legs for one in leg.ids} for name, plan in plans.items()}
    targets = {one.id: one for one in declared.targets}
    run = set().union(*runs.values())
    placement = Placement(config, declared)
    unrun = {
        name: place.reason if isinstance(place := placement.of(one), Refused) else "no event selects them"
        for name, one in targets.items()
        if name not in run
    }
    return Coverage(targets=targets, plans=plans, runs=runs, unrun=unrun)


def lock_of(config: CiConfig, coverage: Coverage) -> str:
    """Return the text of `ci.lock`."""
    cells: dict[Cell, list[tuple[str, tuple[str, ...]]]] = {}
    for event, runs in {**coverage.runs, NONE: dict.fromkeys(coverage.unrun, NONE)}.items():
        for name, runner in runs.items():
            one = coverage.targets[name]
            cell = Cell(
                event=event,
                runner=runner,
                suite=one.suite.name,
                compiler=one.compiled.compiler.name,
                runtime=one.target.runtime.name if isinstance(one.target, RunTarget) else NONE,
            )
            cells.setdefault(cell, []).append((name, one.target.tags))
    return lock_text({runner.name: runner.labels for runner in config.runners}, cells)
