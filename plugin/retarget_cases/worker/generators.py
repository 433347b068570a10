"""Generated values: numbers that count up, and random ones.

Random numbers are those of NumPy's `Generator(PCG64(seed))`: `standard_normal` (times `std`, plus `mean`), `uniform`
and `integers`, drawn in binary64 or 64-bit integers, row-major, the real part of a complex number before the imaginary
part, and then rounded to the element type. Without a `seed` it is the first eight bytes, little-endian, of the SHA-256
of `module NUL case NUL position`, so that each argument of each case has numbers of its own, the same every time.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from retarget.arrays.dtypes import kind_of, type_text

from retarget_cases.files.tables import IntegersTable, IotaTable, NormalTable, UniformTable
from retarget_cases.worker.literals import InvalidValueError, first_lost, integer_of

if TYPE_CHECKING:
    from retarget.extension import Array


def default_seed(module: str, case: str, position: int) -> int:
    """Return the seed of an argument that names none."""
    return int.from_bytes(hashlib.sha256(f"{module}\0{case}\0{position}".encode()).digest()[:8], "little")


def count_up(table: IotaTable, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return numbers from `iota` in steps. Raises `InvalidValueError` for those that the type cannot hold."""
    count = math.prod(shape)
    start, step = table.iota, table.step
    kind = kind_of(dtype)
    if kind in "iu":
        if not isinstance(start, int) or not isinstance(step, int):
            msg = f"found {start!r} and step {step!r}, expected integers ({type_text((), dtype)})"
            raise InvalidValueError(msg)
        for number in (start, start + step * max(count - 1, 0)):
            _expect_integer(number, dtype)
        counted = np.arange(count, dtype=np.uint64) * np.uint64(step % (1 << 64)) + np.uint64(start % (1 << 64))
        return counted.astype(dtype).reshape(shape)  # modulo 2^64, so that nothing of 64 bits is lost
    if kind == "b":
        msg = "found numbers that count up, expected Booleans: values, fill or random = 'integers'"
        raise InvalidValueError(msg)
    try:
        with np.errstate(over="ignore"):
            numbers = np.arange(count, dtype=np.float64) * float(step) + float(start)
    except OverflowError as error:  # of an integer that no float holds
        msg = f"found numbers past the largest of f64, which {type_text((), dtype)} cannot hold"
        raise InvalidValueError(msg) from error
    return _rounded(numbers, dtype, shape)


def draw(table: object, dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Return random numbers of a distribution. Raises `InvalidValueError` for those that the type cannot hold."""
    if isinstance(table, IntegersTable):
        return _drawn_integers(table, dtype, shape, random)
    if kind_of(dtype) in "biu":
        msg = f"found numbers with a fraction, expected random = 'integers' for {type_text((), dtype)}"
        raise InvalidValueError(msg)
    drawn = (*shape, 2) if dtype.kind == "c" else shape
    if isinstance(table, NormalTable):
        with np.errstate(over="ignore"):
            numbers = random.standard_normal(drawn) * table.std + table.mean
    elif isinstance(table, UniformTable):
        numbers = random.uniform(table.low, table.high, drawn)
    else:
        msg = f"a generator {type(table).__name__} that nothing draws from"
        raise TypeError(msg)
    numbers = np.asarray(numbers, np.float64)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return _rounded(numbers, part, drawn).view(dtype).reshape(shape)
    return _rounded(numbers, dtype, shape)


def _drawn_integers(
    table: IntegersTable, dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator
) -> Array:
    kind = kind_of(dtype)
    if kind == "b":
        if table.low < 0 or table.high > 2:
            msg = f"found {table.low} to {table.high - 1}, expected low = 0 and high = 2 for Booleans"
            raise InvalidValueError(msg)
    elif kind in "iu":
        _expect_integer(table.low, dtype)
        _expect_integer(table.high - 1, dtype)
    elif max(abs(table.low), abs(table.high)) > 1 << 53:
        msg = f"found {table.low} to {table.high - 1}, expected integers of at most 2^53 for {type_text((), dtype)}"
        raise InvalidValueError(msg)
    wide = np.uint64 if table.high > 1 << 63 else np.int64
    numbers = random.integers(table.low, table.high, shape, dtype=wide)
    return numbers.astype(dtype) if kind in "biu" else _rounded(numbers.astype(np.float64), dtype, shape)


def _expect_integer(number: int, dtype: np.dtype[Any]) -> None:
    try:
        integer_of(number, dtype, is_signless=False)
    except ValueError as error:
        raise InvalidValueError(str(error)) from error


def _rounded(numbers: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return generated numbers in an element type. None of them is meant to be an infinity."""
    with np.errstate(all="ignore"):
        converted = numbers.astype(dtype)
    if not np.isfinite(numbers).all():
        msg = f"found numbers past the largest of f64, which {type_text((), dtype)} cannot hold"
        raise InvalidValueError(msg)
    lost = first_lost(np.asarray(numbers).reshape(-1), converted.reshape(-1))
    if lost is not None:
        msg = f"found {numbers.reshape(-1)[lost]:g} among the numbers, which {type_text((), dtype)} cannot hold"
        raise InvalidValueError(msg)
    return converted.reshape(shape)
