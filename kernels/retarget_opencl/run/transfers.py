"""The memory and the queues of an OpenCL device, without a program. Lives in device workers only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
from retarget.extension import BufferRange, DriverError, TransferLimits, Transfers

from retarget_opencl.device.devices import OCLGRIND
from retarget_opencl.run.errors import driver_errors

_PATTERNS = (1, 2, 4, 8, 16, 32, 64, 128)
_POLL_SECONDS = 0.0005
_OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
_COMPLETE = cl.command_execution_status.COMPLETE


class OpenClTransfers(Transfers):
    """Submissions go to an out-of-order queue, where the device has one, and
    what the host reads, writes and maps to another.

    OpenCL aligns fills to their patterns and nothing else, refuses copies that overlap, and promises buffers up to
    CL_DEVICE_MAX_MEM_ALLOC_SIZE. It allows commands out of order, and promises none: NVIDIA's keep their order.
    Oclgrind executes its queue in `clFlush`, which does not return while a command there waits for the host, and takes
    patterns of any length.
    """

    def __init__(self, context: cl.Context, device: cl.Device) -> None:
        out_of_order = device.queue_properties & _OUT_OF_ORDER
        self._context, self._name = context, device.name
        self.limits = TransferLimits(
            largest_allocation=device.max_mem_alloc_size, in_order=True, asynchronous=device.platform.name != OCLGRIND
        )
        with self._errors("creating command queues"):
            self._queue = cl.CommandQueue(context, device, properties=out_of_order)
            self._host = cl.CommandQueue(context, device)

    def allocate(self, size: int, mappable: bool) -> cl.Buffer:
        """Create a buffer; a mappable one where the host reaches it best."""
        flags = cl.mem_flags.READ_WRITE | (cl.mem_flags.ALLOC_HOST_PTR if mappable else 0)
        with self._errors("creating a buffer"):
            return cl.Buffer(self._context, flags, size)

    def free(self, buffer: cl.Buffer) -> None:
        """Release a buffer."""
        buffer.release()

    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        """Write and wait."""
        if not self._is_empty(target):
            with self._errors("writing"):
                cl.enqueue_copy(self._host, target.buffer, bytes(data), dst_offset=target.offset, is_blocking=True)

    def read(self, source: BufferRange) -> bytes:
        """Read and wait."""
        if self._is_empty(source):
            return b""
        data = np.empty(source.length, np.uint8)
        with self._errors("reading"):
            cl.enqueue_copy(self._host, data, source.buffer, src_offset=source.offset, is_blocking=True)
        return data.tobytes()

    @contextmanager
    def map(self, mapped: BufferRange) -> Iterator[memoryview]:
        """Map and wait; unmap and wait."""
        flags = cl.map_flags.READ | cl.map_flags.WRITE
        with self._errors("mapping"):
            array, _ = cl.enqueue_map_buffer(
                self._host, mapped.buffer, flags, mapped.offset, (mapped.length,), np.uint8, is_blocking=True
            )
        try:
            with array.data as view:
                yield view
        finally:
            with self._errors("unmapping"):
                array.base.release(self._host).wait()

    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[cl.Event]) -> cl.Event:
        """Enqueue a fill."""
        if target.length and len(pattern) not in _PATTERNS:
            msg = f"found a pattern of {len(pattern)} bytes, expected one of {', '.join(map(str, _PATTERNS))}"
            raise DriverError(msg)
        enqueue = partial(cl.enqueue_fill_buffer, self._queue, target.buffer, pattern, target.offset, target.length)
        return self._submit("filling", after, (target,), enqueue)

    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[cl.Event]) -> cl.Event:
        """Enqueue a copy."""
        places = {"byte_count": source.length, "src_offset": source.offset, "dst_offset": target.offset}
        enqueue = partial(cl.enqueue_copy, self._queue, target.buffer, source.buffer, **places)
        return self._submit("copying", after, (source, target), enqueue)

    def update(self, target: BufferRange, data: bytes | bytearray, after: Sequence[cl.Event]) -> cl.Event:
        """Enqueue a write. The event keeps the bytes."""
        kept = np.frombuffer(bytes(data), np.uint8)
        enqueue = partial(
            cl.enqueue_copy, self._queue, target.buffer, kept, dst_offset=target.offset, is_blocking=False
        )
        return self._submit("updating", after, (target,), enqueue)

    def _submit(
        self, what: str, after: Sequence[cl.Event], ranges: Sequence[BufferRange], enqueue: Callable[..., cl.Event]
    ) -> cl.Event:
        """Submit a command that waits for events; where its ranges have no bytes, for which OpenCL has none, a marker.

        Raises `DriverError` for what would wait on a device that is not asynchronous.
        """
        if not self.limits.asynchronous and not all(map(self.is_complete, after)):
            msg = f"{self._name} executes what is submitted at once, and an event that this waits for is not complete"
            raise DriverError(msg)
        if all(map(self._is_empty, ranges)):
            if not after:  # a marker without events waits for all before it
                done = self.host_event()
                self.signal(done)
                return done
            what, enqueue = "enqueueing a marker", partial(cl.enqueue_marker, self._queue)
        with self._errors(what):
            event = enqueue(wait_for=list(after))
            self._queue.flush()
            return event

    def host_event(self) -> cl.UserEvent:
        """Create a user event."""
        with self._errors("creating a user event"):
            return cl.UserEvent(self._context)

    def signal(self, event: cl.UserEvent) -> None:
        """Set its status."""
        with self._errors("setting the status of a user event"):
            event.set_status(_COMPLETE)

    def is_complete(self, event: cl.Event) -> bool:
        """Ask for the status of an event. One below 0 is the error of its command."""
        with self._errors("asking for the status of an event"):
            status = event.command_execution_status
        if status < 0:
            msg = f"CL_{cl.status_code.to_string(status, '<unknown error %d>')}: a command failed on {self._name}"
            raise DriverError(msg)
        return bool(status == _COMPLETE)

    def wait(self, event: cl.Event, seconds: float) -> bool:
        """Ask until the event is complete: OpenCL has no wait with a timeout."""
        end = time.monotonic() + seconds
        while not self.is_complete(event):
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _is_empty(self, target: BufferRange) -> bool:
        """Return whether a range has no bytes, for which OpenCL has no command. Raises `DriverError` past the end."""
        if target.length == 0 and target.offset > target.buffer.size:
            msg = f"the offset {target.offset} is not within the {target.buffer.size} bytes of the buffer"
            raise DriverError(msg)
        return target.length == 0

    def _errors(self, what: str) -> AbstractContextManager[Any]:
        return driver_errors(what, self._name)
