"""Which operations each dialect has, for which element types, as the strategies draw them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from retarget_fuzz.programs.ir import Type

__all__ = ["OPERATIONS", "Operations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The operations of a dialect: `elementwise` by what they are (`unary`, `binary`, `compare`, `reduce`) and by
    element type, or kind of element type (`float`, `integer`); `steps` are what a program is drawn of."""

    dialect: str
    element_types: Sequence[str]
    elementwise: Mapping[str, Mapping[str, Sequence[str]]]
    steps: Sequence[str]
    ranks_of_dot: Collection[int]
    has_empty: bool = True
    has_strides: bool = True
    has_interior: bool = False
    has_swapped_dot: bool = True
    keeps_rank: bool = False

    def names(self, what: str, kind: Type) -> Sequence[str]:
        """The elementwise operations, comparisons or reductions of that type."""
        table = self.elementwise[what]
        return table.get(kind.element, table.get("float" if kind.is_float else "integer", ()))

    def conversions(self, kind: Type, element_types: Sequence[str]) -> list[tuple[str, str]]:
        """The conversions: the operation, and the element type that it gives."""
        choices: list[tuple[str, str]] = []
        for target in map(Type, element_types):
            floats = kind.is_float + target.is_float
            if target.element == kind.element or (target.element == "i1" and (self.dialect == "linalg" or floats)):
                continue
            if self.dialect == "linalg" and floats == 2 and kind.bits == target.bits:
                continue
            if self.dialect == "tosa" and kind.element == "i1" and floats:
                continue
            if self.dialect == "linalg" and not kind.is_float and (floats or kind.bits < target.bits):
                choices.append(("convert.u", target.element))
            choices.append(("convert.to_even" if self.dialect == "tosa" else "convert", target.element))
        return choices

    def products(self, kind: Type, element_types: Sequence[str]) -> list[str]:
        """The element types of a matrix product's result."""
        wider = {"f16": "f32", "bf16": "f32", "i8": "i32"}.get(kind.element)
        same = kind.element not in (("i1",) if self.dialect != "tosa" else ("i1", "i8", "i16", "i32", "bf16"))
        return [*([kind.element] if same else []), *(one for one in element_types if one == wider)]


_ALL_TYPES = ("f32", "f16", "bf16", "f64", "i1", "i8", "i16", "i32", "i64")
_UNARIES = ("neg", "abs", "ceil", "floor", "exp", "log", "rsqrt", "tanh", "sin", "cos")
_ARITHMETIC = ("add", "sub", "mul", "max", "min")
_BITS = ("and", "or", "xor")
_SHIFTS = ("shl", "shr", "shr_u")
_PREDICATES = ("lt", "eq", "le", "gt", "ge")
_ON_UNSIGNED = ("div_u", "rem_u", "max_u", "min_u")
_REDUCTIONS = {"float": ("add", "max", "min"), "integer": ("add", "mul", "max", "min", *_BITS), "i1": ("and", "or")}
_STEPS = (
    *("binary", "unary", "binary", "compare", "select", "convert", "broadcast", "transpose", "reshape", "slice", "pad"),
    *("concat", "reduce", "reduce", "dot", "if", "for"),
)

OPERATIONS: Mapping[str, Operations] = {
    "linalg": Operations(
        dialect="linalg",
        element_types=_ALL_TYPES,
        elementwise={
            "unary": {
                "float": (*_UNARIES, "sqrt", "expm1", "log1p", "erf", "round_even"),
                "integer": ("abs", "popcnt"),
                "i1": (),
            },
            "binary": {
                "float": (*_ARITHMETIC, "div", "pow"),
                "integer": (*_ARITHMETIC, *_BITS, "div", "rem", *_SHIFTS, *_ON_UNSIGNED),
                "i1": _BITS,
            },
            "compare": {
                "float": (*_PREDICATES, "ne"),
                "integer": (*_PREDICATES, "ne", "lt_u", "le_u", "gt_u", "ge_u"),
                "i1": ("eq", "ne"),
            },
            "reduce": _REDUCTIONS,
        },
        steps=(*_STEPS, "take", "iota"),
        ranks_of_dot=(2, 3),
    ),
    "stablehlo": Operations(
        dialect="stablehlo",
        element_types=_ALL_TYPES,
        elementwise={
            "unary": {
                "float": (*_UNARIES, "sqrt", "expm1", "log1p", "logistic", "round_even"),
                "integer": ("neg", "abs", "not", "popcnt"),
                "i1": ("not",),
            },
            "binary": {
                "float": (*_ARITHMETIC, "div", "pow"),
                "integer": (*_ARITHMETIC, *_BITS, "div", "rem", *_SHIFTS),
                "i1": _BITS,
            },
            "compare": {"float": (*_PREDICATES, "ne"), "integer": (*_PREDICATES, "ne"), "i1": ("eq", "ne")},
            "reduce": _REDUCTIONS,
        },
        steps=(*_STEPS, "take", "iota", "reverse"),
        ranks_of_dot=(2, 3, 4),
        has_interior=True,
    ),
    "tosa": Operations(
        dialect="tosa",
        element_types=("f32", "f16", "bf16", "i1", "i8", "i16", "i32"),
        elementwise={
            "unary": {"float": (*_UNARIES, "erf", "logistic"), "integer": ("not",), "i32": ("neg", "abs", "not")},
            "binary": {
                "float": (*_ARITHMETIC, "pow"),
                "integer": (*_BITS, *_SHIFTS),
                "i32": (*_ARITHMETIC, *_BITS, "div", *_SHIFTS),
                "i1": _BITS,
            },
            "compare": {"float": _PREDICATES, "i32": _PREDICATES},
            "reduce": {**_REDUCTIONS, "integer": ("max", "min"), "i32": ("add", "max", "min")},
        },
        steps=(*_STEPS, "reverse"),
        ranks_of_dot=(3,),
        has_empty=False,
        has_strides=False,
        has_swapped_dot=False,
        keeps_rank=True,
    ),
}
