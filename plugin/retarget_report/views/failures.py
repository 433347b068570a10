"""The failures view: targets grouped by what went wrong, each group with the targets that it blocks.

Its data, `failures`, is a `Failures`. Targets are numbers: those of `retarget_report.views.matrix.numbered`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from retarget.results import State as ResultState

from retarget_report.read import Report, State, Target
from retarget_report.views.matrix import numbered

KINDS = (State.FAIL, State.ERROR, State.XPASS, State.MISSING, State.UNEXPLAINED, State.XFAIL)
"""The states that are shown, in this order: what nobody expects first."""

_Module = tuple[str, str, str]


class Group(Struct, frozen=True, kw_only=True):
    """Targets that failed alike: at one `stage`, with one `signature`.

    `kind` is a state of `KINDS`. `targets` begin with those of the module that compiles fastest; `blocked` could not
    run because one of `targets` failed. A target that failed in several ways is in the group of the first, and in
    `also` there.
    """

    kind: State
    stage: str
    signature: str
    targets: list[int] = field(default_factory=list)
    blocked: list[int] = field(default_factory=list)
    also: list[int] = field(default_factory=list)


class Failures(Struct, frozen=True, kw_only=True):
    """All groups, in the order of `KINDS` and the largest first."""

    groups: list[Group]


def data(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the data of the view."""
    yield "failures", failures(numbered(report))


def failures(targets: Sequence[Target]) -> Failures:
    """Group the failures among `targets`.

    A blocked target belongs to the target at the end of the chain that blocks it; a run target that is known to fail
    because its compile target does belongs to that.
    """
    blocked_by = _blocked_by(targets)
    found: dict[tuple[State, str, str], Group] = {}
    group_of: dict[str, Group] = {}
    for number, target in enumerate(targets):
        if target.state not in KINDS or target.id in blocked_by:
            continue
        key = (target.state, *_way(target))
        group = found.setdefault(key, Group(kind=key[0], stage=key[1], signature=key[2]))
        group.targets.append(number)
        if (record := target.record) is not None and record.observation is not None and record.observation.also:
            group.also.append(number)
        group_of[target.id] = group
    for number, target in enumerate(targets):
        if target.id in blocked_by and (blocking := group_of.get(_origin(target.id, blocked_by))) is not None:
            blocking.blocked.append(number)
    for group in found.values():
        group.targets.sort(key=lambda number: _by_seconds(targets[number]))
    return Failures(groups=sorted(found.values(), key=_by_kind))


def _way(target: Target) -> tuple[str, str]:
    """The stage and the signature of a failure; where it has none, what says best what happened, in one line."""
    record = target.record
    if record is None:
        return "", f"leg {target.leg} has no result" if target.leg else "no leg has a result"
    state = ResultState.of(record)
    return state.stage, state.signature


def _blocked_by(targets: Sequence[Target]) -> dict[str, str]:
    """The targets that could not run because another one failed, and that one."""
    compiles = {(*_module(one), one.compiler): one for one in targets if not one.runtime}
    found = {}
    for target in targets:
        if (record := target.record) is None:
            continue
        if target.state is State.BLOCKED:
            found[target.id] = record.blocked_by
        elif target.state is State.XFAIL and target.runtime and record.observation is None:
            compiled = compiles.get((*_module(target), target.compiler))
            if compiled is not None and compiled.state is State.XFAIL:
                found[target.id] = compiled.id
    return found


def _origin(target: str, blocked_by: Mapping[str, str]) -> str:
    """The target at the end of the chain that blocks this one; any of it where the chain comes back to itself."""
    seen = set()
    while target in blocked_by and target not in seen:
        seen.add(target)
        target = blocked_by[target]
    return target


def _module(target: Target) -> _Module:
    return (target.suite_file, target.suite, target.module)


def _by_seconds(target: Target) -> tuple[object, ...]:
    """Order targets by what their modules took to compile, where that is known, then by the length of their names."""
    compiled = target.record.compile if target.record is not None else None
    seconds = compiled.seconds if compiled is not None else 0.0
    return (not seconds, seconds, len(target.module), _module(target), target.id)


def _by_kind(group: Group) -> tuple[object, ...]:
    return (KINDS.index(group.kind), -len(group.targets), -len(group.blocked), group.stage, group.signature)
