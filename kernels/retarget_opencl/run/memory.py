"""Device memory: pooled buffers, spans of them, views of spans as tensors, and large host data on its way there."""

from __future__ import annotations

import itertools
import mmap
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyopencl as cl
from msgspec import Struct

from retarget_opencl.run.errors import is_out_of_memory
from retarget_opencl.translation import Buffer

_SMALLEST = 256

ResultT = TypeVar("ResultT")


def size_class(size: int, largest: int) -> int:
    """Return the size in bytes that a request for `size` bytes gets: at most an eighth more, at least 256, and not more
    than a buffer may have, unless the request is."""
    if size <= _SMALLEST:
        return _SMALLEST
    step = 1 << max((size - 1).bit_length() - 3, 8)
    return max(size, min(-(-size // step) * step, largest))


class Memory:
    """A buffer of the pool. It is returned to the pool when nothing refers to it any more.

    `number` tells it from all other buffers, those that were released included.
    """

    __slots__ = ("buffer", "capacity", "number", "pool")

    def __init__(self, buffer: cl.Buffer, number: int, capacity: int, pool: Pool) -> None:
        self.buffer, self.number, self.capacity, self.pool = buffer, number, capacity, pool

    def __del__(self) -> None:
        self.pool.release(self.buffer, self.number, self.capacity)


class Pool:
    """Buffers by size class. `limit` is how many bytes wait to be used again, `largest` the size of the largest buffer.

    A buffer may be reused while commands on it are still queued: the queue is in order, so that the next user's
    commands run after them.
    """

    def __init__(self, queue: cl.CommandQueue, limit: int, largest: int) -> None:
        self.queue, self._context, self._limit, self._largest = queue, queue.context, limit, largest
        self._flags = cl.mem_flags.READ_WRITE
        if queue.device.type & cl.device_type.CPU:
            # PoCL (3.0) allocates other buffers in the first command that uses them, and crashes if there is no memory.
            self._flags |= cl.mem_flags.ALLOC_HOST_PTR
        self._numbers = itertools.count()
        # The size class that was released last is at the end.
        self._free: OrderedDict[int, list[tuple[cl.Buffer, int]]] = OrderedDict()
        self._kept = 0
        self._constants: OrderedDict[Hashable, Memory] = OrderedDict()

    def upload(self, key: Hashable, data: HostData) -> Span:
        """Return constant bytes in device memory; `key` tells their content from all others.

        They are kept while no program uses them, too, as long as all constants fit into the pool's limit.
        """
        size = len(data.bytes)
        found = self._constants.get(key)
        memory = self._constants[key] = self.take(size) if found is None else found
        self._constants.move_to_end(key)
        while len(self._constants) > 1 and sum(one.capacity for one in self._constants.values()) > self._limit:
            self._constants.popitem(last=False)
        span = Span(memory, 0, size)
        if found is None:
            try:
                self.write_host_data(span, 0, data)
            except BaseException:
                self._constants.pop(key, None)  # or the next program takes it as it is
                raise
        return span

    def write_host_data(self, span: Span, offset: int, data: HostData) -> None:
        """Copy bytes to the device and wait."""
        for at in range(0, len(data.bytes), _PIECE):
            piece = data.bytes[at : at + _PIECE]
            self.write(span, offset + at, piece)
            if data.mapping is not None and data.is_dropped:
                first = (data.start + at) // mmap.PAGESIZE * mmap.PAGESIZE
                data.mapping.madvise(mmap.MADV_DONTNEED, first, data.start + at + len(piece) - first)

    def write(self, span: Span, offset: int, data: npt.NDArray[np.generic]) -> None:
        """Copy an array to the device and wait."""
        copy = partial(cl.enqueue_copy, dst_offset=span.offset + offset, is_blocking=True)
        self.in_memory(copy, span.memory.buffer, data)
        self.note_written(span)

    def note_written(self, span: Span) -> None:
        """Note that the host has written a part of a buffer, where that matters."""

    def take(self, size: int) -> Memory:
        """Return memory of at least `size` bytes. Raises `pyopencl.Error` when the device has none left."""
        capacity = size_class(size, self._largest)
        free = self._free.get(capacity)
        if free:
            self._kept -= capacity
            return Memory(*free.pop(), capacity, self)
        try:
            buffer = cl.Buffer(self._context, self._flags, capacity)
        except cl.Error as error:
            if not is_out_of_memory(error):
                raise
            self.clear()
            buffer = cl.Buffer(self._context, self._flags, capacity)
        return Memory(buffer, next(self._numbers), capacity, self)

    def release(self, buffer: cl.Buffer, number: int, capacity: int) -> None:
        """Keep a buffer for the next request; where the pool is full, in place of those that waited longest."""
        if capacity > self._limit:
            return
        self._kept += capacity
        self._free.setdefault(capacity, []).append((buffer, number))
        self._free.move_to_end(capacity)
        while self._kept > self._limit:
            oldest, waiting = next(iter(self._free.items()))
            if waiting:
                waiting.pop(0)
                self._kept -= oldest
            if not waiting:
                del self._free[oldest]

    def in_memory(self, enqueue: Callable[..., ResultT], *arguments: Any) -> ResultT:
        """Enqueue a command; again without what waits to be used where the device is out of memory.

        Drivers may allocate a buffer when the first command uses it.
        """
        try:
            return enqueue(self.queue, *arguments)
        except cl.Error as error:
            if not is_out_of_memory(error):
                raise
        self.queue.finish()
        self.clear()
        return enqueue(self.queue, *arguments)

    @property
    def waiting(self) -> int:
        """Number of buffers that are not in use."""
        return sum(len(buffers) for buffers in self._free.values())

    def clear(self) -> None:
        """Release all buffers that are not in use."""
        self._constants.clear()
        self._free.clear()
        self._kept = 0


class Span(Struct):
    """A range of memory in bytes: what a `stream` resource is."""

    memory: Memory
    offset: int
    length: int

    def part(self, offset: int, length: int) -> Span:
        """Return a range of it."""
        return Span(self.memory, self.offset + offset, length)


class View(Struct):
    """A span as a tensor. `element` is IREE's element type code."""

    span: Span
    shape: tuple[int, ...]
    element: int


Bytes = npt.NDArray[np.uint8]
_PIECE = 16 << 20


class HostData(Struct, frozen=True):
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
