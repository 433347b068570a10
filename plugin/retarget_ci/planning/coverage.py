"""What the legs of all events run, of all that is declared; and `ci.lock`, which says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from retarget.model import RunTarget
from retarget.results.plan import Plan
from retarget.targets.collected import Declared, DeclaredTarget
from retarget.targets.selection import compile_selector

from retarget_ci.lock import NONE, Cell, lock_text
from retarget_ci.model import CiConfig, Waiver
from retarget_ci.planning.assign import Refused
from retarget_ci.planning.place import Placement
from retarget_ci.planning.plan import ByWords, make_plan

__all__ = ["Coverage", "coverage_of", "lock_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
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
    anything = Waiver(select="", reason="", until=date.max, origin=config.origin())
    lenient = replace(config, waivers=(anything,))
    plans: dict[str, Plan] = {}
    for event in config.events:
        if chosen := list(filter(ByWords(compile_selector(event.select)), declared.targets)):
            plans[event.name] = make_plan(lenient, event, declared, today=date.min, chosen=chosen, durations=durations)
    runs = {name: {one: leg.runner for leg in plan.legs for one in leg.ids} for name, plan in plans.items()}
    targets = {one.id: one for one in declared.targets}
    run = set().union(*runs.values())
    placement = Placement(config, declared)
    unrun = {name: _why(placement, one) for name, one in targets.items() if name not in run}
    return Coverage(targets=targets, plans=plans, runs=runs, unrun=unrun)


def _why(placement: Placement, one: DeclaredTarget) -> str:
    place = placement.of(one)
    return place.reason if isinstance(place, Refused) else "no event selects them"


def lock_of(config: CiConfig, coverage: Coverage) -> str:
    """Return the text of `ci.lock`."""
    cells: dict[Cell, list[tuple[str, tuple[str, ...]]]] = {}
    for event, runner, name in _placed(coverage):
        one = coverage.targets[name]
        cell = Cell(
            event=event, runner=runner, suite=one.suite.name, compiler=one.compiled.compiler.name, runtime=_runtime(one)
        )
        cells.setdefault(cell, []).append((name, one.target.tags))
    return lock_text({runner.name: runner.labels for runner in config.runners}, cells)


def _placed(coverage: Coverage) -> Iterator[tuple[str, str, str]]:
    for event, runs in coverage.runs.items():
        for name, runner in runs.items():
            yield event, runner, name
    for name in coverage.unrun:
        yield NONE, NONE, name


def _runtime(one: DeclaredTarget) -> str:
    return one.target.runtime.name if isinstance(one.target, RunTarget) else NONE
