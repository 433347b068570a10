"""SPIR-V types as frozen data, their OpenCL C names, and constants as literals.

A type has two names. Its *value* type is the type of a variable; its *memory* type is the type of an element of a
buffer or an array. They differ in two places: booleans (`bool` has no size, memory holds `uchar`), and half
precision on a device that computes without it (values are `float`, each rounded to half precision; memory is
`ushort`).

Integers are declared unsigned, because SPIR-V integers wrap around and signed ones in C must not overflow. Rules cast
where an operation is signed.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from functools import cache

import msgspec
from retarget.model import split_types

from retarget_opencl.translation import Ir


class TypeSyntaxError(ValueError):
    """A SPIR-V type that no rule knows. `str()` quotes the type."""


class Scalar(msgspec.Struct, frozen=True):
    """`kind` is `int`, `float` or `bool`; `bits` is the width, 1 for booleans."""

    kind: str
    bits: int


class Vector(msgspec.Struct, frozen=True):
    """`lanes` elements of one scalar type; 2, 3, 4, 8 or 16 lanes."""

    lanes: int
    element: Scalar


class Array(msgspec.Struct, frozen=True):
    """`length` elements; None: as many as the buffer holds."""

    length: int | None
    element: SpirvType


class Struct(msgspec.Struct, frozen=True):
    """Members in order. Decorations do not matter beyond the binding's one array at offset 0."""

    members: tuple[SpirvType, ...]


class Pointer(msgspec.Struct, frozen=True):
    """`storage` is the SPIR-V storage class: StorageBuffer, Workgroup, Function, PushConstant, Input, …"""

    pointee: SpirvType
    storage: str


class Matrix(msgspec.Struct, frozen=True):
    """A cooperative matrix of 16x16 elements that a subgroup holds together.

    `use` is `MatrixA`, `MatrixB` or `MatrixAcc`. Each work-item holds eight
    elements (`retarget_opencl.clc.ops.subgroups`).
    """

    element: Scalar
    use: str

    @property
    def held(self) -> str:
        """How a work-item holds its elements: `packed`, as halves, two to a `uint`, as factors of floats are whatever
        their type; `bytes`, four to a `uint`, as factors of integers are; sums as `single` floats or `integer`s.
        """
        factor = self.use != "MatrixAcc"
        if self.element.kind == "int":
            return "bytes" if factor else "integer"
        return "packed" if factor or self.element.bits == 16 else "single"

    @property
    def packed(self) -> bool:
        """True if the elements are held as halves."""
        return self.held == "packed"


SpirvType = Scalar | Vector | Array | Struct | Pointer | Matrix

_SCALARS = {f"i{bits}": Scalar("int", bits) for bits in (8, 16, 32, 64)}
_SCALARS |= {f"{sign}i{bits}": Scalar("int", bits) for sign in "su" for bits in (8, 16, 32, 64)}
_SCALARS |= {f"f{bits}": Scalar("float", bits) for bits in (16, 32, 64)}
_SCALARS["i1"] = Scalar("bool", 1)

_MATRICES = {(f"16x16x{element}", factor) for element in ("f16", "f32") for factor in (True, False)}
_MATRICES |= {("16x16xi32", False), *((f"16x16x{sign}i8", True) for sign in ("", "s", "u"))}
"""Shapes of cooperative matrices, and whether they are factors or sums."""

MATRIX_HELD = {"packed": "uint4", "single": "float8", "bytes": "uint2", "integer": "uint8"}
"""The type of what a work-item holds of a matrix, by `Matrix.held`."""


@cache
def parse_type(  # noqa: PLR0911 - one return per kind of type
    text: str,
) -> SpirvType:
    """Parse the text of an MLIR type as written in a `spirv.module`.

    Raises `TypeSyntaxError` for a type that OpenCL C has no counterpart for (images, other cooperative matrices, …).
    """
    if text in _SCALARS:
        return _SCALARS[text]
    head, _, rest = text.partition("<")
    body = rest[: rest.rfind(">")]
    if head == "vector":
        lanes, _, element = body.partition("x")
        scalar = parse_type(element)
        if lanes in {"2", "3", "4", "8", "16"} and isinstance(scalar, Scalar):
            return Vector(int(lanes), scalar)
    elif head == "!spirv.array":
        length, _, element = split_types(body)[0].partition(" x ")
        return Array(int(length), parse_type(element))
    elif head == "!spirv.rtarray":
        return Array(None, parse_type(split_types(body)[0]))
    elif head == "!spirv.struct":
        members = body[body.index("(") + 1 : body.rindex(")")]
        return Struct(tuple(parse_type(part.partition(" [")[0]) for part in split_types(members)))
    elif head == "!spirv.coopmatrix":
        shape, scope, use = split_types(body)
        if scope == "Subgroup" and (shape, use != "MatrixAcc") in _MATRICES:
            return Matrix(_SCALARS[shape.rpartition("x")[2]], use)
    elif head == "!spirv.ptr":
        pointee, storage = split_types(body)
        return Pointer(parse_type(pointee), storage)
    msg = f"no OpenCL C type for the SPIR-V type {text}"
    raise TypeSyntaxError(msg)


