"""Runs on Oclgrind, an interpreter of kernels that checks each access to memory; what it finds is the call's failure.

Oclgrind writes what it finds to a file that its environment names. `docs/opencl.md` says what it does not see.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyopencl as cl
from retarget.extension import DriverError

from retarget_opencl.artifact.file import Kernel
from retarget_opencl.device.devices import FoundDevice
from retarget_opencl.run.commands import Commands, GroupCounter, Launcher, Workload
from retarget_opencl.run.device import OpenClDevice
from retarget_opencl.run.memory import Memory, Pool, Span

_SETTINGS = {
    "OCLGRIND_DATA_RACES": "1",
    "OCLGRIND_UNINITIALIZED": "1",
    "OCLGRIND_MAX_ERRORS": "10000",  # 1000, which one race in a loop takes
}
_FREED_AT = 1 << 30
_SHOWN = 4
"""Findings that are shown; what is uninitialized once makes more of what is computed from it."""

_HINT = "look at the kernel with: retarget show <artifact>; docs/opencl.md#sanitizer says how to read it"


class _Pool(Pool):
    """Buffers of exactly the size that is asked for, none used twice: what is beyond or was freed is not another's.

    When the host writes a part of a buffer, Oclgrind takes the rest for uninitialized, whatever kernels wrote there.
    Before the next kernel all of such a buffer is therefore written, as it is. The same holds for what is beyond the
    end of a freed buffer at whose address a larger one begins; buffers are therefore not freed before they are many.
    """

    def __init__(self, queue: cl.CommandQueue) -> None:
        super().__init__(queue, 0, 0)
        self._written: dict[int, cl.Buffer] = {}
        self._done: list[cl.Buffer] = []
        self._done_bytes, self._reuses_addresses = 0, False

    def take(self, size: int) -> Memory:
        buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, max(size, 1))
        if self._reuses_addresses:
            self._written[id(buffer)] = buffer
        return Memory(buffer, next(self._numbers), size, self)

    def release(self, buffer: cl.Buffer, number: int, capacity: int) -> None:
        del number
        self._written.pop(id(buffer), None)
        self._done.append(buffer)
        self._done_bytes += capacity
        if self._done_bytes > _FREED_AT:
            self._done.clear()
            self._done_bytes, self._reuses_addresses = 0, True

    def note_written(self, span: Span) -> None:
        self._written[id(span.memory.buffer)] = span.memory.buffer

    def rewrite_noted(self) -> None:
        """Write the buffers that were noted."""
        for buffer in self._written.values():
            data = np.empty(buffer.size, np.uint8)
            cl.enqueue_copy(self.queue, data, buffer, is_blocking=True)
            cl.enqueue_copy(self.queue, buffer, data, is_blocking=True)
        self._written.clear()


class _Commands(Commands):
    """Commands whose end asks what was found. `report` raises it."""

    def __init__(self, pool: _Pool, programs: Mapping[str, cl.Program], report: Callable[[], None]) -> None:
        super().__init__(pool, programs)
        self._checked, self._report = pool, report

    def launcher(self, kernel: Kernel, members: Sequence[Kernel], count_groups: GroupCounter) -> Launcher:
        launch = super().launcher(kernel, members, count_groups)

        def launch_checked(workload: Workload, spans: Sequence[tuple[Span, int]], values: Sequence[int]) -> None:
            self._checked.rewrite_noted()
            launch(workload, spans, values)

        return launch_checked

    def finish(self) -> None:
        super().finish()
        self._report()


class SanitizedDevice(OpenClDevice):
    """Oclgrind's device. A call during which it finds something raises `DriverError`."""

    def __init__(self, found: FoundDevice) -> None:
        self._folder = TemporaryDirectory(prefix="retarget-sanitize-")
        self._log, self._read = Path(self._folder.name, "log"), 0
        # Oclgrind reads its environment when the context is made.
        os.environ.update(_SETTINGS, OCLGRIND_LOG=str(self._log))
        # A kernel from a binary has no text that a finding could quote.
        super().__init__(found, cache=Path(self._folder.name))
        self._pool = self._checked = _Pool(self.queue)

    def _commands(self, kernels: Sequence[Kernel], programs: Mapping[str, cl.Program]) -> Commands:
        places = {kernel.name: kernel.location for kernel in kernels}
        return _Commands(self._checked, programs, lambda: self._report(places))

    def _report(self, places: Mapping[str, str]) -> None:
        """Raise what Oclgrind has written since the last time."""
        text = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        found, self._read = findings(text[self._read :], places), len(text)
        if found:
            more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
            raise DriverError("\n\n".join([*found[:_SHOWN], *more]), _HINT, harmless=True)

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


def findings(text: str, places: Mapping[str, str]) -> list[str]:
    """Return what Oclgrind wrote, what is alike once: what it is and the kernel, then how often, where the kernel comes
    from (by its name in `places`), and the work-items and statements of the first."""
    counts: Counter[tuple[str, str, tuple[str, ...]]] = Counter()
    first: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for entry in re.split(r"\n\n+(?=\S)", "\n" + text):
        head = re.sub(r"\s+", " ", re.sub(r" address 0x[0-9a-f]+", "", entry.split("\n\t")[0])).strip()
        kernel = re.search(r"\tKernel:\s*(\S+)", entry)
        if not head or (kernel is None and "suppressing further" in head):
            continue
        statements = re.findall(r"\tAt line \d+[^\n]*\n\t\s*([^\n]*)", entry)
        items = [item.strip() for item in re.findall(r"ntity:\s*(\S.*)", entry)]
        # Which of two entities Oclgrind meets first says nothing.
        pairs = sorted(zip_longest(items, statements, fillvalue=""), key=lambda pair: pair[1])
        key = (head, kernel[1] if kernel else "", tuple(statement for _, statement in pairs))
        counts[key] += 1
        first.setdefault(key, ["  " + "  ".join(filter(None, pair)) for pair in pairs])
    return ["\n".join((*_head(key[0], key[1], count, places), *first[key])) for key, count in counts.items()]


def _head(what: str, kernel: str, count: int, places: Mapping[str, str]) -> tuple[str, str]:
    place = f", from {places[kernel]}" if places.get(kernel) else ""
    return (
        f"Oclgrind: {what}{f', in the kernel {kernel}' if kernel else ''}",
        f"{'once' if count == 1 else f'{count} times, the first'}{place}:",
    )
