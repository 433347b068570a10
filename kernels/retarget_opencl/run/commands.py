"""The commands of a host program: memory, copies, fills, dispatches, and arrays in and out.

Everything goes to one in-order queue, so that commands run in the program's order; only reading back waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from sys import byteorder
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from retarget.arrays import Elements
from retarget.extension import Check, CheckSink
from retarget_iree.runtime.elements import ELEMENT_CODES, element_type_code, element_type_name

from retarget_opencl.artifact.file import Kernel
from retarget_opencl.internals import buffer_copy, bytes_setter, kernel_object
from retarget_opencl.run.errors import ProgramError
from retarget_opencl.run.memory import Pool, Span, View
from retarget_opencl.translation import element_dtype

if TYPE_CHECKING:
    import pyopencl as cl
    from retarget.extension import Array


Workload = tuple[Any, ...]
Launcher = Callable[[Workload, Sequence[tuple[Span, int]], Sequence[int]], None]
GroupCounter = Callable[[Workload], Sequence[Sequence[int]]]
Size = tuple[int, int, int]
_Range = tuple[Size, Sequence[int]]
"""The work-items of a launch, and further numbers that the kernel takes."""
_FLUSH_EVERY = 16  # commands


def _element_name(dtype: np.dtype[np.generic]) -> str:
    """Return the MLIR element type of a NumPy dtype. Raises `ProgramError` for one that IREE does not have."""
    elements = Elements.of(dtype)
    if (name := elements.text()) not in ELEMENT_CODES:
        msg = f"arrays of {dtype} have no tensor element type"
        raise ProgramError(msg)
    return f"s{name}" if elements.kind == "i" else name


class Commands:
    """The commands of one loaded program.

    `programs` have its kernels, by their names. `sink` receives its checks while a call runs; `events`, if a list, the
    events of its dispatches by kernel name.
    `started` is called before the next dispatch, once.
    """

    def __init__(self, pool: Pool, programs: Mapping[str, cl.Program]) -> None:
        import pyopencl as cl

        self._cl, self.pool, self.programs = cl, pool, programs
        self.sink: CheckSink | None = None
        self.dispatches = 0
        self.started: Callable[[], None] | None = None
        self.events: list[tuple[str, cl.Event]] | None = None
        # Commands since the last flush. The first are flushed at once, so that the device is not idle.
        self._unflushed = _FLUSH_EVERY
        self._copy = buffer_copy(cl)

    # ------------------------------------------------------------ memory

    def allocate(self, size: int) -> Span:
        """Return new memory, its content undefined."""
        return Span(self.pool.take(size), 0, size)

    def read(self, span: Span, offset: int, length: int) -> npt.NDArray[np.uint8]:
        """Return bytes from the device, once all commands before are done."""
        data = np.empty(length, np.uint8)
        if length:
            self._unflushed = _FLUSH_EVERY
            source, start = span.memory.buffer, span.offset + offset
            self._cl.enqueue_copy(self.pool.queue, data, source, src_offset=start, is_blocking=True)
        return data

    def write(self, span: Span, offset: int, data: Array) -> None:
        """Write bytes to the device."""
        if data.nbytes:
            self._unflushed = _FLUSH_EVERY
            self.pool.write(span, offset, data)

    def resource_load(self, span: Span, offset: int, kind: str) -> int | float:
        """Return one scalar from the device."""
        dtype = memory_dtype(kind)
        value: int | float = self.read(span, offset, dtype.itemsize).view(dtype)[0].item()
        return value

    def resource_store(self, span: Span, offset: int, value: float, kind: str) -> None:
        """Write one scalar to the device."""
        self.write(span, offset, np.array([value]).astype(memory_dtype(kind)).view(np.uint8))

    def upload(self, data: npt.NDArray[np.uint8], start: int, span: Span, offset: int, length: int) -> None:
        """Copy host bytes to the device."""
        self.write(span, offset, np.ascontiguousarray(data[start : start + length]))

    def fill(self, span: Span, offset: int, length: int, value: float, kind: str) -> None:
        """Fill a range with a pattern of 1, 2, 4 or 8 bytes."""
        if length == 0:
            return
        pattern = np.array([value]).astype(memory_dtype(kind))
        start, width = span.offset + offset, pattern.itemsize
        if start % width or length % width:
            # OpenCL requires whole patterns at their natural alignment.
            self.write(span, offset, np.resize(pattern.view(np.uint8), length))
        else:
            self.pool.in_memory(self._cl.enqueue_fill_buffer, span.memory.buffer, pattern, start, length)
            self.pool.note_written(span)

    def copy(self, source: Span, source_offset: int, target: Span, target_offset: int, length: int) -> None:
        """Copy between spans."""
        if length:
            self._unflushed += 1
            self.pool.in_memory(
                self._copy,
                source.memory.buffer,
                target.memory.buffer,
                length,
                source.offset + source_offset,
                target.offset + target_offset,
            )
            self.pool.note_written(target)

    def flush(self) -> None:
        """Flush the queue if it holds many commands or the device may be idle.

        Waiting for the queue and reading back flush it anyway.
        """
        if self._unflushed >= _FLUSH_EVERY:
            self._unflushed = 0
            self.pool.queue.flush()

    @contextmanager
    def profiled(self) -> Iterator[list[tuple[str, cl.Event]]]:
        """Send what follows to a queue that times commands on the device; yield the list of dispatches' events."""
        plain = self.pool.queue
        self.finish()
        properties = self._cl.command_queue_properties.PROFILING_ENABLE
        self.pool.queue = self._cl.CommandQueue(plain.context, plain.device, properties=properties)
        self.events = []
        try:
            yield self.events
        finally:
            try:
                self.finish()
            finally:  # the queue is of all programs of the device
                self.pool.queue, self.events = plain, None

    def finish(self) -> None:
        """Wait until all commands are done."""
        self._unflushed = _FLUSH_EVERY
        self.pool.queue.finish()

    # ------------------------------------------------------------ dispatches

    def launcher(self, kernel: Kernel, members: Sequence[Kernel], count_groups: GroupCounter) -> Launcher:
        """Return a function that launches a kernel for one dispatch of the program.

        `members` are the kernels whose work it does, or it alone; their spans and uniforms follow each other, and
        `count_groups` counts the work-groups of each. The dispatch has its own kernel object, whose arguments stay set:
        only what differs from the launch before is set again. A span's own offset and the dispatch's are added, and
        passed as an argument.
        """
        span_places, number_places = _places(members)
        sizes = kernel.workgroup_size

        def range_of(workload: Workload) -> _Range | None:
            groups = count_groups(workload)
            total = sum(map(prod, groups))
            if not total:
                return None
            if kernel.members:
                return (total * sizes[0], 1, 1), [number for group in groups for number in group]
            ((x, y, z),) = groups
            return (x * sizes[0], y * sizes[1], z * sizes[2]), ()

        cl, commands = self._cl, self
        instance: Any = None  # most of a second start would be spent on kernels, of which not all are launched
        buffers = [-1] * len(span_places)
        offsets: list[int] = [-1] * len(span_places)
        numbers: list[int | None] = [None] * len(number_places)
        known: dict[Workload, _Range | None] = {}
        enqueue, in_memory = cl.enqueue_nd_range_kernel, self.pool.in_memory

        def launch(workload: Workload, spans: Sequence[tuple[Span, int]], uniforms: Sequence[int]) -> None:
            if workload not in known:
                known[workload] = range_of(workload)
            found = known[workload]
            if found is None:
                return
            total, more = found
            nonlocal instance
            if instance is None:
                instance = kernel_object(commands.programs[kernel.name], kernel.name)
            set_arg, set_number = instance.set_arg, bytes_setter(instance)
            for index, (span, offset) in enumerate(spans):
                # Its number is remembered, not the buffer: to hold that would keep the pool from releasing it.
                memory = span.memory
                if buffers[index] != memory.number:
                    set_arg(span_places[index], memory.buffer)
                    buffers[index] = memory.number
                start = span.offset + offset
                if offsets[index] != start:
                    set_number(span_places[index] + 1, start.to_bytes(8, byteorder))
                    offsets[index] = start
            for index, value in enumerate((*uniforms, *more) if more else uniforms):
                if numbers[index] != value:
                    set_number(number_places[index], (value & 0xFFFFFFFF).to_bytes(4, byteorder))
                    numbers[index] = value
            if commands.started is not None:  # before: enqueueing may crash, as where PoCL builds the kernel then
                started, commands.started = commands.started, None
                started()
            event = in_memory(enqueue, instance, total, sizes)
            commands.dispatches += 1
            commands._unflushed += 1
            if commands.events is not None:
                commands.events.append((kernel.name, event))

        return launch

    # ------------------------------------------------------------ arrays

    def to_device(self, array: Array) -> View:
        """Copy an array to the device. Raises `ProgramError` for a dtype that no tensor has."""
        name = _element_name(array.dtype)
        raw = Elements.pack(array)
        span = self.allocate(raw.nbytes)
        self.write(span, 0, raw)
        return View(span, array.shape, element_type_code(name))

    def to_host(self, view: View) -> Array:
        """Copy a tensor from the device."""
        name = element_type_name(view.element)
        dtype = element_dtype(name)
        if dtype is None:
            msg = f"no NumPy dtype for tensors of {name}"
            raise ProgramError(msg)
        elements = Elements.of(dtype)
        return elements.unpack(self.read(view.span, 0, elements.size(view.shape)), view.shape)

    def check(self, kind: str, operands: Sequence[Any], atol: float, rtol: float) -> None:
        """Report a check to the caller of the function."""
        if self.sink is not None:
            arrays = [self.to_host(item) if isinstance(item, View) else np.asarray(item) for item in operands]
            expected = arrays[1] if len(arrays) > 1 else None
            self.sink(Check(kind=kind, actual=arrays[0], expected=expected, atol=atol, rtol=rtol))


def memory_dtype(kind: str) -> np.dtype[np.generic]:
    """Return the dtype that a scalar has in memory. Raises `ProgramError` where it has none."""
    dtype = element_dtype(kind)
    if dtype is None:
        msg = f"no memory representation of {kind}"
        raise ProgramError(msg)
    return dtype


def _places(members: Sequence[Kernel]) -> tuple[list[int], list[int]]:
    """Return which arguments are spans (their offsets are the next ones), and which are numbers: the members' uniforms,
    then their work-groups."""
    spans, uniforms, groups, place = list[int](), list[int](), list[int](), 0
    for member in members:
        first = place + 2 * len(member.bindings)
        last = first + len(member.constants)
        spans += range(place, first, 2)
        uniforms += range(first, last)
        groups += range(last, last + 3)
        place = last + 3
    return spans, [*uniforms, *groups]
