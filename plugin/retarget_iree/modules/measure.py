"""The size of a module, from its text at the phase `flow`: there dispatches are formed, and no backend has begun;
and what its program has, from the statistics at the phase `stream`, where memory is planned."""

from __future__ import annotations

import math
import re

from retarget.extension import ModuleSize, ProgramStatistics
from retarget.support.errors import RetargetError

__all__ = ["FLOW_FLAGS", "STREAM_FLAGS", "flow_size", "stream_statistics"]

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
