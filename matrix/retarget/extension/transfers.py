"""What a device may implement in addition to `Device`: its memory and its queue, without any program.

The checks of a driver (`retarget bringup driver`) use nothing else, so that a new driver passes them before there is a
compiler for it. The shapes are those of a HAL: buffers, submissions that wait for events, events, maps, limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

__all__ = ["BufferRange", "TransferLimits", "Transfers", "TransfersBuffers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferLimits:
    """What a device announces of its memory and its queue. The checks hold it to that, and ask for no more.

    `largest_allocation` is the size in bytes of the largest buffer that is promised, None without a promise; a larger
    one is refused, or as good. Offsets and lengths of copies, updates, maps, host reads and host writes are multiples
    of `offset_alignment` bytes, those of fills multiples of `fill_alignment` and of the length of the pattern.

    A device that is not `asynchronous` has finished a submission when the call returns; it refuses one that waits for
    an event which is not complete. With `in_order`, a submission may wait for all before it, which nothing asked for.
    `moves_overlap` says that a copy whose ranges overlap moves the bytes as `memmove` does; otherwise it is refused.
    Without `maps`, no buffer is mappable; without `writes_maps`, maps are for reading only.
    """

    largest_allocation: int | None = None
    offset_alignment: int = 1
    fill_alignment: int = 1
    asynchronous: bool = True
    in_order: bool = False
    moves_overlap: bool = False
    maps: bool = True
    writes_maps: bool = True


@dataclass(frozen=True, slots=True)
class BufferRange:
    """`length` bytes of a buffer from the byte `offset` on."""

    buffer: Any
    offset: int
    length: int


class Transfers(Protocol):
    """The memory and the queue of one device. Lives in a device worker, and is used by one thread.

    Buffers and events are objects of whatever class the device likes. Sizes, offsets and lengths are in bytes.

    Each method raises `DriverError` for what the device does not do: a range that is not within the buffer, an offset
    that is not aligned, a pattern of another length, a buffer that is too large. Nothing is written then, and the
    device goes on to work. A length of 0 is no error: nothing is written, and the event completes as any other.

    `fill`, `copy` and `update` are submissions. One begins once all events of `after` are complete, and returns the
    event that is complete when its bytes are written. Two submissions of which none waits for the other may be done in
    any order.
    """

    @property
    def limits(self) -> TransferLimits:
        """What the device announces. Does not change."""

    def allocate(self, size: int, mappable: bool) -> object:
        """Return a new buffer; its content is undefined. A `mappable` one can be mapped by the host.

        A size of 0 gives a buffer without bytes or a `DriverError`.
        """

    def free(self, buffer: Any) -> None:
        """Release a buffer. All submissions that use it are complete."""

    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        """Write as many bytes from the host, and return when they are there. Waits for no submission."""

    def read(self, source: BufferRange) -> bytes:
        """Return bytes to the host. Waits for no submission."""

    def map(self, mapped: BufferRange) -> AbstractContextManager[memoryview]:
        """Map a range of a mappable buffer: a memory view of its bytes, to be read and written inside
        of `with`.

        What the host writes is there for submissions that are made after the `with`; what submissions wrote is there
        for a map that is made when they are complete.
        """

    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Any]) -> object:
        """Submit: repeat a pattern of 1, 2 or 4 bytes over a range."""

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Any]) -> object:
        """Submit: copy a range to one of the same length, in another buffer or in the same."""

    def update(self, target: BufferRange, data: bytes | bytearray, after: Sequence[Any]) -> object:
        """Submit: write as many bytes of the host. They are taken by the call: `data` may change afterwards."""

    def host_event(self) -> object:
        """Return an event that is complete once the host signals it."""

    def signal(self, event: Any) -> None:
        """Complete an event that `host_event` returned."""

    def is_complete(self, event: Any) -> bool:
        """Return at once whether an event is complete. Raises `DriverError` if its submission failed."""

    def wait(self, event: Any, seconds: float) -> bool:
        """Wait until an event is complete; False if it is not after `seconds`.

        Raises `DriverError` if its submission failed.
        """


@runtime_checkable
class TransfersBuffers(Protocol):
    """What a device may implement in addition to `Device`: its buffers and its queue are used without a program."""

    def transfers(self) -> Transfers:
        """Return the memory and the queue of the device; of several, those of the first. Raises `DriverError`."""
