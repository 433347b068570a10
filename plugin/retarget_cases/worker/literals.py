"""Literals → arrays: TOML's numbers, text and arrays as elements of a type that they must fit."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from retarget.arrays.dtypes import bits_of, kind_of, type_text
from retarget.model.element_types import DeclaredType, shape_fits
from retarget.support.errors import RetargetError

if TYPE_CHECKING:
    from retarget.extension import Array

_SHOWN = 60
"""Characters of a text that a message shows."""


class InvalidValueError(RetargetError):
    """What is wrong with a value. `str()` is the message; `index` leads to the entry of a literal that is to blame."""

    def __init__(self, message: str, index: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.index = index


def literal(
    written: object, dtype: np.dtype[Any], declared: DeclaredType | None, shape: tuple[int, ...] | None
) -> Array:
    """Return a literal as an array of `dtype`. With a `shape` its elements may also be given as one flat array.

    Raises `InvalidValueError` for a number that the type cannot hold, and for as many elements as fit no shape.
    """
    sizes: tuple[int | None, ...] | None = shape if shape is not None else declared.shape if declared else None
    pairs = kind_of(dtype) == "c"
    found = _nested_shape(written)
    is_flat = sizes is not None and shape is not None and len(shape) != 1 and _is_flat(written, math.prod(shape))
    rank = len(found) if sizes is None else 1 if is_flat else len(sizes)
    elements: list[tuple[tuple[int, ...], object]] = list(_elements(written, rank, ()))
    if any(isinstance(element, list) for _, element in elements) and not pairs:
        raise InvalidValueError(_misfit(found, dtype, sizes, declared))
    if is_flat and shape is not None:
        outer: tuple[int, ...] = shape
    else:
        outer = found[:rank]
        if len(outer) < rank and 0 in outer and sizes is not None:  # nothing is left that could show the other sizes
            outer = (*outer, *(size or 0 for size in sizes[len(outer) :]))
        if not shape_fits(outer, sizes):
            raise InvalidValueError(_misfit(found, dtype, sizes, declared))
    is_signless = declared is not None and declared.is_signless
    return _converted(elements, dtype, is_signless=is_signless).reshape(outer)


def _misfit(
    found: Sequence[int], dtype: np.dtype[Any], sizes: Sequence[int | None] | None, declared: DeclaredType | None
) -> str:
    ours = type_text(found, dtype)
    if declared is not None and declared.shape == sizes:
        return f"found {ours}, expected {declared.text}"
    shape = "".join("?x" if size is None else f"{size}x" for size in sizes or ())
    return f"found {ours}, expected {shape}{type_text((), dtype)}"


def _nested_shape(written: object) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    while isinstance(written, list):
        shape = (*shape, len(written))
        written = written[0] if written else None
    return shape


def _is_flat(written: object, count: int) -> bool:
    return isinstance(written, list) and len(written) == count and not any(isinstance(entry, list) for entry in written)


def _elements(written: object, rank: int, index: tuple[int, ...]) -> Iterable[tuple[tuple[int, ...], object]]:
    if rank and isinstance(written, list):
        for position, entry in enumerate(written):
            yield from _elements(entry, rank - 1, (*index, position))
    else:
        yield index, written


def _converted(elements: Sequence[tuple[tuple[int, ...], object]], dtype: np.dtype[Any], *, is_signless: bool) -> Array:
    numbers: list[Any] = []
    for index, element in elements:
        try:
            numbers.append(_number(element, dtype, is_signless=is_signless))
        except (ValueError, InvalidValueError) as error:
            raise InvalidValueError(str(error), index) from error
    if kind_of(dtype) in "biuc":
        return np.array(numbers, dtype)
    wide = np.array(numbers, np.float64)
    with np.errstate(all="ignore"):
        converted = wide.astype(dtype)
    lost = first_lost(wide, converted)
    if lost is not None:
        msg = f"found {elements[lost][1]}, which {type_text((), dtype)} cannot hold"
        raise InvalidValueError(msg, elements[lost][0])
    return converted


def first_lost(wide: Array, converted: Array) -> int | None:
    """Return the position of the first number that overflowed, or of an infinity or NaN that the type does not have.

    Types that have neither (f4E2M1FN, f6E2M3FN, f6E3M2FN) hold nothing past their largest number.
    """
    back = converted.astype(np.float64)
    lost = (np.isfinite(wide) != np.isfinite(back)) | (np.isnan(wide) != np.isnan(back))
    if bits_of(converted.dtype) < 8:
        lost |= np.abs(wide) > float(ml_dtypes.finfo(converted.dtype).max)  # type: ignore[no-untyped-call]
    bad = np.flatnonzero(lost)
    return int(bad[0]) if bad.size else None


def _number(element: object, dtype: np.dtype[Any], *, is_signless: bool) -> bool | int | float | complex:
    """Return an element as Python's nearest type. Raises `ValueError` with the message for one that does not fit."""
    kind = kind_of(dtype)
    if kind == "b":
        if isinstance(element, bool | int) and element in {0, 1}:
            return bool(element)
        msg = f"found {_shown(element)}, expected true or false"
        raise ValueError(msg)
    if kind in "iu":
        return integer_of(element, dtype, is_signless=is_signless)
    if kind == "c":
        return _complex(element, dtype)
    return _real(element, dtype)


