"""The devices that results are of, beside those on which a ladder was recorded.

A rung is of a device: another one may lack what a module needs, have less memory, or a driver with other defects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape

from retarget.results.record import DeviceRecord
from retarget.support.text import counted

from retarget_bringup.ladder.states import TargetState

_GIB = " GiB"
_MOST = 4
"""GiB of memory beyond which more makes no difference."""


def _worded(device: DeviceRecord) -> str:
    """Return `vulkan: NAME, driver VERSION, 2 GiB`: memory in powers of two, since some have what is free just now."""
    version = f", driver {device.driver_version}" if device.driver_version else ""
    step = 1 << (device.memory >> 30).bit_length() >> 1
    memory = "" if not device.memory or step >= _MOST else f", {step or 'below 1'}{_GIB}"
    return " ".join(f"{device.driver}: {device.name}{version}{memory}".split())


def _is(device: str, recorded: str) -> bool:
    """Return whether a device is a recorded one. A `*` for any version does not stand for little memory."""
    return fnmatchcase(device, recorded) and device.endswith(_GIB) == recorded.endswith(_GIB)


class Devices:
    """The devices that targets ran on, and which of them a ladder was not recorded on: `recorded` are globs.

    `elsewhere` are the ids of the targets that ran on such a one.
    """

    def __init__(self, states: Sequence[TargetState], recorded: Sequence[str]) -> None:
        ran = [one.record.devices for one in states if one.is_tried and one.record is not None]
        self._ran = Counter(text for devices in ran for text in {*map(_worded, devices)})
        self._recorded = recorded
        self.new = [text for text in sorted(self._ran) if not any(_is(text, one) for one in recorded)]
        self.elsewhere = {
            one.id
            for one in states
            if recorded and one.record is not None and any(_worded(device) in self.new for device in one.record.devices)
        }

    def notes(self, *, raises: bool) -> list[str]:
        """Return a note, to be read first, on each device that differs from the ladder's of its driver."""
        notes = []
        for text in self.new:
            if others := [one for one in self._recorded if one.partition(":")[0] == text.partition(":")[0]]:
                alone = "what only this one reaches fails --check on the other"
                follows = alone if raises else "their rungs may differ for that alone"
                ran = counted(self._ran[text], "target")
                notes.append(f"another device: {ran} ran on {text}; recorded on {' and '.join(others)}: {follows}")
        return notes

    def after(self, *, changed: bool) -> list[str]:
        """Return the devices of the ladder once it is raised: also those that raised it, or the first of a driver."""
        drivers = {one.partition(":")[0] for one in self._recorded}
        return [*self._recorded, *(escape(one) for one in self.new if changed or one.partition(":")[0] not in drivers)]
