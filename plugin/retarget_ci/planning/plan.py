"""From declarations to the plan of an event, cut into legs: the same plan for the same declarations and durations."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Literal

from msgspec import Struct, field
from retarget.model import CompileTarget, SourceLocations, Target
from retarget.results import Leg, Plan, Waived
from retarget.session import Declared, DeclaredTarget, FileName, Selector
from retarget.support import DiagnosticsError, Problem, RetargetError, counted, did_you_mean, display_path, listed

from retarget_ci import CI_FILE
from retarget_ci.planning.assign import Place, Placement, Refused
from retarget_ci.schema import CiConfig, Event

_SHOWN = 5


class ByWords:
    """The selector of an expression, which is asked once for all targets that have the same words."""

    def __init__(self, expression: str) -> None:
        self._selector = Selector(expression)
        self._known: dict[tuple[int, ...], bool] = {}

    def __call__(self, one: DeclaredTarget) -> bool:
        """Return whether it selects a target. The target must outlive this object."""
        if (words := _words(one)) not in self._known:
            self._known[words] = self._selector(one.target)
        return self._known[words]


def kinds_of(targets: Iterable[DeclaredTarget]) -> Sequence[Target]:
    """Return one of all targets that have the same words: to a selector they are alike."""
    return [*{_words(one): one.target for one in targets}.values()]


def _words(one: DeclaredTarget) -> tuple[int, ...]:
    return id(one.target.tags), id(one.compiled.compiler), id(getattr(one.target, "runtime", None))


def notes_of(config: CiConfig, declared: Declared) -> Sequence[str]:
    """Return what was not collected, also the suites below the folder of `ci.toml` that its paths do not reach."""
    collected = {file.resolve() for file in declared.files}
    left_out = (display_path(file) for file in FileName.SUITE.below([config.folder]) if file.resolve() not in collected)
    if not (names := [name for name in left_out if not any(name in note for note in declared.notes)]):
        return declared.notes
    what = f"{counted(len(names), 'suite file')} in no leg: {listed(names)}"
    return (*declared.notes, f"{what}; the paths of {CI_FILE} do not reach them, and rules for them do nothing")


def select(config: CiConfig, event: Event, targets: Sequence[DeclaredTarget]) -> list[DeclaredTarget]:
    """Return the targets that an event selects. Raises `DiagnosticsError` where it selects none, and for a word of its
    expression that no target has, also behind `not`."""
    found = list(filter(ByWords(event.select), targets))
    kinds = kinds_of(targets)
    unknown = [term for term in Selector(event.select).terms if not any(map(term.selector, kinds))]
    known = sorted({tag for kind in kinds for tag in kind.tags})
    messages = [
        f"none of the {len(targets)} targets has the tag {term.text!r}{did_you_mean(term.text, known)}"
        for term in unknown
    ]
    if not found and not messages:
        messages = [f"selects none of the {counted(len(targets), 'target')}"]
    if messages:
        raise DiagnosticsError(
            SourceLocations.diagnostics(
                (config.origin(event), Problem(("select",), f"{event.select!r}: {one}")) for one in messages
            )
        )
    return found


def make_plan(
    config: CiConfig,
    event: Event,
    declared: Declared,
    *,
    today: date,
    chosen: Sequence[DeclaredTarget] | None = None,
    durations: Mapping[str, float] | None = None,
) -> Plan:
    """Return the plan of an event.

    `chosen` are the targets that it selects, where they are known. `durations` are seconds by target id, as a history
    knows them. Raises `DiagnosticsError` for an event that selects nothing, and `RetargetError` where a target has
    neither a runner nor a waiver.
    """
    chosen = select(config, event, declared.targets) if chosen is None else chosen
    planner = _Planner(config, event, declared, Durations(durations or {}, declared.targets))
    waived = planner.place(chosen, today)
    return Plan(
        event=event.name, paths=tuple(config.paths), select=event.select, legs=tuple(planner.legs()), waived=waived
    )


_Sort = Literal["build", "run", "host"]
"""Of legs: those that compile for others, those that run artifacts, and those that compile what they run."""


class _Module(Struct):
    """The targets of a module in one pool."""

    compiles: dict[str, DeclaredTarget] = field(default_factory=dict)
    items: list[DeclaredTarget] = field(default_factory=list)


class _Planner:
    def __init__(self, config: CiConfig, event: Event, declared: Declared, durations: Durations) -> None:
        self._config = config
        self._event = event
        self._placement = Placement(config, declared)
        self._durations = durations
        self._by_id = {one.id: one for one in declared.targets}
        self._pools: dict[tuple[_Sort, str], dict[tuple[str, str], _Module]] = {}
        self._needs: dict[str, tuple[str, ...]] = {}

    # ------------------------------------------------------------ which targets go where

    def place(self, chosen: Iterable[DeclaredTarget], today: date) -> tuple[Waived, ...]:
        """Put targets, and the compile targets that they need, into the pools of their runners.

        Returns what is waived. Raises `RetargetError` for targets that have neither a runner nor a waiver.
        """
        wanted: dict[str, DeclaredTarget] = {}
        along: dict[str, str] = {}
        refused: dict[str, tuple[DeclaredTarget, Refused]] = {}
        needed: set[str] = set()
        for one in chosen:
            if one.target is one.compiled:
                wanted[one.id] = one
                continue
            place = self._placement.of(one)
            if isinstance(place, Refused):
                refused[one.id] = one, place
                continue
            if place.alone:
                along.setdefault(one.compile_id, place.runner.name)
            needed.update(place.needs)
            wanted |= {name: self._by_id[name] for name in (one.compile_id, *place.needs) if name in self._by_id}
            self._add(one, place)
        for name, one in wanted.items():
            if name in along and name not in needed:
                self._pool("host", along[name], one).items.append(one)
            elif isinstance(place := self._placement.of(one), Refused):
                refused[name] = one, place
            else:
                self._pool("build", place.runner.name, one).items.append(one)
        return self._waived(refused.values(), today)

    def _add(self, one: DeclaredTarget, place: Place) -> None:
        module = self._pool("host" if place.alone else "run", place.runner.name, one)
        module.items.append(one)
        if place.alone and (compiled := self._by_id.get(one.compile_id)) is not None:
            module.compiles.setdefault(one.compile_id, compiled)
        self._needs[one.id] = place.needs

    def _pool(self, sort: _Sort, runner: str, one: DeclaredTarget) -> _Module:
        modules = self._pools.setdefault((sort, runner), {})
        return modules.setdefault((one.suite_id, one.compiled.module.name), _Module())

    def _waived(self, refused: Iterable[tuple[DeclaredTarget, Refused]], today: date) -> tuple[Waived, ...]:
        waivers = [(waiver, ByWords(waiver.select)) for waiver in self._config.waivers]
        ids: dict[int, list[str]] = {}
        dead: dict[str, list[str]] = {}
        for one, why in refused:
            serving = [at for at, (_, selects) in enumerate(waivers) if selects(one)]
            valid = [at for at in serving if waivers[at][0].until >= today]
            if valid:
                ids.setdefault(valid[0], []).append(one.id)
            else:
                ended = ""
                for waiver in [waivers[at][0] for at in serving[:1]]:
                    where = SourceLocations().location(self._config.origin(waiver))
                    ended = f" (the waiver at {where} ended on {waiver.until.isoformat()})"
                dead.setdefault(f"{why.reason}{ended}", []).append(one.id)
        if dead:
            raise RetargetError("\n".join(_dead(self._event, dead)))
        return tuple(
            Waived(
                ids=tuple(sorted(found)),
                reason=waivers[at][0].reason,
                issue=waivers[at][0].issue,
                until=waivers[at][0].until.isoformat(),
            )
            for at, found in sorted(ids.items())
        )

    # ------------------------------------------------------------ legs

    def legs(self) -> Iterator[Leg]:
        """Yield the legs: those that build first, those of a runner together, runners in declared order."""
        built: dict[str, str] = {}
        for sort in ("build", "run", "host"):
            for runner in self._config.runners:
                modules = self._pools.get((sort, runner.name), {})
                compiles = runner.compiles
                units = [unit for key, module in modules.items() for unit in self._units(key, module, compiles)]
                cut = shards(units, budget=self._event.budget_seconds, capacity=runner.capacity) if units else ()
                for number, shard in enumerate(cut, 1):
                    ids = [name for unit in shard for name in unit.ids]
                    name = f"{sort}-{runner.name}-{number}"
                    if sort == "build":
                        built |= dict.fromkeys(ids, name)
                    yield Leg.of(
                        ids,
                        name=name,
                        kind="build" if sort == "build" else "run",
                        runner=runner.name,
                        labels=tuple(runner.labels),
                        seconds=round(sum(unit.seconds for unit in shard), 1),
                        needs=tuple(sorted({built[need] for one in ids for need in self._needs.get(one, ())})),
                    )

    def _units(self, key: tuple[str, str], module: _Module, compiles: int) -> Iterator[Unit]:
        """Yield the targets of a module together; each compile with its runs apart where they do not fit into a leg."""
        unit = self._unit("::".join(key), module.items, module.compiles, compiles)
        if unit.seconds <= self._event.budget_seconds:
            yield unit
            return
        parts: dict[str, list[DeclaredTarget]] = {}
        for one in module.items:
            alone = one.compile_id in module.compiles
            parts.setdefault(one.compile_id if alone else one.id, []).append(one)
        for name, items in parts.items():
            own = {name: module.compiles[name]} if name in module.compiles else {}
            yield self._unit(name, items, own, compiles)

    def _unit(
        self, name: str, items: Sequence[DeclaredTarget], along: Mapping[str, DeclaredTarget], compiles: int
    ) -> Unit:
        compiled = dict(along) | {one.id: one for one in items if one.target is one.compiled}
        seconds = sum(map(self._durations.of, compiled.values())) / compiles
        seconds += sum(self._durations.of(one) for one in items if one.id not in compiled)
        return Unit(name=name, ids=tuple(one.id for one in items), seconds=seconds)


def _dead(event: Event, dead: Mapping[str, Sequence[str]]) -> Iterator[str]:
    count = sum(map(len, dead.values()))
    verb = "has" if count == 1 else "have"
    yield f"{counted(count, 'target')} that event {event.name!r} selects {verb} no runner:"
    for reason, ids in dead.items():
        yield f"  {reason}: {listed(ids, _SHOWN)}"
    yield "give a runner in ci.toml what they need, or say with a [[waiver]] why they may stay without one"


class Unit(Struct, frozen=True, kw_only=True):
    """Targets that stay together, such as those of a module. `seconds` are predicted, above 0."""

    name: str
    ids: tuple[str, ...]
    seconds: float


def shards(units: Sequence[Unit], *, budget: float, capacity: int) -> Sequence[Sequence[Unit]]:
    """Return the units of each leg, none of them empty: few legs that stay within the budget (seconds), but for units
    that are longer by themselves; where that takes more than `capacity`, so many whose durations are about equal."""
    ordered = sorted(units, key=lambda unit: (hashlib.sha256(unit.name.encode()).digest(), unit.name))
    filled = _filled(ordered, budget)
    equal = _cut(ordered, min(capacity, len(filled)))
    fits = all(sum(unit.seconds for unit in shard) <= budget for shard in equal)
    return equal if fits or len(filled) > capacity else filled


def _filled(ordered: Sequence[Unit], budget: float) -> Sequence[Sequence[Unit]]:
    """Begin a leg where the next unit would exceed the budget."""
    found: list[list[Unit]] = []
    left = 0.0
    for unit in ordered:
        if not found or unit.seconds > left:
            found.append([])
            left = budget
        found[-1].append(unit)
        left -= unit.seconds
    return found


def _cut(ordered: Sequence[Unit], count: int) -> Sequence[Sequence[Unit]]:
    """Put each unit into the share that its middle falls into."""
    total = sum(unit.seconds for unit in ordered)
    found: list[list[Unit]] = [[] for _ in range(count)]
    before = 0.0
    for unit in ordered:
        found[min(count - 1, int((before + unit.seconds / 2) * count / total))].append(unit)
        before += unit.seconds
    return [shard for shard in found if shard]


COMPILE_SECONDS = 2.0
RUN_SECONDS = 0.5
"""The assumed seconds of a target of configs without history."""

_SHORTEST = 0.001


class Durations:
    """Predicted seconds of targets: a target's own, else the median of those of its configs, else a default."""

    def __init__(self, known: Mapping[str, float], targets: Iterable[DeclaredTarget] = ()) -> None:
        """`known` are seconds by target id; `targets` are those that medians are taken of."""
        self._known = known
        by_configs: dict[tuple[str, str], list[float]] = {}
        for one in targets if known else ():
            if (seconds := known.get(one.id)) is not None:
                by_configs.setdefault(_configs(one), []).append(seconds)
        self._medians = {configs: statistics.median(found) for configs, found in by_configs.items()}

    def of(self, one: DeclaredTarget) -> float:
        """Return the seconds of a target, above 0."""
        seconds = self._known.get(one.id) if self._known else None
        if seconds is None:
            default = COMPILE_SECONDS if isinstance(one.target, CompileTarget) else RUN_SECONDS
            seconds = self._medians.get(_configs(one), default) if self._medians else default
        return max(seconds, _SHORTEST)


def _configs(one: DeclaredTarget) -> tuple[str, str]:
    runtime = "" if isinstance(one.target, CompileTarget) else one.target.runtime.name
    return one.compiled.compiler.name, runtime
