"""The values of `--input` and `--expected_output` as text; the grammar is in `retarget_iree.flagfile.parse`."""

from __future__ import annotations

import functools
import math
import re
import struct
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from retarget.model import ELEMENT_TYPES
from retarget.support import Diagnostic, DiagnosticsError, did_you_mean

from retarget_iree.runtime.elements import ELEMENT_CODES

ELEMENTS = {
    f"cf{element.bits}" if element.kind == "c" else name: element
    for name, element in ELEMENT_TYPES.items()
    if name in ELEMENT_CODES and name != "index"
}
"""Element types as flags name them."""

_MAX_RANK = 64
"""As many dimensions as NumPy knows."""
_MAX_DIGITS = 18
_SHOWN = 60
"""Characters of a text that a message shows."""

_TYPE = re.compile(r"(?P<sizes>(?:\d*x)*)(?P<element>.*)", re.DOTALL | re.ASCII)
_ITEM = re.compile(r"[^\s,\[\]]+")
_BYTE = re.compile(r"[0-9a-fA-F]{2}")
_INTEGER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(
    r"[+-]?(?:nan|inf(?:inity)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
    r"|0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?)",
    re.IGNORECASE | re.ASCII,
)
_UNHELD = re.compile(r"(?:i|si|ui|f|bf|cf|x|\*)\d+|index|complex<.*>|c64|c128|pred")
_COMPLEX = {"complex<f32>": "cf64", "c64": "cf64", "complex<f64>": "cf128", "c128": "cf128"}
_BOOLEANS = {"00": 0, "0": 0, "false": 0, "01": 1, "1": 1, "true": 1}
_FORMS = "2x3xf32=1 2 3 4 5 6, 4xf32=0, 2x3xf32=@file.bin, @file.npy or a number"


class Location(Struct, frozen=True, kw_only=True):
    """A source location in a flagfile; line and column count from 1, columns in characters. Line 0 is all of it."""

    file: Path
    line: int = 0
    column: int = 0

    def diagnostic(self, message: str) -> Diagnostic:
        """Return an error at this location."""
        return Diagnostic(file=self.file, line=self.line, column=self.column, key_path="", message=message)

    def error(self, message: str) -> DiagnosticsError:
        """Return the exception with an error at this location."""
        return DiagnosticsError([self.diagnostic(message)])

    def after(self, characters: int) -> Location:
        """Return the location so many characters to the right."""
        return replace(self, column=self.column + characters)


class Written(Struct, frozen=True, kw_only=True):
    """A flag's value as in the file."""

    text: str
    location: Location


class Form(StrEnum):
    """What an argument is: a tensor with its type, arrays of a `.npy` file, a bare number, or none."""

    TENSOR = "tensor"
    ARRAYS = "arrays"
    NUMBER = "number"
    IGNORED = "(ignored)"
    NULL = "(null)"


class Value(Struct, frozen=True, kw_only=True):
    """One `--input` or `--expected_output`.

    `shape` and `element` are a tensor's. `numbers` are its elements, a few of them that are repeated, or a bare number;
    none: zeros. `path` names the file of `numbers`, and `source` how it is read: `@`, `+` or `*`.
    """

    form: Form
    written: Written
    shape: tuple[int, ...] = ()
    element: str = ""
    numbers: tuple[int | float | complex, ...] = ()
    source: str = ""
    path: str = ""


