"""IREE's treatment of named compile devices: flags, fallbacks, and the order in which a program counts them. Pure.

A program takes, for each of its devices, the first device of the runtime that fits, or with an ordinal the n-th that
fits: `local[1]`, `#hal.device.target<"local", {ordinal = 1 : index}, …>`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retarget.support.errors import did_you_mean

_FALLBACK = re.compile(r"#hal\.device\.fallback<@\"?(?P<name>[^>\"]*)\"?>(?:\s*:\s*!hal\.device)?")
_NAME = re.compile(r"\w+", re.ASCII)
"""IREE takes anything else before `=` for a part of the value."""

_ORDINAL = re.compile(r"\[\s*(\d{1,9})\s*\]|\bordinal\s*=\s*(\d{1,9})\b")


def full_specification(specification: str) -> str:
    """Return a specification whose fallbacks have their type, without which the compiler does not parse them."""
    return _FALLBACK.sub(lambda match: f"#hal.device.fallback<@{match['name']}> : !hal.device", specification)


def device_order(devices: Mapping[str, str]) -> Mapping[str, bool]:
    """Return the names, those of lower ordinals first, each with whether the program needs such a device."""
    ordered = sorted(devices, key=lambda name: _ordinal(devices[name]))
    return {name: not _fallbacks(devices[name]) for name in ordered}


def device_problems(devices: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    """Return (name, what is wrong) for names and values that the compiler takes for something else; for fallbacks to no
    device, and once for each cycle: the compiler crashes on the former and never ends on the latter."""
    problems = [
        (name, f"found the name {name!r}, expected ASCII letters, digits and _, such as 'device_a'")
        for name in devices
        if _NAME.fullmatch(name) is None
    ]
    problems += [
        (name, "found an empty text, expected what to compile for, such as 'vulkan'")
        for name, specification in devices.items()
        if not specification.strip()
    ]
    cyclic: set[str] = set()
    for name, specification in devices.items():
        for other in _fallbacks(specification):
            if other not in devices:
                message = f"found a fallback to {other!r}, expected one of {', '.join(map(repr, devices))}"
                problems.append((name, message + did_you_mean(other, devices)))
        cycle = () if name in cyclic else _cycle(name, devices, (name,))
        if cycle:
            cyclic.update(cycle)
            message = f"found a cycle of fallbacks: {' → '.join(cycle)}; expected a chain that ends in a device"
            problems.append((name, message))
    return problems


def _cycle(name: str, devices: Mapping[str, str], chain: Sequence[str]) -> Sequence[str]:
    """Return the chain of fallbacks that leads back to its first name; empty where none does."""
    for other in _fallbacks(devices.get(name, "")):
        if other == chain[0]:
            return (*chain, other)
        if other not in chain and (found := _cycle(other, devices, (*chain, other))):
            return found
    return ()


def _fallbacks(specification: str) -> Sequence[str]:
    return [match["name"] for match in _FALLBACK.finditer(specification)]


def _ordinal(specification: str) -> int:
    found = _ORDINAL.search(specification)
    return int(found[1] or found[2]) if found else 0
