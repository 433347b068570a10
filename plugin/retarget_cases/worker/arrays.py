"""Values, literals, generators → arrays, by the types that a function was declared with. Runs in worker processes.

Random numbers are those of NumPy's `Generator(PCG64(seed))`: `standard_normal` (times `std`, plus `mean`), `uniform`
and `integers`, drawn in binary64 or 64-bit integers, row-major, the real part of a complex number before the imaginary
part, and then rounded to the element type. Without a `seed` it is the first eight bytes, little-endian, of the SHA-256
of `module NUL case NUL position`, so that each argument of each case has numbers of its own, the same every time.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from msgspec import Struct
from retarget.arrays import Elements, RawFile, StoredArrays, fit
from retarget.model import DeclaredType
from retarget.support import DataFiles, RetargetError

from retarget_cases.files.tables import (
    BinTable,
    FillTable,
    IntegersTable,
    IotaTable,
    NormalTable,
    NpyTable,
    NpzTable,
    PbTable,
    ValuesTable,
)
from retarget_cases.files.values import Value

if TYPE_CHECKING:
    from retarget.extension import Array


class ArrayBuilder(Struct, frozen=True, kw_only=True):
    """Builds the arrays of one case. `files` finds what values name.

    With `only_checks`, what is generated becomes ones that take no memory.
    """

    files: DataFiles
    module: str
    case: str
    only_checks: bool = False

    def array(self, value: Value, declared: DeclaredType | None, position: int) -> Array:
        """Return the array of a value for an argument or result of the declared type, None where it is not known.

        `position` is the number of the argument. Raises `RetargetError`.
        """
        if declared is not None and declared.dtype is None and declared.shape is not None:
            msg = f"found the type {declared.text}, whose elements no NumPy type holds; expected a function of another"
            raise InvalidValueError(msg)
        try:
            array = self._build(value, declared, position)
            return array if declared is None else fit(array, declared)
        except (ValueError, OverflowError, MemoryError) as error:  # of sizes past what NumPy goes to
            msg = f"found what no array can hold: {error}"
            raise InvalidValueError(msg) from error

    def _build(self, value: Value, declared: DeclaredType | None, position: int) -> Array:
        table = value.table
        stored: Array | None = None
        match table:
            case NpyTable():
                stored = StoredArrays(path=self.files.path(table.npy)).only()
            case NpzTable():
                stored = StoredArrays(path=self.files.path(table.npz)).of_archive(table.array)
            case PbTable():
                from retarget_cases.onnx.models import read_tensor

                stored = read_tensor(self.files.path(table.pb))
        if stored is not None:
            return _as_written(stored, value)
        name = value.dtype or (declared.dtype if declared is not None else None)
        if name is None:
            msg = f"found no element type, expected dtype = …: {_undeclared(declared)}"
            raise InvalidValueError(msg)
        dtype = Elements.named(name).dtype
        if isinstance(table, ValuesTable):
            return literal(table.values, dtype, declared, value.shape)
        shape = _shape(value, declared)
        _expect_room(shape, dtype)
        if isinstance(table, BinTable):
            return RawFile(path=self.files.path(table.bin)).only(dtype=dtype, shape=shape)
        if self.only_checks or isinstance(table, FillTable):
            element = None if declared is None else declared.element
            scalar = DeclaredType(text=Elements.of(dtype).text(), element=element, dtype=name, shape=())
            written = table.fill if isinstance(table, FillTable) else 1  # which every type has
            filling = literal(written, dtype, scalar, ())
            return np.broadcast_to(filling, shape) if self.only_checks else np.full(shape, filling, dtype)
        if isinstance(table, IotaTable):
            return count_up(table, dtype, shape)
        seed = getattr(table, "seed", None)
        seed = default_seed(self.module, self.case, position) if seed is None else seed
        return draw(table, dtype, shape, np.random.Generator(np.random.PCG64(seed)))


# ---------------------------------------------------------------- types and shapes


def _undeclared(declared: DeclaredType | None) -> str:
    if declared is None:
        return "the artifact does not say which types its functions take"
    return f"the function declares {declared.text}"


def _shape(value: Value, declared: DeclaredType | None) -> tuple[int, ...]:
    if value.shape is not None:
        return value.shape
    shape = None if declared is None else declared.shape
    if shape is None:
        msg = f"found no shape, expected shape = […]: {_undeclared(declared)}"
        raise InvalidValueError(msg)
    known = tuple(size for size in shape if size is not None)
    if len(known) < len(shape):
        msg = f"found no shape, expected shape = […]: {_undeclared(declared)}, which leaves a size open"
        raise InvalidValueError(msg)
    return known


def _expect_room(shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    if message := DataFiles.room_error(Elements.of(dtype).text(shape), math.prod(shape) * dtype.itemsize):
        raise InvalidValueError(message)


def _as_written(array: Array, value: Value) -> Array:
    """Check an array against the shape and element type that the table gives, and return it so typed."""
    if value.dtype is None and value.shape is None:
        return array
    shape = array.shape if value.shape is None else value.shape
    name = array.dtype.name if value.dtype is None else value.dtype
    text = Elements.named(name).text(shape) if value.dtype is not None else "x".join([*map(str, shape), "…"])
    return fit(array, DeclaredType(text=text, dtype=value.dtype, shape=value.shape))


def default_seed(module: str, case: str, position: int) -> int:
    """Return the seed of an argument that names none."""
    return int.from_bytes(hashlib.sha256(f"{module}\0{case}\0{position}".encode()).digest()[:8], "little")


def count_up(table: IotaTable, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return numbers from `iota` in steps. Raises `InvalidValueError` for those that the type cannot hold."""
    count = math.prod(shape)
    start, step = table.iota, table.step
    kind = Elements.of(dtype).kind
    if kind in "iu":
        if not isinstance(start, int) or not isinstance(step, int):
            msg = f"found {start!r} and step {step!r}, expected integers ({Elements.of(dtype).text()})"
            raise InvalidValueError(msg)
        for number in (start, start + step * max(count - 1, 0)):
            integer_of(number, dtype)
        counted = np.arange(count, dtype=np.uint64) * np.uint64(step % (1 << 64)) + np.uint64(start % (1 << 64))
        return counted.astype(dtype).reshape(shape)  # modulo 2^64, so that nothing of 64 bits is lost
    if kind == "b":
        msg = "found numbers that count up, expected Booleans: values, fill or random = 'integers'"
        raise InvalidValueError(msg)
    try:
        with np.errstate(over="ignore"):
            numbers = np.arange(count, dtype=np.float64) * float(step) + float(start)
    except OverflowError as error:  # of an integer that no float holds
        raise _unheld(_PAST, dtype) from error
    return _rounded(numbers, dtype, shape)


