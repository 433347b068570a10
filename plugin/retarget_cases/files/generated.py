"""What a cases file of an ONNX model says of inputs that it leaves out: dynamic sizes, generators by element type."""

from __future__ import annotations

from collections.abc import Mapping

from retarget.model.element_types import DTYPE_NAMES, ELEMENT_TYPES, element_dtype
from retarget.support.errors import did_you_mean
from retarget.support.toml.keypaths import KeyPath, Problem

from retarget_cases.files.tables import (
    CasesFileTable,
    CaseTable,
    FillTable,
    IntegersTable,
    IotaTable,
    ModelCaseTable,
    ModelFileTable,
    NormalTable,
    UniformTable,
    ValueTable,
)
from retarget_cases.files.values import Value, read_value

__all__ = ["default_generator", "generators_of", "sizes_of"]

_Level = tuple[CasesFileTable | CaseTable, KeyPath]


def sizes_of(*levels: _Level) -> Mapping[str, tuple[int, KeyPath]]:
    """Return the dynamic sizes by name, each with its key path. Later levels win over earlier ones."""
    return {
        name: (size, (*key_path, "sizes", name))
        for table, key_path in levels
        if isinstance(table, ModelFileTable | ModelCaseTable)
        for name, size in table.sizes.items()
    }


def generators_of(*levels: _Level, problems: list[Problem]) -> Mapping[str, Value]:
    """Return the generators by the NumPy name of the element type; what is wrong with them goes to `problems`."""
    found: dict[str, Value] = {}
    for table, key_path in levels:
        written = table.generate if isinstance(table, ModelFileTable | ModelCaseTable) else {}
        for name, entry in written.items():
            where = (*key_path, "generate", name)
            dtype = element_dtype(name)
            if dtype is None:
                hint = did_you_mean(name, [*DTYPE_NAMES, *ELEMENT_TYPES])
                expected = f"expected an element type of numbers, such as f32 or float32{hint}"
                problems.append(Problem(where, f"found {name!r}, {expected}"))
                continue
            value = read_value(entry, where, problems)
            generators = NormalTable | UniformTable | IntegersTable | FillTable | IotaTable
            if value is not None and isinstance(value.table, generators):
                found[dtype] = value
            elif value is not None:
                problems.append(Problem(where, "found values, expected a generator: a table with random, fill or iota"))
    return found


def default_generator(dtype: str) -> ValueTable:
    """Return how inputs of an element type are generated where nothing else is said.

    Floats are from -1 to 1. Integers are 0 or 1: ids, masks and flags alike take them.
    """
    if dtype == "bool" or "int" in dtype:
        return IntegersTable(random="integers", low=0, high=2)
    if dtype == "float8_e8m0fnu":  # powers of two, without a sign
        return UniformTable(random="uniform", low=1.0, high=4.0)
    return UniformTable(random="uniform", low=-1.0, high=1.0)
