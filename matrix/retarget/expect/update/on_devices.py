"""Targets as an update sees them: one for each device that a session saw, or that a rule is about.

A rule is narrowed, and new ones are written, by what tells targets apart. Where sessions saw a config on several
devices, or rules name devices, that is the device as well: each target stands there once for each. What a rule says of
a device that no session saw is kept as what it says of any other target that was not observed. On a device that was
seen with other configs alone a target stands too, so that no two rules contradict each other there: before a device is
opened, they would.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from retarget.expect.update.edited_rules import Key, SuiteTargets, cell_of, key_of
from retarget.model import CompileTarget, Target
from retarget.model.devices import DeviceTraits, has_traits
from retarget.targets.selection import rule_terms

__all__ = ["Devices", "on_devices"]

Devices = tuple[DeviceTraits, ...]


def on_devices(
    suites: Sequence[SuiteTargets], seen: Iterable[tuple[Key, Devices]]
) -> tuple[Sequence[SuiteTargets], Mapping[tuple[Key, Devices], Key]]:
    """Return the suites with a target for each device, and by what name each target goes that was `seen` on devices.

    They are as they were where nothing needs to tell devices apart.
    """
    targets = {key_of(target): target for one in suites for target in one.targets}
    known = [(key, devices) for key, devices in seen if key in targets]
    by_cell: dict[tuple[str, str, str], dict[Devices, None]] = {}
    for key, devices in known:
        by_cell.setdefault(cell_of(targets[key]), {})[devices] = None
    rules = {rule.when for one in suites for rule in one.suite.expectations}
    wanted = [term.traits for when in sorted(rules) for term in rule_terms(when) if term.traits]
    if not wanted and all(len(devices) == 1 for devices in by_cell.values()):
        return suites, {(key, devices): key for key, devices in known}
    places = _Places(by_cell, wanted)
    names: dict[tuple[Key, Devices], Key] = {}
    placed = []
    for one in suites:
        found: list[Target] = []
        elsewhere: set[str] = set()
        for target in one.targets:
            for devices in places.devices(target):
                found.append(places.on(target, devices))
                names[key_of(target), devices] = key_of(found[-1])
                if places.is_elsewhere(target, devices):
                    elsewhere.add(found[-1].name)
        placed.append(replace(one, targets=tuple(found), elsewhere=frozenset(elsewhere)))
    return placed, {place: names[place] for place in known}


class _Places:
    """The devices of targets: those that were `seen` with their cell or with others, and those that rules want."""

    def __init__(
        self,
        seen: Mapping[tuple[str, str, str], Mapping[Devices, None]],
        wanted: Iterable[Iterable[tuple[str, object]]],
    ) -> None:
        self._seen = seen
        self._with_any = dict.fromkeys(devices for of_cell in seen.values() for devices in of_cell if devices)
        self._unseen: dict[Devices, None] = {}
        for traits in wanted:
            known = (one for devices in (*self._with_any, *self._unseen) for one in devices)
            if not any(has_traits(one, traits) for one in known):
                self._unseen[(DeviceTraits(**{name: str(text) for name, text in traits}),)] = None

    def devices(self, target: Target) -> tuple[Devices, ...]:
        """Return what a target stands there once for; without any, once for all devices that no rule is about."""
        of_cell = self._seen.get(cell_of(target)) or {(): None}
        if isinstance(target, CompileTarget) and not target.may_ask_devices:
            return tuple(of_cell)
        return tuple({**of_cell, **self._with_any, **self._unseen})

    def is_elsewhere(self, target: Target, devices: Devices) -> bool:
        """Return whether sessions had these devices, and this target's cell, but not together."""
        return devices in self._with_any and devices not in self._seen.get(cell_of(target), (devices,))

    def on(self, target: Target, devices: Devices) -> Target:
        """Return a target on one of its devices, of which its name tells where it has several."""
        if isinstance(target, CompileTarget):
            return self._compiled(target, devices)
        of_compile = self.devices(target.compile)
        compiled = self._compiled(target.compile, devices if devices in of_compile else of_compile[0])
        return replace(target, name=self._name(target, devices), compile=compiled, devices=devices)

    def _compiled(self, target: CompileTarget, devices: Devices) -> CompileTarget:
        return replace(target, name=self._name(target, devices), devices=devices)

    def _name(self, target: Target, devices: Devices) -> str:
        return target.name if len(self.devices(target)) == 1 else " ".join((target.name, *map(str, devices)))