def integer_of(element: object, dtype: np.dtype[Any], *, is_signless: bool) -> int:
    if isinstance(element, str):
        with contextlib.suppress(ValueError):
            element = int(element, 0)
    if isinstance(element, bool) or not isinstance(element, int):
        msg = f"found {_shown(element)}, expected an integer ({type_text((), dtype)})"
        raise ValueError(msg)  # noqa: TRY004 - a value of the file, not a type of the program
    bits, kind = bits_of(dtype), kind_of(dtype)
    lowest = 0 if kind == "u" else -(1 << (bits - 1))
    highest = (1 << bits) - 1 if kind == "u" or is_signless else (1 << (bits - 1)) - 1
    if not lowest <= element <= highest:
        msg = f"found {_shown(element)}, expected {lowest} to {highest} ({type_text((), dtype)})"
        raise ValueError(msg)
    return element - (1 << bits) if kind == "i" and element >= 1 << (bits - 1) else element


def _read_real(text: str, dtype: np.dtype[Any]) -> float:
    """Return the number that a text is. Raises `ValueError` for none, `InvalidValueError` for one past all floats."""
    try:
        number = float.fromhex(text) if "0x" in text.lower() else float(text)
    except OverflowError:
        number = math.inf
    if math.isinf(number) and "inf" not in text.lower():
        msg = f"found {_shown(text)}, which {type_text((), dtype)} cannot hold"
        raise InvalidValueError(msg)
    return number


def _real(element: object, dtype: np.dtype[Any]) -> float:
    if isinstance(element, str):
        with contextlib.suppress(ValueError):
            return _read_real(element, dtype)
    if isinstance(element, bool) or not isinstance(element, int | float):
        msg = f"found {_shown(element)}, expected a number ({type_text((), dtype)})"
        raise ValueError(msg)  # noqa: TRY004 - as above
    try:
        return float(element)
    except OverflowError:
        msg = f"found {_shown(element)}, which {type_text((), dtype)} cannot hold"
        raise ValueError(msg) from None


def _complex(element: object, dtype: np.dtype[Any]) -> complex:
    part = np.dtype(f"f{dtype.itemsize // 2}")
    if isinstance(element, str):
        try:
            number = complex(element.replace(" ", ""))
        except ValueError:
            msg = f"found {_shown(element)}, expected a complex number, as in [1.0, -2.0] or '1-2j'"
            raise ValueError(msg) from None
    elif isinstance(element, list):
        if len(element) != 2:
            msg = f"found an array of {len(element)}, expected a complex number, as in [1.0, -2.0] or '1-2j'"
            raise ValueError(msg)
        number = complex(_real(element[0], part), _real(element[1], part))
    else:
        number = complex(_real(element, part), 0.0)
    wide = np.array([number.real, number.imag])
    with np.errstate(all="ignore"):
        lost = first_lost(wide, wide.astype(part))
    if lost is not None:
        msg = f"found {wide[lost]:g}, which {type_text((), part)} cannot hold"
        raise ValueError(msg)
    return number


def _shown(element: object) -> str:
    if isinstance(element, bool):
        return str(element).lower()
    if isinstance(element, int) and element.bit_length() > 3 * _SHOWN:
        return f"{hex(element)[:_SHOWN]}…"
    if isinstance(element, str) and len(element) > _SHOWN:
        element = f"{element[:_SHOWN]}…"
    return "an array" if isinstance(element, list) else repr(element)
