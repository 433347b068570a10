"""The size of a module, from its text at the phase `flow`: there dispatches are formed, and no backend has begun;
and what its program has, from the statistics at the phase `stream`, where memory is planned."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Iterator

from retarget.extension import ModuleSize, ProgramStatistics
from retarget.support import RetargetError

FLOW_FLAGS = ("--compile-to=flow",)
STREAM_FLAGS = ("--compile-to=stream", "--iree-scheduling-dump-statistics-format=json")

_OP = re.compile(r"(?m)^ *(?:%[^=]*= *)?\"?([a-z_]\w*(?:\.\w+)+)")
"""An op begins a line, or follows the values that it defines."""

_DISPATCH = "flow.dispatch"
_FRAME = re.compile(
    r"(util|check|hal|builtin|iree_tensor_ext)\.|func\.func$|flow\.(executable|dispatch|return|tensor\.reshape)"
    r"|arith\.constant$|tensor\.empty$|linalg\.generic$|\w+\.yield$"
)
"""Ops that hold, name, load and check what others compute; `linalg.generic` is the loop around them."""

_TENSOR = re.compile(r"\btensor<((?:[\d?]+x)*)([a-z]\w*(?:<\w+>)?)[>,]")


def flow_size(text: str) -> ModuleSize:
    """Return the size of a module from what `--compile-to=flow` gives.

    A dispatch in a loop counts once. `elements` are those of the largest tensor; a size that is known only at run time
    counts as 1.
    """
    ops = _OP.findall(text)
    shapes = _TENSOR.findall(text)
    return ModuleSize(
        dispatches=ops.count(_DISPATCH),
        ops=tuple(sorted({op for op in ops if not _FRAME.match(op)})),
        types=tuple(sorted({element for _, element in shapes})),
        elements=max((math.prod(int(size) for size in re.findall(r"\d+", sizes)) for sizes, _ in shapes), default=0),
    )


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
