"""The memory and the queue of a HAL device, without a module. Lives in device workers only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import iree.runtime as rt
import numpy as np
from msgspec import Struct
from retarget.extension import BufferRange, DriverError, TransferLimits, Transfers

from retarget_iree.noise import RUNTIME_ERRORS, clean_status

_TRANSFER = int(rt.BufferUsage.TRANSFER)
_MAPPED = _TRANSFER | int(rt.BufferUsage.MAPPING_SCOPED)
_ON_DEVICE = int(rt.MemoryType.DEVICE_LOCAL)
_ON_HOST = int(rt.MemoryType.HOST_LOCAL) | int(rt.MemoryType.DEVICE_VISIBLE)


class _Buffer(Struct):
    """A buffer, whose memory goes when `hal` does."""

    hal: Any


class _Event(Struct, frozen=True):
    """A semaphore that is complete at 1, and what must live until then."""

    semaphore: Any
    used: Any = None


@contextmanager
def _driver_errors() -> Iterator[None]:
    try:
        yield
    except RUNTIME_ERRORS as error:
        raise DriverError(clean_status(str(error))) from error


class IreeTransfers(Transfers):
    """A command buffer and a semaphore for each submission.

    The HAL aligns fills to their patterns and nothing else, and refuses copies that overlap. It names no largest
    allocation. Python's binding maps for reading only.
    """

    def __init__(self, device: Any, driver: str) -> None:
        self._device = device
        self.limits = TransferLimits(asynchronous=driver != "local-sync", writes_maps=False)

    def allocate(self, size: int, mappable: bool) -> _Buffer:
        """Return memory on the device; mappable memory is the host's, which the device reaches."""
        with _driver_errors():
            return _Buffer(self._allocate(*((_ON_HOST, _MAPPED) if mappable else (_ON_DEVICE, _TRANSFER)), size))

    def free(self, buffer: _Buffer) -> None:
        """Drop the memory."""
        buffer.hal = None

    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        """Copy from a buffer of the host."""
        self._finish(self.update(target, data, ()))

    def read(self, source: BufferRange) -> bytes:
        """Copy to a buffer of the host."""
        with _driver_errors():
            staging = self._allocate(_ON_HOST, _MAPPED, source.length)
        self._finish(self.copy(source, BufferRange(_Buffer(staging), 0, source.length), ()))
        with _driver_errors():
            return np.asarray(staging.map()).tobytes() if source.length else b""

    @contextmanager
    def map(self, mapped: BufferRange) -> Iterator[memoryview]:
        """Map the buffer, and show the range. The binding maps whole buffers only."""
        end, size = mapped.offset + mapped.length, mapped.buffer.hal.byte_length()
        if end > size:
            msg = f"the range [{mapped.offset}:{end}] is not within the {size} bytes of the buffer"
            raise DriverError(msg)
        with _driver_errors():
            memory = mapped.buffer.hal.map()
        with np.asarray(memory).data[mapped.offset : end] as view:
            yield view

    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[_Event]) -> _Event:
        """Record and submit a fill."""
        return self._submit(
            lambda commands: commands.fill(target.buffer.hal, pattern, target.offset, target.length), after
        )

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[_Event]) -> _Event:
        """Record and submit a copy."""
        buffers = source.buffer.hal, target.buffer.hal
        return self._submit(
            lambda commands: commands.copy(*buffers, source.offset, target.offset, source.length), after, buffers
        )

    def update(self, target: BufferRange, data: bytes | bytearray, after: Sequence[_Event]) -> _Event:
        """Copy the bytes to a buffer of the host, and submit a copy of that: the binding records no updates."""
        with _driver_errors():
            staging = self._device.allocator.allocate_host_staging_buffer_copy(self._device, bytes(data))
        return self.copy(BufferRange(_Buffer(staging), 0, len(data)), target, after)

    def host_event(self) -> _Event:
        """Return a semaphore at 0."""
        return _Event(self._device.create_semaphore(0))

    def signal(self, event: _Event) -> None:
        """Advance the semaphore to 1."""
        with _driver_errors():
            event.semaphore.signal(1)

    def is_complete(self, event: _Event) -> bool:
        """Return whether the semaphore has reached 1."""
        with _driver_errors():
            return bool(event.semaphore.query() >= 1)

    def wait(self, event: _Event, seconds: float) -> bool:
        """Wait until the semaphore has reached 1."""
        with _driver_errors():
            return bool(event.semaphore.wait(1, timeout=int(seconds * 1e9)))

    def _allocate(self, memory: int, usage: int, size: int) -> Any:
        allocator = self._device.allocator
        return allocator.allocate_buffer(memory_type=memory, allowed_usage=usage, allocation_size=size)

    def _submit(self, record: Callable[[Any], None], after: Sequence[_Event], used: object = None) -> _Event:
        if not self.limits.asynchronous and not all(map(self.is_complete, after)):
            msg = "local-sync does a submission when it is made; what this one waits for is not complete"
            raise DriverError(msg)  # the runtime would wait for ever, holding this thread
        with _driver_errors():
            commands = rt.HalCommandBuffer(self._device)
            record(commands)
            commands.end()
            waits, semaphore = rt.HalFence(max(1, len(after))), self._device.create_semaphore(0)
            for event in after:
                waits.insert(event.semaphore, 1)
            self._device.queue_execute(commands, waits, rt.HalFence.create_at(semaphore, 1))
        return _Event(semaphore, (commands, used))

    def _finish(self, event: _Event) -> None:
        with _driver_errors():
            event.semaphore.wait(1)
