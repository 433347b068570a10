"""Values → arrays, by the types that a function was declared with. Runs in worker processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from retarget.arrays.datafiles import read_bin, read_npy, read_npz
from retarget.arrays.dtypes import dtype_named, fit, type_text
from retarget.model.element_types import DeclaredType, mlir_name
from retarget.support.datapaths import LIMIT_VARIABLE, DataFiles, data_limit

from retarget_cases.files.tables import (
    BinTable,
    FillTable,
    IotaTable,
    NpyTable,
    NpzTable,
    PbTable,
    ValuesTable,
    ValueTable,
)
from retarget_cases.files.values import Value
from retarget_cases.worker.generators import count_up, default_seed, draw
from retarget_cases.worker.literals import InvalidValueError, literal

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
        if (array := self._of_file(table)) is not None:
            return _as_written(array, value)
        name = value.dtype or (declared.dtype if declared is not None else None)
        if name is None:
            msg = f"found no element type, expected dtype = …: {_undeclared(declared)}"
            raise InvalidValueError(msg)
        dtype = dtype_named(name)
        if isinstance(table, ValuesTable):
            return literal(table.values, dtype, declared, value.shape)
        shape = _shape(value, declared)
        _expect_room(shape, dtype)
        if isinstance(table, BinTable):
            return read_bin(self.files.path(table.bin), dtype=dtype, shape=shape)
        if self.only_checks:
            return np.broadcast_to(self._filling(table, name, declared), shape)
        if isinstance(table, FillTable):
            return np.full(shape, self._filling(table, name, declared), dtype)
        return self._generated(table, dtype, shape, position)

    def _of_file(self, table: ValueTable) -> Array | None:
        """Return the array of a file that says its type itself."""
        match table:
            case NpyTable():
                return read_npy(self.files.path(table.npy))
            case NpzTable():
                return read_npz(self.files.path(table.npz), table.array)
            case PbTable():
                from retarget_onnx.models import read_tensor

                array: Array = read_tensor(self.files.path(table.pb))
                return array
            case _:
                return None

    def _filling(self, table: ValueTable, name: str, declared: DeclaredType | None) -> Array:
        """Return the element that a fill repeats; 1 for what is generated otherwise, as every type has it."""
        written = table.fill if isinstance(table, FillTable) else 1
        return literal(written, dtype_named(name), _scalar(name, declared), ())

    def _generated(self, table: ValueTable, dtype: np.dtype[Any], shape: tuple[int, ...], position: int) -> Array:
        if isinstance(table, IotaTable):
            return count_up(table, dtype, shape)
        seed = getattr(table, "seed", None)
        random = np.random.Generator(
            np.random.PCG64(default_seed(self.module, self.case, position) if seed is None else seed)
        )
        return draw(table, dtype, shape, random)


# ---------------------------------------------------------------- types and shapes


def _undeclared(declared: DeclaredType | None) -> str:
    if declared is None:
        return "the artifact does not say which types its functions take"
    return f"the function declares {declared.text}"


def _scalar(name: str, declared: DeclaredType | None) -> DeclaredType:
    element = None if declared is None else declared.element
    return DeclaredType(text=mlir_name(name), element=element, dtype=name, shape=())


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
    size, limit = math.prod(shape) * dtype.itemsize, data_limit()
    if size > limit:
        hint = f"to make it, set the environment variable {LIMIT_VARIABLE} to {size} or more"
        msg = f"found {type_text(shape, dtype)}, which takes {size} bytes, over the limit of {limit}; {hint}"
        raise InvalidValueError(msg)


def _as_written(array: Array, value: Value) -> Array:
    """Check an array against the shape and element type that the table gives, and return it so typed."""
    if value.dtype is None and value.shape is None:
        return array
    shape = array.shape if value.shape is None else value.shape
    name = array.dtype.name if value.dtype is None else value.dtype
    text = type_text(shape, dtype_named(name)) if value.dtype is not None else "x".join([*map(str, shape), "…"])
    return fit(array, DeclaredType(text=text, dtype=value.dtype, shape=value.shape))
