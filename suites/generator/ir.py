"""MLIR text for check modules: types, constants, generated inputs, checks.

A module is text that a person can read: expected values are written as numbers, inputs either as numbers or as a
formula over their indices which both the module and NumPy evaluate. The formula is

    t = seed + 31*i0 + 17*i1 + 7*i2 + 5*i3        (in i32)
    value = (t*t mod modulus - shift) * scale

so that every element is a small integer times a power of two: products and sums of them are exact in f32, and any
order of summation gives the same result. Its seed is a value that the compiler cannot see, and a barrier stands
behind it, so that neither constant folding nor fusion takes the input away.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from string import Template
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Approximate", "Array", "Module", "dense", "exactly", "pattern", "source", "type_of"]

Array = npt.NDArray[Any]

FACTORS = (31, 17, 7, 5)
WIDTH = 116
NEW_LINE = "\n      "
LARGEST_LISTED = 1200  # elements; larger results are checked through weighted sums along rows and columns

_NAMES = {
    "float16": "f16", "float32": "f32", "float64": "f64", "bool": "i1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
}  # fmt: skip
_INFINITY_AND_NAN = {  # IEEE bit patterns: +infinity, -infinity, quiet NaN
    "f16": ("0x7C00", "0xFC00", "0x7E00"),
    "bf16": ("0x7F80", "0xFF80", "0x7FC0"),
    "f32": ("0x7F800000", "0xFF800000", "0x7FC00000"),
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximate:
    """An expected value with the tolerances of its check: |actual - expected| <= atol + rtol * |expected|."""

    value: Array
    atol: float = 0.0
    rtol: float = 0.0
    element: str | None = None


def exactly(value: Array, dtype: npt.DTypeLike) -> Array:
    """Return `value` as `dtype`, having made sure that no element is rounded."""
    cast = value.astype(dtype)
    if not np.array_equal(cast.astype(value.dtype), value, equal_nan=value.dtype.kind == "f"):
        msg = f"a value is not exact in {np.dtype(dtype)}; use Approximate with a tolerance"
        raise ValueError(msg)
    return cast


def type_of(value: Array, element: str | None = None) -> str:
    """Return the tensor type of an array; `element` overrides the element type (bf16 has no NumPy dtype)."""
    return "tensor<" + "".join(f"{size}x" for size in value.shape) + (element or _NAMES[value.dtype.name]) + ">"


def _scalar(value: Any, element: str) -> str:
    if element == "i1":
        return "true" if value else "false"
    if element.startswith("i"):
        return str(int(value))
    number = float(value)
    plus, minus, nan = _INFINITY_AND_NAN[element]
    if np.isnan(number):
        return nan
    if np.isinf(number):
        return plus if number > 0 else minus
    # The shortest decimal that reads back as this value of this type.
    text = str(np.float32(number)) if element == "f32" else repr(number)
    if "e" in text:
        mantissa, exponent = text.split("e")
        return (mantissa if "." in mantissa else mantissa + ".0") + "e" + exponent
    return text if "." in text else text + ".0"


def dense(value: Array, element: str | None = None) -> str:
    """Return `dense<...> : tensor<...>`, wrapped to readable lines."""
    kind = element or _NAMES[value.dtype.name]
    if value.size == 0:
        return f"dense<> : {type_of(value, element)}"

    def write(part: Array, depth: int) -> str:
        if part.ndim == 0:
            return _scalar(part[()], kind)
        items = [write(item, depth + 1) for item in part]
        line = "[" + ", ".join(items) + "]"
        if "\n" not in line and len(line) <= WIDTH - 8 - depth:
            return line
        if part.ndim == 1:
            wrapped = textwrap.wrap(", ".join(items), WIDTH - 8 - depth, break_on_hyphens=False)
            return "[" + ("\n" + " " * (7 + depth)).join(wrapped) + "]"
        return "[" + (",\n" + " " * (7 + depth)).join(items) + "]"

    if value.size > 1 and not value.any():
        return f"dense<{_scalar(value.flat[0], kind)}> : {type_of(value, element)}"
    body = write(value, 0)
    short = len(body) < WIDTH - 40 and "\n" not in body
    return f"dense<{'' if short else NEW_LINE}{body}> : {type_of(value, element)}"


def source(value: Array, element: str | None = None) -> str:
    """Return an op that yields `value` and that the compiler cannot look through."""
    return f"util.unfoldable_constant {dense(value, element)}"


def pattern(shape: tuple[int, ...], *, seed: int, modulus: int = 11, shift: int = 5, scale: float = 1.0) -> Array:
    """Evaluate the formula in the module docstring, in float64."""
    t = np.full(shape, seed, np.int64)
    for axis, size in enumerate(shape):
        t = t + (FACTORS[axis] * np.arange(size)).reshape([-1 if d == axis else 1 for d in range(len(shape))])
    if t.max() ** 2 >= 2**31:
        msg = f"shape {shape}: the square overflows i32"
        raise ValueError(msg)
    return ((t * t) % modulus - shift).astype(np.float64) * scale


def _maps(count: int, rank: int) -> str:
    dims = ", ".join(f"d{d}" for d in range(rank))
    return ", ".join([f"affine_map<({dims}) -> ({dims})>"] * count)


@dataclass(slots=True, kw_only=True)
class Module:
    """One generated module. `path` is below suites/, without suffix; `about` is its comment, `generator` its author."""

    path: str
    about: str
    generator: str
    parts: list[str] = field(default_factory=list)
    helpers: dict[str, str] = field(default_factory=dict)

    def input(
        self, name: str, shape: tuple[int, ...], element: str = "f32", *, seed: int,
        modulus: int = 11, shift: int = 5, scale: float = 1.0,
    ) -> Array:  # fmt: skip
        """Add a private function `@name` that makes the formula's values; return them in float64."""
        values = pattern(shape, seed=seed, modulus=modulus, shift=shift, scale=scale)
        kind = "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"
        rank = len(shape)
        parallel = ", ".join(['"parallel"'] * rank)
        lines = [
            f"func.func private @{name}() -> {kind} {{",
            f"  %seed = util.unfoldable_constant {seed} : i32",
            f"  %modulus = arith.constant {modulus} : i32",
            f"  %shift = arith.constant {shift} : i32",
            *(f"  %factor{d} = arith.constant {FACTORS[d]} : i32" for d in range(rank)),
            f"  %empty = tensor.empty() : {kind}",
            f"  %made = linalg.generic {{indexing_maps = [{_maps(1, rank)}],",
            f"      iterator_types = [{parallel}]}} outs(%empty : {kind}) {{",
            f"  ^bb0(%unused: {element}):",
        ]
        last = "%seed"
        for d in range(rank):
            lines += [
                f"    %index{d} = linalg.index {d} : index",
                f"    %i{d} = arith.index_cast %index{d} : index to i32",
                f"    %p{d} = arith.muli %i{d}, %factor{d} : i32",
                f"    %t{d} = arith.addi {last}, %p{d} : i32",
            ]
            last = f"%t{d}"
        lines += [
            f"    %square = arith.muli {last}, {last} : i32",
            "    %rest = arith.remui %square, %modulus : i32",
            "    %number = arith.subi %rest, %shift : i32",
        ]
        result = "%number"
        if element.startswith(("f", "bf")):
            lines.append(f"    %value = arith.sitofp %number : i32 to {element}")
            result = "%value"
            if scale != 1.0:
                lines += [
                    f"    %scale = arith.constant {scale!r} : {element}",
                    f"    %scaled = arith.mulf %value, %scale : {element}",
                ]
                result = "%scaled"
        elif element != "i32":
            cast = "extsi" if element == "i64" else "trunci"
            lines.append(f"    %value = arith.{cast} %number : i32 to {element}")
            result = "%value"
        lines += [
            f"    linalg.yield {result} : {element}",
            f"  }} -> {kind}",
            f"  %hidden = util.optimization_barrier %made : {kind}",
            f"  return %hidden : {kind}",
            "}",
        ]
        self.helpers[name] = "\n".join(lines)
        return values

    def function(self, name: str, body: str, checks: dict[str, Array | Approximate], **values: str) -> None:
        """Add a function: `body` with its `$placeholders` filled, then one check per (value name, expected)."""
        text = Template(textwrap.indent(textwrap.dedent(body).strip("\n"), "  ")).substitute(values)
        lines = [f"func.func @{name}() {{", text]
        for value, expected in checks.items():
            lines.append(self._check(value, expected))
        self.parts.append("\n".join([*lines, "  return", "}"]))

    def verbatim(self, text: str, **values: str) -> None:
        """Add text as it stands, `$placeholders` filled."""
        self.parts.append(Template(textwrap.dedent(text).strip("\n")).substitute(values))

    def _check(self, value: str, expected: Array | Approximate) -> str:
        if isinstance(expected, Approximate):
            kind = type_of(expected.value, expected.element)
            bounds = f", atol {expected.atol:.2e}, rtol {expected.rtol:.2e}"
            return (
                f"  check.expect_almost_eq_const({value}, {dense(expected.value, expected.element)}{bounds}) : {kind}"
            )
        if expected.size > LARGEST_LISTED:
            return self._check_sums(value, expected)
        return f"  check.expect_eq_const({value}, {dense(expected)}) : {type_of(expected)}"

    def _check_sums(self, value: str, expected: Array) -> str:
        """Check a large result through sums along its rows and its columns, weighted 1 to 7 by position.

        One wrong element shows in both; the sums are exact because all partial sums are integers below 2**24.
        """
        flat = expected.reshape(-1, expected.shape[-1]).astype(np.float64)
        kind = type_of(flat.astype(expected.dtype))
        tag = kind.removeprefix("tensor<").removesuffix(">")
        element = _NAMES[expected.dtype.name]
        rows = 1.0 + (np.arange(flat.shape[1]) * 5) % 7
        columns = 1.0 + (np.arange(flat.shape[0]) * 5) % 7
        if max((abs(flat) @ rows).max(), (columns @ abs(flat)).max()) >= 2**24 or (flat != np.rint(flat)).any():
            msg = f"{self.path}: weighted sums of {value} are not exact"
            raise ValueError(msg)
        name = value.removeprefix("%")
        lines = [f"  // {expected.size} elements: checked through weighted sums (see the comment at the top)."]
        source_name = value
        if expected.ndim != 2:
            source_name = f"%{name}_flat"
            leading = ", ".join(str(d) for d in range(expected.ndim - 1))
            lines.append(
                f"  {source_name} = tensor.collapse_shape {value} [[{leading}], [{expected.ndim - 1}]] : {type_of(expected)} into {kind}"
            )
        lines.append(f"  %{name}_kept = util.optimization_barrier {source_name} : {kind}")
        for axis, sums in ((0, flat @ rows), (1, columns @ flat)):
            which = ("rows", "columns")[axis]
            want = exactly(sums, expected.dtype)
            self.helpers[f"weigh_{which}_{tag}"] = self._weigh(
                f"weigh_{which}_{tag}", kind, type_of(want), element, axis
            )
            lines.append(f"  %{name}_{which} = call @weigh_{which}_{tag}(%{name}_kept) : ({kind}) -> {type_of(want)}")
            lines.append(f"  check.expect_eq_const(%{name}_{which}, {dense(want)}) : {type_of(want)}")
        return "\n".join(lines)

    @staticmethod
    def _weigh(name: str, kind: str, result: str, element: str, axis: int) -> str:
        floating = element.startswith("f")
        zero = "0.0" if floating else "0"
        iterators = '"parallel", "reduction"' if axis == 0 else '"reduction", "parallel"'
        length = kind.removeprefix("tensor<").split("x")[1 - axis]
        weights = f"tensor<{length}x{element}>"
        weight = "%weight" if element == "i32" else "%w"
        convert = [] if element == "i32" else [f"    %w = arith.sitofp %weight : i32 to {element}"]
        maps = (
            f"affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ({'ji'[axis]})>, affine_map<(i, j) -> ({'ij'[axis]})>"
        )
        return "\n".join(
            [
                f"func.func private @{name}(%x: {kind}) -> {result} {{",
                f"  %zero = arith.constant {zero} : {element}",
                "  %c1 = arith.constant 1 : i32",
                "  %c5 = arith.constant 5 : i32",
                "  %c7 = arith.constant 7 : i32",
                f"  %room = tensor.empty() : {weights}",
                "  %made = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>],",
                f'      iterator_types = ["parallel"]}} outs(%room : {weights}) {{',
                f"  ^bb0(%unused: {element}):",
                "    %index = linalg.index 0 : index",
                "    %i = arith.index_cast %index : index to i32",
                "    %p = arith.muli %i, %c5 : i32",
                "    %rest = arith.remui %p, %c7 : i32",
                "    %weight = arith.addi %rest, %c1 : i32",
                *convert,
                f"    linalg.yield {weight} : {element}",
                f"  }} -> {weights}",
                f"  %weights = util.optimization_barrier %made : {weights}",
                f"  %empty = tensor.empty() : {result}",
                f"  %init = linalg.fill ins(%zero : {element}) outs(%empty : {result}) -> {result}",
                f"  %sums = linalg.generic {{indexing_maps = [{maps}],",
                f"      iterator_types = [{iterators}]}} ins(%x, %weights : {kind}, {weights}) outs(%init : {result}) {{",
                f"  ^bb0(%v: {element}, %weight: {element}, %sum: {element}):",
                f"    %term = arith.mul{'f' if floating else 'i'} %v, %weight : {element}",
                f"    %next = arith.add{'f' if floating else 'i'} %sum, %term : {element}",
                f"    linalg.yield %next : {element}",
                f"  }} -> {result}",
                f"  return %sums : {result}",
                "}",
            ]
        )

    def text(self) -> str:
        """Return the whole module, ending in a newline."""
        about = textwrap.dedent(self.about).strip("\n").splitlines()
        notes = [f"Written by suites/generate.py from suites/generator/{self.generator}.py; change it there."]
        if any("_kept = util" in part for part in self.parts):
            notes.insert(
                0,
                "Large results are checked through sums along rows and along columns with weights 1 + (5*position mod 7),",
            )
            notes.insert(1, "which are exact in the element type: one wrong element shows in one of each.")
        if any("%modulus" in helper for helper in self.helpers.values()):
            notes.insert(
                0,
                "Inputs: ((seed + 31*i0 + 17*i1 + 7*i2 + 5*i3)^2 mod modulus - shift) * scale, evaluated alike in NumPy.",
            )
        comment = "\n".join(f"// {line}".rstrip() for line in [*about, "", *notes])
        return "\n\n".join([comment, *self.helpers.values(), *self.parts]) + "\n"
