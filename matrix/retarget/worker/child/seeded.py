"""Inputs for functions without cases, generated from their declared types: the same in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from retarget.arrays.dtypes import bits_of, dtype_of, kind_of
from retarget.extension import Case, CaseData, FunctionInfo
from retarget.model.element_types import parse_type
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.extension import Array

_DYNAMIC = 4
"""The size of a dimension that the type leaves open."""


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
        msg = f"no inputs can be generated for function {function.name!r}: the artifact does not say what it takes"
        raise RetargetError(msg)
    return tuple(_input(function, position, text, seed) for position, text in enumerate(function.argument_types))


def _input(function: FunctionInfo, position: int, text: str, seed: int) -> Array:
    declared = parse_type(text)
    dtype = dtype_of(declared)
    if dtype is None or declared.shape is None:
        msg = (
            f"no inputs can be generated for function {function.name!r}: argument {position} is a {text}, "
            "expected a number or a tensor of numbers"
        )
        raise RetargetError(msg)
    digest = hashlib.sha256(f"{seed} {function.name} {position}".encode()).digest()
    random = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))
    return _drawn(random, tuple(_DYNAMIC if size is None else size for size in declared.shape), dtype)


def _drawn(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Draw from -2 to 2 for floats and from -8 to 8 for integers, as far as they go: no overflow in a few
    products, both signs."""
    values: Any
    kind, bits = kind_of(dtype), bits_of(dtype)
    if kind == "b":
        values = random.integers(0, 2, shape)
    elif kind == "i":
        values = random.integers(max(-8, -1 << bits - 1), min(9, 1 << bits - 1), shape)
    elif kind == "u":
        values = random.integers(0, min(9, 1 << bits), shape)
    elif kind == "c":
        values = random.uniform(-2, 2, shape) + 1j * random.uniform(-2, 2, shape)
    else:
        values = random.uniform(-2, 2, shape)
        if dtype.name == "float8_e8m0fnu":  # powers of two, without a sign
            values = np.abs(values)
    return np.asarray(values).astype(dtype)
