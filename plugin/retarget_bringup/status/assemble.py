"""The status from the states of all targets. Pure, but for the sizes of modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from retarget.extension import ModuleSize
from retarget.model.rungs import Rung

from retarget_bringup.ladder.states import DRIVER, Standing, TargetState
from retarget_bringup.status.advice import Situation
from retarget_bringup.status.blockers import blockers
from retarget_bringup.status.model import Check, Commit, DriverStatus, Excluded, Moves, RungCount, Status

_RUNGS = (Rung.NONE, *(rung for rung in Rung if rung >= Rung.COMPILES))
"""Those of targets; the others are of drivers."""


def status_of(
    name: str,
    states: Sequence[TargetState],
    *,
    root: Path,
    stable_runs: int,
    moved: Moves,
    is_raised: bool,
    log: Sequence[Commit] = (),
    sizes: Mapping[str, ModuleSize] | None = None,
) -> Status:
    """Return the status of a bring-up, without what the reference backend does. Modules are below `root`."""
    drivers = _drivers([one for one in states if one.id.startswith(DRIVER) and one.record is not None])
    targets = [one for one in states if not one.id.startswith(DRIVER)]
    seen = [one for one in targets if one.standing in {Standing.REACHED, Standing.BELOW}]
    tried = [(one, rung) for one in targets if (rung := _rung(one)) is not None and not one.is_permanent]
    blocking = blockers([one for one, rung in tried if rung < one.top and one.is_tried], root, sizes or {})
    reached = sum(one.standing is Standing.REACHED for one in seen)
    excluded = _excluded(targets)
    situation = Situation(
        name=name,
        drivers=drivers,
        blockers=blocking,
        moved=moved,
        unstable=sum(rung is Rung.MATCHES for _, rung in tried),
        stable_runs=stable_runs,
        is_raised=is_raised,
        missing=next((one.reason for one in excluded if one.state == Standing.NOT_TRIED), ""),
    )
    return Status(
        name=name,
        percentage=1000 * reached // len(seen) / 10 if seen else None,
        matches=reached,
        counted=len(seen),
        temporary=len(seen) - reached,
        only_compiled=sum(one.top is rung is Rung.COMPILES for one, rung in tried),
        rungs=_rungs([rung if rung < one.top else max(rung, Rung.MATCHES) for one, rung in tried]),
        drivers=drivers,
        excluded=excluded,
        blockers=blocking,
        moved=moved,
        log=tuple(log),
        next=situation.next,
    )


def _rung(one: TargetState) -> Rung | None:
    """Return the rung of a target. A target that matches in too few runs stays stable if the ladder has it as
    stable."""
    is_stable = one.line is not None and one.line.rung is Rung.STABLE
    return Rung.STABLE if is_stable and one.rung is Rung.MATCHES else one.rung


def _rungs(rungs: Sequence[Rung]) -> tuple[RungCount, ...]:
    return tuple(
        RungCount(rung=rung.word, reach=sum(one >= rung for one in rungs), stop=sum(one == rung for one in rungs))
        for rung in _RUNGS
    )


def _drivers(states: Sequence[TargetState]) -> tuple[DriverStatus, ...]:
    """Return each driver with its checks: it comes as far as the check that comes least far."""
    found: dict[str, list[TargetState]] = {}
    for one in states:
        found.setdefault(one.id.removeprefix(DRIVER).partition("::")[0], []).append(one)
    return tuple(_driver(name, own) for name, own in found.items())


def _driver(name: str, states: Sequence[TargetState]) -> DriverStatus:
    own = [one for one in states if not one.is_permanent]
    rungs = [one.rung if one.rung is not None else Rung.NONE for one in own]
    checks = tuple(
        Check(
            name=one.id.partition("::")[2],
            passed=rung >= Rung.TRANSFERS,
            message=(one.record.message if one.record is not None else "") or one.reason,
        )
        for one, rung in zip(own, rungs, strict=True)
    )
    rung = min(rungs, default=Rung.NONE)
    return DriverStatus(name=name, rung=rung.word, checks=checks, not_applicable=len(states) - len(own))


def _excluded(states: Sequence[TargetState]) -> tuple[Excluded, ...]:
    """Group what the percentage leaves out by why it does; of the unseen by how far they come."""
    groups: dict[tuple[Standing, str], list[str]] = {}
    for one in states:
        if one.standing in {Standing.PERMANENT, Standing.NOT_TRIED, Standing.UNSEEN}:
            reason = one.reason or (one.rung.word if one.rung is not None else "")
            groups.setdefault((one.standing, reason), []).append(one.id)
    order = list(Standing)
    return tuple(
        Excluded(state=standing, reason=reason, targets=tuple(sorted(found)))
        for (standing, reason), found in sorted(groups.items(), key=lambda one: (order.index(one[0][0]), -len(one[1])))
    )
