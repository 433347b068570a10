"""Targets as an update sees them: one for each device that they were seen on, or that a rule of theirs is about.

A rule is narrowed, and new ones are written, by what tells targets apart. Where sessions saw a config on several
devices, or rules name devices, that is the device as well: each target stands there once for each. What a rule says of
a device that no session saw is kept as what it says of any other target that was not observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from retarget.expect.update.edited_rules import Key, SuiteTargets, cell_of, key_of, module_of, names_module
from retarget.model import CompileTarget, Expectation, RunTarget, Target
from retarget.model.devices import DeviceTraits, has_traits
from retarget.targets.selection import compile_rule, names_devices, rule_terms

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
    about = {one.suite.name: [rule for rule in one.suite.expectations if names_devices(rule.when)] for one in suites}
    if not any(about.values()) and all(len(devices) == 1 for devices in by_cell.values()):
        return suites, {(key, devices): key for key, devices in known}
    names: dict[tuple[Key, Devices], Key] = {}
    placed = []
    for one in suites:
        of_suite = _Places(by_cell, about[one.suite.name])
        found: list[Target] = []
        for target in one.targets:
            for devices in of_suite.devices(target):
                found.append(of_suite.on(target, devices))
                names[key_of(target), devices] = key_of(found[-1])
        placed.append(replace(one, targets=tuple(found)))
    return placed, {place: names[place] for place in known}


class _Places:
    """The devices of the targets of one suite: those that were seen, and those that its rules are `about`."""

    def __init__(
        self, seen: Mapping[tuple[str, str, str], Mapping[Devices, None]], about: Sequence[Expectation]
    ) -> None:
        self._seen = seen
        self._about = about

    def devices(self, target: Target) -> tuple[Devices, ...]:
        """Return what a target stands there once for; without any, once for all devices that no rule is about."""
        seen = self._seen.get(cell_of(target), {})
        found: dict[Devices, None] = {**seen} or {(): None}
        for rule in self._about if isinstance(target, RunTarget) or target.may_ask_devices else ():
            if any(names_module(entry, module_of(target)) for entry in rule.match) and compile_rule(rule.when)(target):
                for term in rule_terms(rule.when):
                    if term.traits and not any(has_traits(one, term.traits) for devices in found for one in devices):
                        found[(DeviceTraits(**{name: str(text) for name, text in term.traits}),)] = None
        return tuple(found)

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
