"""Element types, by MLIR's names (`f32`) and NumPy's (`float32`), and MLIR's types as text. Needs no NumPy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementType:
    """An element type: its name in MLIR, the name that NumPy and ml_dtypes have for it, and the bits of an element.
    `kind` is NumPy's letter for what they are: `b`, `i`, `u`, `f` or `c`."""

    name: str
    dtype: str
    kind: str
    bits: int

    @property
    def is_signless(self) -> bool:
        """Whether its integers hold signed and unsigned numbers, as those of MLIR's `i32` do."""
        return self.kind == "i" and not self.name.startswith("si")


_INTEGERS = (("i", "int", "i"), ("si", "int", "i"), ("ui", "uint", "u"))
_SMALL_FLOATS = (
    *("f4E2M1FN", "f6E2M3FN", "f6E3M2FN"),
    *("f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E4M3", "f8E3M4", "f8E4M3B11FNUZ", "f8E8M0FNU"),
)
_FLOATS = (
    *((name, f"float{name[1]}_{name[2:].lower()}", int(name[1])) for name in _SMALL_FLOATS),
    *(("f16", "float16", 16), ("bf16", "bfloat16", 16), ("f32", "float32", 32), ("f64", "float64", 64)),
)

ELEMENT_TYPES: Mapping[str, ElementType] = {
    element.name: element
    for element in (
        ElementType(name="i1", dtype="bool", kind="b", bits=1),
        *(
            ElementType(name=f"{prefix}{bits}", dtype=f"{dtype}{bits}", kind=kind, bits=bits)
            for prefix, dtype, kind in _INTEGERS
            for bits in (2, 4, 8, 16, 32, 64)
        ),
        ElementType(name="index", dtype="int64", kind="i", bits=64),
        *(ElementType(name=name, dtype=dtype, kind="f", bits=bits) for name, dtype, bits in _FLOATS),
        ElementType(name="complex<f32>", dtype="complex64", kind="c", bits=64),
        ElementType(name="complex<f64>", dtype="complex128", kind="c", bits=128),
    )
}
"""The element types that NumPy arrays can hold, by their names in MLIR."""

_MLIR_NAMES = {element.dtype: element.name for element in reversed(list(ELEMENT_TYPES.values()))}

_SHAPED = re.compile(
    r"(?:tensor|vector)<(?P<shape>\*x|(?:(?:\d+|\?)x)*)(?P<element>[A-Za-z]\w*(?:<\w+>)?)(?:,.*)?>", re.DOTALL
)
_BRACKETS = {**dict.fromkeys("<([{", 1), **dict.fromkeys(">)]}", -1)}
_BRACKET_OR_COMMA = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|->|[<(\[{]|[>)\]}]|,', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredType:
    """A type that a function declares. `element` is its element type as written, `dtype` its NumPy name, None in
    `shape` a dynamic size; each is None where unknown."""

    text: str
    element: str | None = None
    dtype: str | None
    shape: tuple[int | None, ...] | None

    @property
    def is_signless(self) -> bool:
        """Whether integers of either signedness fit."""
        element = ELEMENT_TYPES.get(self.element or "")
        return element is not None and element.is_signless

    def fits(self, shape: Sequence[int]) -> bool:
        """Return whether an array of a shape fits: a size of None any, and a shape of None all shapes."""
        if (sizes := self.shape) is None:
            return True
        return len(shape) == len(sizes) and all(one in {None, found} for one, found in zip(sizes, shape, strict=True))

    @classmethod
    def parse(cls, text: str) -> DeclaredType:
        """Parse a declared type (`tensor<2x?xf32>`, `i32`); any other type has unknown elements."""
        text = text.strip()
        if text in ELEMENT_TYPES:
            return cls(text=text, element=text, dtype=ELEMENT_TYPES[text].dtype, shape=())
        match = _SHAPED.fullmatch(text)
        if match is None:
            return cls(text=text, dtype=None, shape=None)
        shape = None
        if match["shape"] != "*x":
            shape = tuple(None if size == "?" else int(size) for size in match["shape"].split("x")[:-1])
        known = ELEMENT_TYPES.get(match["element"])
        return cls(text=text, element=match["element"], dtype=None if known is None else known.dtype, shape=shape)


def mlir_name(dtype: str) -> str:
    """Return MLIR's name of the element type that NumPy names so (`f32` for `float32`); other names as they are."""
    return _MLIR_NAMES.get(dtype, dtype)


def brackets(text: str, start: int = 0) -> Iterator[tuple[re.Match[str], int]]:
    """Yield brackets, commas, arrows and quoted texts, each with the number of brackets that are open after it."""
    depth = 0
    for match in _BRACKET_OR_COMMA.finditer(text, start):
        depth += _BRACKETS.get(match[0], 0)
        yield match, depth


def split_types(text: str) -> list[str]:
    """Split a list at the commas outside brackets and quoted texts: `i32, tuple<f32, f32>` has two parts."""
    commas = [match.start() for match, depth in brackets(text) if depth == 0 and match[0] == ","]
    parts = (text[start + 1 : end] for start, end in pairwise([-1, *commas, len(text)]))
    return [part.strip() for part in parts if part.strip()]
