"""SPIR-V constants as OpenCL C literals."""

from __future__ import annotations

import math
import re
import struct

from retarget_opencl.clc.types import Array, Scalar, SpirvType, TypeNames, TypeSyntaxError, Vector
from retarget_opencl.translation import Ir

__all__ = ["float_text", "integer_text", "literal", "signed_text"]


def float_text(kind: Scalar, value: float, names: TypeNames) -> str:
    """Return the literal of a float: the shortest decimal that reads back as the same number."""
    if kind.bits == 64:
        if math.isfinite(value):
            return repr(value)
        return f"as_double(0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}ul)"
    # Half precision values are exact in single precision.
    text = f"{_single(value)}f" if math.isfinite(value) else f"as_float(0x{_single_bits(value):08x}u)"
    return f"(half){text}" if kind.bits == 16 and names.native_half else text


def _single_bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


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


def _number(kind: Scalar, attribute: Ir) -> float:
    """Return the number of an integer, float or boolean attribute."""
    return _parse_number(kind, str(attribute).partition(" : ")[0])


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
        return _scalar(names, kind, _number(kind, attribute))
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
