"""Constant attributes as bytes, read from their text.

`#util.composite` is taken apart here rather than by MLIR's own parser: parsing a part of it again through the Python
bindings of IREE 3.13 can end the process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

import numpy as np
import numpy.typing as npt
from retarget.arrays.dtypes import bits_of, is_packed, kind_of, pack, packed_size
from retarget.model.element_types import parse_type, split_types

from retarget_opencl.translation import Buffer, Ir, element_dtype


class ConstantSyntaxError(ValueError):
    """A constant attribute in a form that no rule knows. `str()` quotes its beginning."""


def number_of(attribute: Ir, kind: str) -> float | None:
    """Return the number of an attribute of that type; integers, `index` and Booleans as `int`. None for other types."""
    text = str(attribute).partition(" : ")[0]
    if text in {"true", "false"}:
        return int(text == "true")
    if re.fullmatch(r"index|i\d+", kind):
        return int(text)
    return float(attribute.value) if re.fullmatch(r"f\d+|bf16", kind) else None


_TOKEN = re.compile(r"true|false|0[xX][0-9A-Fa-f]+|[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|[-+]?(?:inf|nan)")


def _shaped(text: str) -> tuple[int, str, np.dtype[np.generic] | None]:
    """Return the number of elements of a type with static shape, its element type and what NumPy has for it."""
    declared = parse_type(text)
    if declared.shape is None or None in declared.shape or declared.element is None:
        msg = f"expected a tensor or vector type with static shape, found {text.strip()[:80]!r}"
        raise ConstantSyntaxError(msg)
    return prod(size or 0 for size in declared.shape), declared.element, element_dtype(declared.element)


def _number(token: str, dtype: np.dtype[np.generic]) -> object:
    if token in {"true", "false"}:
        return token == "true"  # noqa: S105 - a word of the grammar
    kind, bits = kind_of(dtype), bits_of(dtype)
    if kind in "iu":
        value = int(token, 0)
        return value - (1 << bits) if value >= 1 << (bits - 1) and kind == "i" else value
    if token[:2] in {"0x", "0X"}:
        # A float whose bits are given: NaN, infinities, and values without a short decimal.
        return np.frombuffer(int(token, 16).to_bytes(dtype.itemsize, "little"), dtype=dtype)[0]
    return float(token)


def _dense_bytes(text: str) -> bytes:
    """Return the bytes in memory of `dense<…> : type`. Raises `ConstantSyntaxError`."""
    end = text.rindex("> :")
    body, (count, element, dtype) = text[len("dense<") : end].strip(), _shaped(text[end + 3 :])
    if dtype is None:
        msg = f"no bytes for constants of element type {element}"
        raise ConstantSyntaxError(msg)
    if body.startswith('"'):
        values = _raw(bytes.fromhex(body.strip('"')[2:]), count, dtype, element)
    else:
        values = _listed(body, count, dtype)
    return pack(values).tobytes()


def _raw(raw: bytes, count: int, dtype: np.dtype[np.generic], element: str) -> npt.NDArray[np.generic]:
    """Read the hexadecimal form. Booleans may be a bit or a byte each; a splat is there once."""
    if element == "i1" and len(raw) == -(-count // 8) and len(raw) != count:
        return np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[:count].astype(np.bool_)
    values = np.frombuffer(raw, dtype)
    return np.repeat(values, count) if len(values) == 1 and count != 1 else values


def _listed(body: str, count: int, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    tokens = _TOKEN.findall(body)
    if kind_of(dtype) == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        parts = np.array([_number(token, part) for token in tokens], part)
        if len(parts) == 2 and count != 1:
            parts = np.tile(parts, count)
        return parts.view(dtype)
    values = np.array([_number(token, dtype) for token in tokens], dtype) if tokens else np.zeros(0, dtype)
    if len(values) == 1 and count != 1:
        return np.repeat(values, count)
    if len(values) != count:
        msg = f"expected {count} elements, found {len(values)} in the constant {body[:80]!r}"
        raise ConstantSyntaxError(msg)
    return values


def _resource_bytes(text: str, resources: Callable[[], Mapping[str, Buffer]]) -> Buffer:
    match = re.match(r'dense_resource<"?([^">]+)"?> : (.*)$', text, re.DOTALL)
    # MLIR adds a number to the name of a resource that it reads as part of another dialect's attribute.
    held = resources() if match is not None else {}
    names = {match[1], re.sub(r"_[0-9]+$", "", match[1])} & held.keys() if match is not None else set()
    blob = held[names.pop()] if len(names) == 1 else None
    if match is None or blob is None:
        msg = f"the constant {text[:80]!r} refers to a resource that the module does not hold"
        raise ConstantSyntaxError(msg)
    count, element, dtype = _shaped(match[2])
    if dtype is None or is_packed(dtype) or len(blob) != count * dtype.itemsize:
        msg = f"a resource of {len(blob)} bytes for {count} elements of type {element}"
        raise ConstantSyntaxError(msg)
    return blob


def constant_bytes(text: str, resources: Callable[[], Mapping[str, Buffer]] = dict) -> Buffer:
    """Return the bytes of a constant attribute: `dense<…>`, `dense_resource<…>`, `#util.composite<…>`, a text, …

    `resources` returns the module's resources by name; it is called where a constant needs one, because reading them
    takes time. Raises `ConstantSyntaxError`.
    """
    text = text.strip()
    if text.startswith("dense_resource<"):
        return _resource_bytes(text, resources)
    if text.startswith("#util.composite<"):
        inner = text[text.index("[") + 1 : text.rindex("]")]
        return b"".join(constant_bytes(part, resources) for part in split_types(inner))
    if text.startswith("dense<"):
        return _dense_bytes(text)
    if text.startswith('"'):
        return _unescape(text[1 : text.rindex('"')])
    match = re.match(r"#util\.uninitialized\s*:\s*(.*)$", text, re.DOTALL)
    if match is not None:
        count, _, dtype = _shaped(match[1])
        if dtype is not None:
            return bytes(packed_size((count,), dtype))
    match = re.match(r"(-?\d+|true|false) : (i\d+|index)$", text)
    if match is not None:
        dtype = element_dtype(match[2])
        if dtype is not None:
            value = _number(match[1], dtype)
            return bytes(np.array([value]).astype(dtype).tobytes())
    msg = f"no rule for the constant {text[:80]!r}"
    raise ConstantSyntaxError(msg)


def _unescape(text: str) -> bytes:
    r"""Undo MLIR's escapes: `\\`, `\"`, and `\` with two hexadecimal digits."""
    out = re.sub(r'\\(["\\nt]|[0-9A-Fa-f]{2})', _escape, text)
    return out.encode("latin-1", "surrogateescape") if out.isascii() else out.encode("latin-1")


def _escape(match: re.Match[str]) -> str:
    code = match[1]
    known = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
    return known[code] if code in known else chr(int(code, 16))