def draw(table: Any, dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Return random numbers of a distribution. Raises `InvalidValueError` for those that the type cannot hold."""
    if isinstance(table, IntegersTable):
        return _drawn_integers(table, dtype, shape, random)
    if Elements.of(dtype).kind in "biu":
        msg = f"found numbers with a fraction, expected random = 'integers' for {Elements.of(dtype).text()}"
        raise InvalidValueError(msg)
    drawn = (*shape, 2) if dtype.kind == "c" else shape
    if isinstance(table, NormalTable):
        with np.errstate(over="ignore"):
            numbers = random.standard_normal(drawn) * table.std + table.mean
    else:
        numbers = random.uniform(table.low, table.high, drawn)
    numbers = np.asarray(numbers, np.float64)
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return _rounded(numbers, part, drawn).view(dtype).reshape(shape)
    return _rounded(numbers, dtype, shape)


def _drawn_integers(
    table: IntegersTable, dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator
) -> Array:
    kind = Elements.of(dtype).kind
    if kind == "b":
        if table.low < 0 or table.high > 2:
            msg = f"found {table.low} to {table.high - 1}, expected low = 0 and high = 2 for Booleans"
            raise InvalidValueError(msg)
    elif kind in "iu":
        integer_of(table.low, dtype)
        integer_of(table.high - 1, dtype)
    elif max(abs(table.low), abs(table.high)) > 1 << 53:
        msg = (
            f"found {table.low} to {table.high - 1}, expected integers of at most 2^53 for {Elements.of(dtype).text()}"
        )
        raise InvalidValueError(msg)
    wide = np.uint64 if table.high > 1 << 63 else np.int64
    numbers = random.integers(table.low, table.high, shape, dtype=wide)
    return numbers.astype(dtype) if kind in "biu" else _rounded(numbers.astype(np.float64), dtype, shape)


def _rounded(numbers: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Return generated numbers in an element type. None of them is meant to be an infinity."""
    with np.errstate(all="ignore"):
        converted = numbers.astype(dtype)
    if not np.isfinite(numbers).all():
        raise _unheld(_PAST, dtype)
    lost = first_lost(np.asarray(numbers).reshape(-1), converted.reshape(-1))
    if lost is not None:
        found = f"{numbers.reshape(-1)[lost]:g} among the numbers"
        raise _unheld(found, dtype)
    return converted.reshape(shape)


_PAST = "numbers past the largest of f64"
_SHOWN = 60
"""Characters of a text that a message shows."""


class InvalidValueError(RetargetError):
    """What is wrong with a value. `str()` is the message; `index` leads to the entry of a literal that is to blame."""

    def __init__(self, message: str, index: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.index = index


def _unheld(found: str, dtype: np.dtype[Any], index: tuple[int, ...] = ()) -> InvalidValueError:
    return InvalidValueError(f"found {found}, which {Elements.of(dtype).text()} cannot hold", index)


def literal(
    written: object, dtype: np.dtype[Any], declared: DeclaredType | None, shape: tuple[int, ...] | None
) -> Array:
    """Return a literal as an array of `dtype`. With a `shape` its elements may also be given as one flat array.

    Raises `InvalidValueError` for a number that the type cannot hold, and for as many elements as fit no shape.
    """
    sizes: tuple[int | None, ...] | None = shape if shape is not None else declared.shape if declared else None
    found = _nested_shape(written)
    is_flat = shape is not None and len(shape) != 1 and found == (math.prod(shape),)
    rank = len(found) if sizes is None else 1 if is_flat else len(sizes)
    elements: list[tuple[tuple[int, ...], object]] = list(_elements(written, rank, ()))
    outer = found[:rank] if not is_flat or shape is None else shape
    if len(outer) < rank and 0 in outer and sizes is not None:  # nothing is left that could show the other sizes
        outer = (*outer, *(size or 0 for size in sizes[len(outer) :]))
    is_nested = any(isinstance(element, list) for _, element in elements) and Elements.of(dtype).kind != "c"
    fits = outer == shape if shape is not None else declared is None or declared.fits(outer)
    if is_nested or not fits:
        is_declared = declared is not None and declared.shape == sizes
        expected = declared.text if declared is not None and is_declared else Elements.of(dtype).text(shape or ())
        msg = f"found {Elements.of(dtype).text(found)}, expected {expected}"
        raise InvalidValueError(msg)
    is_signless = declared is not None and declared.is_signless
    return _converted(elements, dtype, is_signless=is_signless).reshape(outer)


def _nested_shape(written: object) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    while isinstance(written, list):
        shape = (*shape, len(written))
        written = written[0] if written else None
    return shape


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
        except InvalidValueError as error:
            raise InvalidValueError(str(error), index) from error
    if Elements.of(dtype).kind in "biuc":
        return np.array(numbers, dtype)
    wide = np.array(numbers, np.float64)
    with np.errstate(all="ignore"):
        converted = wide.astype(dtype)
    lost = first_lost(wide, converted)
    if lost is not None:
        raise _unheld(str(elements[lost][1]), dtype, elements[lost][0])
    return converted


def first_lost(wide: Array, converted: Array) -> int | None:
    """Return the position of the first number that overflowed, or of an infinity or NaN that the type does not have.

    Types that have neither (f4E2M1FN, f6E2M3FN, f6E3M2FN) hold nothing past their largest number.
    """
    back = converted.astype(np.float64)
    lost = (np.isfinite(wide) != np.isfinite(back)) | (np.isnan(wide) != np.isnan(back))
    if Elements.of(converted.dtype).bits < 8:
        lost |= np.abs(wide) > float(ml_dtypes.finfo(converted.dtype).max)  # type: ignore[no-untyped-call]
    bad = np.flatnonzero(lost)
    return int(bad[0]) if bad.size else None


def _number(element: object, dtype: np.dtype[Any], *, is_signless: bool) -> bool | int | float | complex:
    """Return an element as Python's nearest type. Raises `InvalidValueError` for one that does not fit."""
    kind = Elements.of(dtype).kind
    if kind == "b":
        if isinstance(element, bool | int) and element in {0, 1}:
            return bool(element)
        msg = f"found {_shown(element)}, expected true or false"
        raise InvalidValueError(msg)
    if kind in "iu":
        return integer_of(element, dtype, is_signless=is_signless)
    if kind == "c":
        return _complex(element, dtype)
    return _real(element, dtype)


def integer_of(element: object, dtype: np.dtype[Any], *, is_signless: bool = False) -> int:
    if isinstance(element, str):
        with contextlib.suppress(ValueError):
            element = int(element, 0)
    if isinstance(element, bool) or not isinstance(element, int):
        msg = f"found {_shown(element)}, expected an integer ({Elements.of(dtype).text()})"
        raise InvalidValueError(msg)
    elements = Elements.of(dtype)
    bits, kind = elements.bits, elements.kind
    lowest = 0 if kind == "u" else -(1 << (bits - 1))
    highest = (1 << bits) - 1 if kind == "u" or is_signless else (1 << (bits - 1)) - 1
    if not lowest <= element <= highest:
        msg = f"found {_shown(element)}, expected {lowest} to {highest} ({Elements.of(dtype).text()})"
        raise InvalidValueError(msg)
    return element - (1 << bits) if kind == "i" and element >= 1 << (bits - 1) else element


def _real(element: object, dtype: np.dtype[Any]) -> float:
    number: object = element
    try:
        if isinstance(element, str):
            with contextlib.suppress(ValueError):
                number = float.fromhex(element) if "0x" in element.lower() else float(element)
        if isinstance(number, bool) or not isinstance(number, int | float):
            msg = f"found {_shown(element)}, expected a number ({Elements.of(dtype).text()})"
            raise InvalidValueError(msg)
        real = float(number)
    except OverflowError:
        raise _unheld(_shown(element), dtype) from None
    if isinstance(element, str) and math.isinf(real) and "inf" not in element.lower():
        raise _unheld(_shown(element), dtype)
    return real


def _complex(element: object, dtype: np.dtype[Any]) -> complex:
    part = np.dtype(f"f{dtype.itemsize // 2}")
    if isinstance(element, str):
        try:
            number = complex(element.replace(" ", ""))
        except ValueError:
            msg = f"found {_shown(element)}, expected a complex number, as in [1.0, -2.0] or '1-2j'"
            raise InvalidValueError(msg) from None
    elif isinstance(element, list):
        if len(element) != 2:
            msg = f"found an array of {len(element)}, expected a complex number, as in [1.0, -2.0] or '1-2j'"
            raise InvalidValueError(msg)
        number = complex(_real(element[0], part), _real(element[1], part))
    else:
        number = complex(_real(element, part), 0.0)
    wide = np.array([number.real, number.imag])
    with np.errstate(all="ignore"):
        lost = first_lost(wide, wide.astype(part))
    if lost is not None:
        raise _unheld(format(wide[lost], "g"), part)
    return number


def _shown(element: object) -> str:
    if isinstance(element, bool):
        return str(element).lower()
    if isinstance(element, int) and element.bit_length() > 3 * _SHOWN:
        return f"{hex(element)[:_SHOWN]}…"
    if isinstance(element, str) and len(element) > _SHOWN:
        element = f"{element[:_SHOWN]}…"
    return "an array" if isinstance(element, list) else repr(element)
