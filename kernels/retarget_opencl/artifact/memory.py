"""How much device memory a program takes: constants, parameters, and what its functions allocate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from retarget_iree.modules.memory import Allocation, memory_line

from retarget_opencl.artifact.file import OpenClArtifact
from retarget_opencl.artifact.program import Function

__all__ = ["memory_lines"]


def memory_lines(artifact: OpenClArtifact) -> Iterator[str]:
    """Return lines for people."""
    yield f"constants: {len(artifact.blobs)}, {sum(map(len, artifact.blobs))} bytes"
    for function in artifact.program.functions:
        values: dict[Any, Any] = {constant.register: constant.value for constant in function.constants}
        for name, *words in _reached(function):
            if name == "parameter_load":
                scope = values.get(words[1])
                text = "" if scope is None else bytes(artifact.blobs[scope]).decode()
                sizes: list[Any] = [values.get(register) for register in words[4]]
                total = "of sizes that arguments decide" if None in sizes else f"{sum(sizes)} bytes"
                yield f"parameters of the scope {text!r}: {len(sizes)}, {total}"
    for function in artifact.program.functions:
        line = memory_line(function.name, _allocations(function))
        if line:
            yield line


def _reached(function: Function) -> Iterator[tuple[Any, ...]]:
    """Return the instructions of the blocks that are jumped to."""
    targets = {0}
    jumps: list[Any] = [block[-1] for block in function.blocks]
    for name, *words in jumps:
        targets |= {words[place] for place in {"br": (0,), "cond_br": (1, 4)}.get(name, ())}
        if name == "switch_br":
            targets |= {jump[0] for jump in (*words[2], words[3])}
    return (instruction for number in sorted(targets) for instruction in function.blocks[number])


def _allocations(function: Function) -> Iterator[Allocation]:
    sizes = {constant.register: constant.value for constant in function.constants if constant.kind == "number"}
    for name, *words in _reached(function):
        if name == "allocate":
            known = sizes.get(words[1])
            yield words[0], known if isinstance(known, int) else None, False
        elif name == "free":
            yield words[0], None, True
