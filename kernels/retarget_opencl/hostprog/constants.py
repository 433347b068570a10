"""Constant attributes as bytes, read from their text.

`#util.composite` is taken apart here rather than by MLIR's own parser: parsing a part of it again through the Python
bindings of IREE 3.13 can end the process.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import prod

import ml_dtypes
import numpy as np
import numpy.typing as npt

__all__ = ["ConstantSyntaxError", "constant_bytes", "dense_bytes", "element_dtype", "resource_blobs"]


class ConstantSyntaxError(ValueError):
    """A constant attribute in a form that no rule knows. `str()` quotes its beginning."""


_DTYPES: dict[str, npt.DTypeLike] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}


def element_dtype(name: str) -> np.dtype[np.generic] | None:
    """Return the NumPy dtype of an MLIR element type, signs (`si8`, `ui8`) included; None where it has none."""
    if name in _DTYPES:
        return np.dtype(_DTYPES[name])
    if re.fullmatch(r"si(8|16|32|64)", name):
        return np.dtype(f"int{name[2:]}")
    if re.fullmatch(r"ui(8|16|32|64)", name):
        return np.dtype(f"uint{name[2:]}")
    return None


_TYPE = re.compile(r"(?:tensor|vector)<((?:\d+x)*)([^?].*)>$")
_TOKEN = re.compile(r"true|false|0[xX][0-9A-Fa-f]+|[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|[-+]?(?:inf|nan)")


def _split_type(text: str) -> tuple[int, str]:
    match = _TYPE.match(text.strip())
    if match is None:
        msg = f"expected a tensor or vector type with static shape, found {text.strip()[:80]!r}"
        raise ConstantSyntaxError(msg)
    return prod(int(size) for size in match[1].split("x") if size), match[2]


def _number(token: str, dtype: np.dtype[np.generic], bits: int) -> object:
    if token in {"true", "false"}:
        return token == "true"  # noqa: S105 - a word of the grammar
    if dtype.kind not in "fcV" and dtype.kind != "b":
        value = int(token, 0)
        return value - (1 << bits) if value >= 1 << (bits - 1) and dtype.kind == "i" else value
    if token[:2] in {"0x", "0X"}:
        # A float whose bits are given: NaN, infinities, and values without a short decimal.
        return np.frombuffer(int(token, 16).to_bytes(dtype.itemsize, "little"), dtype=dtype)[0]
    return float(token)


def _pack(values: npt.NDArray[np.generic], bits: int) -> bytes:
    """Pack small integers, the first in the lowest bits, as IREE stores sub-byte tensors."""
    per_byte = 8 // bits
    padded = np.zeros(-(-len(values) // per_byte) * per_byte, np.uint8)
    padded[: len(values)] = values.astype(np.int8).view(np.uint8) & ((1 << bits) - 1)
    shifted = padded.reshape(-1, per_byte) << (np.arange(per_byte, dtype=np.uint8) * bits)
    return bytes(np.bitwise_or.reduce(shifted, axis=1).astype(np.uint8))


def dense_bytes(text: str) -> bytes:
    """Return the bytes in memory of `dense<…> : type`. Raises `ConstantSyntaxError`."""
    end = text.rindex("> :")
    body, (count, element) = text[len("dense<") : end].strip(), _split_type(text[end + 3 :])
    small = re.fullmatch(r"[su]?i(2|4)", element)
    dtype = np.dtype(np.int8) if small else element_dtype(element)
    if dtype is None:
        msg = f"no bytes for constants of element type {element}"
        raise ConstantSyntaxError(msg)
    bits = int(small[1]) if small else dtype.itemsize * 8
    if body.startswith('"'):
        raw = bytes.fromhex(body.strip('"')[2:])
        values = _raw(raw, count, dtype, element)
    else:
        values = _listed(body, count, dtype, bits)
    if small:
        return _pack(values, bits)
    return bytes(np.ascontiguousarray(values).tobytes())


def _raw(raw: bytes, count: int, dtype: np.dtype[np.generic], element: str) -> npt.NDArray[np.generic]:
    """Read the hexadecimal form. Booleans may come a bit or a byte each; a splat comes once."""
    if element == "i1" and len(raw) == -(-count // 8) and len(raw) != count:
        return np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")[:count].astype(np.bool_)
    values = np.frombuffer(raw, dtype)
    return np.repeat(values, count) if len(values) == 1 and count != 1 else values


def _listed(body: str, count: int, dtype: np.dtype[np.generic], bits: int) -> npt.NDArray[np.generic]:
    tokens = _TOKEN.findall(body)
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        parts = np.array([_number(token, part, 64) for token in tokens], part)
        if len(parts) == 2 and count != 1:
            parts = np.tile(parts, count)
        return parts.view(dtype)
    values = np.array([_number(token, dtype, bits) for token in tokens], dtype) if tokens else np.zeros(0, dtype)
    if len(values) == 1 and count != 1:
        return np.repeat(values, count)
    if len(values) != count:
        msg = f"expected {count} elements, found {len(values)} in the constant {body[:80]!r}"
        raise ConstantSyntaxError(msg)
    return values


Resources = Callable[[], Mapping[str, bytes]]
"""Gives the module's resources by name. A function, because reading them costs something and few modules have any."""


