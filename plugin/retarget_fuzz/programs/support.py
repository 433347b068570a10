"""Which operations each dialect has, for which element types, as the strategies draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retarget_fuzz.programs.ir import Type

__all__ = ["OPERATIONS", "Operations"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The operations of a dialect: `elementwise` by what they are (`unary`, `binary`, `compare`, `reduce`) and the
    element type, or its kind (`float`, `integer`); `steps` are what a program is drawn of.
    `wraps` says that integers which overflow wrap around; TOSA's specification leaves open what they become."""

    dialect: str
    element_types: Sequence[str]
    elementwise: Mapping[str, str]
    steps: Sequence[str]
    ranks_of_dot: Sequence[int]
    has_empty: bool = True
    has_strides: bool = True
    has_interior: bool = False
    has_swapped_dot: bool = True
    keeps_rank: bool = False
    wraps: bool = True

    def names(self, what: str, kind: Type) -> list[str]:
        """The elementwise operations, comparisons or reductions of that type."""
        general = self.elementwise.get(f"{what} {'float' if kind.is_float else 'integer'}", "")
        return self.elementwise.get(f"{what} {kind.element}", general).split()

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
_STEPS = (
    *("binary", "unary", "binary", "compare", "select", "convert", "broadcast", "transpose", "reshape", "slice", "pad"),
    *("concat", "reduce", "reduce", "dot", "if", "for"),
)
_UNARIES = "neg abs ceil floor exp log rsqrt tanh sin cos"
_ARITHMETIC = "add sub mul max min"
_BITS = "and or xor"
_ON_BITS = "and or xor shl shr shr_u"
_ORDER = "lt eq le gt ge"
_COMMON = {
    "reduce float": "add max min",
    "reduce integer": f"add mul max min {_BITS}",
    "reduce i1": "and or",
    "unary i1": "",
    "binary i1": _BITS,
    "compare i1": "eq ne",
    "compare float": f"{_ORDER} ne",
}

OPERATIONS: Mapping[str, Operations] = {
    "linalg": Operations(
        dialect="linalg",
        element_types=_ALL_TYPES,
        elementwise={
            **_COMMON,
            "unary float": f"{_UNARIES} sqrt expm1 log1p erf round_even",
            "unary integer": "abs popcnt",
            "binary float": f"{_ARITHMETIC} div pow",
            "binary integer": f"{_ARITHMETIC} {_ON_BITS} div rem div_u rem_u max_u min_u",
            "compare integer": f"{_ORDER} ne lt_u le_u gt_u ge_u",
        },
        steps=(*_STEPS, "take", "iota"),
        ranks_of_dot=(2, 3),
    ),
    "stablehlo": Operations(
        dialect="stablehlo",
        element_types=_ALL_TYPES,
        elementwise={
            **_COMMON,
            "unary float": f"{_UNARIES} sqrt expm1 log1p logistic round_even",
            "unary integer": "neg abs not popcnt",
            "unary i1": "not",
            "binary float": f"{_ARITHMETIC} div pow",
            "binary integer": f"{_ARITHMETIC} {_ON_BITS} div rem",
            "compare integer": f"{_ORDER} ne",
        },
        steps=(*_STEPS, "take", "iota", "reverse"),
        ranks_of_dot=(2, 3, 4),
        has_interior=True,
    ),
    "tosa": Operations(
        dialect="tosa",
        element_types=tuple(one for one in _ALL_TYPES if not one.endswith("64")),
        elementwise={
            **_COMMON,
            "unary float": f"{_UNARIES} erf logistic",
            "unary integer": "not",
            "unary i32": "neg abs not",
            "unary i1": "not",
            "binary float": f"{_ARITHMETIC} pow",
            "binary integer": _ON_BITS,
            "binary i32": f"{_ARITHMETIC} {_ON_BITS} div",
            "compare float": _ORDER,
            "compare i32": _ORDER,
            "compare i1": "",
            "reduce integer": "max min",
            "reduce i32": "add max min",
        },
        steps=(*_STEPS, "reverse"),
        ranks_of_dot=(3,),
        has_empty=False,
        has_strides=False,
        has_swapped_dot=False,
        keeps_rank=True,
        wraps=False,
    ),
}
