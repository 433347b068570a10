"""Device memory: pooled buffers, spans of them, and views of spans as tensors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyopencl as cl

__all__ = ["Memory", "Pool", "Span", "View"]

_SMALLEST = 256


def size_class(size: int) -> int:
    """Return the size in bytes that a request for `size` bytes gets: at most an eighth more, at least 256."""
    if size <= _SMALLEST:
        return _SMALLEST
    step = 1 << max((size - 1).bit_length() - 3, 8)
    return -(-size // step) * step


class Memory:
    """A buffer of the pool. It is returned to the pool when nothing refers to it any more."""

    __slots__ = ("buffer", "capacity", "pool")

    def __init__(self, buffer: cl.Buffer, capacity: int, pool: Pool) -> None:
        self.buffer, self.capacity, self.pool = buffer, capacity, pool

    def __del__(self) -> None:
        self.pool.release(self.buffer, self.capacity)


class Pool:
    """Buffers by size class.

    A buffer may be reused while commands on it are still queued: the queue is in order, so that the next user's
    commands run after them.
    """

    def __init__(self, context: cl.Context, limit: int) -> None:
        self._context, self._limit = context, limit
        self._free: dict[int, list[cl.Buffer]] = {}
        self._kept = 0
        self._constants: OrderedDict[Hashable, Memory] = OrderedDict()

    def constant(self, key: Hashable, size: int) -> tuple[Memory, bool]:
        """Return the memory of a constant, by a key that tells its content from all others, and whether it is filled.

        It is kept while no program uses it, too, as long as constants and free buffers fit into the pool's limit.
        """
        found = self._constants.get(key)
        memory = self.take(size) if found is None else found
        self._constants[key] = memory
        self._constants.move_to_end(key)
        while len(self._constants) > 1 and sum(one.capacity for one in self._constants.values()) > self._limit:
            self._constants.popitem(last=False)
        return memory, found is not None

    def take(self, size: int) -> Memory:
        """Return memory of at least `size` bytes. Raises `pyopencl.Error` when the device has none left."""
        import pyopencl as cl

        capacity = size_class(size)
        free = self._free.get(capacity)
        if free:
            self._kept -= capacity
            return Memory(free.pop(), capacity, self)
        try:
            buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, capacity)
        except cl.MemoryError:
            self.clear()
            buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, capacity)
        return Memory(buffer, capacity, self)

    def release(self, buffer: cl.Buffer, capacity: int) -> None:
        """Keep a buffer for the next request, unless the pool is full."""
        if self._kept + capacity <= self._limit:
            self._kept += capacity
            self._free.setdefault(capacity, []).append(buffer)

    @property
    def waiting(self) -> int:
        """Number of buffers that are not in use."""
        return sum(len(buffers) for buffers in self._free.values())

    def clear(self) -> None:
        """Release all buffers that are not in use."""
        self._constants.clear()
        self._free.clear()
        self._kept = 0


@dataclass(slots=True)
class Span:
    """A range of memory in bytes: what a `stream` resource is."""

    memory: Memory
    offset: int
    length: int


@dataclass(slots=True)
class View:
    """A span as a tensor. `element` is IREE's element type code."""

    span: Span
    shape: tuple[int, ...]
    element: int
