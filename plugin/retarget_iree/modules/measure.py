"""What a program has, from the statistics of the phase `stream`, where memory is planned, and from its code."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator

from retarget.extension import ProgramStatistics
from retarget.support import RetargetError

STREAM_FLAGS = ("--compile-to=stream", "--iree-scheduling-dump-statistics-format=json")


def stream_statistics(printed: str) -> ProgramStatistics:
    """Return what a program has, from what the compiler prints with `STREAM_FLAGS`. Raises `RetargetError` for other
    text."""
    # No JSON any more: lines that repeat the one above are left out of what was printed.
    found = [re.search(rf'"{name}": (\d+)', printed) for name in ("dispatch-count", "transient-memory-size")]
    dispatches, transient = found
    if dispatches is None or transient is None:
        msg = "found no statistics of the phase stream in what the compiler printed"
        raise RetargetError(msg)
    return ProgramStatistics(dispatches=int(dispatches[1]), transient=int(transient[1]))


Allocation = tuple[Hashable, int | None, bool]
"""What holds the memory, its bytes (None: arguments decide), and whether it is given back here rather than taken."""


def memory_line(name: str, allocations: Iterable[Allocation]) -> str:
    """Return what a function takes at most at once, if its code runs once from top to bottom; empty for nothing."""
    held: dict[Hashable, int] = {}
    peak, open_sizes = 0, 0
    for holder, size, is_free in allocations:
        if is_free:
            held.pop(holder, None)
        elif size is None:
            open_sizes += 1
        else:
            held[holder] = held.get(holder, 0) + size
            peak = max(peak, sum(held.values()))
    parts = [f"at most {peak} bytes at once, {sum(held.values())} of them held when it returns"] if peak else []
    if open_sizes:
        parts.append(f"{open_sizes} buffer{'s' if open_sizes > 1 else ''} of a size that arguments decide")
    return f"{name}: {', and '.join(parts)}" if parts else ""


_FUNCTION = re.compile(r"vm\.func @([^\s(]+)\(")
_ASSIGNED = re.compile(r" *%([ir]\d+)(?::\d+)? = (?:vm\.const\.i64(?:\.(zero)| (-?\d+)))?")
_CALL = re.compile(r"vm\.call @hal\.(device\.queue\.alloca|device\.queue\.dealloca|allocator\.allocate)\((.*)\)")
_PLACES = {"device.queue.alloca": 7, "allocator.allocate": 4, "device.queue.dealloca": 4}
"""Which argument is the size, or what is given back."""


def disassembled(lines: Iterable[str]) -> Iterator[tuple[str, list[Allocation]]]:
    """Return the functions of what `iree-dump-module --output=disassembly` prints, with their allocations."""
    constants: dict[str, int] = {}
    name, found = "", list[Allocation]()
    for line in lines:
        if function := _FUNCTION.match(line):
            yield name, found
            name, found, constants = function[1], [], {}
        assigned, call = _ASSIGNED.match(line), _CALL.search(line)
        if call:
            register = call[2].split(", ")[_PLACES[call[1]]].removeprefix("%").lower()
            is_free = call[1] == "device.queue.dealloca"
            holder = register if is_free or assigned is None else assigned[1]
            found.append((holder, None if is_free else constants.get(register), is_free))
        if assigned:
            constants.pop(assigned[1], None)
            if assigned[2] or assigned[3]:
                constants[assigned[1]] = int(assigned[3] or 0)
    yield name, found
