"""Large host data on its way to the device: in pieces, and constants once for all programs."""

from __future__ import annotations

import mmap
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from retarget_opencl.run.memory import Pool, Span
from retarget_opencl.translation import Buffer

__all__ = ["Bytes", "HostData", "Uploads", "host_data"]

Bytes = npt.NDArray[np.uint8]
_PIECE = 16 << 20


@dataclass(frozen=True, slots=True)
class HostData:
    """Bytes of the host. If they are those of a mapped file from `start` on, and `is_dropped`, they leave this process'
    memory when they have been read, and come back from the file."""

    bytes: Bytes
    mapping: mmap.mmap | None = None
    start: int = 0
    is_dropped: bool = False

    def part(self, offset: int, length: int) -> HostData:
        """Return a range."""
        data = self.bytes[offset : offset + length]
        return HostData(data, self.mapping, self.start + offset, self.is_dropped)


def host_data(content: Buffer) -> HostData:
    """Return bytes that never change. Where they are part of a mapped file, that is what counts."""
    data = np.frombuffer(content, np.uint8)
    mapping = content.obj if isinstance(content, memoryview) else None
    if not isinstance(mapping, mmap.mmap):
        return HostData(data)
    start = data.ctypes.data - np.frombuffer(mapping, np.uint8).ctypes.data
    return HostData(data, mapping, start, is_dropped=True)


class Uploads:
    """What is uploaded to one device."""

    def __init__(self, queue: cl.CommandQueue, pool: Pool) -> None:
        self._queue, self._pool = queue, pool

    def constant(self, key: Hashable, data: HostData) -> Span:
        """Return constant bytes in device memory; `key` tells them from all others."""
        size = len(data.bytes)
        memory, is_filled = self._pool.constant(key, size)
        span = Span(memory, 0, size)
        if not is_filled:
            self.write(span, 0, data)
        return span

    def write(self, span: Span, offset: int, data: HostData) -> None:
        """Copy bytes to the device and wait."""
        for at in range(0, len(data.bytes), _PIECE):
            piece = data.bytes[at : at + _PIECE]
            start = span.offset + offset + at
            copy = partial(cl.enqueue_copy, dst_offset=start, is_blocking=True)
            self._pool.in_memory(self._queue, copy, span.memory.buffer, piece)
            if data.mapping is not None and data.is_dropped:
                first = (data.start + at) // mmap.PAGESIZE * mmap.PAGESIZE
                data.mapping.madvise(mmap.MADV_DONTNEED, first, data.start + at + len(piece) - first)
