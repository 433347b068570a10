"""How near results must be: the defaults of each element type, and those of a cases file.

A default is wide enough for what compilers may do (other orders of summation, fused multiply-adds, approximated
functions of a few ulp) and narrow enough to show a result that went through the next smaller type. `eps` is the
distance from 1 to the next number of the type.

    float64     1e-12         4500 eps: long sums fit; binary32 on the way (6e-8) does not
    float32     1e-5          84 eps: sums of some thousand terms fit; binary16 on the way (5e-4) does not
    float16     1e-3, 2e-3    2 eps, relative: rounded once on the way and once at the end
    bfloat16    1e-2, 1.6e-2  2 eps, relative, likewise
    float8_*    1 ulp         with two to four bits of fraction there is nothing between right and the neighbour
    float6_*    1 ulp         likewise
    complex*                  as their parts
    all others  0             integers and Booleans are exact, and so are eight numbers (float4_e2m1fn) and powers of
                              two (float8_e8m0fnu)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from msgspec import Struct, field
from retarget.extension import Tolerance
from retarget.model import DTYPE_NAMES, ELEMENT_TYPES, element_dtype
from retarget.session import describe_value
from retarget.support import KeyPath, Problem, did_you_mean

from retarget_cases.files.tables import ToleranceTable, read_table

EXACT = Tolerance()
_KEYS = tuple(ToleranceTable.model_fields)

DEFAULT_TOLERANCES: Mapping[str, Tolerance] = {
    "float64": Tolerance(atol=1e-12, rtol=1e-12),
    "complex128": Tolerance(atol=1e-12, rtol=1e-12),
    "float32": Tolerance(atol=1e-5, rtol=1e-5),
    "complex64": Tolerance(atol=1e-5, rtol=1e-5),
    "float16": Tolerance(atol=1e-3, rtol=2e-3),
    "bfloat16": Tolerance(atol=1e-2, rtol=1.6e-2),
    **{
        name: Tolerance(ulp=1)
        for name in DTYPE_NAMES
        if name.startswith(("float8_", "float6_")) and name != "float8_e8m0fnu"
    },
}


class Overrides(Struct, frozen=True, kw_only=True):
    """What a file or a case says: of all floating and complex types, and of single types by their NumPy name."""

    floating: ToleranceTable = field(default_factory=ToleranceTable)
    by_type: Mapping[str, ToleranceTable] = field(default_factory=dict)


def tolerances(*levels: Overrides) -> Mapping[str, Tolerance]:
    """Return the tolerance of every element type; `""` is for those that have no name here.

    Later levels win over earlier ones. Within a level, what is given for one type wins over what is given for all.
    """
    found = {"": EXACT, **{dtype: DEFAULT_TOLERANCES.get(dtype, EXACT) for dtype in DTYPE_NAMES}}
    for level in levels:
        for dtype in DTYPE_NAMES:
            if dtype.startswith(("float", "bfloat", "complex")):
                found[dtype] = _changed(found[dtype], level.floating)
        for dtype, override in level.by_type.items():
            found[dtype] = _changed(found[dtype], override)
    return found


def _changed(tolerance: Tolerance, table: ToleranceTable) -> Tolerance:
    """Return a tolerance as a table changes it. Where that gives `atol`, `rtol` or `ulp`, those left out are none."""
    equal_nan = tolerance.equal_nan if table.nan is None else table.nan == "equal"
    if table.atol is None and table.rtol is None and table.ulp is None:
        return replace(tolerance, equal_nan=equal_nan)
    return Tolerance(atol=table.atol or 0.0, rtol=table.rtol or 0.0, ulp=table.ulp, equal_nan=equal_nan)


# ---------------------------------------------------------------- reading


def read_overrides(written: Mapping[str, object], key_path: KeyPath, problems: list[Problem]) -> Overrides:
    """Return what a `tolerance` table says; what is wrong with it goes to `problems`."""
    direct = {key: value for key, value in written.items() if key in _KEYS}
    by_type: dict[str, ToleranceTable] = {}
    names: dict[str, str] = {}
    for name, value in written.items():
        if name in _KEYS:
            continue
        where = (*key_path, name)
        dtype = element_dtype(name)
        if dtype is None:
            hint = did_you_mean(name, [*_KEYS, *DTYPE_NAMES, *ELEMENT_TYPES])
            expected = f"expected {', '.join(_KEYS)} or an element type, such as float32 or f32"
            problems.append(Problem(where, f"found the unknown key {name!r}, {expected}{hint}"))
        elif dtype in names:
            message = f"found {name!r} beside {names[dtype]!r}, which is the same type; expected one of them"
            problems.append(Problem(where, message))
        elif not isinstance(value, dict):
            message = f"found {describe_value(value)}, expected a table, as in {name} = {{ atol = 1e-5, rtol = 1e-5 }}"
            problems.append(Problem(where, message))
        else:
            names[dtype] = name
            by_type[dtype] = read_table(ToleranceTable, value, where, problems) or ToleranceTable()
    floating = read_table(ToleranceTable, direct, key_path, problems) or ToleranceTable()
    return Overrides(floating=floating, by_type=by_type)