def element_of(kind: SpirvType) -> Scalar:
    """Return the scalar of a scalar or vector. Raises `TypeSyntaxError` for other types."""
    if isinstance(kind, Vector):
        return kind.element
    if isinstance(kind, Scalar):
        return kind
    msg = f"expected a scalar or vector, found {kind}"
    raise TypeSyntaxError(msg)


def lanes_of(kind: SpirvType) -> int:
    """Return the number of elements of a vector, 1 for anything else."""
    return kind.lanes if isinstance(kind, Vector) else 1


def memory_size(kind: SpirvType) -> int:
    """Return the bytes that a value takes in memory; a vector of three takes the space of four."""
    if isinstance(kind, Scalar | Vector):
        lanes = lanes_of(kind)
        return (4 if lanes == 3 else lanes) * max(element_of(kind).bits, 8) // 8
    if isinstance(kind, Array) and kind.length is not None:
        return kind.length * memory_size(kind.element)
    if isinstance(kind, Struct):
        return sum(map(memory_size, kind.members))
    msg = f"expected a type of a known size, found {kind}"
    raise TypeSyntaxError(msg)


def suffix_of(kind: SpirvType) -> str:
    """Return the number of elements of a vector as names have it, nothing for anything else."""
    return str(kind.lanes) if isinstance(kind, Vector) else ""


_UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}
_SIGNED = {8: "char", 16: "short", 32: "int", 64: "long"}
_FLOATS = {16: "half", 32: "float", 64: "double"}


class TypeNames:
    """OpenCL C names of types for one kernel; collects the `typedef`s that aggregates need.

    `native_half`: whether the device computes in half precision. `bfloat16`: floats of 16 bits are bf16, which are
    computed as floats in any case.
    """

    def __init__(self, *, native_half: bool, bfloat16: bool = False) -> None:
        self.native_half = native_half and not bfloat16
        self.small = "bfloat" if bfloat16 else "half"
        self.typedefs: dict[str, tuple[str, str]] = {}

    def emulates(self, kind: SpirvType) -> bool:
        """True for a scalar or vector of halves that is computed as floats."""
        scalar = kind.element if isinstance(kind, Vector) else kind
        return not self.native_half and scalar == Scalar("float", 16)

    def value(self, kind: SpirvType) -> str:
        """Name of the type that a variable of `kind` has."""
        if isinstance(kind, Vector):
            # A comparison of vectors yields integers, 0 or -1; booleans in vectors are held that way.
            return f"int{kind.lanes}" if kind.element.kind == "bool" else f"{self.value(kind.element)}{kind.lanes}"
        if isinstance(kind, Scalar):
            if kind.kind == "bool":
                return "bool"
            if kind.kind == "int":
                return _UNSIGNED[kind.bits]
            return "float" if self.emulates(kind) else _FLOATS[kind.bits]
        if isinstance(kind, Matrix):
            return MATRIX_HELD[kind.held]
        return self._aggregate(kind, self.value)

    def signed(self, kind: SpirvType) -> str:
        """Name of the signed integer type as wide as `kind`; for vectors with as many lanes."""
        scalar = element_of(kind)
        bits = 32 if scalar.kind == "bool" or self.emulates(kind) else scalar.bits
        return _SIGNED[bits] + suffix_of(kind)

    def unsigned(self, kind: SpirvType) -> str:
        """Name of the unsigned integer type as wide as `kind`; for vectors with as many lanes."""
        return "u" + self.signed(kind)

    def memory(self, kind: SpirvType) -> str:
        """Name of the type that `kind` has in a buffer or array."""
        if isinstance(kind, Scalar | Vector):
            if element_of(kind).kind == "bool":
                return f"uchar{suffix_of(kind)}"
            if self.emulates(kind):
                return f"ushort{suffix_of(kind)}"
        if isinstance(kind, Struct | Array):
            return self._aggregate(kind, self.memory)
        return self.value(kind)

    def _aggregate(self, kind: SpirvType, name_of: Callable[[SpirvType], str]) -> str:
        if isinstance(kind, Struct):
            members = " ".join(f"{name_of(member)} m{index};" for index, member in enumerate(kind.members))
            stem = "struct"
        elif isinstance(kind, Array) and kind.length is not None:
            members = f"{name_of(kind.element)} e[{kind.length}];"
            stem = "array"
        else:
            msg = f"no OpenCL C value type for {kind}"
            raise TypeSyntaxError(msg)
        # Members may have added typedefs of their own, so the number is taken after them.
        name = f"{stem}_{len(self.typedefs)}"
        return self.typedefs.setdefault(members, (name, f"typedef struct {{ {members} }} {name};"))[0]


