"""Inputs for functions that nobody wrote cases for, made from their declared types: the same in every run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from retarget.extension import Case, CaseData, FunctionInfo
from retarget.support.errors import RetargetError
from retarget.worker.child.outputs import dtype_named

if TYPE_CHECKING:
    from retarget.extension import Array

__all__ = ["seeded_cases"]

_TENSOR = re.compile(r"tensor<(?P<shape>(?:(?:\d+|\?)x)*)(?P<element>[^,<>]+|complex<f(?:32|64)>)(?:,.*)?>")
_DYNAMIC = 4
"""The size of a dimension that the type leaves open."""

_ELEMENTS = {
    "i1": "bool",
    "index": "int64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}


def seeded_cases(functions: Sequence[FunctionInfo], cases: Iterable[Case], seed: int) -> list[Case]:
    """Return a case for each function that takes arguments and that none of `cases` calls."""
    called = {case.function for case in cases}
    return [
        Case(name=function.name, function=function.name, read=_reader(function, seed))
        for function in functions
        if function.arguments and function.name not in called
    ]


def _reader(function: FunctionInfo, seed: int) -> Callable[[], CaseData]:
    return lambda: CaseData(inputs=_inputs(function, seed))


def _inputs(function: FunctionInfo, seed: int) -> tuple[Array, ...]:
    if len(function.argument_types) != function.arguments:
        msg = f"no inputs can be made for function {function.name!r}: the artifact does not say what it takes"
        raise RetargetError(msg)
    return tuple(_input(function, position, text, seed) for position, text in enumerate(function.argument_types))


def _input(function: FunctionInfo, position: int, text: str, seed: int) -> Array:
    found = _TENSOR.fullmatch(text)
    shape = [_DYNAMIC if size == "?" else int(size) for size in found["shape"].split("x")[:-1]] if found else []
    dtype = _dtype(found["element"] if found else text)
    if dtype is None:
        msg = (
            f"no inputs can be made for function {function.name!r}: argument {position} is a {text}, "
            "expected a number or a tensor of numbers"
        )
        raise RetargetError(msg)
    digest = hashlib.sha256(f"{seed} {function.name} {position}".encode()).digest()
    random = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))
    return _drawn(random, tuple(shape), dtype)


def _dtype(element: str) -> np.dtype[Any] | None:
    if element in _ELEMENTS:
        return dtype_named(_ELEMENTS[element])
    if found := re.fullmatch(r"(u|s)?i(8|16|32|64)", element):
        return np.dtype(f"{'uint' if found[1] == 'u' else 'int'}{found[2]}")
    if found := re.fullmatch(r"f8(\w+)", element):
        try:
            return dtype_named(f"float8_{found[1].lower()}")
        except TypeError:
            return None
    return None


def _drawn(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Draw from -2 to 2 for floats and from -8 to 8 for integers: no overflow in a few products, both signs."""
    values: Any
    if dtype.kind == "b":
        values = random.integers(0, 2, shape)
    elif dtype.kind in "iu":
        values = random.integers(0 if dtype.kind == "u" else -8, 9, shape)
    elif dtype.kind == "c":
        values = random.uniform(-2, 2, shape) + 1j * random.uniform(-2, 2, shape)
    else:
        values = random.uniform(-2, 2, shape)
    return np.asarray(values).astype(dtype)
