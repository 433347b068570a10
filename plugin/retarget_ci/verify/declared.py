"""What `ci.toml` leaves out or says in vain, seen from what the legs of all events run.

Each check yields problems of declarations; `retarget.model.locations.diagnostics_at` gives them their lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from retarget.model import Origin, RunTarget, Suite, Target
from retarget.support.errors import did_you_mean
from retarget.support.text import counted
from retarget.support.toml.keypaths import Problem
from retarget.targets.selection import Selector, compile_selector, terms
from retarget.targets.tags import marks

from retarget_ci.lock import NONE, Cell
from retarget_ci.model import CiConfig, Event, Waiver

__all__ = ["Coverage", "Declared", "cells", "declared_problems", "waived"]

_SHOWN = 3
"""How many modules a dead cell names."""

Found = Iterator[tuple[Origin, Problem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A declared target, its id in plans, and its suite."""

    id: str
    target: Target
    suite: Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What runs where: of each event, by the ids of targets, the runner whose leg runs it; and why no runner takes a
    target, where it is so. `targets` are all that are declared."""

    targets: tuple[Declared, ...]
    runs: Mapping[str, Mapping[str, str]]
    refused: Mapping[str, str]

    def unrun(self) -> Iterator[Declared]:
        """Yield the targets that no leg of any event runs."""
        return (one for one in self.targets if not any(one.id in runs for runs in self.runs.values()))


def declared_problems(config: CiConfig, coverage: Coverage, day: date) -> Found:
    """Yield everything that is lost or in vain, on `day`."""
    yield from _unused_labels(config)
    yield from _unused_runners(config, coverage)
    kinds = _Kinds(coverage.targets)
    for event in config.events:
        yield from kinds.unknown(event) or _empty(event, kinds, coverage)
    unrun = [*coverage.unrun()]
    for waiver in config.waivers:
        yield from kinds.unknown(waiver) or _vain(waiver, kinds, unrun)
        if waiver.until < day:
            message = f"found {waiver.until}, which is past; this waives nothing any more: give its targets a runner, "
            yield waiver.origin, Problem(("until",), f"{message}or decide anew how long they may do without")
    excused = {one.id for one in waived(config, unrun, day)}
    yield from _dead((one for one in unrun if one.id not in excused), coverage)


def waived(config: CiConfig, targets: Iterable[Declared], day: date) -> Iterator[Declared]:
    """Yield those of `targets` that a waiver selects which holds on `day`."""
    selectors = [compile_selector(waiver.select) for waiver in config.waivers if waiver.until >= day]
    return (one for one in targets if any(selects(one.target) for selects in selectors))


def cells(coverage: Coverage) -> dict[Cell, list[tuple[str, tuple[str, ...]]]]:
    """Return the cells of `ci.lock`: the ids and tags of the targets that each event runs on each runner."""
    found: dict[Cell, list[tuple[str, tuple[str, ...]]]] = {}
    of: dict[str, Declared] = {one.id: one for one in coverage.targets}
    for event, runs in coverage.runs.items():
        for nodeid, runner in runs.items():
            found.setdefault(_cell(of[nodeid], event, runner), []).append((nodeid, of[nodeid].target.tags))
    for one in coverage.unrun():
        found.setdefault(_cell(one), []).append((one.id, one.target.tags))
    return found


def _cell(one: Declared, event: str = NONE, runner: str = NONE) -> Cell:
    compiler, runtime = _configs(one.target)
    return Cell(event=event, runner=runner, suite=one.suite.name, compiler=compiler, runtime=runtime or NONE)


def _configs(target: Target) -> tuple[str, str]:
    """Return the names of a target's compiler config and runtime config, the second empty for a compile target."""
    if isinstance(target, RunTarget):
        return target.compile.compiler.name, target.runtime.name
    return target.compiler.name, ""


