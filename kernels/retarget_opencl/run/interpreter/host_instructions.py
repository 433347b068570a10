# ruff: noqa: PLR0917 - an instruction's words are positional
"""Instructions on what lies in the host's memory: buffers of bytes and lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from retarget_opencl.artifact.element_types import element_dtype

if TYPE_CHECKING:
    from retarget_opencl.run.interpreter.machine import Machine

__all__ = ["HOST_BUILDERS"]

Registers = list[Any]
Step = Callable[[Registers], None]


def _buffer_load(machine: Machine, result: int, source: int, offset: int, *rest: Any) -> Step:
    del machine
    dtype = _host_dtype(str(rest[-1]))

    def step(r: Registers) -> None:
        start = r[offset]
        r[result] = r[source][start : start + dtype.itemsize].view(dtype)[0].item()

    return step


def _buffer_store(machine: Machine, value: int, target: int, offset: int, kind: str) -> Step:
    del machine
    dtype = _host_dtype(kind)

    def step(r: Registers) -> None:
        start = r[offset]
        r[target][start : start + dtype.itemsize] = np.array([r[value]], dtype).view(np.uint8)

    return step


def _buffer_fill(machine: Machine, pattern: int, target: int, offset: int, length: int, kind: str) -> Step:
    del machine
    dtype = _host_dtype(kind)

    def step(r: Registers) -> None:
        start = r[offset]
        r[target][start : start + r[length]].view(dtype)[:] = r[pattern]

    return step


def _buffer_copy(
    machine: Machine, source: int, source_offset: int, target: int, target_offset: int, length: int
) -> Step:
    del machine

    def step(r: Registers) -> None:
        size = r[length]
        data = r[source][r[source_offset] : r[source_offset] + size]
        r[target][r[target_offset] : r[target_offset] + size] = data

    return step


def _buffer_compare(
    machine: Machine, result: int, left: int, left_offset: int, right: int, right_offset: int, length: int
) -> Step:
    del machine

    def step(r: Registers) -> None:
        size = r[length]
        first = r[left][r[left_offset] : r[left_offset] + size]
        second = r[right][r[right_offset] : r[right_offset] + size]
        r[result] = int(np.array_equal(first, second))

    return step


def _host_dtype(kind: str) -> np.dtype[np.generic]:
    dtype = element_dtype(kind)
    if dtype is None:
        msg = f"no host buffer of {kind}"
        raise ValueError(msg)
    return dtype


def _plain(function: Callable[..., Any]) -> Callable[..., Step]:
    """An instruction that computes its result from its operands' values."""

    def build(machine: Machine, result: int, *operands: int) -> Step:
        del machine

        def step(r: Registers) -> None:
            r[result] = function(*[r[operand] for operand in operands])

        return step

    return build


def _plain_effect(function: Callable[..., Any]) -> Callable[..., Step]:
    """An instruction without a result."""

    def build(machine: Machine, *operands: int) -> Step:
        del machine

        def step(r: Registers) -> None:
            function(*[r[operand] for operand in operands])

        return step

    return build


def _list_construct(machine: Machine, result: int, operands: Sequence[int]) -> Step:
    del machine

    def step(r: Registers) -> None:
        r[result] = [r[operand] for operand in operands]

    return step


def _resize(values: list[Any], size: int) -> None:
    del values[size:]
    values.extend([None] * (size - len(values)))


def _list_set(values: list[Any], index: int, value: Any) -> None:
    values[index] = value


HOST_BUILDERS: dict[str, Callable[..., Step]] = {
    "buffer_alloc": _plain(lambda size: np.zeros(size, np.uint8)),
    "buffer_size": _plain(len),
    "buffer_slice": _plain(lambda source, offset, length: source[offset : offset + length].copy()),
    "buffer_subspan": _plain(lambda source, offset, length: source[offset : offset + length]),
    "buffer_load": _buffer_load,
    "buffer_store": _buffer_store,
    "buffer_fill": _buffer_fill,
    "buffer_copy": _buffer_copy,
    "buffer_compare": _buffer_compare,
    "list_create": _plain(lambda *capacity: []),  # noqa: ARG005
    "list_construct": _list_construct,
    "list_size": _plain(len),
    "list_resize": _plain_effect(_resize),
    "list_get": _plain(lambda values, index: values[index]),
    "list_set": _plain_effect(_list_set),
}
