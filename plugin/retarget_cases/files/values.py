"""Values as a cases file writes them: literals, files, generators. Needs no NumPy; `arrays` converts them.

How near results must be: the defaults of each element type, and those of a cases file.

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

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from msgspec import Struct, field
from retarget.extension import Tolerance
from retarget.session import describe_value
from retarget.support import KeyPath, Problem, did_you_mean

from retarget_cases.files.tables import (
    DISTRIBUTIONS,
    DTYPE_NAMES,
    FORMS,
    TYPE_NAMES,
    FillTable,
    IntegersTable,
    ToleranceTable,
    UniformTable,
    ValuesTable,
    ValueTable,
    element_dtype,
    read_table,
)

_FILES = (".npy", ".npz", ".pb", ".bin")
_MAX_RANK = 64
"""The most dimensions of a NumPy array."""
_KEYS = (*FORMS, "random")


class Value(Struct, frozen=True, kw_only=True):
    """One argument or result as written. `key_path` is its key path; `is_table` means that it is written as a table."""

    key_path: KeyPath
    table: ValueTable
    is_table: bool = False

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape, where it is written."""
        return None if self.table.shape is None else tuple(self.table.shape)

    @property
    def dtype(self) -> str | None:
        """The NumPy name of the element type, where it is written."""
        return None if self.table.dtype is None else element_dtype(self.table.dtype)

    def files(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Return the paths that it names, each with its valid suffixes."""
        for form, suffixes in (("npy", (".npy",)), ("npz", (".npz",)), ("pb", (".pb",)), ("bin", (".bin", ".raw"))):
            if (path := getattr(self.table, form, None)) is not None:
                yield path, suffixes


def read_value(written: object, key_path: KeyPath, problems: list[Problem]) -> Value | None:
    """Return a value. The problems that can be found without its type are added to `problems`; it may then be None."""
    if isinstance(written, str):
        return _file(written, key_path, problems)
    if isinstance(written, dict):
        return _table(written, key_path, problems)
    count = len(problems)
    problems.extend(literal_problems(written, key_path))
    return Value(key_path=key_path, table=ValuesTable(values=written)) if len(problems) == count else None


def literal_problems(written: object, key_path: KeyPath) -> Iterable[Problem]:
    """Yield what is wrong with a literal: entries that are neither numbers nor arrays, arrays of unequal lengths."""
    if isinstance(written, list):
        kinds = {isinstance(entry, list) for entry in written}
        if len(kinds) > 1:
            index = next(
                at for at, entry in enumerate(written) if isinstance(entry, list) != isinstance(written[0], list)
            )
            found = f"{describe_value(written[index])} beside {describe_value(written[0])}"
            yield Problem((*key_path, index), f"found {found}, expected only arrays or none")
            return
        if kinds == {True}:
            length = len(written[0])
            for index, entry in enumerate(written):
                if len(entry) != length:
                    found = f"{len(entry)} {'entry' if len(entry) == 1 else 'entries'}"
                    yield Problem((*key_path, index), f"found {found}, expected {length}, like the first")
                    return
        for index, entry in enumerate(written):
            yield from literal_problems(entry, (*key_path, index))
    elif isinstance(written, str):
        if not _is_number(written):
            hint = "; a file is a whole value" if written.endswith(_FILES) else ""
            yield Problem(key_path, f"found {describe_value(written)}, expected a number as text{hint}")
    elif not isinstance(written, bool | int | float):
        yield Problem(key_path, f"found {describe_value(written)}, expected a number, true, false or an array of them")


def _is_number(text: str) -> bool:
    """Return whether a text is a number of some element type: `0x10`, `nan`, `0x1p-3`, `1-2j`."""
    read_float = float.fromhex if "0x" in text.lower() else float
    for read in (lambda: complex(text.replace(" ", "")), lambda: int(text, 0), lambda: read_float(text)):
        with contextlib.suppress(ValueError):
            with contextlib.suppress(OverflowError):  # reported when its type is known
                read()
            return True
    return False


def _file(written: str, key_path: KeyPath, problems: list[Problem]) -> Value | None:
    if not written.endswith(_FILES):
        expected = "expected a path that ends with .npy, .npz, .pb or .bin; a number as text is { values = '…' }"
        problems.append(Problem(key_path, f"found the string {written!r}, {expected}"))
        return None
    form = written.rpartition(".")[2]
    return Value(key_path=key_path, table=FORMS[form].model_validate({form: written}))


def _table(written: Mapping[str, object], key_path: KeyPath, problems: list[Problem]) -> Value | None:
    forms = [key for key in _KEYS if key in written]
    if len(forms) != 1:
        found = "both " + " and ".join(forms) if forms else f"a table of {', '.join(written) or 'nothing'}"
        hint = "" if forms else next(filter(None, (did_you_mean(key, _KEYS) for key in written)), "")
        problems.append(Problem(key_path, f"found {found}, expected one of {', '.join(_KEYS)}{hint}"))
        return None
    distribution = written.get("random")
    model = FORMS.get(forms[0]) or (DISTRIBUTIONS.get(distribution) if isinstance(distribution, str) else None)
    if model is None:
        hint = did_you_mean(distribution, DISTRIBUTIONS) if isinstance(distribution, str) else ""
        message = f"found {describe_value(distribution)}, expected one of {', '.join(DISTRIBUTIONS)}{hint}"
        problems.append(Problem((*key_path, "random"), message))
        return None
    count = len(problems)
    table = read_table(model, written, key_path, problems)
    if table is None:
        return None
    if table.dtype is not None and element_dtype(table.dtype) is None:
        hint = did_you_mean(table.dtype, TYPE_NAMES)
        message = f"found {table.dtype!r}, expected an element type, such as float32 or f32{hint}"
        problems.append(Problem((*key_path, "dtype"), message))
    if table.shape is not None and len(table.shape) > _MAX_RANK:
        problems.append(Problem((*key_path, "shape"), f"found {len(table.shape)} sizes, expected at most {_MAX_RANK}"))
    if isinstance(table, ValuesTable):
        problems.extend(literal_problems(table.values, (*key_path, "values")))
    elif isinstance(table, FillTable):
        problems.extend(literal_problems(table.fill, (*key_path, "fill")))
    elif isinstance(table, UniformTable) and table.low > table.high:
        problems.append(Problem((*key_path, "low"), f"found {table.low:g}, expected at most high, {table.high:g}"))
    elif isinstance(table, UniformTable) and table.high - table.low == math.inf:
        message = f"found {table.low:g} to {table.high:g}, expected a range of at most 1.79e308"
        problems.append(Problem((*key_path, "low"), message))
    elif isinstance(table, IntegersTable) and table.low >= table.high:
        message = f"found {table.low}, expected less than high, {table.high}, which is not included"
        problems.append(Problem((*key_path, "low"), message))
    return Value(key_path=key_path, table=table, is_table=True) if len(problems) == count else None


EXACT = Tolerance()
_TOLERANCE_KEYS = tuple(ToleranceTable.model_fields)

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
    direct = {key: value for key, value in written.items() if key in _TOLERANCE_KEYS}
    by_type: dict[str, ToleranceTable] = {}
    names: dict[str, str] = {}
    for name, value in written.items():
        if name in _TOLERANCE_KEYS:
            continue
        where = (*key_path, name)
        dtype = element_dtype(name)
        if dtype is None:
            hint = did_you_mean(name, [*_TOLERANCE_KEYS, *TYPE_NAMES])
            expected = f"expected {', '.join(_TOLERANCE_KEYS)} or an element type, such as float32 or f32"
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
