"""Which operations each dialect has, for which element types, as the strategies draw them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retarget_fuzz.programs.ir import Type

__all__ = ["OPERATIONS", "Operations"]

_PREDICATES = ("lt", "eq", "ne", "le", "gt", "ge")
_STEPS = (
    *("binary", "unary", "binary", "compare", "select", "convert", "broadcast", "transpose", "reshape", "slice", "pad"),
    *("concat", "reduce", "reduce", "dot", "if", "for"),
)
_FLOATS = ("neg", "abs", "ceil", "floor", "exp", "log", "rsqrt", "tanh", "sin", "cos")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The operations of a dialect. Names by element type, or by kind of element type: `float`, `integer` or `i1`."""

    dialect: str
    element_types: Sequence[str]
    unaries: Mapping[str, Sequence[str]]
    binaries: Mapping[str, Sequence[str]]
    compared: Mapping[str, Sequence[str]]
    reduced: Mapping[str, Sequence[str]]
    steps: Sequence[str]
    ranks_of_dot: Collection[int]
    has_empty: bool = True
    has_strides: bool = True
    has_interior: bool = False
    has_swapped_dot: bool = True
    keeps_rank: bool = False

    @staticmethod
    def _of(table: Mapping[str, Sequence[str]], kind: Type) -> Sequence[str]:
        general = "float" if kind.is_float else "i1" if kind.element == "i1" else "integer"
        return table.get(kind.element, table.get(general, ()))

    def unary(self, kind: Type) -> Sequence[str]:
        """The elementwise operations with one operand."""
        return self._of(self.unaries, kind)

    def binary(self, kind: Type) -> Sequence[str]:
        """The elementwise operations with two operands."""
        return self._of(self.binaries, kind)

    def predicates(self, kind: Type) -> Sequence[str]:
        """The comparisons."""
        return self._of(self.compared, kind)

    def reductions(self, kind: Type) -> Sequence[str]:
        """The operations that a reduction may repeat."""
        return self._of(self.reduced, kind)

    def conversions(self, kind: Type, element_types: Sequence[str]) -> list[tuple[str, str]]:
        """The conversions: the operation, and the element type that it gives."""
        choices: list[tuple[str, str]] = []
        for target in map(Type, element_types):
            if target.element == kind.element:
                continue
            op = "convert"
            if self.dialect == "tosa":
                if (kind.element == "i1" and target.is_float) or (kind.is_float and target.element == "i1"):
                    continue
                op = "convert.to_even"
            elif (target.element == "i1" and (self.dialect == "linalg" or kind.is_float)) or (
                self.dialect == "linalg" and kind.is_float and target.is_float and kind.bits == target.bits
            ):
                continue
            elif self.dialect == "linalg" and not kind.is_float and (target.is_float or kind.bits < target.bits):
                choices.append(("convert.u", target.element))
            choices.append((op, target.element))
        return choices

    def products(self, kind: Type, element_types: Sequence[str]) -> list[str]:
        """The element types of a matrix product's result."""
        wider = {"f16": "f32", "bf16": "f32", "i8": "i32"}.get(kind.element, kind.element)
        same = [] if kind.element == "i1" or (self.dialect == "tosa" and not kind.is_float) else [kind.element]
        if self.dialect == "tosa" and kind.element not in {"i8", "f16", "bf16", "f32"}:
            return []
        if self.dialect == "tosa" and kind.element == "bf16":
            same = []
        return [*same, *([wider] if wider != kind.element and wider in element_types else [])]


_ALL_TYPES = ("f32", "f16", "bf16", "f64", "i1", "i8", "i16", "i32", "i64")
_ARITHMETIC = ("add", "sub", "mul", "max", "min")
_BITS = ("and", "or", "xor")

OPERATIONS: Mapping[str, Operations] = {
    "linalg": Operations(
        dialect="linalg",
        element_types=_ALL_TYPES,
        unaries={"float": (*_FLOATS, "sqrt", "expm1", "log1p", "erf", "round_even"), "integer": ("abs", "popcnt")},
        binaries={
            "float": (*_ARITHMETIC, "div", "pow"),
            "integer": (
                *(*_ARITHMETIC, *_BITS, "div", "rem", "div_u", "rem_u", "max_u", "min_u", "shl", "shr", "shr_u"),
            ),
            "i1": _BITS,
        },
        compared={"float": _PREDICATES, "integer": (*_PREDICATES, "lt_u", "le_u", "gt_u", "ge_u")},
        reduced={"float": ("add", "max", "min"), "integer": (*_ARITHMETIC[::2], "max", "min", *_BITS), "i1": _BITS},
        steps=(*_STEPS, "take", "iota"),
        ranks_of_dot=(2, 3),
    ),
    "stablehlo": Operations(
        dialect="stablehlo",
        element_types=_ALL_TYPES,
        unaries={
            "float": (*_FLOATS, "sqrt", "expm1", "log1p", "logistic", "round_even"),
            "integer": ("neg", "abs", "not", "popcnt"),
            "i1": ("not",),
        },
        binaries={
            "float": (*_ARITHMETIC, "div", "pow"),
            "integer": (*_ARITHMETIC, *_BITS, "div", "rem", "shl", "shr", "shr_u"),
            "i1": _BITS,
        },
        compared={"float": _PREDICATES, "integer": _PREDICATES, "i1": ("eq", "ne")},
        reduced={"float": ("add", "max", "min"), "integer": ("add", "mul", "max", "min", *_BITS), "i1": ("and", "or")},
        steps=(*_STEPS, "take", "iota", "reverse"),
        ranks_of_dot=(2, 3, 4),
        has_interior=True,
    ),
    "tosa": Operations(
        dialect="tosa",
        element_types=("f32", "f16", "bf16", "i1", "i8", "i16", "i32"),
        unaries={
            "float": (*_FLOATS, "erf", "logistic"),
            "integer": ("not",),
            "i32": ("neg", "abs", "not"),
            "i1": ("not",),
        },
        binaries={
            "float": (*_ARITHMETIC, "pow"),
            "integer": (*_BITS, "shl", "shr", "shr_u"),
            "i32": (*_ARITHMETIC, *_BITS, "div", "shl", "shr", "shr_u"),
            "i1": _BITS,
        },
        compared={"float": ("lt", "eq", "le", "gt", "ge"), "i32": ("lt", "eq", "le", "gt", "ge")},
        reduced={
            "float": ("add", "max", "min"),
            "integer": ("max", "min"),
            "i32": ("add", "max", "min"),
            "i1": ("and", "or"),
        },
        steps=(*_STEPS, "reverse"),
        ranks_of_dot=(3,),
        has_empty=False,
        has_strides=False,
        has_swapped_dot=False,
        keeps_rank=True,
    ),
}