def _no_resources() -> Mapping[str, bytes]:
    return {}


def resource_blobs(module_text: str) -> dict[str, bytes]:
    """Return the resources at the end of a module's text: `{-# dialect_resources: {builtin: {name: "0x…"}} #-}`.

    The first four bytes of each are its alignment, not its content.
    """
    start = module_text.rfind("{-#")
    if start < 0:
        return {}
    found = re.finditer(r'^\s*("?)([^\s":]+)\1: "0x([0-9A-Fa-f]*)"', module_text[start:], re.MULTILINE)
    return {match[2]: bytes.fromhex(match[3])[4:] for match in found}


def _resource_bytes(text: str, resources: Resources) -> bytes:
    match = re.match(r'dense_resource<"?([^">]+)"?> : (.*)$', text, re.DOTALL)
    blob = resources().get(match[1]) if match is not None else None
    if match is None or blob is None:
        msg = f"the constant {text[:80]!r} refers to a resource that the module does not hold"
        raise ConstantSyntaxError(msg)
    count, element = _split_type(match[2])
    dtype = element_dtype(element)
    if dtype is None or len(blob) != count * dtype.itemsize:
        msg = f"a resource of {len(blob)} bytes for {count} elements of type {element}"
        raise ConstantSyntaxError(msg)
    return blob


def constant_bytes(text: str, resources: Resources = _no_resources) -> bytes:
    """Return the bytes of a constant attribute: `dense<…>`, `dense_resource<…>`, `#util.composite<…>`, a text, …

    Raises `ConstantSyntaxError`.
    """
    text = text.strip()
    if text.startswith("dense_resource<"):
        return _resource_bytes(text, resources)
    if text.startswith("#util.composite<"):
        inner = text[text.index("[") + 1 : text.rindex("]")]
        return b"".join(constant_bytes(part, resources) for part in _parts(inner))
    if text.startswith("dense<"):
        return dense_bytes(text)
    if text.startswith('"'):
        return _unescape(text[1 : text.rindex('"')])
    match = re.match(r"#util\.uninitialized\s*:\s*(.*)$", text, re.DOTALL)
    if match is not None:
        count, element = _split_type(match[1])
        dtype = element_dtype(element)
        if dtype is not None:
            return bytes(count * dtype.itemsize)
    match = re.match(r"(-?\d+|true|false) : (i\d+|index)$", text)
    if match is not None:
        dtype = element_dtype(match[2])
        if dtype is not None:
            value = _number(match[1], dtype, dtype.itemsize * 8)
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


def _parts(text: str) -> list[str]:
    """Split at the commas outside brackets and texts."""
    parts: list[str] = []
    depth = start = index = 0
    while index < len(text):
        letter = text[index]
        if letter == '"':
            index = _text_end(text, index)
        elif letter in "<[(":
            depth += 1
        elif letter in ">])":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
        index += 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _text_end(text: str, start: int) -> int:
    index = start + 1
    while text[index] != '"':
        # A constant's hexadecimal text may be millions of letters long: jump, do not walk.
        quote, slash = text.find('"', index), text.find("\\", index)
        index = quote if slash < 0 or quote < slash else slash + 2
    return index