def shortened(text: str) -> str:
    """Return what a message shows of a text: a line of a flagfile may be as long as it likes."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def quoted(text: str) -> str:
    """Return what a message shows of a text, in quotes."""
    return repr(shortened(text))


# ---------------------------------------------------------------- arguments


def parse_value(written: Written) -> Value:
    """Return what a value says. Raises `DiagnosticsError`."""
    text = written.text
    if text in {Form.IGNORED, Form.NULL}:
        return Value(form=Form(text), written=written)
    if text[0] in "@+*":
        path = text[1:].strip()
        if not path.endswith(".npy"):
            expected = "expected a .npy file; raw bytes need their type before them: 2x3xf32=@file.bin"
            msg = f"found {quoted(path)}, {expected}"
            raise written.location.after(1).error(msg)
        return Value(form=Form.ARRAYS, written=written, source=text[0], path=path)
    if text[0] == "&":
        return _parse_tensor(written, Written(text=text[1:], location=written.location.after(1)))
    if "=" not in text and (number := _to_int(text) if _INTEGER.fullmatch(text) else parse_number(text)) is not None:
        return Value(form=Form.NUMBER, written=written, numbers=(number,))
    return _parse_tensor(written, written)


def _parse_tensor(whole: Written, written: Written) -> Value:
    kind, equals, rest = written.text.partition("=")
    shape, element = _parse_type(Written(text=kind, location=written.location), bare=not equals)
    start = len(kind) + 1 + len(rest) - len(rest.lstrip())
    contents = Written(text=rest.strip(), location=written.location.after(start))
    tensor = Value(form=Form.TENSOR, written=whole, shape=shape, element=element)
    if contents.text[:1] in {"@", "+"}:
        path = contents.text[1:].strip()
        if not path:
            msg = f"found no file after {contents.text[0]!r}, expected {shortened(kind)}=@file.bin"
            raise contents.location.error(msg)
        return replace(tensor, source=contents.text[0], path=path)
    if contents.text[:1] == "*":
        msg = f"found '*', expected '@' or '+': {contents.text[1:].strip() or 'a file'} holds one tensor of this type"
        raise contents.location.error(msg)
    return replace(tensor, numbers=_parse_contents(contents, shape, element))


def _parse_type(written: Written, *, bare: bool) -> tuple[tuple[int, ...], str]:
    text = written.text.strip()
    found = _TYPE.fullmatch(text)
    sizes, element = (found["sizes"], found["element"].strip()) if found else ("", text)
    location = written.location.after(len(sizes))
    if bare and not sizes:
        guess = did_you_mean(text, ["(ignored)", "(null)"])
        msg = f"found {quoted(text)}, expected a value with its type: {_FORMS}{guess}"
        raise written.location.error(msg)
    if element[:1] in {"?", "-"} or re.match(r"\d.*x", element):
        size = element.partition("x")[0]
        msg = f"found {quoted(size)}, expected a size of 0 or more: data has a shape without unknown sizes"
        raise location.error(msg)
    if not element:
        msg = f"found no element type after {quoted(sizes)}, expected one, such as f32"
        raise location.error(msg)
    if element not in ELEMENTS:
        raise location.error(_unknown_element(element))
    parts = sizes.split("x")[:-1]
    if parts == [""]:
        parts = []
    if "" in parts:
        msg = f"found {quoted(sizes)}, expected sizes with an x after each: 2x3x{shortened(element)}"
        raise written.location.error(msg)
    if len(parts) > _MAX_RANK or any(len(part) > _MAX_DIGITS for part in parts):
        msg = f"found {quoted(sizes)}, expected at most {_MAX_RANK} sizes of at most {_MAX_DIGITS} digits"
        raise written.location.error(msg)
    return tuple(map(int, parts)), element


def _unknown_element(element: str) -> str:
    if known := _COMPLEX.get(element):
        return f"found element type {quoted(element)}, expected {known}, which is how iree-run-module names it"
    if element == "index":
        return "found element type 'index', expected i64, as which it is passed"
    expected = f"expected one of: {', '.join(ELEMENTS)}"
    if _UNHELD.fullmatch(element):
        return f"found element type {quoted(element)}, which no NumPy type holds; {expected}"
    if element in ELEMENT_TYPES:
        return f"found element type {quoted(element)}, which the runtime of IREE does not pass; {expected}"
    meant = (name for name, known in ELEMENTS.items() if element.lower() in {name.lower(), known.dtype})
    near = next((f"; did you mean {name!r}?" for name in meant), did_you_mean(element, ELEMENTS))
    return f"found element type {quoted(element)}, {expected}{near}"


def _parse_contents(written: Written, shape: tuple[int, ...], element: str) -> tuple[int | float | complex, ...]:
    if not written.text:
        return ()
    items = _ITEM.findall(written.text)
    count, bits = math.prod(shape), ELEMENTS[element].bits
    if bits in {2, 4} and count and len(items) in {1, -(-count * bits // 8)} and all(map(_BYTE.fullmatch, items)):
        # The lowest bits of the first byte are the first element.
        mask = (1 << bits) - 1
        return tuple(int(item, 16) >> shift & mask for item in items for shift in range(0, 8, bits))[:count]
    if len(items) != count and (len(items) != 1 or count == 0):
        name = "x".join([*map(str, shape), element])
        one = " (or 1 for all)" if count > 1 else ""
        msg = f"found {len(items)} number{'s' if len(items) != 1 else ''}, expected {count} for {name}{one}"
        raise written.location.error(msg)
    parse, expected = _reader(element)
    try:
        return tuple(map(parse, items))
    except ValueError:
        for item in _ITEM.finditer(written.text):
            try:
                parse(item[0])
            except ValueError:
                msg = f"found {quoted(item[0])}, expected {expected}"
                raise written.location.after(item.start()).error(msg) from None
        raise


def packed_text(value: Value) -> str:
    """Return a value as `iree-run-module` reads it, for which numbers of 2 and 4 bits are bytes in hexadecimal."""
    bits = ELEMENTS[value.element].bits if value.element else 0
    if bits not in {2, 4} or not value.numbers or value.path:
        return value.written.text
    numbers = [int(number) & (1 << bits) - 1 for number in value.numbers]  # type: ignore[arg-type]
    numbers = numbers * (8 // bits) if len(numbers) == 1 else numbers
    step = 8 // bits
    packed = (
        sum(number << bits * at for at, number in enumerate(numbers[start : start + step]))
        for start in range(0, len(numbers), step)
    )
    kind = "&" * value.written.text.startswith("&") + "x".join([*map(str, value.shape), value.element])
    return f"{kind}={' '.join(f'{byte:02x}' for byte in packed)}"


# ---------------------------------------------------------------- numbers


@functools.cache
def _reader(element: str) -> tuple[Callable[[str], int | float | complex], str]:
    """Return what reads one item of an element type, raising `ValueError`, and a description of what is expected."""
    known = ELEMENTS[element]
    kind, bits = known.kind, known.bits
    if kind == "b":
        return _to_boolean, "00, 01, 0, 1, false or true, for i1"
    if kind == "c":
        half = "f" if element == "cf64" else "d"
        digits = 2 * struct.calcsize(f"<2{half}")
        return functools.partial(_to_complex, half), f"{digits} hexadecimal digits, the bytes of a number of {element}"
    if element == "f8E8M0FNU":
        return _to_positive, f"a number above 0, for {element}"
    if kind == "f":
        return _to_float, f"a number, for {element}"
    low = 0 if kind == "u" else -(1 << (bits - 1))
    high = (1 << bits) - 1 if kind == "u" or known.is_signless else (1 << (bits - 1)) - 1
    expected = f"an integer from {low} to {high}, for {element} (0x10 is hexadecimal, 010 octal)"
    return functools.partial(_to_int, low=low, high=high), expected


def parse_number(text: str) -> float | None:
    """Return a number as C reads it; None for what is none."""
    return _to_float(text) if _FLOAT.fullmatch(text) else None


def _to_int(text: str, *, low: int | None = None, high: int | None = None) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError
    digits = text.lstrip("+-")
    base = 16 if digits[:2] in {"0x", "0X"} else 8 if digits[0] == "0" else 10
    number = int(digits, base) * (-1 if text[0] == "-" else 1)
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError
    return number


def _to_float(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise ValueError
    if text.lstrip("+-")[:2] in {"0x", "0X"}:
        try:
            return float.fromhex(text)
        except OverflowError:
            return -math.inf if text[0] == "-" else math.inf
    return float(text)


def _to_positive(text: str) -> float:
    if (number := _to_float(text)) <= 0:
        raise ValueError
    return number


def _to_boolean(text: str) -> int:
    if text not in _BOOLEANS:
        raise ValueError
    return _BOOLEANS[text]


def _to_complex(half: str, text: str) -> complex:
    """Read the bytes of a complex number, in the order of a little-endian machine's memory."""
    size = struct.calcsize(f"<2{half}")
    if len(text) != 2 * size:
        raise ValueError
    real, imaginary = struct.unpack(f"<2{half}", bytes.fromhex(text))
    return complex(real, imaginary)
