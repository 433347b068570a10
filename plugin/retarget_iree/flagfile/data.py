"""The arrays of a flagfile's values, checked against the signature of the function that takes them.

Runs in device workers only. Files are read as `iree-run-module` reads them, but none may be longer than what is read
from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field
from retarget.arrays import Elements, RawFile, StoredArrays, fit
from retarget.extension import CaseData, FunctionInfo
from retarget.model import DeclaredType
from retarget.support import DataFiles, Diagnostic, DiagnosticsError, RetargetError

from retarget_iree.flagfile.parse import FlagFile
from retarget_iree.flagfile.values import ELEMENTS, Form, Location, Value

if TYPE_CHECKING:
    from retarget.extension import Array

_DEMOTED = {("float64", "float32"): "f64-to-f32", ("int64", "int32"): "i64-to-i32"}


def read_case(file: FlagFile, function: FunctionInfo, folder: Path) -> CaseData:
    """Return what `function` is called with and what it should return; None is a result that is ignored.

    Paths start at the flagfile's folder and stay inside `folder`. Raises `DiagnosticsError` with all errors: of data
    files, of numbers that do not fit, and of values that are not what the function takes or returns.
    """
    diagnostics: list[Diagnostic] = []
    inputs = _read(file, file.inputs, _Signature(of=function, noun="argument"), folder, diagnostics)
    expected = None
    if file.expected is not None:
        expected = _read(file, file.expected, _Signature(of=function, noun="result"), folder, diagnostics)
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    return CaseData(
        inputs=tuple(array for array in inputs if array is not None),
        expected=None if expected is None else tuple(expected),
    )


def data_diagnostics(file: FlagFile, folder: Path) -> list[Diagnostic]:
    """Return what is wrong with the data that a flagfile names, as far as it shows without the function's signature.

    Paths are as in `read_case`.
    """
    diagnostics: list[Diagnostic] = []
    function = FunctionInfo(name="the function" if file.function is None else file.function.text, arguments=None)
    for values, noun in ((file.inputs, "argument"), (file.expected or (), "result")):
        signature = _Signature(of=function, noun=noun, is_seen=False)
        _read(file, [value for value in values if value.path], signature, folder, diagnostics)
    files = DataFiles(folder=folder, base=file.path.parent)
    for _, written in file.parameters:
        try:
            files.path(written.text, is_large=True)
        except RetargetError as error:
            diagnostics.append(written.location.diagnostic(str(error)))
    return diagnostics


class _Signature(Struct, frozen=True, kw_only=True):
    """One side of a function: how many values of which types, None and empty where the artifact does not say.

    `noun` is `argument` or `result`; `is_seen` says whether there is an artifact that could.
    """

    of: FunctionInfo
    noun: str
    is_seen: bool = True

    @property
    def types(self) -> tuple[str, ...]:
        return self.of.argument_types if self.noun == "argument" else self.of.result_types

    @property
    def count(self) -> int | None:
        if self.noun == "argument":
            return self.of.arguments
        # An artifact that says what the function takes says what it returns.
        return len(self.types) if self.types or self.of.argument_types else None

    def type(self, index: int) -> str:
        return self.types[index] if index < len(self.types) else ""

    def value(self, index: int) -> str:
        return f"{self.noun} {index} of {self.of.name}"


def _read(
    file: FlagFile, values: Sequence[Value], signature: _Signature, folder: Path, diagnostics: list[Diagnostic]
) -> list[Array | None]:
    """Return the arrays of all values, and add what is wrong to `diagnostics`."""
    files = _Files(data=DataFiles(folder=folder, base=file.path.parent))
    arrays: list[Array | None] = []
    before = len(diagnostics)
    for value in values:
        try:
            if value.form is Form.ARRAYS:
                for array in files.stored(value):
                    arrays.append(_fitting(array, signature, len(arrays), value.written.location))
            else:
                arrays.append(_one(files, value, signature, len(arrays)))
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
            arrays.append(None)
        except RetargetError as error:
            diagnostics.append(value.written.location.diagnostic(str(error)))
            arrays.append(None)
    if len(diagnostics) == before:
        diagnostics += files.leftovers()
    if signature.count is not None and len(arrays) != signature.count:
        location = values[-1].written.location if values else Location(file=file.path)
        plural = "" if len(arrays) == 1 else "s"
        types = f"({', '.join(signature.types)})" if signature.types else ""
        if signature.noun == "argument":
            written, of = "--input", f"{signature.of.name}{types}"
        else:
            written, of = "--expected_output", f"the results of {signature.of.name} {types}".rstrip()
        msg = f"found {len(arrays)} value{plural} by {written}, expected {signature.count} for {of}"
        diagnostics.append(location.diagnostic(msg))
    return arrays


def _one(files: _Files, value: Value, signature: _Signature, index: int) -> Array | None:
    location, declared = value.written.location, signature.type(index)
    if value.form in {Form.IGNORED, Form.NULL}:
        if signature.noun == "result":
            return None
        of = f" ({declared})" if declared else ""
        msg = f"found {value.form.value}, expected a value for {signature.value(index)}{of}"
        raise location.error(msg)
    if value.form is Form.NUMBER:
        return _number(value, signature, index)
    dtype = Elements.named(ELEMENTS[value.element].dtype).dtype
    array = files.raw(value, dtype) if value.path else _written_out(value, dtype)
    return _fitting(array, signature, index, location)


# ---------------------------------------------------------------- files


class _Files(Struct, kw_only=True):
    """The files of one list of values; `+` and `*` go on in a file where its last reading ended."""

    data: DataFiles
    _raw: dict[Path, tuple[RawFile, Location]] = field(default_factory=dict)
    _stored: dict[Path, StoredArrays] = field(default_factory=dict)

    def raw(self, value: Value, dtype: np.dtype[Any]) -> Array:
        """Return the elements of a file of raw bytes."""
        path = self.data.path(value.path)
        file = self._raw[path][0] if value.source == "+" and path in self._raw else RawFile(path=path)
        self._raw[path] = (file, value.written.location)
        return file.next(dtype=dtype, shape=value.shape)

    def stored(self, value: Value) -> list[Array]:
        """Return one or all arrays of a `.npy` file."""
        path = self.data.path(value.path)
        file = self._stored.get(path)
        if file is None or value.source == "@":
            file = self._stored[path] = StoredArrays(path=path)
        if value.source != "*":
            return [file.next()]
        arrays = []
        while not file.at_end:
            arrays.append(file.next())
        return arrays

    def leftovers(self) -> list[Diagnostic]:
        """Return an error for each file of raw bytes that is longer than what was read from it."""
        diagnostics = []
        for file, location in self._raw.values():
            try:
                file.close()
            except RetargetError as error:
                diagnostics.append(location.diagnostic(str(error)))
        return diagnostics


# ---------------------------------------------------------------- numbers


def _written_out(value: Value, dtype: np.dtype[Any]) -> Array:
    """Return a tensor of the numbers that are written out, of some that are repeated, or of zeros."""
    count = math.prod(value.shape)
    if len(value.numbers) == count:
        return _array(value.numbers, dtype).reshape(value.shape)
    if message := DataFiles.room_error(Elements.of(dtype).text(value.shape), count * dtype.itemsize):
        raise value.written.location.error(message)
    if not value.numbers:
        return np.zeros(value.shape, dtype)
    return np.resize(_array(value.numbers, dtype), value.shape)


def _array(numbers: Sequence[complex], dtype: np.dtype[Any]) -> Array:
    """Return numbers in an element type; signless integers are given signed or unsigned, floats are rounded."""
    if Elements.of(dtype).kind in "iu":
        unsigned = np.array([number & (1 << 64) - 1 for number in numbers], np.uint64)  # type: ignore[operator]
        return unsigned.astype(dtype)
    with np.errstate(all="ignore"):
        if dtype.kind in "bc" or dtype == np.float64:
            return np.array(numbers, dtype)
        # By way of binary32, as the tool goes for what is smaller.
        return np.array(numbers, np.float64).astype(np.float32).astype(dtype, copy=False)


def _number(value: Value, signature: _Signature, index: int) -> Array:
    """Return a bare number in the type that the function declares for it."""
    declared = signature.type(index)
    number, text = value.numbers[0], value.written.text
    elements = Elements.declared(DeclaredType.parse(declared))
    if elements is None and not declared:
        return np.asarray(number)
    if elements is None or declared.startswith("tensor<"):
        hint = "" if elements is None else f": write its type before it, {elements.text()}={text}"
        msg = f"found the number {text}, expected {declared} for {signature.value(index)}{hint}"
        raise value.written.location.error(msg)
    if elements.kind in "biu":
        bits = elements.bits
        if not isinstance(number, int) or not -(1 << (bits - 1)) <= number < 1 << bits:
            msg = f"found {text}, expected an integer of {bits} bits for {signature.value(index)} ({declared})"
            raise value.written.location.error(msg)
        if elements.kind == "b":
            return np.asarray(number != 0)
    return _array([number], elements.dtype).reshape(())


# ---------------------------------------------------------------- signatures


def _fitting(array: Array, signature: _Signature, index: int, location: Location) -> Array:
    """Return `array` as the declared type sees it. Raises `DiagnosticsError` where shape or element type differ.

    Integers of the same width fit whatever their sign is, and elements without a type (`V2`, as NumPy stores bf16) what
    has their size. Bytes are Booleans.
    """
    declared = DeclaredType.parse(signature.type(index))
    if declared.dtype is not None:
        try:
            return fit(array, declared, by_width=True)
        except RetargetError as error:
            pair = _DEMOTED.get((array.dtype.name, declared.dtype))
            hint = f"; if the compiler converted it, its flag --iree-input-demote-{pair}=false keeps the type"
            msg = f"{error} for {signature.value(index)}{hint if pair else ''}"
            raise location.error(msg) from error
    if array.dtype.type is np.void and signature.is_seen:
        msg = (
            f"found elements of {array.dtype.itemsize} bytes without a type, and the module does not say which it takes"
        )
        raise location.error(msg)
    return array
