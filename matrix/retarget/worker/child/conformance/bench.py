"""What the checks are written in: operations that are done on the device and, alike, on a model of it in host memory.

Each operation is named on stderr before it is done: the last line of a worker that crashed or hangs tells where.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from msgspec import Struct

from retarget.extension import BufferRange, DriverError, TransferLimits, Transfers

SECONDS = 20.0
"""How long an event may take whose work is some MiB at most."""

_SOON = 0.02
"""Seconds after which an event that is complete too early would have been seen."""

_SHOWN = 8
"""Bytes that are shown of what differs."""


class CheckFailedError(Exception):
    """The device did what it must not. `str()` says what was done, what was expected and what was found."""


class NotApplicableError(Exception):
    """What the device announces leaves nothing to check. `str()` says what it announces."""


class Check(Struct, frozen=True):
    """A check. The docstring of `run` says what it proves."""

    name: str
    run: Callable[[Bench], None]


class Region(Struct, eq=False):
    """A buffer of the device, and the bytes that it must have."""

    name: str
    handle: object
    content: bytearray
    last: str

    def range(self, offset: int = 0, length: int | None = None) -> BufferRange:
        """Return `length` bytes from `offset` on, without it all to the end."""
        return BufferRange(self.handle, offset, len(self.content) - offset if length is None else length)


class Event(Struct, eq=False):
    """An event of the device, and what completes it."""

    handle: object
    what: str


@dataclass(eq=False, slots=True)
class Bench:
    """A device, the buffers that a check has made on it, the last thing that it did, and the last that was refused."""

    device: Transfers
    limits: TransferLimits = field(init=False)
    last: str = ""
    refused: str = ""
    _made: list[Region] = field(default_factory=list)
    _unsignalled: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.limits = self.device.limits

    # ------------------------------------------------------------ buffers

    def buffer(self, size: int, *, mappable: bool = False) -> Region:
        """Return a buffer with pseudo-random bytes, others than those of the buffers before."""
        region = self.allocate(size, mappable=mappable)
        self.write(region, 0, random_bytes(size, seed=len(self._made)))
        return region

    def allocate(self, size: int, *, mappable: bool = False) -> Region:
        """Return a buffer as the device gives it. Nothing is known of its bytes."""
        name = f"b{len(self._made)}"
        what = f"{name} = allocate {size} bytes{', mappable' if mappable else ''}"
        self._tell(what)
        self._made.append(Region(name, self.device.allocate(size, mappable), bytearray(size), what))
        return self._made[-1]

    def free(self, region: Region) -> None:
        """Release a buffer."""
        self._tell(f"free {region.name}")
        handle, region.handle = region.handle, None
        self.device.free(handle)

    def write(self, region: Region, offset: int, data: bytes) -> None:
        """Write from the host."""
        self._note(region, offset, data, f"write {range_text(region.name, offset, len(data))}")
        self.device.write(region.range(offset, len(data)), data)

    def write_through(self, region: Region, offset: int, data: bytes) -> None:
        """Write from the host through a map."""
        self._note(region, offset, data, f"write through a map of {range_text(region.name, offset, len(data))}")
        with self.device.map(region.range(offset, len(data))) as view:
            view[:] = data

    def expect(self, *regions: Region) -> None:
        """Hold all bytes of buffers against what they must be, as the host reads them."""
        for region in regions:
            self._tell(f"read {region.name}")
            self.equal(region.last, region.content, self.device.read(region.range()))

    def equal(self, what: str, expected: bytes | bytearray, found: bytes | memoryview, start: int = 0) -> None:
        """Hold bytes that were found from the byte `start` of a buffer on against others."""
        if len(found) != len(expected):
            msg = f"after {what}: expected {len(expected)} bytes, found {len(found)}"
            raise CheckFailedError(msg)
        wrong = np.flatnonzero(np.frombuffer(expected, np.uint8) != np.frombuffer(found, np.uint8))
        if not len(wrong):
            return
        shown = slice(wrong[0], wrong[0] + _SHOWN)
        msg = (
            f"after {what}: expected {expected[shown].hex(' ')} at byte {start + wrong[0]}, read "
            f"{found[shown].hex(' ')} ({len(wrong)} of {len(expected)} bytes differ, the last at byte "
            f"{start + wrong[-1]})"
        )
        raise CheckFailedError(msg)

    def aligned(self, *values: int) -> list[int]:
        """Return those values that offsets and lengths may have, and the first multiples of the alignment."""
        unit = self.limits.offset_alignment
        return sorted({unit, 3 * unit, *(value for value in values if value % unit == 0)})

    # ------------------------------------------------------------ submissions

    def fill(self, region: Region, offset: int, length: int, pattern: bytes, after: Sequence[Event] = ()) -> Event:
        """Submit a fill."""
        what = f"fill {range_text(region.name, offset, length)} with {pattern.hex()}"
        self._note(region, offset, (pattern * (length // len(pattern) + 1))[:length], what)
        return Event(self.device.fill(region.range(offset, length), pattern, _handles(after)), what)

    def copy(self, source: Region, target: Region, ranges: tuple[int, int, int], after: Sequence[Event] = ()) -> Event:
        """Submit a copy. `ranges` are the offset in the source, that in the target, and the length."""
        offset, to, length = ranges
        what = f"copy {range_text(source.name, offset, length)} to {range_text(target.name, to, length)}"
        self._note(target, to, bytes(source.content[offset : offset + length]), what)
        return Event(self.device.copy(source.range(offset, length), target.range(to, length), _handles(after)), what)

    def update(self, region: Region, offset: int, data: bytes, after: Sequence[Event] = ()) -> Event:
        """Submit an update. The bytes that the device is given are overwritten at once."""
        what = f"update {range_text(region.name, offset, len(data))}"
        self._note(region, offset, data, what)
        given = bytearray(data)
        event = Event(self.device.update(region.range(offset, len(data)), given, _handles(after)), what)
        given[:] = bytes(len(given))
        return event

    def host_event(self) -> Event:
        """Return an event that `signal` completes."""
        event = Event(self.device.host_event(), "an event of the host")
        self._unsignalled.append(event)
        return event

    def signal(self, event: Event) -> None:
        """Complete an event of the host."""
        self._tell("signal an event of the host")
        self._unsignalled.remove(event)
        self.device.signal(event.handle)

    def finish(self, *events: Event) -> None:
        """Wait for events, which must complete, and stay so."""
        for event in events:
            self._tell(f"wait for: {event.what}")
            if not self.device.wait(event.handle, SECONDS):
                msg = f"{event.what}: not complete after {SECONDS:g} s"
                raise CheckFailedError(msg)
            if not (self.device.is_complete(event.handle) and self.device.wait(event.handle, 0)):
                msg = f"{event.what}: complete, and asked again it is not"
                raise CheckFailedError(msg)

    def pending(self, *events: Event) -> None:
        """Expect that events are not complete, because the host has not signalled what they wait for."""
        for event in events:
            self._tell(f"expect to be pending: {event.what}")
            if self.device.wait(event.handle, _SOON) or self.device.is_complete(event.handle):
                msg = f"{event.what}: complete before the host signalled what it waits for"
                raise CheckFailedError(msg)

    # ------------------------------------------------------------ errors and limits

    def refuses(self, what: str, call: Callable[..., object], *arguments: object, region: Region | None = None) -> None:
        """Expect an error of a call. A submission to a region may be refused later, when it is waited for."""
        self._tell(what)
        try:
            event = call(*arguments)
            if region is not None:
                self.device.wait(event, SECONDS)
        except DriverError:
            self.refused = f", after an error of: {what}"
            if region is not None:
                region.last = f"an error of: {what}"
                self.expect(region)
            return
        msg = f"{what}: expected an error, and the device took it"
        raise CheckFailedError(msg)

    def works(self) -> None:
        """Expect that the device fills and copies as ever."""
        size = 16 * self.limits.offset_alignment * self.limits.fill_alignment
        source, target = self.buffer(size), self.buffer(size)
        self.finish(self.copy(source, target, (0, 0, size), [self.fill(source, 0, size, b"\xa5")]))
        self.expect(source, target)

    def require(self, announced: bool, otherwise: str) -> None:
        """Raise `NotApplicableError` where the device does not announce what a check is about."""
        if not announced:
            raise NotApplicableError(otherwise)

    # ------------------------------------------------------------ the end

    def release(self) -> None:
        """Release the buffers that are left, when all work is done."""
        for region in self._made:
            if region.handle is not None:
                self.free(region)

    def let_go(self) -> None:
        """Signal what a check that failed has left unsignalled: a device may not close before."""
        for event in list(self._unsignalled):
            with suppress(DriverError):
                self.signal(event)

    def _note(self, region: Region, offset: int, data: bytes, what: str) -> None:
        """Do in the model what is about to be done on the device."""
        self._tell(what)
        region.content[offset : offset + len(data)] = data
        region.last = what

    def _tell(self, what: str) -> None:
        self.last = what
        sys.stderr.write(what + "\n")


def random_bytes(size: int, seed: int = 0) -> bytes:
    """Return bytes that are the same each time."""
    return random.Random(seed).randbytes(size)  # noqa: S311


def _handles(events: Sequence[Event]) -> list[object]:
    return [event.handle for event in events]


def range_text(name: str, offset: int, length: int) -> str:
    """Return how messages name a part of a buffer."""
    return f"{name}[{offset}:{offset + length}]"
