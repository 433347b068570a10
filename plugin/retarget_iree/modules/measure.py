"""The size of a module, from its text at the phase `flow`: there dispatches are formed, and no backend has begun."""

from __future__ import annotations

import math
import re

from retarget.extension import ModuleSize

__all__ = ["FLOW_FLAGS", "flow_size"]

FLOW_FLAGS = ("--compile-to=flow",)

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
