"""Reads `tolerance`: what is said of all floating types, and of element types by name."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError
from retarget.declare.schema.errors import describe_value, schema_problems
from retarget.model.element_types import DTYPE_NAMES, ELEMENT_TYPES, element_dtype
from retarget.support.errors import did_you_mean
from retarget.support.toml.keypaths import KeyPath, Problem

from .tables import ToleranceTable
from .tolerances import Override, Overrides

__all__ = ["read_overrides"]

_KEYS = tuple(ToleranceTable.model_fields)


def read_overrides(written: Mapping[str, object], place: KeyPath, problems: list[Problem]) -> Overrides:
    """Return what a `tolerance` table says; what is wrong with it goes to `problems`."""
    direct = {key: value for key, value in written.items() if key in _KEYS}
    by_type: dict[str, Override] = {}
    names: dict[str, str] = {}
    for name, value in written.items():
        if name in _KEYS:
            continue
        where = (*place, name)
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
            by_type[dtype] = _override(value, where, problems)
    return Overrides(floating=_override(direct, place, problems), by_type=by_type)


def _override(written: Mapping[str, object], place: KeyPath, problems: list[Problem]) -> Override:
    try:
        table = ToleranceTable.model_validate(written)
    except ValidationError as error:
        found = schema_problems(error, written, model=ToleranceTable)
        problems.extend(Problem((*place, *problem.path), problem.message) for problem in found)
        return Override()
    equal_nan = None if table.nan is None else table.nan == "equal"
    return Override(atol=table.atol, rtol=table.rtol, ulp=table.ulp, equal_nan=equal_nan)