def float_text(kind: Scalar, value: float, names: TypeNames) -> str:
    """Return the literal of a float: the shortest decimal that reads back as the same number."""
    if kind.bits == 64:
        if math.isfinite(value):
            return repr(value)
        return f"as_double(0x{struct.pack('>d', value).hex()}ul)"
    # Half precision values are exact in single precision.
    text = f"{_single(value)}f" if math.isfinite(value) else f"as_float(0x{struct.pack('>f', value).hex()}u)"
    return f"(half){text}" if kind.bits == 16 and names.native_half else text


def _single(value: float) -> str:
    for digits in range(6, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            break
    return text if any(letter in text for letter in ".e") else f"{text}.0"


def integer_text(kind: Scalar, value: int) -> str:
    """Return the literal of an integer, in the unsigned type that integers are held in."""
    if kind.kind == "bool":
        return "true" if value else "false"
    value &= (1 << kind.bits) - 1
    if kind.bits == 64:
        return f"{value}ul"
    if kind.bits < 32:
        # Without a suffix of its own, a small literal would be an int, and `min` of it and a short ambiguous.
        return f"({'uchar' if kind.bits == 8 else 'ushort'}){value}"
    # Most negative 32-bit constants are offsets: written as a cast, they stay readable.
    if (1 << 32) - value < 1 << 16:
        return f"(uint)-{(1 << 32) - value}"
    return f"{value}u"


def signed_text(kind: Scalar, value: int) -> str:
    """Return the literal of an integer in the signed type."""
    if value == -(1 << (kind.bits - 1)) and kind.bits >= 32:
        # The digits of the lowest number are one too many for its type.
        return "INT_MIN" if kind.bits == 32 else "LONG_MIN"
    names = {8: "(char)", 16: "(short)", 32: "", 64: "(long)"}
    return f"{names[kind.bits]}{value}"


def _scalar(names: TypeNames, kind: Scalar, value: float) -> str:
    return float_text(kind, value, names) if kind.kind == "float" else integer_text(kind, int(value))


def _parse_number(kind: Scalar, text: str) -> float:
    if text in {"true", "false"}:
        return int(text == "true")
    if kind.kind != "float":
        return int(text, 0)
    if text.startswith("0x"):
        # NaN, infinities and values that no short decimal gives are printed as their bits.
        codes = {16: "<e", 32: "<f", 64: "<d"}
        return float(struct.unpack(codes[kind.bits], int(text, 16).to_bytes(kind.bits // 8, "little"))[0])
    return float(text)


_DENSE_ITEM = re.compile(r"true|false|0x[0-9A-Fa-f]+|[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?")


def literal(names: TypeNames, kind: SpirvType, attribute: Ir) -> str:
    """Return the text of a `spirv.Constant`'s value. Raises `TypeSyntaxError` for a kind of constant without a rule."""
    if isinstance(kind, Scalar):
        return _scalar(names, kind, _parse_number(kind, str(attribute).partition(" : ")[0]))
    text = str(attribute)
    if isinstance(kind, Vector) and text.startswith("dense<"):
        body = text[len("dense<") : text.rindex("> :")]
        items = [_parse_number(kind.element, item) for item in _DENSE_ITEM.findall(body)]
        if len(items) == 1:
            items *= kind.lanes
        if kind.element.kind == "bool":
            return f"(int{kind.lanes})({', '.join('-1' if item else '0' for item in items)})"
        texts = [_scalar(names, kind.element, item) for item in items]
        shown = texts[:1] if len(set(texts)) == 1 else texts
        return f"({names.value(kind)})({', '.join(shown)})"
    if isinstance(kind, Array) and kind.length is not None and isinstance(kind.element, Scalar):
        # `dense<[1, 2]> : tensor<2xi32>`, or `[1 : i32, 2 : i32]`, where each element has its type.
        body = re.sub(r" : \w+", "", text.partition("> :")[0])
        items = [_parse_number(kind.element, item) for item in _DENSE_ITEM.findall(body)]
        if len(items) == 1:
            items *= kind.length
        if len(items) == kind.length:
            return f"({names.value(kind)}){{{{{', '.join(_scalar(names, kind.element, item) for item in items)}}}}}"
    msg = f"no OpenCL C literal for the constant {text[:80]}"
    raise TypeSyntaxError(msg)
