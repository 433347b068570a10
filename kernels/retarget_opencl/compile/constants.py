"""Large constants of IREE's modules: kept out of their text, and read from their bytecode."""

from __future__ import annotations

import ctypes
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from retarget.arrays import Elements
from retarget.model import DeclaredType

from retarget_opencl.translation import Ir, element_dtype

LARGE = 4096
"""Bytes of a constant that are worth more than text."""
_ALIGNMENT = 64


_OWN = ".constant"
"""What names of resources end with: not with a number, as MLIR adds one when it reads bytecode."""


class _Text(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("length", ctypes.c_size_t))


@cache
def _library() -> ctypes.CDLL:
    """Return MLIR's C API, of which the bindings lack two functions."""
    from iree.compiler import _mlir_libs

    library = ctypes.CDLL(str(next(Path(_mlir_libs.__path__[0]).glob("libIREECompiler.*"))))
    elements, parse = library.mlirDenseElementsAttrGetRawData, library.mlirModuleCreateParse
    elements.restype, elements.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    parse.restype, parse.argtypes = ctypes.c_void_p, [ctypes.c_void_p, _Text]
    return library


def _pointer(of: Any, kind: str) -> int:
    """Return where what a Python object stands for lies: for `kind`, the name of its class."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(of._CAPIPtr, f"iree.compiler.ir.{kind}._CAPIPtr".encode()))  # noqa: SLF001


def parsed(bytecode: bytes, context: Any) -> Ir | None:
    """Return the module in `bytecode`, None if it is none; MLIR writes why to stderr.

    MLIR refuses bytecode at an address that its resources are not aligned at, and the bindings take what a `bytes` has.
    """
    from iree.compiler import ir

    room = ctypes.create_string_buffer(len(bytecode) + _ALIGNMENT)
    start = -(-ctypes.addressof(room) // _ALIGNMENT) * _ALIGNMENT
    ctypes.memmove(start, bytecode, len(bytecode))
    module = _library().mlirModuleCreateParse(_pointer(context, "Context"), _Text(start, len(bytecode)))
    if module is None:
        return None
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return ir.Module._CAPICreate(capsule(module, b"iree.compiler.ir.Module._CAPIPtr", None))  # noqa: SLF001


def move_to_resources(module: Ir) -> None:
    """Let the globals of a module refer to large initial values by name: IREE copies and prints what is inline.

    Elements smaller than a byte stay, and values that are one element repeated.
    """
    from iree.compiler import ir

    for item in module.regions[0].blocks[0]:
        op = item.operation
        if op.name != "util.global" or "initial_value" not in op.attributes:
            continue
        try:
            value = op.attributes["initial_value"]
        except TypeError:  # elements that the bindings have no class for, such as complex ones
            continue
        if not isinstance(value, ir.DenseElementsAttr) or value.is_splat:
            continue
        declared = DeclaredType.parse(str(value.type))
        dtype = element_dtype(declared.element or "")
        if dtype is None or Elements.of(dtype).is_packed or declared.element == "i1":
            continue
        size = prod(length or 0 for length in declared.shape or ()) * dtype.itemsize
        if size >= LARGE:
            # The elements stay where they are: in the context, as long as it is.
            elements = (ctypes.c_char * size).from_address(
                _library().mlirDenseElementsAttrGetRawData(_pointer(value, "Attribute"))
            )
            name = f"{op.attributes['sym_name'].value}{_OWN}"
            resource = ir.DenseResourceElementsAttr.get_from_buffer(
                elements, name, value.type, _ALIGNMENT, context=module.context
            )
            op.attributes["initial_value"] = resource


# ---------------------------------------------------------------- MLIR's bytecode
# https://mlir.llvm.org/docs/BytecodeFormat/

_STRINGS, _RESOURCES, _RESOURCE_OFFSETS = 0, 5, 6
_BLOB = 0


class _Reader:
    """Reads a part of bytecode, of which alignments count from the beginning."""

    def __init__(self, data: memoryview, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """Read an integer whose first byte has as many zeros at its lower end as bytes follow."""
        first = self.data[self.at]
        size = (first & -first).bit_length() if first else 9
        value = int.from_bytes(self.data[self.at : self.at + size], "little") >> min(size, 8)
        self.at += size
        return value

    def align(self, alignment: int) -> None:
        self.at = -(-self.at // alignment) * alignment


def _sections(data: memoryview) -> dict[int, _Reader]:
    reader = _Reader(data, 4, len(data))
    reader.number()  # the version
    while reader.byte():  # who wrote it
        pass
    found = {}
    while reader.at < len(data):
        kind = reader.byte()
        length = reader.number()
        if kind & 0x80:
            reader.align(reader.number())
        found[kind & 0x7F] = _Reader(data, reader.at, reader.at + length)
        reader.at += length
    return found


def _strings(reader: _Reader) -> list[str]:
    lengths = [reader.number() for _ in range(reader.number())]
    found, end = [], reader.end
    for length in lengths:  # the last string comes first
        found.append(bytes(reader.data[end - length : end - 1]).decode())
        end -= length
    return found[::-1]


def resources_of(bytecode: bytes) -> dict[str, memoryview]:
    """Return the bytes of a module's resources, by name, where they lie in its bytecode."""
    sections = _sections(memoryview(bytecode))
    if _RESOURCES not in sections:
        return {}
    strings, offsets, content = _strings(sections[_STRINGS]), sections[_RESOURCE_OFFSETS], sections[_RESOURCES]
    found = {}
    offsets.number()  # of groups that belong to no dialect; they come first and look like the others
    while offsets.at < offsets.end:
        offsets.number()  # the group's name
        for _ in range(offsets.number()):
            name, size, kind = strings[offsets.number()], offsets.number(), offsets.byte()
            if kind == _BLOB:
                blob = _Reader(content.data, content.at, content.at + size)
                alignment, length = blob.number(), blob.number()
                blob.align(alignment)
                found[name] = blob.data[blob.at : blob.at + length]
            content.at += size
    return found
