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
from msgspec.structs import astuple, replace
from retarget.model import RunTarget
from retarget.results import Plan
from retarget.session import Declared, DeclaredTarget
from retarget.support import Diagnostic, counted, read_regular

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

_SHOWN = 10
"""How many changes are listed."""


class Cell(Struct, frozen=True, kw_only=True, order=True):
    """The targets of a suite and a pair of configs that an event runs on a runner; see the module."""

    event: str = NONE
    runner: str = NONE
    suite: str
    compiler: str
    runtime: str = NONE

    def __str__(self) -> str:
        return " ".join(astuple(self))


_WORDS = dict(
    zip(Cell.__struct_fields__, ("event", "runner", "suite", "compiler config", "runtime config"), strict=True)
)


class _Entry(Struct, frozen=True):
    """A cell as the file has it: how many targets, their digest, and its line (1-based)."""

    targets: int
    digest: str
    line: int


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
    file = folder / LOCK_FILE
    found = written(file)
    changes = [*_changes(_cells(found), _cells(expected))] if found is not None else []
    for line, message in changes[:_SHOWN]:
        yield Diagnostic(file=file, line=line, key_path="", message=f"{message}; if that is meant, {_WRITE}")
    if more := changes[_SHOWN:]:
        message = f"and {counted(len(more), 'more change')} of cells; {_WRITE}"
        yield Diagnostic(file=file, message=message)
    if not changes:
        yield from text_problems(file, found, expected)


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


def _cells(text: str) -> dict[Cell, _Entry]:
    """Return the cells in a text; other lines are left out."""
    cells: dict[Cell, _Entry] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match line.split(" "):
            case [event, runner, suite, compiler, runtime, targets, digest] if (
                targets.isdecimal() and len(targets) < 10
            ):
                cell = Cell(event=event, runner=runner, suite=suite, compiler=compiler, runtime=runtime)
                cells[cell] = _Entry(int(targets), digest, number)
    return cells


def _changes(before: Mapping[Cell, _Entry], after: Mapping[Cell, _Entry]) -> Iterator[tuple[int, str]]:
    """Yield what changed from one file to the other, each with its line in the first; 0 for what is not in it."""
    lost = {cell: entry for cell, entry in before.items() if cell not in after}
    added = {cell: entry for cell, entry in after.items() if cell not in before}
    yield from _renamed(before, after, lost, added)
    for cell, entry in lost.items():
        yield entry.line, f"{cell}: found {counted(entry.targets, 'target')}, expected none any more: lost or renamed"
    for cell, entry in added.items():
        yield 0, f"{cell}: found no line of this cell, expected {counted(entry.targets, 'target')}: added or renamed"
    for cell, was in before.items():
        now = after.get(cell, was)
        if now.targets != was.targets:
            more = now.targets - was.targets
            what = f"{abs(more)} {'added' if more > 0 else 'lost'}"
            yield was.line, f"{cell}: found {counted(was.targets, 'target')}, expected {now.targets}: {what}"
        elif now.digest != was.digest:
            what = f"{counted(was.targets, 'target')} of the digest {was.digest}"
            yield was.line, f"{cell}: found {what}, expected {now.digest}: other names or tags"


def _renamed(
    before: Mapping[Cell, _Entry], after: Mapping[Cell, _Entry], lost: dict[Cell, _Entry], added: dict[Cell, _Entry]
) -> Iterator[tuple[int, str]]:
    """Yield each name that gives way to a new one in cells that are alike otherwise; those are no longer in `lost` and
    `added` then."""
    for column, word in _WORDS.items():
        names = [{getattr(cell, column) for cell in cells} for cells in (before, after)]
        gone, new = names[0] - names[1], names[1] - names[0]
        alike: dict[tuple[Cell, int], list[Cell]] = {}
        for cell, entry in added.items():
            if getattr(cell, column) in new:
                alike.setdefault((replace(cell, **{column: NONE}), entry.targets), []).append(cell)
        pairs: dict[tuple[str, str], list[tuple[Cell, Cell]]] = {}
        for cell, entry in lost.items():
            for other in alike.get((replace(cell, **{column: NONE}), entry.targets), ()):
                if getattr(cell, column) in gone:
                    pairs.setdefault((getattr(cell, column), getattr(other, column)), []).append((cell, other))
        for (old, now), found in pairs.items():
            entries = [lost.pop(cell) for cell, other in found if cell in lost and added.pop(other, None) is not None]
            if entries:
                targets = counted(sum(entry.targets for entry in entries), "target")
                what = f"in {counted(len(entries), 'cell')} of {targets}"
                yield entries[0].line, f"found the {word} {old!r}, expected {now!r} {what}: renamed"


class Coverage(Struct, frozen=True, kw_only=True):
    """All `targets` by their ids; the plan of each event that selects any, by its name; the runner of each target that
    an event runs, by event and id; and why no leg of any event runs the others, by id."""

    targets: Mapping[str, DeclaredTarget]
    plans: Mapping[str, Plan]
    runs: Mapping[str, Mapping[str, str]]
    unrun: Mapping[str, str]


def coverage_of(config: CiConfig, declared: Declared, *, durations: Mapping[str, float] | None = None) -> Coverage:
    """Plan every event. A target without a runner is no error here, and an event that selects nothing has no plan.

    `durations` are seconds by target id, as a history knows them. Raises `RetargetError` for profiles of runners and
    case files that are invalid.
    """
    from retarget_ci.files import WaiverTable  # imports pydantic

    anything = WaiverTable(select="", reason="", until=date.max)
    lenient = config.model_copy(update={"waivers": [anything]})
    plans: dict[str, Plan] = {}
    for event in config.events:
        if chosen := list(filter(ByWords(event.select), declared.targets)):
            plans[event.name] = make_plan(lenient, event, declared, today=date.min, chosen=chosen, durations=durations)
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