class _Kinds:
    """The targets as expressions see them: those with the same tags and configs are of one kind."""

    def __init__(self, targets: Iterable[Declared]) -> None:
        self._kinds: dict[tuple[object, ...], Target] = {}
        for one in targets:
            self._kinds.setdefault((one.target.tags, one.suite.name, *_configs(one.target)), one.target)

    def any(self, selects: Selector) -> bool:
        """Return whether a target is selected."""
        return any(selects(kind) for kind in self._kinds.values())

    def unknown(self, of: Event | Waiver) -> list[tuple[Origin, Problem]]:
        """Return the words of a selection that are true of no target."""
        found = []
        for term in terms(of.select):
            if not self.any(term.selector):
                known = {word for kind in self._kinds.values() for word in self._words(kind, is_mark="(" in term.text)}
                what = f"found {term.text!r} in column {term.column}, which no target has as a tag"
                found.append((of.origin, Problem(("select",), f"{what}{did_you_mean(term.text, sorted(known))}")))
        return found

    @staticmethod
    def _words(kind: Target, *, is_mark: bool) -> Iterable[str]:
        if not is_mark:
            return kind.tags
        return (f"{name}({', '.join(f'{key}={value!r}' for key, value in fields)})" for name, fields in marks(kind))


def _unused_labels(config: CiConfig) -> Found:
    used = {label for runner in config.runners for label in runner.labels}
    for at, label in enumerate(config.labels):
        if label not in used:
            message = f"found {label!r}, which no runner has; expected a [[runner]] with it, or remove it"
            yield config.origin(), Problem(("labels", at), f"{message}{did_you_mean(label, sorted(used))}")


def _unused_runners(config: CiConfig, coverage: Coverage) -> Found:
    used = {runner for runs in coverage.runs.values() for runner in runs.values()}
    for runner in config.runners:
        if runner.name not in used:
            message = f"found {runner.name!r}, which no leg of any event uses"
            expected = (
                "no target needs what it has, or runners declared before it take all of them; remove it or move it"
            )
            yield runner.origin, Problem(("name",), f"{message}: {expected}")


def _empty(event: Event, kinds: _Kinds, coverage: Coverage) -> Found:
    """Yield that an event runs nothing."""
    if coverage.runs.get(event.name):
        return
    what = "selects no target" if not kinds.any(compile_selector(event.select)) else "selects targets of no runner only"
    yield event.origin, Problem(("select",), f"found {event.select!r}, which {what}: this event runs nothing")


def _vain(waiver: Waiver, kinds: _Kinds, unrun: Iterable[Declared]) -> Found:
    """Yield that a waiver waives nothing."""
    selects = compile_selector(waiver.select)
    if any(selects(one.target) for one in unrun):
        return
    what = "only targets that a leg runs" if kinds.any(selects) else "no target"
    yield waiver.origin, Problem(("select",), f"found {waiver.select!r}, which selects {what}; remove this waiver")


def _dead(targets: Iterable[Declared], coverage: Coverage) -> Found:
    """Yield the cells whose targets no leg runs, with the reason."""
    groups: dict[tuple[Origin, str, str, str], list[str]] = {}
    for one in targets:
        why = coverage.refused.get(one.id, "no event selects them")
        module = one.target.compile.module if isinstance(one.target, RunTarget) else one.target.module
        groups.setdefault((one.suite.origin, *_configs(one.target), why), []).append(module.name)
    for (origin, compiler, runtime, why), modules in groups.items():
        what = counted(len(modules), "run target" if runtime else "compile target")
        where = f"{compiler!r} on {runtime!r}" if runtime else f"{compiler!r}"
        more = f" and {len(modules) - _SHOWN} more" if len(modules) > _SHOWN else ""
        found = f"found {what} of {where} that no leg of any event runs ({', '.join(modules[:_SHOWN])}{more}): {why}"
        expected = "expected a runner and an event that run them, or a [[waiver]] in ci.toml"
        yield origin, Problem((), f"{found}; {expected}")
