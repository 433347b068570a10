"""Arrays as the flags and files of `iree-run-module`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from retarget.arrays.dtypes import dtype_of
from retarget.arrays.packing import is_packed, pack, unpack
from retarget.extension import DriverError
from retarget.model.element_types import parse_type

from retarget_iree.runtime.elements import element_type_name, element_type_of
from retarget_iree.runtime.scalars import as_declared, scalar_argument, scalar_result

if TYPE_CHECKING:
    from retarget.extension import Array

__all__ = ["input_flag", "output_flag", "read_output"]

_NAMES = {"complex<f32>": "cf64", "complex<f64>": "cf128"}
"""Element types that the tool calls otherwise than MLIR."""


def input_flag(array: Array, letter: str, declared: str, file: Path) -> str:
    """Return the flag of an argument, whose letter is as in `Signature`; what is no number is written to `file`.

    Raises `DriverError` for an array that cannot be passed.
    """
    if letter != "r":
        return f"--input={scalar_argument(array, letter, declared)}"
    element = element_type_name(element_type_of(array.dtype))
    file.write_bytes(pack(array).tobytes())
    of_buffer = "&" if declared == "!hal.buffer" else ""
    return f"--input={of_buffer}{'x'.join([*map(str, array.shape), _NAMES.get(element, element)])}=@{file}"


def output_flag(letter: str, declared: str, stem: Path) -> tuple[str, Path]:
    """Return the flag of a result and the file that it names: `.npy`, which has the shape, where the tool writes it."""
    element = parse_type(declared).element or ""
    has_npy = letter != "r" or not element.startswith(("bf", "f8"))
    file = stem.with_suffix(".npy" if has_npy else ".bin")
    return f"--output=@{file}", file


def read_output(file: Path, letter: str, declared: str) -> Array:
    """Return the result in a file that the tool has written. Raises `DriverError`."""
    dtype = dtype_of(parse_type(declared))
    if file.suffix == ".npy":
        with file.open("rb") as stream:
            np.lib.format.read_magic(stream)
            shape, _, stored = np.lib.format.read_array_header_1_0(stream)
            content = np.frombuffer(stream.read(), np.uint8)
        if letter != "r":
            return scalar_result(content.view(stored)[0], letter, declared)
        kept = dtype if dtype is not None and is_packed(dtype) else stored
        return as_declared(unpack(content, kept, shape), declared)
    sizes = parse_type(declared).shape
    if dtype is None or sizes is None or sizes.count(None) > 1:
        msg = f"a {declared} comes back without its shape: iree-run-module writes its elements to files without one"
        hint = "let the module return a type with at most one dynamic size, or extend its elements (`arith.extf`)"
        raise DriverError(msg, hint=hint)
    content = np.frombuffer(file.read_bytes(), dtype)
    known = math.prod(size for size in sizes if size is not None)
    return content.reshape([content.size // known if size is None else size for size in sizes])
